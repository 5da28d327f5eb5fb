package functions

import "math"

// Go's math.Pow loses up to a hundred units in the last place for large
// exponents; PostgreSQL answers with the C library's pow, which is within one.
// So power is computed here with twice the precision (pairs of floats, after
// Dekker 1971 and Knuth's two-sum) and rounded once.

// pair is an unevaluated sum hi + lo with |lo| at most half a unit of hi.
type pair struct{ hi, lo float64 }

func twoSum(a, b float64) pair {
	s := a + b
	t := s - a
	return pair{s, (a - (s - t)) + (b - t)}
}

func (x pair) add(y pair) pair {
	s := twoSum(x.hi, y.hi)
	return twoSum(s.hi, s.lo+(x.lo+y.lo))
}

func (x pair) mul(y pair) pair {
	p := x.hi * y.hi
	e := math.FMA(x.hi, y.hi, -p) + (x.hi*y.lo + x.lo*y.hi)
	return twoSum(p, e)
}

var ln2 = pair{0.6931471805599453, 2.3190468138462996e-17}

// expTerms are 1/2!, 1/3!, ... as pairs.
var expTerms = func() (t [9]pair) {
	f := 1.0
	for i := range t {
		f *= float64(i + 2)
		hi := 1 / f
		t[i] = pair{hi, math.FMA(-hi, f, 1) / f}
	}
	return t
}()

// expPair returns e^x as a pair m and an exponent: m * 2^k.
func expPair(x pair) (m pair, k int) {
	n := math.Round(x.hi / ln2.hi)
	r := x.add(ln2.mul(pair{-n, 0}))
	// e^r = (e^(r/256))^256: a small argument needs few terms.
	const halvings = 8
	r = pair{math.Ldexp(r.hi, -halvings), math.Ldexp(r.lo, -halvings)}
	s := expTerms[len(expTerms)-1]
	for i := len(expTerms) - 2; i >= 0; i-- {
		s = s.mul(r).add(expTerms[i])
	}
	s = s.mul(r).mul(r).add(r) // e^r - 1
	for range halvings {
		s = pair{2 * s.hi, 2 * s.lo}.add(s.mul(s))
	}
	return s.add(pair{1, 0}), int(n)
}

// logPair returns the natural logarithm of a finite positive number.
func logPair(a float64) pair {
	m, e := math.Frexp(a)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	y := math.Log(m)
	// One step of Newton's method: log m = y + log(m * e^-y).
	g, k := expPair(pair{-y, 0})
	c := pair{math.Ldexp(g.hi, k), math.Ldexp(g.lo, k)}.mul(pair{m, 0}).add(pair{-1, 0})
	return ln2.mul(pair{float64(e), 0}).add(pair{y, 0}).add(c)
}

// pow returns a raised to b as C99 defines it, special cases included.
func pow(a, b float64) float64 {
	rough := math.Pow(a, b)
	abs := math.Abs(rough)
	if rough != rough || abs < 0x1p-1022 || math.IsInf(rough, 0) || abs == 1 && (a == 1 || b == 0) || math.IsInf(a, 0) || math.IsInf(b, 0) {
		return rough
	}
	if b == 1 {
		return a
	}
	m, k := expPair(logPair(math.Abs(a)).mul(pair{b, 0}))
	r := math.Ldexp(m.hi+m.lo, k)
	if math.IsInf(r, 0) || r == 0 {
		return rough
	}
	return math.Copysign(r, rough)
}
