package functions

import (
	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// noRows is the result of a set-returning function called with a NULL.
type noRows struct{}

func (noRows) Next(*vector.Batch, int) (bool, error) { return false, nil }

func anyNull(args []*vector.Vector) bool {
	for _, a := range args {
		if a.IsNull(0) {
			return true
		}
	}
	return false
}

func errZeroStep() error {
	return pgerr.New(pgerr.InvalidParameterValue, "step size cannot equal zero")
}

// intSeries is generate_series over int4 or int8.
type intSeries struct {
	next, stop, step int64
	done             bool
}

func (s *intSeries) Next(out *vector.Batch, limit int) (bool, error) {
	v := out.Cols[0]
	for k := 0; k < limit; k++ {
		if s.done || s.step > 0 && s.next > s.stop || s.step < 0 && s.next < s.stop {
			return k > 0, nil
		}
		if v.Kind == vector.Int32 {
			v.AppendInt32(int32(s.next))
		} else {
			v.AppendInt64(s.next)
		}
		out.N++
		r := s.next + s.step
		s.done = (r > s.next) != (s.step > 0)
		s.next = r
	}
	return true, nil
}

func openIntSeries(_ *Ctx, args []*vector.Vector) (Rows, error) {
	if anyNull(args) {
		return noRows{}, nil
	}
	at := func(k int) int64 {
		if args[k].Kind == vector.Int32 {
			return int64(args[k].I32[0])
		}
		return args[k].I64[0]
	}
	s := &intSeries{next: at(0), stop: at(1), step: 1}
	if len(args) > 2 {
		if s.step = at(2); s.step == 0 {
			return nil, errZeroStep()
		}
	}
	return s, nil
}

// numericSeries is generate_series over numeric.
type numericSeries struct {
	next, stop, step decimal
}

func (s *numericSeries) Next(out *vector.Batch, limit int) (bool, error) {
	v := out.Cols[0]
	for k := 0; k < limit; k++ {
		if c := s.next.Cmp(&s.stop); c*s.step.Sign() > 0 {
			return k > 0, nil
		}
		appendDecimal(v, &s.next)
		out.N++
		if err := s.next.Add(&s.next, &s.step); err != nil {
			return false, err
		}
	}
	return true, nil
}

func openNumericSeries(_ *Ctx, args []*vector.Vector) (Rows, error) {
	if anyNull(args) {
		return noRows{}, nil
	}
	s := &numericSeries{}
	s.step.SetInt64(1)
	names := []string{"start", "stop", "step size"}
	for k, d := range []*decimal{&s.next, &s.stop, &s.step}[:len(args)] {
		if err := d.Decode(args[k].Bytes(0)); err != nil {
			return nil, err
		}
		if d.IsNaN() || d.IsInf() {
			what := "infinity"
			if d.IsNaN() {
				what = "NaN"
			}
			if k < 2 {
				return nil, pgerr.New(pgerr.InvalidParameterValue, "%s value cannot be %s", names[k], what)
			}
			return nil, pgerr.New(pgerr.InvalidParameterValue, "step size cannot be %s", what)
		}
	}
	if s.step.Sign() == 0 {
		return nil, errZeroStep()
	}
	return s, nil
}

// timeSeries is generate_series over times, in local time or a zone.
type timeSeries struct {
	next, stop int64
	step       types.IntervalValue
	sign       int
	z          *zoneCache
}

func (s *timeSeries) Next(out *vector.Batch, limit int) (bool, error) {
	v := out.Cols[0]
	for k := 0; k < limit; k++ {
		if s.sign > 0 && s.next > s.stop || s.sign < 0 && s.next < s.stop {
			return k > 0, nil
		}
		v.AppendInt64(s.next)
		out.N++
		var err error
		if s.z != nil {
			s.next, err = s.z.shiftTZ(s.next, s.step, 1)
		} else {
			s.next, err = shiftLocal(s.next, s.step, 1)
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

func openTimeSeries(zoned bool) func(*Ctx, []*vector.Vector) (Rows, error) {
	return func(c *Ctx, args []*vector.Vector) (Rows, error) {
		if anyNull(args) {
			return noRows{}, nil
		}
		s := &timeSeries{next: args[0].I64[0], stop: args[1].I64[0], step: types.DecodeInterval(args[2].F16[0])}
		s.sign = s.step.Compare(types.IntervalValue{})
		if s.sign == 0 {
			return nil, errZeroStep()
		}
		if zoned {
			s.z = newZoneCache(c.Zone)
			if len(args) == 4 {
				var err error
				if s.z, err = namedZone(str(args[3], 0)); err != nil {
					return nil, err
				}
			}
		}
		return s, nil
	}
}

// arrayRows is unnest: the elements, of all dimensions in storage order.
type arrayRows struct {
	items *vector.Vector
	next  int
}

func (s *arrayRows) Next(out *vector.Batch, limit int) (bool, error) {
	from := s.next
	for end := min(s.items.N, from+limit); s.next < end; s.next++ {
		out.Cols[0].AppendFrom(s.items, s.next)
		out.N++
	}
	return s.next > from, nil
}

func openUnnest(_ *Ctx, args []*vector.Vector) (Rows, error) {
	if anyNull(args) {
		return noRows{}, nil
	}
	h, err := readArray(args[0].Bytes(0))
	if err != nil {
		return nil, err
	}
	items := vector.New(types.T(h.elem).Kind(), h.total)
	return &arrayRows{items: items}, ArrayElements(items, args[0].Bytes(0))
}

func openSubscripts(_ *Ctx, args []*vector.Vector) (Rows, error) {
	if anyNull(args) {
		return noRows{}, nil
	}
	h, err := readArray(args[0].Bytes(0))
	if err != nil {
		return nil, err
	}
	d := int(args[1].I32[0]) - 1
	if d < 0 || d >= h.dims {
		return noRows{}, nil
	}
	lo := int64(h.lower[d])
	hi := lo + int64(h.lengths[d]) - 1
	if len(args) > 2 && args[2].Bool(0) {
		return &intSeries{next: hi, stop: lo, step: -1}, nil
	}
	return &intSeries{next: lo, stop: hi, step: 1}, nil
}

func init() {
	series := func(name string, t types.OID, open func(*Ctx, []*vector.Vector) (Rows, error), doc string, args ...types.OID) {
		RegisterSetReturning(SetReturning{Name: name, Args: args, Columns: []string{name}, Types: []types.OID{t}, Open: open, Doc: doc})
	}
	const doc = "Values from a start to a stop by a step."
	for _, t := range []types.OID{types.Int4, types.Int8} {
		series("generate_series", t, openIntSeries, doc, t, t)
		series("generate_series", t, openIntSeries, doc, t, t, t)
	}
	n := types.Numeric
	series("generate_series", n, openNumericSeries, doc, n, n)
	series("generate_series", n, openNumericSeries, doc, n, n, n)
	ts, tz, iv := types.Timestamp, types.TimestampTZ, types.Interval
	series("generate_series", ts, openTimeSeries(false), doc, ts, ts, iv)
	series("generate_series", tz, openTimeSeries(true), doc, tz, tz, iv)
	series("generate_series", tz, openTimeSeries(true), doc, tz, tz, iv, types.Text)
	series("unnest", types.AnyElement, openUnnest, "The elements of an array.", types.AnyArray)
	series("generate_subscripts", types.Int4, openSubscripts, "The subscripts of a dimension of an array.", types.AnyArray, types.Int4)
	series("generate_subscripts", types.Int4, openSubscripts, "The subscripts of a dimension of an array.", types.AnyArray, types.Int4, types.Bool)
}
