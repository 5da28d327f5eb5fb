package functions

import (
	"math"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// Default origins of time_bucket: a Monday for widths of fixed length, the
// first of a month for months.
const (
	bucketMonday = 10959 * microsPerDay // 2000-01-03
	bucketMonth  = 10957                // day number of 2000-01-01
)

// binner maps times to the start of their bucket of fixed width. The last
// bucket is kept: times mostly come in order.
type binner struct {
	width, origin int64
	lo            int64
	valid         bool
}

func (b *binner) start(us int64) (int64, error) {
	if b.valid && uint64(us-b.lo) < uint64(b.width) && us >= b.lo {
		return b.lo, nil
	}
	diff := us - b.origin
	if (diff > 0) != (us > b.origin) && diff != 0 {
		return 0, errTimestamp()
	}
	mod := diff % b.width
	if mod < 0 {
		mod += b.width
	}
	lo := us - mod
	if lo > us || !validTS(lo) {
		return 0, errTimestamp()
	}
	// A bucket that reached infinity would take it in.
	b.lo, b.valid = lo, lo <= math.MaxInt64-b.width
	return lo, nil
}

// fill computes the starts of n times; NULL rows are left alone.
func (b *binner) fill(out *vector.Vector, x []int64, n int) error {
	dst := out.I64[:n]
	x = x[:n]
	lo, width := b.lo, uint64(b.width)
	if !b.valid {
		width = 0
	}
	for i, us := range x {
		if uint64(us-lo) < width {
			dst[i] = lo
			continue
		}
		if !live(out, i) {
			continue
		}
		if !finiteTS(us) {
			dst[i] = us
			continue
		}
		r, err := b.start(us)
		if err != nil {
			return err
		}
		dst[i] = r
		if b.valid {
			lo, width = r, uint64(b.width)
		}
	}
	return nil
}

func dateBin(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	var b binner
	if args[0].Const && args[2].Const && !args[1].Const {
		b, err := newDateBin(args[0].F16[0], args[2].I64[0])
		if err != nil {
			return infiniteOr(out, args[1].I64, n, err)
		}
		return b.fill(out, args[1].I64, n)
	}
	for i := range out.I64[:n] {
		if !live(out, i) {
			continue
		}
		us := args[1].I64[i&args[1].Mask()]
		if !finiteTS(us) {
			out.I64[i] = us
			continue
		}
		if b.width == 0 || !args[0].Const || !args[2].Const {
			var err error
			if b, err = newDateBin(args[0].F16[i&args[0].Mask()], args[2].I64[i&args[2].Mask()]); err != nil {
				return err
			}
		}
		r, err := b.start(us)
		if err != nil {
			return err
		}
		out.I64[i] = r
	}
	return nil
}

// infiniteOr returns err if any row that counts is finite; infinite ones bin to themselves.
func infiniteOr(out *vector.Vector, x []int64, n int, err error) error {
	for i := range out.I64[:n] {
		if live(out, i) && finiteTS(x[i]) {
			return err
		}
		out.I64[i] = x[i]
	}
	return nil
}

func newDateBin(stride [16]byte, origin int64) (binner, error) {
	iv := types.DecodeInterval(stride)
	if !finiteTS(origin) {
		return binner{}, pgerr.New(pgerr.DatetimeFieldOverflow, "origin out of range")
	}
	if iv.Months != 0 {
		return binner{}, pgerr.New(pgerr.FeatureNotSupported, "timestamps cannot be binned into intervals containing months or years")
	}
	width, ok := fixedWidth(iv)
	if !ok {
		return binner{}, outOfRange(types.Interval)
	}
	if width <= 0 {
		return binner{}, pgerr.New(pgerr.DatetimeFieldOverflow, "stride must be greater than zero")
	}
	return binner{width: width, origin: origin}, nil
}

func fixedWidth(iv types.IntervalValue) (int64, bool) {
	days, ok := mul64(int64(iv.Days), microsPerDay)
	w := days + iv.Micros
	if !ok || (w > days) != (iv.Micros > 0) && iv.Micros != 0 {
		return 0, false
	}
	return w, true
}

// bucketer is time_bucket over local times: fixed widths or months, with an
// offset that is taken off before and put back after.
type bucketer struct {
	bin    binner
	months int64
	first  int64 // month number of the origin, for months
	offset types.IntervalValue
	shifts bool
}

func newBucketer(width [16]byte, origin int64, hasOrigin bool) (bucketer, error) {
	iv := types.DecodeInterval(width)
	if iv.Months != 0 {
		if iv.Days != 0 || iv.Micros != 0 {
			return bucketer{}, pgerr.New(pgerr.FeatureNotSupported, "month intervals cannot have day or time component")
		}
		day := int64(bucketMonth)
		if hasOrigin {
			day = floorDiv(origin, microsPerDay)
		}
		y, m, d := types.CivilFromDays(day)
		if d != 1 || hasOrigin && day*microsPerDay != origin {
			return bucketer{}, pgerr.New(pgerr.InvalidParameterValue, "origin must be the first day of the month")
		}
		if iv.Months < 0 {
			return bucketer{}, errPeriod()
		}
		return bucketer{months: int64(iv.Months), first: int64(y)*12 + int64(m-1)}, nil
	}
	w, ok := fixedWidth(iv)
	if !ok {
		return bucketer{}, outOfRange(types.Interval)
	}
	if w <= 0 {
		return bucketer{}, errPeriod()
	}
	if !hasOrigin {
		origin = bucketMonday
	}
	return bucketer{bin: binner{width: w, origin: origin % w}}, nil
}

func errPeriod() error {
	return pgerr.New(pgerr.InvalidParameterValue, "period must be greater than 0")
}

func (b *bucketer) start(us int64) (int64, error) {
	if !finiteTS(us) {
		return us, nil
	}
	if b.shifts {
		var err error
		if us, err = shiftLocal(us, b.offset, -1); err != nil {
			return 0, err
		}
	}
	r, err := b.bucket(us)
	if err != nil || !b.shifts {
		return r, err
	}
	return shiftLocal(r, b.offset, 1)
}

func (b *bucketer) bucket(us int64) (int64, error) {
	if b.months == 0 {
		return b.bin.start(us)
	}
	y, m, _ := types.CivilFromDays(floorDiv(us, microsPerDay))
	month := int64(y)*12 + int64(m-1)
	month = b.first + floorDiv(month-b.first, b.months)*b.months
	year := floorDiv(month, 12)
	r, ok := joinDay(types.DaysFromCivil(int(year), int(month-year*12)+1, 1), 0)
	if !ok {
		return 0, errTimestamp()
	}
	return r, nil
}

// bucketArgs says which argument of a time_bucket overload is what, -1: absent.
type bucketArgs struct{ origin, offset, zone int }

// bucketTime makes time_bucket over timestamps; with a zone the buckets are those of local time.
func bucketTime(where bucketArgs) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		var b bucketer
		z := newZoneCache(nil)
		constant := true
		for k, a := range args {
			constant = constant && (a.Const || k == 1)
		}
		ready := false
		if constant && where == (bucketArgs{-1, -1, -1}) && !args[0].IsNull(0) && !args[1].Const && n > 0 {
			if b, _, err := where.prepare(args, 0); err == nil && b.months == 0 {
				if args[1].Valid != nil {
					out.Valid = append(vector.Bitmap(nil), args[1].Valid[:vector.Words(n)]...)
				}
				return b.bin.fill(out, args[1].I64, n)
			}
		}
		for i := range out.I64[:n] {
			if args[0].IsNull(i) || args[1].IsNull(i) || where.zone >= 0 && args[where.zone].IsNull(i) {
				setNull(out, i, n)
				continue
			}
			var err error
			if !ready || !constant {
				if b, z, err = where.prepare(args, i); err != nil {
					return err
				}
				ready = true
			}
			r, err := b.start(z.local(args[1].I64[i&args[1].Mask()]))
			if err != nil {
				return err
			}
			r, ok := z.instant(r)
			if !ok {
				return errTimestamp()
			}
			out.I64[i] = r
		}
		return nil
	}
}

