package functions

import (
	"time"

	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// sleepFor waits as long as an interval lasts from now on.
func sleepFor(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	z := newZoneCache(c.Zone)
	for i := 0; i < n; i++ {
		if live(out, i) {
			now := clockTime(c)
			end, err := tzPlus(z, now, args[0].F16[i&args[0].Mask()])
			if err == nil {
				err = waitUntil(c, now, end)
			}
			if err != nil {
				return err
			}
		}
		endRow(out)
	}
	return nil
}

func sleepUntil(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	for i := 0; i < n; i++ {
		if live(out, i) {
			if err := waitUntil(c, clockTime(c), args[0].I64[i&args[0].Mask()]); err != nil {
				return err
			}
		}
		endRow(out)
	}
	return nil
}

// waitUntil sleeps from now to end, at most maxSleep.
func waitUntil(c *Ctx, now, end int64) error {
	if end <= now {
		return nil
	}
	if us := end - now; us > 0 && us < maxSleep.Microseconds() {
		return wait(c, time.Duration(us)*time.Microsecond)
	}
	return wait(c, maxSleep)
}

// timeOfDayText is timeofday(): the clock as text.
func timeOfDayText(c *Ctx, out *vector.Vector, _ []*vector.Vector, n int) error {
	loc := c.Zone
	if loc == nil {
		loc = time.UTC
	}
	for i := 0; i < n; i++ {
		out.Data = time.UnixMicro(clockTime(c)).In(loc).AppendFormat(out.Data, "Mon Jan 02 15:04:05.000000 2006 MST")
		endRow(out)
	}
	return nil
}

// dateAndTime is date + time as a timestamp; instants are in the session's zone.
func dateAndTime(z *zoneCache, d int32, t int64) (int64, error) {
	us, err := datePlusTime(d, t)
	if err != nil || !finiteTS(us) {
		return us, err
	}
	us, ok := z.instant(us)
	if !ok {
		return 0, errTimestamp()
	}
	return us, nil
}

func init() {
	d, tm := types.Date, types.Time
	RegisterFunctions(
		fn("pg_sleep_for", types.Void, sleepFor, types.Interval).volatile().fails().doc("Waits for an interval."),
		fn("pg_sleep_until", types.Void, sleepUntil, types.TimestampTZ).volatile().fails().doc("Waits until a time."),
		fn("timeofday", types.Text, timeOfDayText).volatile().doc("The time now as text."),
		fn("timestamp", types.Timestamp, try2(i32s, i64s, i64s, datePlusTime), d, tm).fails().doc("Timestamp of a date and a time."),
		fn("timestamptz", types.TimestampTZ, zoned2(i32s, i64s, i64s, dateAndTime), d, tm).fails().stable().doc("Instant of a date and a time."),
		fn("timestamptz", types.TimestampTZ, dateAtTimeTZ(0, 1), d, types.TimeTZ).fails().doc("Instant of a date and a time with zone."),
	)
}
