package bind

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"tsdb/planner/logical"
	"tsdb/planner/scalar"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/sqltext"
	"tsdb/sql/types"
)

// ViewCheck is WITH CHECK OPTION of a view through which rows are written.
type ViewCheck struct {
	View string
	// Root yields, over a logical.Given of rows of the table, one boolean a row:
	// whether the view shows it.
	Root logical.Node
}

// behind is the table behind a view that rows can be written through.
type behind struct {
	view   *catalog.View
	table  *catalog.Table
	cols   []column      // of the view, over the row of the table
	where  []scalar.Expr // what rows the view shows
	checks []ViewCheck
}

// writes spells what a statement does to a view.
type writes uint8

const (
	writesInsert writes = iota
	writesUpdate
	writesDelete
)

// refused is the error of a statement that cannot write through a view.
func (w writes) refused(view, why string) error {
	verb, doing, event := "insert into", "inserting into", "INSERT"
	switch w {
	case writesUpdate:
		verb, doing, event = "update", "updating", "UPDATE"
	case writesDelete:
		verb, doing, event = "delete from", "deleting from", "DELETE"
	}
	return pgerr.New(pgerr.ObjectNotInPrerequisiteState, "cannot %s view \"%s\"", verb, view).WithDetail("%s", why).
		WithHint("To enable %s the view, provide an INSTEAD OF %s trigger or an unconditional ON %s DO INSTEAD rule.", doing, event, event)
}

// NotUpdatable says why rows cannot be written through a view, empty if they can.
func NotUpdatable(env *Env, v *catalog.View) string {
	b := newBinder(env, nil, nil)
	b.defining = true
	_, why, err := b.behind(v, writesUpdate, false)
	if err != nil {
		return err.Error()
	}
	return why
}

// UpdatableColumns tells which columns of a view can be written to; nil: none.
func UpdatableColumns(env *Env, v *catalog.View) []bool {
	b := newBinder(env, nil, nil)
	b.defining = true
	t, why, err := b.behind(v, writesUpdate, false)
	if err != nil || why != "" {
		return nil
	}
	out := make([]bool, len(t.cols))
	for i := range t.cols {
		out[i] = t.cols[i].expr == nil
	}
	return out
}

// throughView finds the table behind a view for a statement that writes to it.
func (b *binder) throughView(v *catalog.View, what writes) (*behind, error) {
	t, why, err := b.behind(v, what, false)
	if err == nil && why != "" {
		err = what.refused(v.Name, why)
	}
	return t, err
}

// behind finds the table behind a view; why says what makes it impossible.
// cascaded: a view over this one checks for all views below it.
func (b *binder) behind(v *catalog.View, what writes, cascaded bool) (t *behind, why string, err error) {
	if err := b.enter(); err != nil {
		return nil, "", err
	}
	defer b.leave()
	for _, oid := range b.open {
		if oid == v.OID {
			return nil, "", pgerr.New(pgerr.InvalidObjectDefinition, "infinite recursion detected in rules for relation \"%s\"", v.Name)
		}
	}
	sub, sel, err := b.forView(v)
	if err != nil {
		return nil, "", err
	}
	if why := notSimple(sel); why != "" {
		return nil, why, nil
	}
	rv := sel.FromClause[0].GetRangeVar()
	r, err := sub.findRelation(rv)
	if err != nil {
		return nil, "", withoutPosition(err)
	}
	own := option(v, "check_option")
	cascaded = cascaded || own == "cascaded"
	switch {
	case r.view != nil:
		if t, why, err = sub.behind(r.view, what, cascaded); err == nil && why != "" {
			err = what.refused(r.view.Name, why)
		}
		if err != nil {
			return nil, "", err
		}
	case r.table != nil && r.table.Kind() == catalog.RelTable:
		t = &behind{table: r.table, cols: tableColumns(r.table)}
	default:
		return nil, notSingle, nil
	}
	if why, err = sub.narrow(t, v, sel, r); why != "" || err != nil {
		return nil, why, withoutPositionOf(err)
	}
	if cascaded || own != "" {
		if n := len(t.where); n > 0 && sel.WhereClause != nil {
			t.checks = append(t.checks, viewCheck(v, t.table, t.where[n-1]))
		}
	}
	return t, "", nil
}

