// Package functions is the one registry of functions, operators, casts and
// aggregates: each entry is a signature and its vector kernel together.
//
// Resolution follows PostgreSQL's rules (exact match, then implicit casts,
// preferred types, unknown literals). The planner binds against it, exec/eval
// calls the kernels, pg_catalog lists it.
package functions

import (
	"context"

	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// Ctx is what kernels may depend on besides their arguments.
type Ctx struct {
	types.Context
	StatementTime int64        // microseconds since 1970, start of the statement
	Clock         func() int64 // wall clock, microseconds since 1970: clock_timestamp()
	Session       Session      // nil in tests and in folding where no session exists
	// Running ends when the statement is cancelled, so that functions that wait stop; nil if nothing can cancel it.
	Running context.Context
}

// lookEvery is after how many turns a loop without bounds looks at Canceled.
const lookEvery = 256

// Canceled returns why the statement ends, nil while it goes on.
func (c *Ctx) Canceled() error {
	if c == nil || c.Running == nil || c.Running.Err() == nil {
		return nil
	}
	return context.Cause(c.Running)
}

// Session answers functions that ask about the session and the catalog, such
// as current_user, current_setting, pg_get_userbyid, regclass input and output.
type Session interface {
	CurrentUser() string
	SessionUser() string
	Database() string
	SearchPath() []string // resolved schemas, in order, pg_catalog included first
	Setting(name string) (value string, ok bool)
	SetSetting(name, value string, local bool) error
	BackendPID() int32
	// Catalog is a *catalog.Catalog; typed any because the registry stands below it.
	Catalog() any
}

// Volatility says when a call may be computed ahead.
type Volatility uint8

// The volatility classes of PostgreSQL.
const (
	Immutable Volatility = iota
	Stable
	Volatile
)

// Kernel computes one call for a batch.
//
// out arrives Reset to the result kind. For fixed-width kinds and Bool it is
// already Resized to n; for Bytes the kernel appends exactly n rows. For a
// strict overload out.Valid arrives as the conjunction of the arguments' (nil:
// no NULLs): a kernel may compute garbage at NULL rows but must not raise an
// error there; when it appends Bytes rows it appends an empty value at such a
// row and keeps Valid as given (use Out.* helpers of this package). Arguments
// may be constants (see vector.Vector.Const): index physical rows with i&mask.
// Arguments are never dictionary encoded. If all arguments of a non-volatile call are constant the
// evaluator calls the kernel with n = 1 and makes the result constant.
type Kernel func(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error

// Overload is one function or operator signature.
type Overload struct {
	OID      types.OID   // pg_proc.oid where PostgreSQL has one, else from 70000 up
	Name     string      // function name, or the operator's symbol
	Operator bool        // Name is an operator; one argument means prefix
	Args     []types.OID // may hold types.Any, AnyElement, AnyArray, AnyCompatible
	Variadic bool        // the last argument repeats
	Defaults int         // how many trailing arguments may be left out; the kernel gets fewer then
	ArgNames []string    // for named notation, may be nil
	// DefaultText spells the values of the trailing optional arguments, for calls in
	// named notation that leave a gap; nil: NULL.
	DefaultText []string
	Ret         types.OID
	// RetType, if not nil, gives the result type with modifier from the actual
	// argument types; otherwise it is Ret without modifier (polymorphic results resolved).
	RetType    func(args []types.Type) types.Type
	NotStrict  bool // called with NULL arguments
	Volatility Volatility
	CanFail    bool // may raise an error for some input: not evaluated on rows that CASE or AND excludes
	Eval       Kernel
	// Bind, if not nil, makes the kernel for the actual argument types, where these
	// do not follow from Args ("any", polymorphic); Eval is nil then. See Kernel.
	Bind func(args []types.Type) Kernel
	Doc  string // one sentence for docs/sql.md
}

// Kernel returns the kernel for arguments of the given types.
func (o *Overload) Kernel(args []types.Type) Kernel {
	if o.Bind != nil {
		return o.Bind(args)
	}
	return o.Eval
}

// Aggregate is one aggregate signature.
type Aggregate struct {
	OID     types.OID
	Name    string
	Args    []types.OID // empty for count(*)
	Ret     types.OID
	RetType func(args []types.Type) types.Type
	// New makes the state for argument types as called (after casts to Args).
	New     func(args []types.Type) AggState
	Ordered bool // result depends on input order (string_agg, array_agg)
	// WithinGroup says that the aggregate is called with WITHIN GROUP (ORDER BY ...): the
	// first Direct arguments are written in the brackets, the others are what it orders by.
	WithinGroup bool
	Direct      int
	Descending  *Aggregate // the same for ORDER BY ... DESC
	Doc         string
}

// AggState holds the accumulators of one aggregate for many groups, indexed
// by group number. Not safe for concurrent use: parallel workers own one each
// and Merge.
type AggState interface {
	// Grow makes room for groups numbered below n; new groups start empty.
	Grow(n int)
	// Update adds rows: row i goes to group groups[i]. groups nil means that all go to
	// group 0. Arguments may be constant. NULL inputs are ignored as the aggregate defines.
	Update(groups []uint32, args []*vector.Vector, n int) error
	// Merge adds other's group i to group to[i]; other is of the same aggregate.
	Merge(other AggState, to []uint32) error
	// Result appends the results of groups lo..hi-1 to out (of the result's kind, flat).
	Result(c *Ctx, out *vector.Vector, lo, hi int) error
	// Size is the memory held, in bytes.
	Size() int64
}

// SetReturning is a function that returns rows (FROM generate_series(...)).
type SetReturning struct {
	OID      types.OID
	Name     string
	Args     []types.OID
	Defaults int
	Columns  []string    // result column names
	Types    []types.OID // result column types
	// Open starts the call with constant arguments (none is dictionary encoded).
	Open func(c *Ctx, args []*vector.Vector) (Rows, error)
	Doc  string
}

// Rows yields the rows of a set-returning function.
type Rows interface {
	// Next appends up to max rows to the columns of out, adding to out.N, and returns
	// false when it appended none because there are no more.
	Next(out *vector.Batch, max int) (bool, error)
}

// CastContext says where a cast is wanted; each includes the ones before.
type CastContext uint8

// The contexts of pg_cast.
const (
	CastImplicit CastContext = iota
	CastAssignment
	CastExplicit
)

// Cast is a conversion between two types.
type Cast struct {
	From, To types.OID
	Context  CastContext
	// Make returns the kernel for a target modifier (-1: none). explicit tells
	// varchar(n) whether to cut or to complain. Nil Make means binary coercible.
	Make    func(mod int32, explicit bool) Kernel
	CanFail bool
}
