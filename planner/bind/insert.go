package bind

import (
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/logical"
	"tsdb/planner/scalar"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// inserter binds one INSERT.
type inserter struct {
	*binder
	table    *catalog.Table
	target   []int // table columns that the source fills, in source order
	explicit bool  // the statement lists them
	at       []int32
	parts    []*columnPart // per target: the elements that the source fills, nil: the column
	defaults map[int]scalar.Expr
	behind   *behind // not nil: rows are written through a view
	overriding
}

func (b *binder) insert(n *pg_query.InsertStmt) (*Bound, error) {
	rv := n.Relation
	s := b.topScope()
	if err := b.with(n.WithClause, s); err != nil {
		return nil, err
	}
	r, err := b.findRelation(rv)
	if err != nil {
		return nil, err
	}
	through, err := b.writable(r, rv, writesInsert)
	if err != nil {
		return nil, err
	}
	in := &inserter{binder: b, table: r.table, behind: through, defaults: map[int]scalar.Expr{}, overriding: overriding{kind: overrides(n)}}
	own := &item{alias: in.relationName(), relation: in.relationName(), schema: r.schema, table: r.table, row: r.rowType(), relVisible: true, colsVisible: true}
	if rv.Alias != nil {
		own.alias, own.schema = rv.Alias.Aliasname, ""
	}
	own.cols = in.visible()
	s.all = append(s.all, own) // for hints: a VALUES cannot read the table
	if err := in.columns(n.Cols, exprCtx{scope: s, clause: inValues}); err != nil {
		return nil, err
	}
	out := &Bound{Kind: Insert, Table: r.table}
	if through != nil {
		out.Checks = through.checks
	}
	sel := n.SelectStmt.GetSelectStmt()
	switch {
	case sel == nil:
		in.target = nil
		out.Root, err = in.rows(nil)
	case b.st.Bulk != nil && len(sel.ValuesLists) > 0 && slices.ContainsFunc(in.parts, func(p *columnPart) bool { return p != nil }):
		err = unsupported("an INSERT of many rows into elements of a column")
	case b.st.Bulk != nil && len(sel.ValuesLists) > 0:
		out.Bulk, err = in.bulk(sel)
	case plainValues(sel):
		out.Root, err = in.values(sel, s)
	default:
		out.Root, err = in.query(sel, s)
	}
	if err != nil {
		return nil, err
	}
	if n.OnConflictClause != nil {
		if out.Conflict, err = in.onConflict(n.OnConflictClause, own, s); err != nil {
			return nil, err
		}
	}
	shown := &scope{ctes: s.ctes, items: []*item{own}, all: []*item{own}}
	cols := (&logical.Scan{Table: r.table, Cols: allColumns(len(r.table.Columns))}).Columns()
	if err := b.returning(out, n.ReturningList, shown, cols); err != nil {
		return nil, err
	}
	return out, in.checkInserted()
}

// overrides returns what OVERRIDING of an INSERT says.
func overrides(n *pg_query.InsertStmt) pg_query.OverridingKind {
	if n.Override == pg_query.OverridingKind_OVERRIDING_KIND_UNDEFINED {
		return pg_query.OverridingKind_OVERRIDING_NOT_SET
	}
	return n.Override
}

func allColumns(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func plainValues(sel *pg_query.SelectStmt) bool {
	return len(sel.ValuesLists) > 0 && len(sel.SortClause) == 0 && sel.LimitCount == nil && sel.LimitOffset == nil &&
		len(sel.LockingClause) == 0 && sel.WithClause == nil
}

// columns reads the column list, or takes all columns in order.
func (in *inserter) columns(list []*pg_query.Node, c exprCtx) error {
	if len(list) == 0 {
		for i, c := range in.visible() {
			at := c.index
			if c.expr != nil {
				at = computed(i)
			}
			in.target = append(in.target, at)
		}
		return nil
	}
	in.explicit = true
	seen, whole := map[int]bool{}, map[int]bool{}
	for _, n := range list {
		rt := n.GetResTarget()
		i := in.columnNamed(rt.Name)
		switch {
		case i == -1:
			return in.errorAt(rt.Location, pgerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", rt.Name, in.relationName())
		case seen[i] && (whole[i] || len(rt.Indirection) == 0):
			return in.errorAt(rt.Location, pgerr.DuplicateColumn, "column \"%s\" specified more than once", rt.Name)
		}
		seen[i], whole[i] = true, len(rt.Indirection) == 0
		part, err := in.partOf(rt, i, c)
		if err != nil {
			return err
		}
		in.parts = append(in.parts, part)
		in.target, in.at = append(in.target, i), append(in.at, rt.Location)
	}
	return nil
}

// fit checks the number of source columns and cuts the target to it.
func (in *inserter) fit(n int, nodeAt func(int) *pg_query.Node) error {
	if n > len(in.target) {
		return in.errorAt(locate(nodeAt(len(in.target))), pgerr.SyntaxError, "INSERT has more expressions than target columns")
	}
	if n < len(in.target) {
		if in.explicit {
			return in.errorAt(in.at[n], pgerr.SyntaxError, "INSERT has more target columns than expressions")
		}
		in.target = in.target[:n]
	}
	return in.ofTable(in.target, "insert into")
}

// rows makes a Values of full rows from the values of the target columns.
func (in *inserter) rows(list [][]scalar.Expr) (logical.Node, error) {
	if list == nil {
		list = [][]scalar.Expr{nil}
	}
	out := &logical.Values{Cols: in.tableColumns(), Rows: make([][]scalar.Expr, len(list))}
	for i, r := range list {
		full, err := in.full(r)
		if err != nil {
			return nil, err
		}
		out.Rows[i] = full
	}
	return out, nil
}

func (in *inserter) tableColumns() []logical.Column {
	cols := make([]logical.Column, len(in.table.Columns))
	for i := range in.table.Columns {
		cols[i] = logical.Column{Name: in.table.Columns[i].Name, Type: in.table.Columns[i].Type}
	}
	return cols
}

// full spreads the values of the target columns over a row of the table.
func (in *inserter) full(values []scalar.Expr) ([]scalar.Expr, error) {
	row := make([]scalar.Expr, len(in.table.Columns))
	for i, e := range values {
		if part := in.part(i); part != nil {
			if row[in.target[i]] == nil {
				row[in.target[i]] = nullConst(in.table.Columns[in.target[i]].Type)
			}
			e = part.put(row[in.target[i]], e)
		}
		row[in.target[i]] = e
	}
	for i := range row {
		if row[i] != nil {
			continue
		}
		e, err := in.defaultOf(i)
		if err != nil {
			return nil, err
		}
		row[i] = e
	}
	return row, nil
}

// defaultOf returns the bound DEFAULT of a column, NULL where it has none.
func (in *inserter) defaultOf(i int) (scalar.Expr, error) {
	if e, ok := in.defaults[i]; ok {
		return e, nil
	}
	col := &in.table.Columns[i]
	var e scalar.Expr = nullConst(col.Type)
	if text := in.env.Catalog.DefaultOf(col); text != "" {
		var err error
		if e, err = namedExpression(in.env, text, col.Name, col.Type); err != nil {
			return nil, err
		}
	}
	in.defaults[i] = e
	return e, nil
}

func (in *inserter) values(sel *pg_query.SelectStmt, s *scope) (logical.Node, error) {
	c := exprCtx{scope: s, clause: inValues}
	first := sel.ValuesLists[0].GetList().GetItems()
	list := make([][]scalar.Expr, len(sel.ValuesLists))
	for i, r := range sel.ValuesLists {
		items := r.GetList().GetItems()
		if len(items) != len(first) {
			return nil, in.errorAt(locate(r), pgerr.SyntaxError, "VALUES lists must all be the same length")
		}
		bound := make([]scalar.Expr, len(items))
		for j, n := range items {
			if n.GetSetToDefault() != nil {
				continue
			}
			var err error
			if bound[j], err = in.expr(n, c); err != nil {
				return nil, err
			}
		}
		if i == 0 {
			if err := in.fit(len(items), func(k int) *pg_query.Node { return items[k] }); err != nil {
				return nil, err
			}
		}
		row := make([]scalar.Expr, len(items))
		for j, e := range bound {
			var err error
			part := in.part(j)
			var location int32
			if part != nil {
				location = in.at[j]
			}
			if row[j], err = in.assignedValue(part, e, items[j], in.target[j], location); err == nil && e != nil {
				row[j], err = in.inserted(row[j], in.target[j])
			}
			if err != nil {
				return nil, err
			}
		}
		list[i] = row
	}
	return in.rows(list)
}

// value casts an expression to column i; nil is DEFAULT.
func (in *inserter) value(e scalar.Expr, n *pg_query.Node, i int) (scalar.Expr, error) {
	if e == nil {
		return in.defaultOf(i)
	}
	loc := locate(n)
	out, ok, err := in.convert(e, in.table.Columns[i].Type, assignment(loc))
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, in.mismatch(i, e.ResultType(), loc)
	}
	if k, ok := in.foldCast(out); ok {
		return k, nil
	}
	return out, nil
}

func assignment(location int32) conversion {
	return conversion{context: functions.CastAssignment, location: location}
}

func (in *inserter) mismatch(i int, have types.Type, location int32) error {
	col := &in.table.Columns[i]
	return in.errorAt(location, pgerr.DatatypeMismatch, "column \"%s\" is of type %s but expression is of type %s",
		col.Name, typeText(col.Type.OID), typeText(have.OID)).
		WithHint("You will need to rewrite or cast the expression.")
}

// query binds INSERT ... SELECT.
func (in *inserter) query(sel *pg_query.SelectStmt, s *scope) (logical.Node, error) {
	q, err := in.binder.query(sel, s.inner(), queryContext{})
	if err != nil {
		return nil, err
	}
	if err := in.fit(len(q.node.Columns()), func(k int) *pg_query.Node { return at(q, k) }); err != nil {
		return nil, err
	}
	want := make([]types.Type, len(in.target))
	for j, i := range in.target {
		want[j] = in.table.Columns[i].Type
		if part := in.part(j); part != nil {
			want[j] = part.typ
		}
	}
	where := func(j int) conversion { return assignment(locate(at(q, j))) }
	fail := func(j int, have types.Type) error {
		if part := in.part(j); part != nil {
			return in.partMismatch(part, in.target[j], have, in.at[j])
		}
		return in.mismatch(in.target[j], have, where(j).location)
	}
	if err := in.convertColumns(q, want, where, fail); err != nil {
		return nil, err
	}
	values := make([]scalar.Expr, len(want))
	for j, c := range q.node.Columns() {
		if values[j], err = in.inserted(&scalar.Column{Index: j, Typ: c.Type, Name: c.Name}, in.target[j]); err != nil {
			return nil, err
		}
	}
	row, err := in.full(values)
	if err != nil {
		return nil, err
	}
	return &logical.Project{Input: q.node, Exprs: row, Cols: in.tableColumns()}, nil
}

// bulk binds an INSERT whose rows the lexer reads.
func (in *inserter) bulk(sel *pg_query.SelectStmt) (*BulkInsert, error) {
	first := sel.ValuesLists[0].GetList().GetItems()
	err := in.fit(in.st.Bulk.Columns(), func(k int) *pg_query.Node {
		if k < len(first) {
			return first[k]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := &BulkInsert{Rows: in.st.Bulk, Target: in.target}
	row := make([]scalar.Expr, len(in.target))
	out.Rows.Names = make([]string, len(in.target))
	for j, i := range in.target {
		row[j] = nullConst(in.table.Columns[i].Type)
		out.Rows.Names[j] = in.table.Columns[i].Name
		in.give(i)
		out.Overridden = append(out.Overridden, in.user(&in.table.Columns[i]))
	}
	out.Defaults, err = in.rows([][]scalar.Expr{row})
	return out, err
}
