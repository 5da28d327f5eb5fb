package functions

import (
	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// moment64 is one end of a period as a number that orders like the time.
type moment64 struct {
	v    int64
	null bool
}

// overlapping is OVERLAPS of two periods by their ends; ok is false for NULL.
func overlapping(s1, e1, s2, e2 moment64) (result, ok bool) {
	if s1, e1, ok = ordered(s1, e1); !ok {
		return false, false
	}
	if s2, e2, ok = ordered(s2, e2); !ok {
		return false, false
	}
	switch {
	case s1.v > s2.v:
		return insideEnd(s1, e1, e2)
	case s1.v < s2.v:
		return insideEnd(s2, e2, e1)
	}
	return true, !e1.null && !e2.null
}

// insideEnd decides for the later start, with its own end, and the other period's end.
func insideEnd(start, end, other moment64) (result, ok bool) {
	switch {
	case other.null:
		return false, false
	case start.v < other.v:
		return true, true
	}
	return false, !end.null
}

// ordered puts the lesser end first; a NULL one goes last. ok is false if both are NULL.
func ordered(s, e moment64) (moment64, moment64, bool) {
	if s.null || !e.null && s.v > e.v {
		s, e = e, s
	}
	return s, e, !s.null
}

// timeTZKey orders a time with zone by instant, then zone.
func timeTZKey(v *vector.Vector, i int) int64 {
	us, west := timeTZParts(v.Bytes(i))
	return (us+int64(west)*microsPerSecond)<<18 + int64(west)
}

// overlapsKernel makes the function for ends, or intervals from the starts, of one type.
func overlapsKernel(t types.OID, ends [2]bool) Kernel {
	return func(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		z := newZoneCache(c.Zone)
		read := func(v *vector.Vector, i int) moment64 {
			switch {
			case v.IsNull(i):
				return moment64{null: true}
			case t == types.TimeTZ:
				return moment64{v: timeTZKey(v, i)}
			}
			return moment64{v: v.I64[i&v.Mask()]}
		}
		end := func(start moment64, v *vector.Vector, i int) (moment64, error) {
			if start.null || v.IsNull(i) {
				return moment64{null: true}, nil
			}
			iv := v.F16[i&v.Mask()]
			var us int64
			var err error
			switch t {
			case types.Time:
				us, err = timePlus(start.v, iv)
			case types.Timestamp:
				us, err = tsPlus(start.v, iv)
			default:
				us, err = tzPlus(z, start.v, iv)
			}
			return moment64{v: us}, err
		}
		for i := 0; i < n; i++ {
			var p [4]moment64
			for k := 0; k < 4; k += 2 {
				p[k] = read(args[k], i)
				if ends[k/2] {
					p[k+1] = read(args[k+1], i)
					continue
				}
				var err error
				if p[k+1], err = end(p[k], args[k+1], i); err != nil {
					return err
				}
			}
			r, ok := overlapping(p[0], p[1], p[2], p[3])
			if !ok {
				setNull(out, i, n)
			}
			out.Bits.Put(i, r && ok)
		}
		return nil
	}
}

func init() {
	const doc = "Whether two periods have a time in common."
	for _, t := range []types.OID{types.Timestamp, types.TimestampTZ, types.Time} {
		for _, ends := range [][2]bool{{true, true}, {false, false}, {true, false}, {false, true}} {
			args := []types.OID{t, types.Interval, t, types.Interval}
			for k, is := range ends {
				if is {
					args[2*k+1] = t
				}
			}
			o := fn("overlaps", types.Bool, overlapsKernel(t, ends), args...).takesNulls().fails().doc(doc)
			if t == types.TimestampTZ {
				o = o.stable()
			}
			RegisterFunctions(o)
		}
	}
	tz := types.TimeTZ
	RegisterFunctions(fn("overlaps", types.Bool, overlapsKernel(tz, [2]bool{true, true}), tz, tz, tz, tz).takesNulls().doc(doc))
}