func withoutPositionOf(err error) error {
	if err == nil {
		return nil
	}
	return withoutPosition(err)
}

func option(v *catalog.View, name string) string {
	for _, o := range v.Options {
		if o.Name == name {
			return o.Value
		}
	}
	return ""
}

// tableColumns are the columns of a table as a statement sees them.
func tableColumns(t *catalog.Table) []column {
	out := make([]column, len(t.Columns))
	for i := range t.Columns {
		c := &t.Columns[i]
		out[i] = column{name: c.Name, typ: c.Type, index: i, origin: catalog.Ref{Class: catalog.ClassRelation, OID: t.OID, Column: c.AttNum}}
	}
	return out
}

// viewCheck makes the plan that tells which rows of a table a view shows.
func viewCheck(v *catalog.View, t *catalog.Table, cond scalar.Expr) ViewCheck {
	given := &logical.Given{Cols: (&logical.Scan{Table: t, Cols: allColumns(len(t.Columns))}).Columns()}
	return ViewCheck{View: v.Name, Root: &logical.Project{Input: given, Exprs: []scalar.Expr{cond},
		Cols: []logical.Column{{Name: "shown", Type: types.T(types.Bool)}}}}
}

// narrow turns the columns and conditions of what a view reads into those of
// the view.
func (b *binder) narrow(t *behind, v *catalog.View, sel *pg_query.SelectStmt, r *relation) (why string, err error) {
	rv := sel.FromClause[0].GetRangeVar()
	it := &item{alias: rv.Relname, relation: rv.Relname, schema: r.schema, table: r.table, relVisible: true, colsVisible: true, cols: t.cols}
	if rv.Alias != nil {
		it.alias, it.schema = rv.Alias.Aliasname, ""
	}
	it.asUsed(r)
	if err := renameColumns(it, rv.Alias, "table"); err != nil {
		return "", err
	}
	s := b.topScope()
	s.items, s.all = []*item{it}, []*item{it}
	scan := &logical.Scan{Table: t.table, Alias: it.alias, Cols: allColumns(len(t.table.Columns))}
	l := &level{binder: b, scope: s, node: scan}
	if err := l.targetList(sel.TargetList, inTarget); err != nil {
		return "", err
	}
	switch {
	case len(s.aggs) > 0:
		return "Views that return aggregate functions are not automatically updatable.", nil
	case len(s.srfs) > 0:
		return "Views that return set-returning functions are not automatically updatable.", nil
	}
	if err := l.resolveTargets(); err != nil {
		return "", err
	}
	cond, err := l.condition(sel.WhereClause, inWhere)
	if err != nil {
		return "", err
	}
	if cond != nil {
		t.where = append(t.where, cond)
	}
	t.cols = make([]column, len(v.Columns))
	any := false
	for i := range t.cols {
		if i >= len(l.targets) {
			return "", pgerr.New(pgerr.InternalError, "view \"%s\" has fewer columns than it was made with", v.Name)
		}
		e := l.targets[i].expr
		c := column{name: v.Columns[i].Name, typ: e.ResultType(), expr: e, origin: catalog.Ref{Class: catalog.ClassRelation, OID: v.OID, Column: int16(i + 1)}}
		if k, ok := e.(*scalar.Column); ok {
			c.index, c.expr, any = k.Index, nil, true
		}
		t.cols[i] = c
	}
	t.view = v
	if !any {
		return "Views that have no updatable columns are not automatically updatable.", nil
	}
	return "", nil
}

const notSingle = "Views that do not select from a single table or view are not automatically updatable."

