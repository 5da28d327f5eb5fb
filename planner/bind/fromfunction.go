package bind

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/logical"
	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// functionPart binds a function in FROM, or several of ROWS FROM. Arguments may
// name columns of earlier items.
func (b *binder) functionPart(n *pg_query.RangeFunction, at *place) (*part, error) {
	if len(n.Coldeflist) > 0 {
		return nil, b.unsupportedAt(locate(n.Functions[0].GetList().GetItems()[0]), "a column definition list")
	}
	it := &item{alias: n.Alias.GetAliasname()}
	c := exprCtx{scope: at.lateral(), clause: inFunctionArg}
	if len(n.Functions) == 1 {
		fnode, err := b.rangeFunction(n.Functions[0])
		if err != nil {
			return nil, err
		}
		node, err := b.functionNode(fnode, n.Ordinality, it, c)
		if err != nil {
			return nil, err
		}
		return b.itemPart(node, it, n.Alias)
	}
	node, err := b.rowsFrom(n, it, c)
	if err != nil {
		return nil, err
	}
	return b.itemPart(node, it, n.Alias)
}

// rangeFunction returns the call of an entry of FROM.
func (b *binder) rangeFunction(entry *pg_query.Node) (*pg_query.Node, error) {
	pair := entry.GetList().GetItems()
	if len(pair) > 1 && len(pair[1].GetList().GetItems()) > 0 {
		return nil, b.unsupportedAt(locate(pair[0]), "a column definition list")
	}
	return pair[0], nil
}

func (b *binder) functionNode(fnode *pg_query.Node, ordinality bool, it *item, c exprCtx) (logical.Node, error) {
	call, err := b.setCall(fnode, c)
	if err != nil {
		return nil, err
	}
	name := b.columnName(fnode)
	if it.alias == "" {
		it.alias = name
	}
	if call.Fn == nil {
		cols := []logical.Column{{Name: it.alias, Type: call.Args[0].ResultType()}}
		it.value = !ordinality
		row := call.Args
		if ordinality {
			cols, row = append(cols, logical.OrdinalityColumn), append(row, int8Const(1))
		}
		return &logical.Values{Cols: cols, Rows: [][]scalar.Expr{row}}, nil
	}
	// A function of one unnamed column calls it by the alias.
	if len(call.Cols) == 1 && call.Cols[0].Name == call.Fn.Name {
		call.Cols[0].Name = it.alias
		it.value = !ordinality
	}
	if ordinality {
		call.Cols = append(call.Cols, logical.OrdinalityColumn)
	}
	return &logical.Function{Fn: call.Fn, Args: call.Args, Alias: it.alias, Cols: call.Cols, Ordinality: ordinality}, nil
}

// setCall binds a call in FROM; without Fn it is a value, which makes one row.
func (b *binder) setCall(fnode *pg_query.Node, c exprCtx) (logical.SetCall, error) {
	if fc := fnode.GetFuncCall(); fc != nil {
		name, found := functionName(fc)
		if found && functions.Functions(name) == nil && functions.SetReturningFunctions(name) != nil {
			return b.setReturningCall(fc, name, c)
		}
	}
	e, err := b.expr(fnode, c)
	if err != nil {
		return logical.SetCall{}, err
	}
	e, err = b.resolveUnknown(e, locate(fnode))
	return logical.SetCall{Args: []scalar.Expr{e}}, err
}

func (b *binder) setReturningCall(fc *pg_query.FuncCall, name string, c exprCtx) (logical.SetCall, error) {
	args, names, err := b.arguments(fc, c)
	if err != nil {
		return logical.SetCall{}, err
	}
	if names != nil {
		return logical.SetCall{}, b.unsupportedAt(fc.Location, "named arguments of a set-returning function")
	}
	fn, list, ts, err := b.resolveSetReturning(fc, name, args)
	if err != nil {
		return logical.SetCall{}, err
	}
	out := logical.SetCall{Fn: fn, Args: list}
	for i, t := range ts {
		out.Cols = append(out.Cols, logical.Column{Name: fn.Columns[i], Type: t})
	}
	return out, nil
}

// rowsFrom binds ROWS FROM (f, g, ...): the rows of each side by side.
func (b *binder) rowsFrom(n *pg_query.RangeFunction, it *item, c exprCtx) (logical.Node, error) {
	row := &logical.Values{Rows: [][]scalar.Expr{{}}}
	out := &logical.ProjectSet{Input: row, Ordinality: n.Ordinality}
	for _, entry := range n.Functions {
		fnode, err := b.rangeFunction(entry)
		if err != nil {
			return nil, err
		}
		call, err := b.setCall(fnode, c)
		if err != nil {
			return nil, err
		}
		if it.alias == "" {
			it.alias = b.columnName(fnode)
		}
		if call.Fn == nil {
			call = onceCall(call.Args[0], b.columnName(fnode))
		}
		out.Calls = append(out.Calls, call)
	}
	return out, nil
}

// onceCall makes a value a call that yields one row.
func onceCall(e scalar.Expr, name string) logical.SetCall {
	return logical.SetCall{Args: []scalar.Expr{e}, Cols: []logical.Column{{Name: name, Type: types.T(e.ResultType().OID)}}}
}
