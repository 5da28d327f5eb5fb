package bind

import (
	"tsdb/planner/logical"
	"tsdb/planner/scalar"
)

// expandSets adds the rows of set-returning calls of the select list to the
// query's rows: calls side by side in step, one that is an argument of another
// below it. The targets then read their columns.
func (l *level) expandSets(list []*srfExpr) {
	at := map[*srfExpr]*scalar.Column{}
	for len(list) > 0 {
		set := &logical.ProjectSet{Input: l.node}
		next := width(l.node)
		var rest []*srfExpr
		found := map[*srfExpr]*scalar.Column{}
		for _, f := range list {
			if !resolved(f, at) {
				rest = append(rest, f)
				continue
			}
			args := make([]scalar.Expr, len(f.args))
			for i, a := range f.args {
				args[i] = replaced(a, at)
			}
			col := logical.Column{Name: f.fn.Name, Type: f.typ}
			set.Calls = append(set.Calls, logical.SetCall{Fn: f.fn, Args: args, Cols: []logical.Column{col}})
			found[f] = &scalar.Column{Index: next, Typ: f.typ, Name: f.fn.Name}
			next++
		}
		for f, c := range found {
			at[f] = c
		}
		l.node, list = overSet(set), rest
	}
	if len(at) == 0 {
		return
	}
	for i := range l.targets {
		l.targets[i].expr = replaced(l.targets[i].expr, at)
	}
}

// overSet makes a function over nothing a source of its own.
func overSet(n *logical.ProjectSet) logical.Node {
	if v, ok := n.Input.(*logical.Values); ok && len(v.Rows) == 1 && len(v.Cols) == 0 && len(n.Calls) == 1 {
		c := n.Calls[0]
		return &logical.Function{Fn: c.Fn, Args: c.Args, Alias: c.Fn.Name, Cols: c.Cols}
	}
	return n
}

// resolved reports whether the calls among the arguments of f have columns.
func resolved(f *srfExpr, at map[*srfExpr]*scalar.Column) bool {
	ok := true
	for _, a := range f.args {
		for _, inner := range setCallsIn(a) {
			ok = ok && at[inner] != nil
		}
	}
	return ok
}

func setCallsIn(e scalar.Expr) []*srfExpr {
	var out []*srfExpr
	scalar.Walk(e, func(e scalar.Expr) bool {
		if f, ok := e.(*srfExpr); ok {
			out = append(out, f)
		}
		return true
	})
	return out
}

func replaced(e scalar.Expr, at map[*srfExpr]*scalar.Column) scalar.Expr {
	return scalar.Rewrite(e, func(e scalar.Expr) scalar.Expr {
		if f, ok := e.(*srfExpr); ok && at[f] != nil {
			return at[f]
		}
		return e
	})
}

// expandKeys expands the calls that GROUP BY needs before it groups.
func (l *level) expandKeys(keys []groupKey) {
	var before, after []*srfExpr
	for _, f := range l.scope.srfs {
		needed := false
		for _, k := range keys {
			for _, in := range setCallsIn(k.expr) {
				needed = needed || in == f || contains(in.args, f)
			}
		}
		if needed {
			before = append(before, f)
		} else {
			after = append(after, f)
		}
	}
	if before == nil {
		return
	}
	l.scope.srfs = after
	exprs := l.targets
	l.targets = append(append([]target(nil), exprs...), make([]target, len(keys))...)
	for i, k := range keys {
		l.targets[len(exprs)+i].expr = k.expr
	}
	l.expandSets(before)
	for i := range keys {
		keys[i].expr = l.targets[len(exprs)+i].expr
	}
	l.targets = l.targets[:len(exprs)]
}
