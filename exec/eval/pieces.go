package eval

import (
	"math"
	"time"

	"tsdb/colstore/vector"
	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
)

const (
	// growth bounds how much longer than the piece before a piece is: the first is one row.
	growth = 16
	// pieceTime is about how long the rows of a piece take.
	pieceTime = 4 * time.Millisecond
)

// pace says how many rows of an expression to compute at a time: all of a batch
// of cheap ones, and of dear ones as many as take a few milliseconds, so that
// cancelling is soon noticed and long values of one batch are not there at once.
type pace struct {
	perRow time.Duration // of the last rows
	last   int           // how many these were, 0: none yet
}

// rows returns the size of the next piece when left rows are there.
func (p *pace) rows(left int) int {
	left = min(left, max(1, p.last*growth))
	if p.perRow*time.Duration(left) <= 2*pieceTime {
		return left
	}
	return max(1, int(pieceTime/p.perRow))
}

func (p *pace) took(d time.Duration, rows int) {
	p.perRow, p.last = d/time.Duration(rows)+1, rows
}

// dear reports whether rows of e may take long: a function of strings or
// numerics, which have any length, is called on values that differ by row.
func dear(e scalar.Expr) bool {
	long, differ := false, false
	scalar.Walk(e, func(e scalar.Expr) bool {
		switch e := e.(type) {
		case *scalar.Column:
			differ = true
		case *scalar.Call:
			differ = differ || e.Fn.Volatility == functions.Volatile
			long = long || takesBytes(e, e.Args...)
		case *scalar.Cast:
			long = long || e.Kernel != nil && takesBytes(e, e.Arg)
		}
		return true
	})
	return long && differ
}

func takesBytes(e scalar.Expr, args ...scalar.Expr) bool {
	for _, a := range args {
		if a.ResultType().Kind() == vector.Bytes {
			return true
		}
	}
	return e.ResultType().Kind() == vector.Bytes
}

// evalPaced evaluates n at the pace of its rows.
func (p *Program) evalPaced(n node, f *frame, s *pace) (value, error) {
	if !p.dear || f.n == 0 {
		return n.eval(f)
	}
	if err := p.m.env.Ctx.Canceled(); err != nil {
		return value{}, err
	}
	if s.rows(f.n) < f.n {
		return p.evalPieces(n, f, s)
	}
	begin := time.Now()
	v, err := n.eval(f)
	s.took(time.Since(begin), f.n)
	return v, err
}

func (p *Program) evalPieces(n node, f *frame, s *pace) (value, error) {
	var out *assembly
	rows := p.m.sel()
	size := 0
	for lo := 0; lo < f.n; {
		hi := lo + s.rows(f.n-lo)
		rows = rows[:0]
		for i := lo; i < hi; i++ {
			rows = append(rows, int32(i))
		}
		piece := f.narrow(rows)
		begin := time.Now()
		v, err := n.eval(piece)
		s.took(time.Since(begin), hi-lo)
		if err == nil {
			err = p.m.env.Ctx.Canceled()
		}
		if err == nil {
			size, err = withBytes(size, v.Vector, hi-lo)
		}
		if err != nil {
			p.m.free(piece)
			return value{}, err
		}
		if out == nil {
			out = p.m.assembly(v.Kind, f.n)
		}
		out.put(rows, v.Vector)
		p.m.release(v)
		p.m.free(piece)
		lo = hi
	}
	p.m.releaseSel(rows)
	return out.finish(), nil
}

// withBytes adds the bytes of n rows of v to size, which offsets must be able to tell.
func withBytes(size int, v *vector.Vector, n int) (int, error) {
	if v.Kind != vector.Bytes {
		return size, nil
	}
	switch {
	case v.Const:
		size += n * len(v.Bytes(0))
	case v.Dict != nil:
		for i := range n {
			size += len(v.Bytes(i))
		}
	default:
		size += int(v.Offsets[n] - v.Offsets[0])
	}
	if size > math.MaxInt32 {
		return size, pgerr.New(pgerr.ProgramLimitExceeded, "the results of one batch of rows exceed 2 GB")
	}
	return size, nil
}
