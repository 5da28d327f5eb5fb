package functions

import (
	"math"
	"math/big"

	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// moment selects what a variance-like aggregate returns.
type moment uint8

const (
	momentAvg moment = iota
	momentVarPop
	momentVarSamp
	momentStdPop
	momentStdSamp
)

func (k moment) sample() bool { return k == momentVarSamp || k == momentStdSamp }
func (k moment) root() bool   { return k == momentStdPop || k == momentStdSamp }

// floatMoments keeps N, the sum and the sum of squared deviations per group by
// the method of Youngs and Cramer, as PostgreSQL does. It serves avg and the variances.
type floatMoments[T float] struct {
	get  access[T]
	kind moment
	g    []moments
}

type moments struct{ n, sum, dev float64 }

func (s *floatMoments[T]) Grow(n int)  { s.g = extend(s.g, n) }
func (s *floatMoments[T]) Size() int64 { return int64(cap(s.g)) * 24 }

func (s *floatMoments[T]) Update(groups []uint32, args []*vector.Vector, n int) error {
	rows, ok := present(args[0], n)
	if !ok {
		return nil
	}
	x, m := s.get(args[0]), args[0].Mask()
	if s.kind == momentAvg {
		return s.updateAvg(groups, x, m, rows)
	}
	var err error
	rows.each(func(i int) {
		if e := s.g[group(groups, i)].add(float64(x[i&m])); e != nil {
			err = e
		}
	})
	return err
}

func (s *floatMoments[T]) updateAvg(groups []uint32, x []T, m int, rows rowSet) error {
	switch {
	case groups == nil && rows.valid == nil && m != 0:
		total, special := s.g[0].sum, T(0)
		for _, v := range x[:rows.n] {
			total += float64(v)
			special += v * 0
		}
		s.g[0].sum = total
		s.g[0].n += float64(rows.n)
		if special == 0 {
			return nil
		}
	case rows.valid == nil && m != 0:
		for i, g := range groups[:rows.n] {
			s.g[g].sum += float64(x[i])
			s.g[g].n++
		}
	default:
		rows.each(func(i int) {
			g := &s.g[group(groups, i)]
			g.sum += float64(x[i&m])
			g.n++
		})
	}
	if anySpecial(x[:min(len(x), max(1, rows.n&m))]) {
		s.mark(groups, x, m, rows)
	}
	return nil
}

// mark notes in dev that a group saw an infinity, so that an infinite sum is not an overflow.
func (s *floatMoments[T]) mark(groups []uint32, x []T, m int, rows rowSet) {
	rows.each(func(i int) {
		if isInf(x[i&m]) {
			s.g[group(groups, i)].dev = math.NaN()
		}
	})
}

func (a *moments) add(x float64) error {
	a.n++
	a.sum += x
	if a.n > 1 {
		t := x*a.n - a.sum
		a.dev += t * t / (a.n * (a.n - 1))
		if math.IsInf(a.sum, 0) || math.IsInf(a.dev, 0) {
			if !math.IsInf(a.sum-x, 0) && !math.IsInf(x, 0) && !math.IsNaN(a.sum-x) {
				return floatOverflow()
			}
			a.dev = math.NaN()
		}
	} else if x-x != 0 {
		a.dev = math.NaN()
	}
	return nil
}

func (a *moments) merge(b moments) {
	switch {
	case b.n == 0:
	case a.n == 0:
		*a = b
	default:
		t := a.sum/a.n - b.sum/b.n
		n := a.n + b.n
		a.dev += b.dev + a.n*b.n*t*t/n
		a.n, a.sum = n, a.sum+b.sum
	}
}

func (s *floatMoments[T]) Merge(other AggState, to []uint32) error {
	for i, b := range other.(*floatMoments[T]).g {
		if s.kind == momentAvg {
			a := &s.g[to[i]]
			a.n, a.sum, a.dev = a.n+b.n, a.sum+b.sum, a.dev+b.dev
			continue
		}
		s.g[to[i]].merge(b)
	}
	return nil
}

func (s *floatMoments[T]) Result(_ *Ctx, out *vector.Vector, lo, hi int) error {
	for _, a := range s.g[lo:hi] {
		if a.n == 0 || s.kind.sample() && a.n < 2 {
			out.AppendNull()
			continue
		}
		r := a.sum / a.n
		switch s.kind {
		case momentAvg:
			if math.IsInf(a.sum, 0) && !math.IsNaN(a.dev) {
				return floatOverflow()
			}
		case momentVarPop, momentStdPop:
			r = a.dev / a.n
		default:
			r = a.dev / (a.n - 1)
		}
		if s.kind.root() {
			r = math.Sqrt(r)
		}
		out.AppendFloat64(r)
	}
	return nil
}

// exactMoments keeps exact sums of x and x² per group; the results are numeric.
type exactMoments struct {
	kind   moment
	read   func(v *vector.Vector, i int, d *decimal) error
	sum    []types.NumericSum
	square []types.NumericSum
}

func (s *exactMoments) Grow(n int) { s.sum, s.square = extend(s.sum, n), extend(s.square, n) }

func (s *exactMoments) Size() int64 { return int64(cap(s.sum)+cap(s.square)) * numericSumBytes }

func (s *exactMoments) Update(groups []uint32, args []*vector.Vector, n int) error {
	rows, ok := present(args[0], n)
	if !ok {
		return nil
	}
	var x, xx decimal
	var err error
	rows.each(func(i int) {
		g := group(groups, i)
		if e := s.read(args[0], i&args[0].Mask(), &x); e != nil {
			err = e
			return
		}
		s.sum[g].Add(&x)
		if e := xx.Mul(&x, &x); e != nil {
			err = e
			return
		}
		s.square[g].Add(&xx)
	})
	return err
}

func (s *exactMoments) Merge(other AggState, to []uint32) error {
	o := other.(*exactMoments)
	for i := range o.sum {
		s.sum[to[i]].Merge(&o.sum[i])
		s.square[to[i]].Merge(&o.square[i])
	}
	return nil
}

func (s *exactMoments) Result(_ *Ctx, out *vector.Vector, lo, hi int) error {
	var res decimal
	for g := lo; g < hi; g++ {
		n := s.sum[g].Count
		if n == 0 || s.kind.sample() && n < 2 {
			out.AppendNull()
			continue
		}
		if err := s.finish(g, n, &res); err != nil {
			return err
		}
		appendDecimal(out, &res)
	}
	return nil
}

// finish computes (n*Σx² - (Σx)²) / (n*n or n*(n-1)).
func (s *exactMoments) finish(g int, n int64, res *decimal) error {
	var sum, square, count, divisor decimal
	if err := s.sum[g].Sum(&sum); err != nil {
		return err
	}
	if err := s.square[g].Sum(&square); err != nil {
		return err
	}
	if sum.IsNaN() || sum.IsInf() {
		res.SetNaN()
		return nil
	}
	count.SetInt64(n)
	divisor.SetInt64(n)
	if s.kind.sample() {
		divisor.SetInt64(n - 1)
	}
	for _, step := range []error{
		sum.Mul(&sum, &sum), square.Mul(&square, &count), square.Sub(&square, &sum), divisor.Mul(&divisor, &count),
	} {
		if step != nil {
			return step
		}
	}
	if square.Sign() <= 0 {
		res.SetInt64(0)
		return nil
	}
	if err := res.Div(&square, &divisor); err != nil {
		return err
	}
	if s.kind.root() {
		return rootAtScale(res)
	}
	return nil
}

// rootAtScale replaces d by its square root with d's own scale, rounded half up.
func rootAtScale(d *decimal) error {
	scale := d.Scale()
	text := d.AppendText(nil)
	digits := make([]byte, 0, len(text)+scale)
	for _, c := range text {
		if c != '.' {
			digits = append(digits, c)
		}
	}
	// digits is d * 10^scale; times 10^(scale+2) its root is root(d) * 10^(scale+1).
	for k := 0; k < scale+2; k++ {
		digits = append(digits, '0')
	}
	x, _ := new(big.Int).SetString(string(digits), 10)
	x.Sqrt(x)
	x.Add(x, big.NewInt(5))
	x.Quo(x, big.NewInt(10))
	root := x.String()
	for len(root) <= scale {
		root = "0" + root
	}
	return d.Parse([]byte(root[:len(root)-scale] + "." + root[len(root)-scale:]))
}

func readInt(v *vector.Vector, i int, d *decimal) error {
	switch v.Kind {
	case vector.Int16:
		d.SetInt64(int64(v.I16[i]))
	case vector.Int32:
		d.SetInt64(int64(v.I32[i]))
	default:
		d.SetInt64(v.I64[i])
	}
	return nil
}

func readDecimal(v *vector.Vector, i int, d *decimal) error { return d.Decode(v.Bytes(i)) }

func init() {
	const avgDoc = "Mean of the values that are not NULL."
	RegisterAggregates(
		agg("avg", types.Float8, func() AggState { return &floatMoments[float32]{get: f32s} }, avgDoc, types.Float4),
		agg("avg", types.Float8, func() AggState { return &floatMoments[float64]{get: f64s} }, avgDoc, types.Float8),
	)
	for _, m := range []struct {
		name string
		kind moment
		doc  string
	}{
		{"var_pop", momentVarPop, "Population variance."},
		{"var_samp", momentVarSamp, "Sample variance."},
		{"variance", momentVarSamp, "Sample variance."},
		{"stddev_pop", momentStdPop, "Population standard deviation."},
		{"stddev_samp", momentStdSamp, "Sample standard deviation."},
		{"stddev", momentStdSamp, "Sample standard deviation."},
	} {
		exact := func(read func(*vector.Vector, int, *decimal) error) func() AggState {
			return func() AggState { return &exactMoments{kind: m.kind, read: read} }
		}
		RegisterAggregates(
			agg(m.name, types.Float8, func() AggState { return &floatMoments[float32]{get: f32s, kind: m.kind} }, m.doc, types.Float4),
			agg(m.name, types.Float8, func() AggState { return &floatMoments[float64]{get: f64s, kind: m.kind} }, m.doc, types.Float8),
			agg(m.name, types.Numeric, exact(readInt), m.doc, types.Int2),
			agg(m.name, types.Numeric, exact(readInt), m.doc, types.Int4),
			agg(m.name, types.Numeric, exact(readInt), m.doc, types.Int8),
			agg(m.name, types.Numeric, exact(readDecimal), m.doc, types.Numeric),
		)
	}
}
