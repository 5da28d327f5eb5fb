package bind

import (
	"fmt"
	"sync"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/colstore/vector"
	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// rowValue binds ROW(...) or (a, b) as a value of type record; t.* among the
// fields stands for all of t's columns.
func (b *binder) rowValue(n *pg_query.RowExpr, c exprCtx) (scalar.Expr, error) {
	out := &scalar.Call{Fn: functions.Row, Typ: types.T(types.Record)}
	for _, a := range n.Args {
		e, err := b.expr(a, c)
		if err != nil {
			return nil, err
		}
		if row, ok := e.(*scalar.Call); ok && isRow(row) && endsWithStar(a) {
			out.Args = append(out.Args, row.Args...)
			continue
		}
		if e, err = b.resolveUnknown(e, locate(a)); err != nil {
			return nil, err
		}
		out.Args = append(out.Args, e)
	}
	return out, nil
}

func endsWithStar(n *pg_query.Node) bool {
	fields := n.GetColumnRef().GetFields()
	return len(fields) > 0 && fields[len(fields)-1].GetAStar() != nil
}

// isRow reports whether a call makes a row of its arguments.
func isRow(e *scalar.Call) bool { return e.Fn == functions.Row || e.Fn == functions.OptionalRow }

// rowType is the OID of the type of a relation's rows, 0 for computed relations.
func (r *relation) rowType() types.OID {
	switch {
	case r.view != nil:
		return r.view.TypeOID
	case r.table != nil:
		return r.table.TypeOID
	}
	return 0
}

// wholeRow is the row of an item that stands up levels above s.
func (b *binder) wholeRow(s *scope, it *item, up int, location int32) scalar.Expr {
	if it.value && len(it.cols) == 1 {
		return lift(s, b.useColumn(&it.cols[0], it, location), up, it.cols[0].name)
	}
	out := &scalar.Call{Fn: functions.Row, Typ: types.RowType(it.row)}
	if it.nullable {
		out.Fn = functions.OptionalRow
	}
	for i := range it.cols {
		c := &it.cols[i]
		out.Args = append(out.Args, lift(s, b.useColumn(c, it, location), up, c.name))
	}
	return out
}

// rowOfStar binds t.* outside of a select list: the whole row.
func (b *binder) rowOfStar(n *pg_query.ColumnRef, s *scope) (scalar.Expr, error) {
	names := n.Fields[:len(n.Fields)-1]
	rel, schema := lastName(names), ""
	if len(names) > 1 {
		schema = stringOf(names[len(names)-2])
	}
	it, up, err := b.findItem(s, schema, rel, n.Location)
	if err != nil {
		return nil, err
	}
	if it == nil {
		return nil, b.missingItem(s, rel, n.Location)
	}
	return b.wholeRow(s, it, up, n.Location), nil
}

// rowNullTest is e IS [NOT] NULL: of a row, that all of its fields are.
func rowNullTest(e scalar.Expr, negate bool) scalar.Expr {
	if e.ResultType().OID != types.Record {
		return &scalar.IsNull{Arg: e, Negate: negate}
	}
	if row, ok := e.(*scalar.Call); ok && isRow(row) {
		list := make([]scalar.Expr, len(row.Args))
		for i, a := range row.Args {
			list[i] = &scalar.IsNull{Arg: a, Negate: negate}
		}
		return conjunction(list)
	}
	fn := functions.RecordIsNull
	if negate {
		fn = functions.RecordIsNotNull
	}
	return &scalar.Call{Fn: fn, Args: []scalar.Expr{e}, Typ: types.T(types.Bool)}
}

// field is one field of a row: its name and the expression that reads it.
type field struct {
	name string
	expr scalar.Expr
}

// fields lists the fields of a value; ok is false if they are not known.
func (b *binder) fields(e scalar.Expr) (list []field, typeName string, ok bool) {
	t := e.ResultType()
	if t.OID != types.Record {
		return nil, "", false
	}
	if t.Mod > 0 {
		return b.typedFields(e, types.OID(t.Mod))
	}
	row, ok := e.(*scalar.Call)
	if !ok || !isRow(row) {
		return nil, "", false
	}
	for i, a := range row.Args {
		list = append(list, field{fmt.Sprintf("f%d", i+1), a})
	}
	return list, "", true
}

// typedFields lists the fields of a row of a table or view.
func (b *binder) typedFields(e scalar.Expr, row types.OID) (list []field, typeName string, ok bool) {
	add := func(i int, name string, t types.Type) {
		if call, ok := e.(*scalar.Call); ok && isRow(call) && i < len(call.Args) {
			list = append(list, field{name, call.Args[i]})
			return
		}
		list = append(list, field{name, &scalar.Call{Fn: fieldOf(i, t), Args: []scalar.Expr{e}, Typ: t}})
	}
	for _, t := range b.env.Catalog.Tables() {
		if t.TypeOID == row {
			for i := range t.Columns {
				add(i, t.Columns[i].Name, t.Columns[i].Type)
			}
			return list, t.Name, true
		}
	}
	for _, v := range b.env.Catalog.Views() {
		if v.TypeOID == row {
			for i, c := range v.Columns {
				add(i, c.Name, types.Type{OID: c.Type, Mod: c.Mod})
			}
			return list, v.Name, true
		}
	}
	return nil, "", false
}

// itemOf finds the FROM item that an operand of a field selection names, such as (t).
func (b *binder) itemOf(n *pg_query.Node, s *scope) (*item, string) {
	cr := n.GetColumnRef()
	if cr == nil || len(cr.Fields) != 1 || cr.Fields[0].GetAStar() != nil {
		return nil, ""
	}
	name := stringOf(cr.Fields[0])
	if e, err := b.plainColumn(s, name, cr.Location); e != nil || err != nil {
		return nil, ""
	}
	it, _, err := b.findItem(s, "", name, cr.Location)
	if err != nil || it == nil || it.value {
		return nil, ""
	}
	return it, name
}

// fieldSelection is (e).name.
func (b *binder) fieldSelection(e scalar.Expr, name string, location int32) (scalar.Expr, error) {
	list, typeName, known := b.fields(e)
	for _, f := range list {
		if f.name == name {
			return f.expr, nil
		}
	}
	switch {
	case typeName != "":
		return nil, b.errorAt(location, pgerr.UndefinedColumn, "column \"%s\" not found in data type %s", name, typeName)
	case known || e.ResultType().OID == types.Record:
		return nil, b.errorAt(location, pgerr.UndefinedColumn, "could not identify column \"%s\" in record data type", name)
	}
	return nil, b.errorAt(location, pgerr.WrongObjectType, "column notation .%s applied to type %s, which is not a composite type",
		name, typeText(e.ResultType().OID))
}

// fieldCalls holds the functions that read a field of a record.
var fieldCalls struct {
	sync.Mutex
	fns map[fieldKey]*functions.Overload
}

type fieldKey struct {
	at  int
	typ types.Type
}

func fieldOf(i int, t types.Type) *functions.Overload {
	fieldCalls.Lock()
	defer fieldCalls.Unlock()
	key := fieldKey{i, t}
	if fn, ok := fieldCalls.fns[key]; ok {
		return fn
	}
	if fieldCalls.fns == nil {
		fieldCalls.fns = map[fieldKey]*functions.Overload{}
	}
	fn := &functions.Overload{Name: fmt.Sprintf("field_%d", i+1), Args: []types.OID{types.Record}, Ret: t.OID, NotStrict: true, Eval: readField(i, t)}
	fieldCalls.fns[key] = fn
	return fn
}

func readField(at int, t types.Type) functions.Kernel {
	return func(_ *functions.Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		res := vector.New(t.Kind(), n)
		for i := range n {
			if args[0].IsNull(i) {
				res.AppendNull()
			} else {
				types.AppendRecordField(res, args[0].Bytes(i), at)
			}
		}
		*out = *res
		return nil
	}
}

// expandFields adds the fields of (e).* to the select list.
func (l *level) expandFields(n *pg_query.A_Indirection, node *pg_query.Node, in clause) error {
	c := exprCtx{scope: l.scope, clause: in}
	if it, name := l.itemOf(n.Arg, l.scope); it != nil && len(n.Indirection) == 1 {
		_, up, err := l.findItem(l.scope, "", name, locate(n.Arg))
		if err == nil {
			l.expand(it, up, locate(n.Arg), node)
		}
		return err
	}
	inner := &pg_query.A_Indirection{Arg: n.Arg, Indirection: n.Indirection[:len(n.Indirection)-1]}
	e, err := l.indirection(inner, c)
	if err != nil {
		return err
	}
	list, _, ok := l.fields(e)
	if !ok {
		if e.ResultType().OID == types.Record {
			return l.errorAt(locate(n.Arg), pgerr.FeatureNotSupported, "record type has not been registered")
		}
		return l.errorAt(locate(n.Arg), pgerr.WrongObjectType, "type %s is not composite", typeText(e.ResultType().OID))
	}
	for _, f := range list {
		l.addTarget(target{expr: f.expr, node: node, name: f.name})
	}
	return nil
}
