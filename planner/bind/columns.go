package bind

import (
	"tsdb/planner/logical"
	"tsdb/planner/scalar"
	"tsdb/sql/types"
)

// convertColumns casts the columns of a query to the given types, inside its
// topmost Project where that stands alone, else in a Project of its own. fail
// makes the error of a column without cast.
func (b *binder) convertColumns(q *query, want []types.Type, how func(int) conversion, fail func(col int, have types.Type) error) error {
	if err := b.retypeUnknowns(q, want, how); err != nil {
		return err
	}
	cols := q.node.Columns()
	same := true
	for i := range cols {
		same = same && (cols[i].Type == want[i] || cols[i].Type.OID == want[i].OID && want[i].Mod < 0)
	}
	if same {
		return nil
	}
	top, inPlace := q.node.(*logical.Project)
	exprs, out := make([]scalar.Expr, len(cols)), make([]logical.Column, len(cols))
	for i, col := range cols {
		var e scalar.Expr = &scalar.Column{Index: i, Typ: col.Type, Name: col.Name}
		if inPlace {
			e = top.Exprs[i]
		}
		x, ok, err := b.convert(e, want[i], how(i))
		if err != nil {
			return err
		}
		if !ok {
			if fail == nil {
				return b.cannotCast(col.Type.OID, want[i].OID, how(i).location)
			}
			return fail(i, col.Type)
		}
		exprs[i], out[i] = x, col
		if out[i].Type != x.ResultType() {
			out[i] = logical.Column{Name: col.Name, Type: x.ResultType()}
		}
	}
	if inPlace {
		q.node = &logical.Project{Input: top.Input, Exprs: exprs, Cols: out}
	} else {
		q.node = &logical.Project{Input: q.node, Exprs: exprs, Cols: out}
	}
	return nil
}

// retypeUnknowns gives the untyped literals among a query's columns the types that its user wants.
func (b *binder) retypeUnknowns(q *query, want []types.Type, how func(int) conversion) error {
	for i, col := range q.node.Columns() {
		if col.Type.OID != types.Unknown {
			continue
		}
		n, err := b.retype(q.node, i, want[i], how(i))
		if err != nil {
			return err
		}
		q.node = n
	}
	return nil
}

// retype converts column i below the operators that hand it on unchanged.
func (b *binder) retype(n logical.Node, i int, want types.Type, how conversion) (logical.Node, error) {
	switch n := n.(type) {
	case *logical.Sort:
		in, err := b.retype(n.Input, i, want, how)
		return &logical.Sort{Input: in, Keys: n.Keys}, err
	case *logical.Limit:
		in, err := b.retype(n.Input, i, want, how)
		return &logical.Limit{Input: in, Offset: n.Offset, Count: n.Count, Ties: n.Ties}, err
	case *logical.DistinctRows:
		in, err := b.retype(n.Input, i, want, how)
		return &logical.DistinctRows{Input: in, On: n.On}, err
	case *logical.With:
		in, err := b.retype(n.Body, i, want, how)
		w := *n
		w.Body = in
		return &w, err
	case *logical.Project:
		return b.retypeProject(n, i, want, how)
	}
	return n, nil
}

func (b *binder) retypeProject(n *logical.Project, i int, want types.Type, how conversion) (logical.Node, error) {
	out := &logical.Project{Input: n.Input, Exprs: append([]scalar.Expr(nil), n.Exprs...), Cols: append([]logical.Column(nil), n.Cols...)}
	if c, ok := n.Exprs[i].(*scalar.Column); ok {
		in, err := b.retype(n.Input, c.Index, want, how)
		if err != nil {
			return nil, err
		}
		m := *c
		m.Typ = in.Columns()[c.Index].Type
		out.Input, out.Exprs[i], out.Cols[i].Type = in, &m, m.Typ
		return out, nil
	}
	e, ok, err := b.convert(n.Exprs[i], want, how)
	if err != nil {
		return nil, err
	}
	if ok {
		out.Exprs[i], out.Cols[i].Type = e, e.ResultType()
	}
	return out, nil
}
