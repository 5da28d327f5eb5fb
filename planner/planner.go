// Package planner turns a parsed statement into a plan: bind (names, types,
// functions) → logical → an ordered list of small named rules → physical.
//
// It sees storage only as scan requests and statistics.
package planner

import (
	"tsdb/colstore/vector"
	"tsdb/planner/bind"
	"tsdb/planner/logical"
	"tsdb/planner/physical"
	"tsdb/sql"
	"tsdb/sql/types"
)

// The bound form of statements is package bind's.
type (
	// Env is what binding and planning depend on besides the statement.
	Env = bind.Env
	// Kind says what a bound statement does.
	Kind = bind.Kind
	// Bound is a statement with names and types resolved.
	Bound = bind.Bound
	// BulkInsert is an INSERT whose literal rows are read by the lexer.
	BulkInsert = bind.BulkInsert
)

// Kinds of bound statements.
const (
	Select  = bind.Select
	Insert  = bind.Insert
	Explain = bind.Explain
	Utility = bind.Utility
)

// Bind resolves a parsed statement. paramTypes are the types a client declared (0: infer).
func Bind(env *Env, st *sql.Statement, paramTypes []types.OID) (*Bound, error) {
	return bind.Bind(env, st, paramTypes)
}

// Plan makes the physical plan of a bound statement (not Utility); params holds one-row
// vectors of the bound types.
func Plan(env *Env, b *Bound, root logical.Node, params []ParamValue) (physical.Node, error) {
	return nil, nil
}

// ParamValue is the value of a parameter: one row of its bound type's kind.
type ParamValue = *vector.Vector
