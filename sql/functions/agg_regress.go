package functions

import (
	"math"

	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// regression selects what an aggregate of two variables returns.
type regression uint8

const (
	regressCount regression = iota
	regressSXX
	regressSYY
	regressSXY
	regressAvgX
	regressAvgY
	regressCovarPop
	regressCovarSamp
	regressCorr
	regressR2
	regressSlope
	regressIntercept
)

// pairMoments holds the number of pairs, the sums, and the sums of squared and
// mixed deviations from the means, updated by the method of Youngs and Cramer.
type pairMoments struct{ n, sx, sxx, sy, syy, sxy float64 }

// regressState is one of the aggregates of pairs (Y, X). Pairs with a NULL do not count.
type regressState struct {
	kind regression
	g    []pairMoments
}

func (s *regressState) Grow(n int)  { s.g = extend(s.g, n) }
func (s *regressState) Size() int64 { return int64(cap(s.g)) * 48 }

func (s *regressState) Update(groups []uint32, args []*vector.Vector, n int) error {
	ys, xs := args[0].F64, args[1].F64
	my, mx := args[0].Mask(), args[1].Mask()
	for i := 0; i < n; i++ {
		if args[0].IsNull(i) || args[1].IsNull(i) {
			continue
		}
		g := &s.g[group(groups, i)]
		if s.kind == regressCount {
			g.n++
			continue
		}
		if err := g.add(ys[i&my], xs[i&mx]); err != nil {
			return err
		}
	}
	return nil
}

func (a *pairMoments) add(y, x float64) error {
	old := *a
	a.n++
	a.sx += x
	a.sy += y
	if old.n == 0 {
		if x-x != 0 {
			a.sxx, a.sxy = math.NaN(), math.NaN()
		}
		if y-y != 0 {
			a.syy, a.sxy = math.NaN(), math.NaN()
		}
		return nil
	}
	dx, dy := x*a.n-a.sx, y*a.n-a.sy
	scale := 1 / (a.n * old.n)
	a.sxx += dx * dx * scale
	a.syy += dy * dy * scale
	a.sxy += dx * dy * scale
	if isInf(a.sx) || isInf(a.sxx) || isInf(a.sy) || isInf(a.syy) || isInf(a.sxy) {
		fineX, fineY := !isInf(old.sx) && !isInf(x), !isInf(old.sy) && !isInf(y)
		if fineX && (isInf(a.sx) || isInf(a.sxx)) || fineY && (isInf(a.sy) || isInf(a.syy)) || fineX && fineY && isInf(a.sxy) {
			return floatOverflow()
		}
		a.sxx, a.syy, a.sxy = nanOfInf(a.sxx), nanOfInf(a.syy), nanOfInf(a.sxy)
	}
	return nil
}

func nanOfInf(x float64) float64 {
	if isInf(x) {
		return math.NaN()
	}
	return x
}

func (a *pairMoments) merge(b *pairMoments) error {
	switch {
	case b.n == 0:
		return nil
	case a.n == 0:
		*a = *b
		return nil
	}
	n := a.n + b.n
	dx, dy := a.sx/a.n-b.sx/b.n, a.sy/a.n-b.sy/b.n
	sum := pairMoments{n: n, sx: a.sx + b.sx, sy: a.sy + b.sy,
		sxx: a.sxx + b.sxx + a.n*b.n*dx*dx/n,
		syy: a.syy + b.syy + a.n*b.n*dy*dy/n,
		sxy: a.sxy + b.sxy + a.n*b.n*dx*dy/n}
	if overflows(sum.sx, a.sx, b.sx) || overflows(sum.sxx, a.sxx, b.sxx) || overflows(sum.sy, a.sy, b.sy) ||
		overflows(sum.syy, a.syy, b.syy) || overflows(sum.sxy, a.sxy, b.sxy) {
		return floatOverflow()
	}
	*a = sum
	return nil
}

func overflows(sum, a, b float64) bool { return isInf(sum) && !isInf(a) && !isInf(b) }

func (s *regressState) Merge(other AggState, to []uint32) error {
	o := other.(*regressState)
	for i := range o.g {
		if s.kind == regressCount {
			s.g[to[i]].n += o.g[i].n
		} else if err := s.g[to[i]].merge(&o.g[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *regressState) Result(_ *Ctx, out *vector.Vector, lo, hi int) error {
	for i := range s.g[lo:hi] {
		g := &s.g[lo+i]
		if s.kind == regressCount {
			out.AppendInt64(int64(g.n))
		} else if r, ok := g.result(s.kind); ok {
			out.AppendFloat64(r)
		} else {
			out.AppendNull()
		}
	}
	return nil
}

// result returns what kind asks for; ok is false where it is NULL.
func (a *pairMoments) result(kind regression) (r float64, ok bool) {
	if a.n < 1 || kind == regressCovarSamp && a.n < 2 {
		return 0, false
	}
	switch kind {
	case regressSXX:
		return a.sxx, true
	case regressSYY:
		return a.syy, true
	case regressSXY:
		return a.sxy, true
	case regressAvgX:
		return a.sx / a.n, true
	case regressAvgY:
		return a.sy / a.n, true
	case regressCovarPop:
		return a.sxy / a.n, true
	case regressCovarSamp:
		return a.sxy / (a.n - 1), true
	case regressCorr:
		return a.sxy / math.Sqrt(a.sxx*a.syy), a.sxx != 0 && a.syy != 0
	case regressR2:
		if a.sxx != 0 && a.syy == 0 {
			return 1, true
		}
		return a.sxy * a.sxy / (a.sxx * a.syy), a.sxx != 0
	case regressSlope:
		return a.sxy / a.sxx, a.sxx != 0
	}
	return (a.sy - a.sx*a.sxy/a.sxx) / a.n, a.sxx != 0
}

func init() {
	f8 := types.Float8
	for _, a := range []struct {
		name string
		kind regression
		doc  string
	}{
		{"regr_sxx", regressSXX, "Sum of squared deviations of X."},
		{"regr_syy", regressSYY, "Sum of squared deviations of Y."},
		{"regr_sxy", regressSXY, "Sum of products of the deviations."},
		{"regr_avgx", regressAvgX, "Mean of X."},
		{"regr_avgy", regressAvgY, "Mean of Y."},
		{"covar_pop", regressCovarPop, "Population covariance."},
		{"covar_samp", regressCovarSamp, "Sample covariance."},
		{"corr", regressCorr, "Correlation coefficient."},
		{"regr_r2", regressR2, "Square of the correlation coefficient."},
		{"regr_slope", regressSlope, "Slope of the least-squares line."},
		{"regr_intercept", regressIntercept, "Where the least-squares line crosses X = 0."},
	} {
		RegisterAggregates(agg(a.name, f8, func() AggState { return &regressState{kind: a.kind} }, a.doc, f8, f8))
	}
	RegisterAggregates(agg("regr_count", types.Int8, func() AggState { return &regressState{} }, "Number of pairs without NULLs.", f8, f8))
}