// notSimple says what in a view's query keeps rows from being written through it.
func notSimple(sel *pg_query.SelectStmt) string {
	aggregates, windows, sets := calls(sel.TargetList)
	switch {
	case len(sel.DistinctClause) > 0:
		return "Views containing DISTINCT are not automatically updatable."
	case len(sel.GroupClause) > 0:
		return "Views containing GROUP BY are not automatically updatable."
	case sel.HavingClause != nil:
		return "Views containing HAVING are not automatically updatable."
	case sel.Larg != nil:
		return "Views containing UNION, INTERSECT, or EXCEPT are not automatically updatable."
	case sel.WithClause != nil:
		return "Views containing WITH are not automatically updatable."
	case sel.LimitCount != nil || sel.LimitOffset != nil:
		return "Views containing LIMIT or OFFSET are not automatically updatable."
	case aggregates:
		return "Views that return aggregate functions are not automatically updatable."
	case windows:
		return "Views that return window functions are not automatically updatable."
	case sets:
		return "Views that return set-returning functions are not automatically updatable."
	case len(sel.FromClause) != 1 || sel.FromClause[0].GetRangeVar() == nil && sel.FromClause[0].GetRangeTableSample() == nil:
		return notSingle
	case sel.FromClause[0].GetRangeTableSample() != nil:
		return "Views containing TABLESAMPLE are not automatically updatable."
	}
	return ""
}

// calls tells which kinds of functions a select list calls outside of subqueries.
func calls(list []*pg_query.Node) (aggregates, windows, sets bool) {
	for _, n := range list {
		inside := map[proto.Message]bool{}
		sqltext.Walk(n, func(m proto.Message) {
			if sub, ok := m.(*pg_query.SubLink); ok {
				sqltext.Walk(sub, func(m proto.Message) { inside[m] = true })
			}
			fc, ok := m.(*pg_query.FuncCall)
			if !ok || inside[m] {
				return
			}
			name := lastName(fc.Funcname)
			switch {
			case fc.Over != nil:
				windows = true
			case fc.AggStar || functions.Aggregates(name) != nil && functions.Functions(name) == nil:
				aggregates = true
			case functions.SetReturningFunctions(name) != nil && functions.Functions(name) == nil:
				sets = true
			}
		})
	}
	return aggregates, windows, sets
}

// writable refuses what is no table, and finds the table behind a view: r
// becomes that table.
func (b *binder) writable(r *relation, rv *pg_query.RangeVar, what writes) (*behind, error) {
	switch {
	case r.view != nil:
		t, err := b.throughView(r.view, what)
		if err == nil {
			r.table = t.table
		}
		return t, err
	case r.table == nil:
		return nil, b.notWritten(r, rv)
	case r.table.Kind() == catalog.RelMaterialized:
		return nil, pgerr.New(pgerr.WrongObjectType, "cannot change materialized view \"%s\"", r.table.Name)
	}
	return nil, nil
}

// columnNamed finds the column of the table that a statement calls name: -1
// if there is none, a number of columnOf's for a column that only the view has.
func (in *inserter) columnNamed(name string) int {
	if in.behind == nil {
		return in.table.ColumnIndex(name)
	}
	for i := range in.behind.cols {
		if c := &in.behind.cols[i]; c.name == name {
			if c.expr != nil {
				return computed(i)
			}
			return c.index
		}
	}
	return -1
}

// computed numbers column i of a view that is no column of its table.
func computed(i int) int { return -2 - i }

// ofTable refuses columns that are no columns of the table, and one that a
// view has under two names.
func (in *inserter) ofTable(target []int, verb string) error {
	if in.behind == nil {
		return nil
	}
	seen := map[int]bool{}
	for _, i := range target {
		if i < -1 {
			return pgerr.New(pgerr.FeatureNotSupported, "cannot %s column \"%s\" of view \"%s\"", verb, in.behind.cols[-2-i].name, in.behind.view.Name).
				WithDetail("View columns that are not columns of their base relation are not updatable.")
		}
		if seen[i] {
			return pgerr.New(pgerr.SyntaxError, "multiple assignments to same column \"%s\"", in.table.Columns[i].Name)
		}
		seen[i] = true
	}
	return nil
}

// relationName is what the statement writes to, for errors.
func (in *inserter) relationName() string {
	if in.behind != nil {
		return in.behind.view.Name
	}
	return in.table.Name
}

// visible are the columns that a statement sees of what it writes to, over the
// row of the table.
func (in *inserter) visible() []column {
	if in.behind != nil {
		return append([]column(nil), in.behind.cols...)
	}
	return tableColumns(in.table)
}
