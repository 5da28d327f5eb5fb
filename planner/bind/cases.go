package bind

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/scalar"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// caseExpr binds both forms of CASE; CASE x WHEN y becomes WHEN x = y.
func (b *binder) caseExpr(n *pg_query.CaseExpr, c exprCtx) (scalar.Expr, error) {
	c.arms = "CASE"
	var subject operand
	if n.Arg != nil {
		err := b.copy()
		if err != nil {
			return nil, err
		}
		subject, err = b.operand(n.Arg, c)
		b.copies--
		if err != nil {
			return nil, err
		}
		if subject.expr, err = b.resolveUnknown(subject.expr, locate(n.Arg)); err != nil {
			return nil, err
		}
	}
	out := &scalar.Case{Whens: make([]scalar.When, 0, len(n.Args))}
	// PostgreSQL lets ELSE speak first when it looks for the common type.
	results := make([]operand, 1, len(n.Args)+1)
	for _, a := range n.Args {
		w := a.GetCaseWhen()
		cond, err := b.whenCondition(w, subject, c)
		if err != nil {
			return nil, err
		}
		then, err := b.operand(w.Result, c)
		if err != nil {
			return nil, err
		}
		out.Whens = append(out.Whens, scalar.When{Cond: cond})
		results = append(results, then)
	}
	results[0] = operand{nullConst(types.T(types.Unknown)), nil}
	if n.Defresult != nil {
		var err error
		if results[0], err = b.operand(n.Defresult, c); err != nil {
			return nil, err
		}
	}
	list, t, err := b.unify("CASE", results)
	if err != nil {
		return nil, err
	}
	out.Typ = t
	for i := range out.Whens {
		out.Whens[i].Then = list[i+1]
	}
	if n.Defresult != nil {
		out.Else = list[0]
		return out, nil
	}
	return out, nil
}

func (b *binder) whenCondition(w *pg_query.CaseWhen, subject operand, c exprCtx) (scalar.Expr, error) {
	cond, err := b.operand(w.Expr, c)
	if err != nil {
		return nil, err
	}
	if subject.expr != nil {
		if cond.expr, err = b.apply("=", subject, cond, w.Location); err != nil {
			return nil, err
		}
	}
	return b.asBoolean(cond.expr, "CASE/WHEN", w.Expr)
}

func (b *binder) coalesce(n *pg_query.CoalesceExpr, c exprCtx) (scalar.Expr, error) {
	c.arms = "COALESCE"
	ops, err := b.operands(n.Args, c)
	if err != nil {
		return nil, err
	}
	list, t, err := b.unify("COALESCE", ops)
	if err != nil {
		return nil, err
	}
	return &scalar.Coalesce{Args: list, Typ: t}, nil
}

func (b *binder) minMax(n *pg_query.MinMaxExpr, c exprCtx) (scalar.Expr, error) {
	name, greatest := "LEAST", false
	if n.Op == pg_query.MinMaxOp_IS_GREATEST {
		name, greatest = "GREATEST", true
	}
	ops, err := b.operands(n.Args, c)
	if err != nil {
		return nil, err
	}
	list, t, err := b.unify(name, ops)
	if err != nil {
		return nil, err
	}
	if !b.sortable(t.OID) {
		return nil, b.errorAt(n.Location, pgerr.UndefinedFunction, "could not identify a comparison function for type %s", typeText(t.OID))
	}
	return &scalar.MinMax{Greatest: greatest, Args: list, Typ: t}, nil
}
