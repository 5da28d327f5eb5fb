package functions

import (
	"math"
	"slices"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// orderedSet is an aggregate with WITHIN GROUP: the values of all groups that
// are not NULL in one vector, sorted by group and value when the first result
// is asked for, and per group the fraction of its first row.
type orderedSet struct {
	typ       types.Type // of the values
	desc      bool
	pick      picker
	fraction  vector.Kind // Float64, Bytes for an array of fractions; unused by mode
	values    *vector.Vector
	groups    []uint32       // group of each value
	fractions *vector.Vector // one row per group that saw a row
	at        []int32        // row of fractions plus one, by group
	order     []int32        // values by group and order; nil before the first result
	start     []int32        // where a group's values begin in order
}

// picker appends one result to out from n sorted values, n > 0; row gives the
// place in s.values of the i-th. args is the row of s.fractions.
type picker func(s *orderedSet, out *vector.Vector, row func(i int) int, n, arg int) error

func (s *orderedSet) Grow(n int) { s.at = extend(s.at, n) }

func (s *orderedSet) Size() int64 {
	return s.values.Size() + s.fractions.Size() + int64(cap(s.groups)+cap(s.order)+cap(s.start)+cap(s.at))*4
}

func (s *orderedSet) Update(groups []uint32, args []*vector.Vector, n int) error {
	v := args[len(args)-1]
	for i := 0; i < n; i++ {
		g := group(groups, i)
		if s.at[g] == 0 && len(args) > 1 {
			s.fractions.AppendFrom(args[0], i)
			s.at[g] = int32(s.fractions.N)
		}
		if !v.IsNull(i) {
			s.values.AppendFrom(v, i)
			s.groups = append(s.groups, g)
		}
	}
	return s.bound()
}

// bound keeps the values within what one vector addresses.
func (s *orderedSet) bound() error {
	return valueLimit(len(s.values.Data) > maxBatchBytes || len(s.groups) > math.MaxInt32/2)
}

func (s *orderedSet) Merge(other AggState, to []uint32) error {
	o := other.(*orderedSet)
	for i, at := range o.at {
		if at > 0 && s.at[to[i]] == 0 {
			s.fractions.AppendFrom(o.fractions, int(at)-1)
			s.at[to[i]] = int32(s.fractions.N)
		}
	}
	s.values.AppendVector(o.values, nil)
	for _, g := range o.groups {
		s.groups = append(s.groups, to[g])
	}
	return s.bound()
}

// sort orders the values by group and value.
func (s *orderedSet) sort() {
	s.start = make([]int32, len(s.at)+1)
	for _, g := range s.groups {
		s.start[g+1]++
	}
	for g := range s.at {
		s.start[g+1] += s.start[g]
	}
	s.order = make([]int32, len(s.groups))
	next := slices.Clone(s.start)
	for i, g := range s.groups {
		s.order[next[g]] = int32(i)
		next[g]++
	}
	for g := range s.at {
		slices.SortStableFunc(s.order[s.start[g]:s.start[g+1]], func(a, b int32) int {
			c := types.Compare(s.typ, s.values, int(a), s.values, int(b))
			if s.desc {
				return -c
			}
			return c
		})
	}
}

func (s *orderedSet) Result(_ *Ctx, out *vector.Vector, lo, hi int) error {
	if s.order == nil {
		s.sort()
	}
	for g := lo; g < hi; g++ {
		of := s.order[s.start[g]:s.start[g+1]]
		arg := int(s.at[g]) - 1
		if err := s.check(arg); err != nil {
			return err
		}
		if len(of) == 0 || arg >= 0 && s.fractions.IsNull(arg) {
			out.AppendNull()
			continue
		}
		if err := s.pick(s, out, func(i int) int { return int(of[i]) }, len(of), arg); err != nil {
			return err
		}
	}
	return nil
}

// check refuses fractions outside of 0 to 1.
func (s *orderedSet) check(arg int) error {
	if arg < 0 || s.fractions.IsNull(arg) {
		return nil
	}
	if s.fraction == vector.Float64 {
		return checkFraction(s.fractions.F64[arg])
	}
	list := vector.New(vector.Float64, 0)
	if err := ArrayElements(list, s.fractions.Bytes(arg)); err != nil {
		return err
	}
	for i, f := range list.F64 {
		if !list.IsNull(i) {
			if err := checkFraction(f); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkFraction(f float64) error {
	if f >= 0 && f <= 1 {
		return nil
	}
	text := "NaN"
	if f == f {
		text = string(types.AppendFloat(nil, f, 64, 0))
	}
	return pgerr.New(pgerr.NumericValueOutOfRange, "percentile value %s is not between 0 and 1", text)
}

// one makes the picker of a single fraction.
func one(value func(s *orderedSet, out *vector.Vector, row func(int) int, n int, f float64) error) picker {
	return func(s *orderedSet, out *vector.Vector, row func(int) int, n, arg int) error {
		return value(s, out, row, n, s.fractions.F64[arg])
	}
}

// many makes the picker of an array of fractions; the result has its shape.
func many(value func(s *orderedSet, out *vector.Vector, row func(int) int, n int, f float64) error) picker {
	return func(s *orderedSet, out *vector.Vector, row func(int) int, n, arg int) error {
		given := s.fractions.Bytes(arg)
		list := vector.New(vector.Float64, 0)
		if err := ArrayElements(list, given); err != nil {
			return err
		}
		h, err := readArray(given)
		if err != nil {
			return err
		}
		res := vector.New(s.typ.Kind(), list.N)
		for i, f := range list.F64 {
			if list.IsNull(i) {
				res.AppendNull()
			} else if err := value(s, res, row, n, f); err != nil {
				return err
			}
		}
		out.Data = types.AppendArray(out.Data, s.typ, res, 0, res.N, h.dimsOf())
		out.FinishBytes()
		return nil
	}
}

// discrete is the first value whose position reaches the fraction.
func discrete(s *orderedSet, out *vector.Vector, row func(int) int, n int, f float64) error {
	at := max(0, int(math.Ceil(f*float64(n)))-1)
	out.AppendFrom(s.values, row(at))
	return nil
}

// continuous interpolates between the two nearest values.
func continuous(s *orderedSet, out *vector.Vector, row func(int) int, n int, f float64) error {
	at := f * float64(n-1)
	lo, hi := row(int(math.Floor(at))), row(int(math.Ceil(at)))
	part := at - math.Floor(at)
	if s.typ.OID == types.Interval {
		return between(out, s.values.F16[lo], s.values.F16[hi], part)
	}
	a, b := s.values.F64[lo], s.values.F64[hi]
	if part != 0 {
		a += part * (b - a)
	}
	out.AppendFloat64(a)
	return nil
}

func between(out *vector.Vector, lo, hi [16]byte, part float64) error {
	a := types.DecodeInterval(lo)
	if part != 0 {
		d, err := types.DecodeInterval(hi).Sub(a)
		if err != nil {
			return err
		}
		if d, err = d.Mul(part); err != nil {
			return err
		}
		if a, err = a.Add(d); err != nil {
			return err
		}
	}
	out.AppendFixed16(a.Encode())
	return nil
}

// mostFrequent is mode(): the first in order of those that occur most often.
func mostFrequent(s *orderedSet, out *vector.Vector, row func(int) int, n, _ int) error {
	best, count := 0, 0
	for from := 0; from < n; {
		to := from + 1
		for to < n && types.Compare(s.typ, s.values, row(from), s.values, row(to)) == 0 {
			to++
		}
		if to-from > count {
			best, count = from, to-from
		}
		from = to
	}
	out.AppendFrom(s.values, row(best))
	return nil
}

// orderedSetAggregate describes one; its variant for ORDER BY ... DESC goes with it.
func orderedSetAggregate(name string, direct int, ret types.OID, pick picker, doc string, args ...types.OID) Aggregate {
	a := Aggregate{Name: name, Args: args, Ret: ret, Doc: doc, WithinGroup: true, Direct: direct}
	state := func(desc bool) func([]types.Type) AggState {
		return func(in []types.Type) AggState {
			s := &orderedSet{typ: in[len(in)-1], desc: desc, pick: pick, fraction: in[0].Kind()}
			s.values, s.fractions = vector.New(s.typ.Kind(), 0), vector.New(s.fraction, 0)
			return s
		}
	}
	a.New = state(false)
	d := a
	d.New = state(true)
	a.Descending = &d
	return a
}

func init() {
	f8, f8s, iv := types.Float8, types.ArrayOf(types.Float8), types.Interval
	const cont, disc = "Value at a fraction of the ordered values, interpolated.", "First of the ordered values whose position reaches a fraction."
	RegisterAggregates(
		orderedSetAggregate("percentile_cont", 1, f8, one(continuous), cont, f8, f8),
		orderedSetAggregate("percentile_cont", 1, iv, one(continuous), cont, f8, iv),
		orderedSetAggregate("percentile_cont", 1, f8s, many(continuous), cont, f8s, f8),
		orderedSetAggregate("percentile_cont", 1, types.ArrayOf(iv), many(continuous), cont, f8s, iv),
		orderedSetAggregate("percentile_disc", 1, types.AnyElement, one(discrete), disc, f8, types.AnyElement),
		orderedSetAggregate("percentile_disc", 1, types.AnyArray, many(discrete), disc, f8s, types.AnyElement),
		orderedSetAggregate("mode", 0, types.AnyElement, mostFrequent, "Most frequent of the values, the first in order of several.", types.AnyElement),
	)
}
