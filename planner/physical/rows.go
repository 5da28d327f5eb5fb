package physical

import (
	"math"

	"tsdb/planner/logical"
	"tsdb/planner/scalar"
)

// Guesses where nothing is known, as PostgreSQL makes them.
const (
	functionRows     = 1000
	virtualRows      = 100
	setRows          = 10
	equalSelectivity = 0.005
	rangeSelectivity = 0.3333
	groupShare       = 0.1
)

// Rows estimates how many rows a node returns.
func Rows(n Node) float64 {
	switch n := n.(type) {
	case *Scan:
		return n.Rows
	case *Virtual:
		return virtualRows
	case *Values:
		return float64(len(n.Rows))
	case *Function:
		return functionRows
	case *CTEScan:
		return n.Size
	case *WorkTable:
		return n.Size
	case *With:
		return Rows(n.Body)
	case *Recursive:
		return Rows(n.Seed) + 10*Rows(n.Step)
	case *ProjectSet:
		return Rows(n.Input) * setRows
	case *Apply:
		return joinRows(n.Kind, Rows(n.Left), Rows(n.Right), 1)
	case *Filter:
		return math.Max(1, Rows(n.Input)*Selectivity(n.Cond))
	case *Aggregate:
		if len(n.Keys) == 0 {
			return 1
		}
		return math.Max(1, math.Min(200*math.Pow(10, float64(len(n.Keys)-1)), Rows(n.Input)*groupShare))
	case *HashJoin:
		l, r := Rows(n.Left), Rows(n.Right)
		return joinRows(n.Kind, l, r, 1/math.Max(1, math.Min(l, r)))
	case *NestedLoop:
		s := 1.0
		if n.On != nil {
			s = Selectivity(n.On)
		}
		return joinRows(n.Kind, Rows(n.Left), Rows(n.Right), s)
	case *Sort:
		if n.Limit >= 0 {
			return math.Min(float64(n.Limit), Rows(n.Input))
		}
		return Rows(n.Input)
	case *Limit:
		rows := math.Max(0, Rows(n.Input)-float64(n.Offset))
		if n.Count >= 0 {
			rows = math.Min(rows, float64(n.Count))
		}
		return rows
	case *Append:
		sum := 0.0
		for _, in := range n.Ins {
			sum += Rows(in)
		}
		return sum
	case *SetOp:
		return Rows(n.Left)
	}
	if in := n.Inputs(); len(in) == 1 {
		return Rows(in[0])
	}
	return 1
}

func joinRows(kind logical.JoinKind, l, r, selectivity float64) float64 {
	rows := math.Max(1, l*r*selectivity)
	switch kind {
	case logical.Left:
		return math.Max(l, rows)
	case logical.Full:
		return math.Max(math.Max(l, r), rows)
	case logical.Mark, logical.Single:
		return l
	case logical.Semi, logical.Anti:
		return math.Max(1, l/2)
	}
	return rows
}

// Selectivity guesses the share of rows for which a condition is true.
func Selectivity(e scalar.Expr) float64 {
	switch e := e.(type) {
	case *scalar.Logic:
		if e.Or {
			none := 1.0
			for _, a := range e.Args {
				none *= 1 - Selectivity(a)
			}
			return 1 - none
		}
		s := 1.0
		for _, a := range e.Args {
			s *= Selectivity(a)
		}
		return s
	case *scalar.Not:
		return 1 - Selectivity(e.Arg)
	case *scalar.Call:
		switch e.Fn.Name {
		case "=":
			return equalSelectivity
		case "<>":
			return 1 - equalSelectivity
		}
		return rangeSelectivity
	case *scalar.InList:
		s := math.Min(1, equalSelectivity*float64(e.List.N))
		if e.Negate {
			return 1 - s
		}
		return s
	case *scalar.IsNull:
		if e.Negate {
			return 1 - equalSelectivity
		}
		return equalSelectivity
	}
	return 0.5
}