func (w bucketArgs) prepare(args []*vector.Vector, i int) (b bucketer, z *zoneCache, err error) {
	z = newZoneCache(nil)
	if w.zone >= 0 {
		if z, err = namedZone(str(args[w.zone], i)); err != nil {
			return b, z, err
		}
	}
	origin, has := int64(0), w.origin >= 0 && w.origin < len(args) && !args[w.origin].IsNull(i)
	if has {
		v := args[w.origin]
		if v.Kind == vector.Int32 {
			origin, _ = dateToTS(v.I32[i&v.Mask()])
		} else {
			origin = z.local(v.I64[i&v.Mask()])
		}
		if !finiteTS(origin) {
			return b, z, pgerr.New(pgerr.DatetimeFieldOverflow, "origin out of range")
		}
	}
	if b, err = newBucketer(args[0].F16[i&args[0].Mask()], origin, has); err != nil {
		return b, z, err
	}
	if w.offset >= 0 && w.offset < len(args) && !args[w.offset].IsNull(i) {
		b.offset, b.shifts = types.DecodeInterval(args[w.offset].F16[i&args[w.offset].Mask()]), true
	}
	return b, z, nil
}

// bucketDate is time_bucket over dates: their midnights, cut to the day.
func bucketDate(where bucketArgs) Kernel {
	times := bucketTime(where)
	return func(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		ts := vector.New(vector.Int64, n)
		ts.Valid, ts.Const = args[1].Valid, args[1].Const
		for _, d := range args[1].I32[:args[1].Phys()] {
			us, ok := dateToTS(d)
			if !ok {
				return errDateForTimestamp()
			}
			ts.I64 = append(ts.I64, us)
		}
		res := vector.New(vector.Int64, n)
		res.Resize(n)
		in := append([]*vector.Vector(nil), args...)
		in[1] = ts
		if err := times(c, res, in, n); err != nil {
			return err
		}
		for i := range out.I32[:n] {
			out.I32[i] = tsToDate(res.I64[i])
			if res.IsNull(i) {
				setNull(out, i, n)
			}
		}
		return nil
	}
}

