package bind

import (
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/logical"
	"tsdb/planner/scalar"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// OnConflict is what an INSERT does with rows whose key exists.
type OnConflict struct {
	// Arbiters are the positions in Table.Constraints that count; nil: all of
	// them. A collision elsewhere is an error.
	Arbiters []int
	// Update yields the changed rows over a logical.Given of the old row, its row
	// id, the row that was to be added and a bigint: the new row, the row id and
	// that number. nil: DO NOTHING.
	Update logical.Node
}

// onConflict binds ON CONFLICT of an INSERT whose target the query calls alias.
func (in *inserter) onConflict(n *pg_query.OnConflictClause, target *item, s *scope) (*OnConflict, error) {
	out := &OnConflict{}
	update := n.Action == pg_query.OnConflictAction_ONCONFLICT_UPDATE
	if update && n.Infer == nil {
		return nil, in.errorAt(n.Location, pgerr.SyntaxError, "ON CONFLICT DO UPDATE requires inference specification or constraint name").
			WithHint("For example, ON CONFLICT (column_name).")
	}
	columns, err := in.inferred(n.Infer, target)
	if err != nil {
		return nil, err
	}
	if update {
		if out.Update, err = in.conflictUpdate(n, target, s); err != nil {
			return nil, err
		}
	}
	if n.Infer != nil {
		out.Arbiters, err = in.arbiters(n.Infer, columns)
	}
	return out, err
}

// inferred resolves the columns of ON CONFLICT (...); nil entries of the
// result's second kind, expressions, match no index and give nil columns.
func (in *inserter) inferred(n *pg_query.InferClause, target *item) ([]int, error) {
	if n == nil || n.Conname != "" {
		return nil, nil
	}
	look := &scope{items: []*item{target}, all: []*item{target}}
	var cols []int
	expressions := false
	for _, el := range n.IndexElems {
		e := el.GetIndexElem()
		if e.Name == "" {
			if _, err := in.expr(e.Expr, exprCtx{scope: look, clause: inWhere}); err != nil {
				return nil, err
			}
			expressions = true
			continue
		}
		i := in.columnNamed(e.Name)
		if i < 0 {
			return nil, in.missingColumn(look, "", e.Name, n.Location)
		}
		if !slices.Contains(cols, i) {
			cols = append(cols, i)
		}
	}
	if n.WhereClause != nil {
		l := &level{binder: in.binder, scope: look}
		if _, err := l.condition(n.WhereClause, inWhere); err != nil {
			return nil, err
		}
	}
	if expressions {
		return nil, nil
	}
	return cols, nil
}

// arbiters finds the constraints that the clause means.
func (in *inserter) arbiters(n *pg_query.InferClause, columns []int) ([]int, error) {
	var out []int
	for i := range in.table.Constraints {
		c := &in.table.Constraints[i]
		if n.Conname != "" && c.Name == n.Conname && !c.Index || n.Conname == "" && sameColumns(c.Columns, columns) {
			out = append(out, i)
		}
	}
	if out != nil {
		return out, nil
	}
	if n.Conname != "" {
		return nil, pgerr.New(pgerr.UndefinedObject, "constraint \"%s\" for table \"%s\" does not exist", n.Conname, in.table.Name)
	}
	return nil, pgerr.New(pgerr.InvalidColumnReference, "there is no unique or exclusion constraint matching the ON CONFLICT specification")
}

// conflictUpdate binds DO UPDATE over the old row, its row id and excluded.
func (in *inserter) conflictUpdate(n *pg_query.OnConflictClause, target *item, around *scope) (logical.Node, error) {
	width := len(in.table.Columns) + 1
	excluded := &item{alias: "excluded", relation: "excluded", table: in.table, row: in.table.TypeOID, relVisible: true, colsVisible: true}
	excluded.cols = in.visible()
	excluded.shift(width)
	items := []*item{target, excluded}
	if target.alias == "excluded" {
		return nil, pgerr.New(pgerr.DuplicateAlias, "table name \"%s\" specified more than once", "excluded")
	}
	s := &scope{ctes: around.ctes, items: items, all: items}
	scan := &logical.Scan{Table: in.table, Cols: make([]int, len(in.table.Columns), width)}
	for i := range scan.Cols {
		scan.Cols[i] = i
	}
	scan.Cols = append(scan.Cols, logical.RowID)
	cols := scan.Columns()
	number := logical.Column{Name: "number", Type: types.T(types.Int8)}
	given := append(append(cols[:width:width], cols[:width-1]...), number)
	var node logical.Node = &logical.Given{Cols: given}
	row, err := in.assignments(n.TargetList, s)
	if err != nil {
		return nil, err
	}
	l := &level{binder: in.binder, scope: s, node: node}
	cond, err := l.condition(n.WhereClause, inWhere)
	if err != nil {
		return nil, err
	}
	if cond != nil {
		node = &logical.Filter{Input: node, Cond: cond}
	}
	for _, i := range []int{width - 1, len(given) - 1} {
		row = append(row, &scalar.Column{Index: i, Typ: given[i].Type, Name: given[i].Name})
	}
	return &logical.Project{Input: node, Exprs: row, Cols: append(cols[:width:width], number)}, nil
}
