// Package planner turns a parsed statement into a plan: bind (names, types,
// functions) → logical → an ordered list of small named rules → physical.
//
// It sees storage only as scan requests and statistics.
package planner

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/planner/logical"
	"tsdb/planner/physical"
	"tsdb/sql"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// Env is what binding and planning depend on besides the statement.
type Env struct {
	Catalog    *catalog.Snapshot
	SearchPath []types.OID // schemas in order
	Ctx        *functions.Ctx
	// Virtual finds a relation of pg_catalog or information_schema; nil if there is none.
	Virtual func(schema, name string) catalog.VirtualRelation
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
	Explain
	Utility
)

// Bound is a statement with names and types resolved. It can be planned many
// times, with different parameter values, as long as the catalog is the same.
type Bound struct {
	Kind   Kind
	Root   logical.Node     // Select, Insert: the source rows
	Params []types.Type     // $1, $2, ...
	Cols   []logical.Column // result columns, nil if the statement returns no rows

	// Insert: Root yields full rows of Table (all columns, in order, defaults
	// filled in, cast to the column types). Bulk, if not nil, replaces Root.
	Table *catalog.Table
	Bulk  *BulkInsert

	// Explain
	Inner                           *Bound
	Analyze, Costs, Timing, Verbose bool
	Format                          string // text, json, ...

	Utility *pg_query.Node
}

// BulkInsert is an INSERT whose literal rows are read by the lexer.
type BulkInsert struct {
	Rows *sql.BulkValues
	// Target gives, per column of the VALUES rows, the index of the table's column.
	Target []int
	// Defaults gives, per column of the table that Target leaves out, a one-row plan; index
	// by table column, nil where Target has it.
	Defaults logical.Node // yields one row with all columns of the table (NULL or default)
}

// Bind resolves a parsed statement. paramTypes are the types a client declared (0: infer).
func Bind(env *Env, st *sql.Statement, paramTypes []types.OID) (*Bound, error) { return nil, nil }

// Plan makes the physical plan of a bound statement (not Utility); params holds one-row
// vectors of the bound types.
func Plan(env *Env, b *Bound, root logical.Node, params []ParamValue) (physical.Node, error) {
	return nil, nil
}

// ParamValue is the value of a parameter: one row of its bound type's kind.
type ParamValue = *vector.Vector