// bucketInt is time_bucket over integers, with an optional offset.
func bucketInt[T integer](get access[T], t types.OID) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		w, x, dst := get(args[0]), get(args[1]), get(out)
		for i := range dst[:n] {
			if !live(out, i) {
				continue
			}
			width, v, off := int64(w[i&args[0].Mask()]), int64(x[i&args[1].Mask()]), int64(0)
			if width <= 0 {
				return errPeriod()
			}
			if len(args) > 2 {
				off = int64(get(args[2])[i&args[2].Mask()]) % width
			}
			mod := (v%width - off) % width
			if mod < 0 {
				mod += width
			}
			r := v - mod
			if r > v || int64(T(r)) != r {
				return outOfRange(t)
			}
			dst[i] = T(r)
		}
		return nil
	}
}

func bucketInts[T integer](get access[T], t types.OID) {
	const doc = "Start of the bucket of a width that holds a value."
	RegisterFunctions(
		fn("time_bucket", t, bucketInt(get, t), t, t).fails().doc(doc),
		fn("time_bucket", t, bucketInt(get, t), t, t, t).fails().doc(doc),
	)
}

func init() {
	const doc = "Start of the bucket of a width that holds a time."
	iv := types.Interval
	for _, t := range []types.OID{types.Timestamp, types.TimestampTZ, types.Date} {
		make := bucketTime
		if t == types.Date {
			make = bucketDate
		}
		none := -1
		RegisterFunctions(
			fn("time_bucket", t, make(bucketArgs{none, none, none}), iv, t).takesNulls().fails().doc(doc),
			fn("time_bucket", t, make(bucketArgs{2, none, none}), iv, t, t).takesNulls().fails().doc(doc),
			fn("time_bucket", t, make(bucketArgs{none, 2, none}), iv, t, iv).takesNulls().fails().doc(doc),
		)
	}
	z := fn("time_bucket", types.TimestampTZ, bucketTime(bucketArgs{3, 4, 2}), iv, types.TimestampTZ, types.Text, types.TimestampTZ, iv)
	z.Defaults = 2
	z.ArgNames = []string{"bucket_width", "ts", "timezone", "origin", "offset"}
	RegisterFunctions(z.takesNulls().fails().stable().doc("Start of the bucket of local time in a zone."))
	bucketInts(i16s, types.Int2)
	bucketInts(i32s, types.Int4)
	bucketInts(i64s, types.Int8)
	for _, t := range []types.OID{types.Timestamp, types.TimestampTZ} {
		RegisterFunctions(fn("date_bin", t, dateBin, iv, t, t).fails().doc("Start of the bin of a width that holds a time, counted from an origin."))
	}
}
