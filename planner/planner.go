// Package planner turns a parsed statement into a plan: bind (names, types,
// functions) → logical → an ordered list of small named rules → physical.
//
// It sees storage only as scan requests and statistics.
package planner

import (
	"tsdb/colstore/vector"
	"tsdb/planner/bind"
	"tsdb/planner/build"
	"tsdb/planner/logical"
	"tsdb/planner/physical"
	"tsdb/planner/rules"
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
	// OnConflict is what an INSERT does with rows whose key exists.
	OnConflict = bind.OnConflict
)

// Kinds of bound statements.
const (
	Select  = bind.Select
	Insert  = bind.Insert
	Update  = bind.Update
	Delete  = bind.Delete
	Explain = bind.Explain
	Utility = bind.Utility
)

// Bind resolves a parsed statement. paramTypes are the types a client declared (0: infer).
func Bind(env *Env, st *sql.Statement, paramTypes []types.OID) (*Bound, error) {
	return bind.Bind(env, st, paramTypes)
}

// Plan makes the physical plan of a bound statement (not Utility); params holds one-row
// vectors of the bound types.
//
// Errors: *pgerr.Error 2201W, 2201X for a negative LIMIT or OFFSET. Other errors
// of constants show when a row needs them.
func Plan(env *Env, b *Bound, root logical.Node, params []ParamValue) (physical.Node, error) {
	root = rules.Rewrite(&rules.Context{Ctx: env.Ctx, Params: params, Stats: env.Stats}, root)
	return build.Plan(&build.Env{Ctx: env.Ctx, Stats: env.Stats, Pruning: env.Pruning}, root)
}

// ParamValue is the value of a parameter: one row of its bound type's kind.
type ParamValue = *vector.Vector
