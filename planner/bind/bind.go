// Package bind resolves names and types: the grammar's tree in, a logical plan
// with typed expressions out, with PostgreSQL's rules and error texts.
//
// It looks things up in the catalog snapshot and the function registry and
// reads no data. It does not choose how anything runs: every base table is
// scanned whole, conditions stand where the statement has them; package
// planner's rules take it from there.
//
// One query level is a scope (scope.go): the columns that FROM makes visible.
// Expressions are bound over the row of the FROM clause; a query with
// aggregates then rewrites its expressions over the row of the Aggregate
// (grouping.go). A reference that no item of the level satisfies is looked up
// around the subquery expression and becomes a scalar.Slot.
package bind

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/colstore/table"
	"tsdb/planner/logical"
	"tsdb/sql"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// Env is what binding and planning depend on besides the statement.
type Env struct {
	Catalog    *catalog.Snapshot
	SearchPath []types.OID // schemas in order
	Temp       types.OID   // the schema pg_temp, 0: the session has none
	Ctx        *functions.Ctx
	// Virtual finds a relation of pg_catalog or information_schema; nil if there is none.
	Virtual func(schema, name string) catalog.VirtualRelation
	// Sequence makes a sequence a relation of one row; nil: sequences are not read.
	Sequence func(q *catalog.Sequence, schema string) catalog.VirtualRelation
	// Stats returns the statistics of a table's storage.
	Stats   func(id table.ID) table.Stats
	Pruning bool // tsdb.pruning
}

// Kind says what a bound statement does.
type Kind uint8

// Kinds of bound statements. Everything else (DDL, SET, COPY, BEGIN, ...) is
// for the session, which reads the grammar's tree itself.
const (
	Select Kind = iota
	Insert
	Update
	Delete
	Explain
	Utility
)

// Bound is a statement with names and types resolved. It can be planned many
// times, with different parameter values, as long as the catalog is the same.
type Bound struct {
	Kind   Kind
	Root   logical.Node     // Select, Insert: the source rows; Update, Delete: the rows to change
	Params []types.Type     // $1, $2, ...
	Cols   []logical.Column // result columns, nil if the statement returns no rows

	// Insert: Root yields full rows of Table (all columns, in order, defaults
	// filled in, cast to the column types). Bulk, if not nil, replaces Root.
	Table *catalog.Table
	Bulk  *BulkInsert

	// Conflict is ON CONFLICT of an Insert, nil: none.
	Conflict *OnConflict

	// Update: Root yields the new row of Table, the row id, and what Returning
	// reads of FROM. Delete: the row id only, or with Returning as Update with
	// the old row. RowID is the row id's column.
	RowID int

	// Returning computes the result of RETURNING over a logical.Given: the rows
	// of Root, for Insert the rows added or updated. nil: none.
	Returning logical.Node

	// With are the data-modifying WITH queries, in order: each runs once, to its
	// end, on the same snapshot as the statement.
	With []*WithChange

	// Checks of the views through which rows are written.
	Checks []ViewCheck

	// Explain
	Inner                                    *Bound
	Analyze, Costs, Timing, Verbose, Summary bool
	Format                                   string // text, json, ...

	Utility *pg_query.Node
}

// WithChange is an INSERT, UPDATE or DELETE in WITH. What its RETURNING yields
// are the rows of the logical.CTEScans of the ID, in the statement and in later
// ones of its WITH.
type WithChange struct {
	ID    int
	Name  string
	Bound *Bound
}

// BulkInsert is an INSERT whose literal rows are read by the lexer.
type BulkInsert struct {
	Rows *sql.BulkValues
	// Target gives, per column of the VALUES rows, the index of the table's column.
	Target []int
	// Overridden says which of these values are left aside for the default.
	Overridden []bool
	// Defaults yields one row with all columns of the table: the default or
	// NULL. The values of the columns in Target are not used.
	Defaults logical.Node
}

// Bind resolves a parsed statement. paramTypes are the types a client declared (0: infer).
//
// Errors: *pgerr.Error with position in st.Query.
func Bind(env *Env, st *sql.Statement, paramTypes []types.OID) (*Bound, error) {
	b := newBinder(env, st, paramTypes)
	out, err := b.statement(st.Node)
	if err != nil {
		return nil, err
	}
	if out.Kind != Utility {
		if err := b.finishParams(out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (b *binder) statement(n *pg_query.Node) (*Bound, error) {
	switch s := n.GetNode().(type) {
	case *pg_query.Node_SelectStmt:
		top := b.topScope()
		q, err := b.query(s.SelectStmt, top, queryContext{resolveUnknowns: true})
		if err != nil {
			return nil, err
		}
		return &Bound{Kind: Select, Root: q.node, Cols: q.node.Columns(), With: top.changes}, nil
	case *pg_query.Node_InsertStmt, *pg_query.Node_UpdateStmt, *pg_query.Node_DeleteStmt:
		return b.change(n)
	case *pg_query.Node_MergeStmt:
		return nil, unsupported("MERGE").At(b.pos(s.MergeStmt.GetRelation().GetLocation()))
	case *pg_query.Node_ExplainStmt:
		return b.explain(s.ExplainStmt)
	}
	return &Bound{Kind: Utility, Utility: n}, nil
}
