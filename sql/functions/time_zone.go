package functions

import (
	"strings"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// zoneOf is a zone that AT TIME ZONE names, for conversion of times.
type zoneOf struct{ types.Zone }

// namedZone makes a cache for a zone by name. Abbreviations have no slash; what
// they mean may depend on the time, so their offsets are not kept.
func namedZone(name string) (*zoneCache, error) {
	if strings.Contains(name, "/") {
		if loc, ok := types.LoadZone(name); ok {
			return newZoneCache(loc), nil
		}
	}
	z, err := types.ResolveZone(name)
	return &zoneCache{named: &z}, err
}

// toZone gives the local time of an instant.
func (z zoneOf) toZone(us int64) (int64, error) {
	if !finiteTS(us) {
		return us, nil
	}
	return addMicros(us, 1, z.Offset(us)*microsPerSecond)
}

// fromZone gives the instant of a local time.
func (z zoneOf) fromZone(local int64) (int64, error) {
	if !finiteTS(local) {
		return local, nil
	}
	return addMicros(local, -1, z.LocalOffset(local)*microsPerSecond)
}

// zoneArgument reads the zone of row i: a name or an interval.
func zoneArgument(v *vector.Vector, i int, c *Ctx) (zoneOf, error) {
	if v.Kind == vector.Bytes {
		z, err := types.ResolveZone(str(v, i))
		return zoneOf{z}, err
	}
	b := v.F16[i&v.Mask()]
	iv := types.DecodeInterval(b)
	if iv.Months != 0 || iv.Days != 0 {
		one := vector.New(vector.Fixed16, 1)
		one.AppendFixed16(b)
		text := types.AppendText(nil, types.T(types.Interval), one, 0, &c.Context)
		return zoneOf{}, pgerr.New(pgerr.InvalidParameterValue, "interval time zone \"%s\" must not include months or days", text)
	}
	return zoneOf{types.FixedOffsetZone(int(iv.Micros / microsPerSecond))}, nil
}

// atZone makes timezone(zone, time).
func atZone(convert func(z zoneOf, us int64) (int64, error)) Kernel {
	return func(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		var z zoneOf
		known := false
		for i := range out.I64[:n] {
			if !live(out, i) {
				continue
			}
			us := args[1].I64[i&args[1].Mask()]
			if !finiteTS(us) {
				out.I64[i] = us
				continue
			}
			if !known || !args[0].Const {
				var err error
				if z, err = zoneArgument(args[0], i, c); err != nil {
					return err
				}
				known = true
			}
			r, err := convert(z, us)
			if err != nil {
				return err
			}
			out.I64[i] = r
		}
		return nil
	}
}

// timeTZAtZone moves a time with zone to another zone.
func timeTZAtZone(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	for i := 0; i < n; i++ {
		if live(out, i) {
			z, err := zoneArgument(args[0], i, c)
			if err != nil {
				return err
			}
			us, west := timeTZParts(args[1].Bytes(i))
			east := z.Offset(c.Now)
			addTimeTZ(out, wrapTime(us+(int64(west)+east)*microsPerSecond), -int32(east))
		}
		endRow(out)
	}
	return nil
}

func init() {
	ts, tz, ttz := types.Timestamp, types.TimestampTZ, types.TimeTZ
	for _, zone := range []types.OID{types.Text, types.Interval} {
		RegisterFunctions(
			fn("timezone", ts, atZone(zoneOf.toZone), zone, tz).fails().doc("Local time of an instant in a zone."),
			fn("timezone", tz, atZone(zoneOf.fromZone), zone, ts).fails().doc("Instant of a local time in a zone."),
			fn("timezone", ttz, timeTZAtZone, zone, ttz).fails().stable().doc("Time of day in another zone."),
		)
	}
}
