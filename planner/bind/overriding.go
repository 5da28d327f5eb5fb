package bind

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/scalar"
	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
)

// overriding is what a statement may do to columns whose values the database
// makes: identity and generated columns.
type overriding struct {
	kind  pg_query.OverridingKind // of an INSERT
	given map[int]bool            // columns that got another value than DEFAULT
}

// give notes that the statement has a value for column i.
func (o *overriding) give(i int) {
	if o.given == nil {
		o.given = map[int]bool{}
	}
	o.given[i] = true
}

// user reports whether the value for a column is left aside: OVERRIDING USER
// VALUE of an identity column.
func (o *overriding) user(c *catalog.Column) bool {
	return o.kind == pg_query.OverridingKind_OVERRIDING_USER_VALUE && c.Identity != 0
}

// inserted returns the expression that column i gets in an INSERT: e, or the
// default where the value is left aside.
func (in *inserter) inserted(e scalar.Expr, i int) (scalar.Expr, error) {
	in.give(i)
	if in.user(&in.table.Columns[i]) {
		return in.defaultOf(i)
	}
	return e, nil
}

// checkInserted refuses values for columns whose values the database makes.
//
// Errors: 428C9.
func (in *inserter) checkInserted() error {
	for i := range in.table.Columns {
		c := &in.table.Columns[i]
		if !in.given[i] || c.Generated == "" && (c.Identity != 'a' || in.kind != pg_query.OverridingKind_OVERRIDING_NOT_SET) {
			continue
		}
		e := pgerr.New(pgerr.GeneratedAlways, "cannot insert a non-DEFAULT value into column \"%s\"", c.Name)
		if c.Generated != "" {
			return e.WithDetail("Column \"%s\" is a generated column.", c.Name)
		}
		return e.WithDetail("Column \"%s\" is an identity column defined as GENERATED ALWAYS.", c.Name).
			WithHint("Use OVERRIDING SYSTEM VALUE to override.")
	}
	return nil
}

// checkAssigned refuses values in SET for columns whose values the database makes.
//
// Errors: 428C9.
func (in *inserter) checkAssigned(given map[int]bool) error {
	for i := range in.table.Columns {
		c := &in.table.Columns[i]
		if !given[i] || c.Generated == "" && c.Identity != 'a' {
			continue
		}
		e := pgerr.New(pgerr.GeneratedAlways, "column \"%s\" can only be updated to DEFAULT", c.Name)
		if c.Generated != "" {
			return e.WithDetail("Column \"%s\" is a generated column.", c.Name)
		}
		return e.WithDetail("Column \"%s\" is an identity column defined as GENERATED ALWAYS.", c.Name)
	}
	return nil
}
