package bind

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/colstore/vector"
	"tsdb/planner/scalar"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// conversion is how a value is to become another type.
type conversion struct {
	context  functions.CastContext
	written  bool // by the user: EXPLAIN shows it
	location int32
}

func implicitly(location int32) conversion {
	return conversion{context: functions.CastImplicit, location: location}
}

// convert returns e as a value of type want; ok is false if the context has no such cast.
//
// Untyped literals are read by the type's input function, untyped parameters take the type.
func (b *binder) convert(e scalar.Expr, want types.Type, how conversion) (scalar.Expr, bool, error) {
	have := e.ResultType()
	if have.OID == types.Unknown {
		switch u := e.(type) {
		case *scalar.Const:
			out, err := b.readLiteral(u, want, how)
			return out, true, err
		case *scalar.Param:
			out, err := b.coerceParam(u, types.T(want.OID), how.location)
			if err != nil {
				return nil, true, err
			}
			return b.applyModifier(out, want, how), true, nil
		}
	}
	if have.OID == want.OID {
		return b.applyModifier(e, want, how), true, nil
	}
	if isPseudo(want.OID) {
		return e, true, nil
	}
	c, ok := functions.FindCast(have.OID, want.OID, how.context)
	if !ok {
		return nil, false, nil
	}
	return castWith(c, e, want, how), true, nil
}

func isPseudo(t types.OID) bool {
	switch t {
	case types.Any, types.AnyElement, types.AnyArray, types.AnyNonArray, types.AnyEnum, types.AnyCompatible, types.AnyCompatibleArray:
		return true
	}
	return false
}

func castWith(c *functions.Cast, e scalar.Expr, want types.Type, how conversion) scalar.Expr {
	out := &scalar.Cast{Arg: e, Typ: want, CanFail: c.CanFail, Implicit: !how.written}
	if c.Make != nil {
		out.Kernel = c.Make(want.Mod, how.context == functions.CastExplicit)
	}
	return out
}

// applyModifier makes a value obey the modifier of its own type: varchar(3), numeric(10,2).
func (b *binder) applyModifier(e scalar.Expr, want types.Type, how conversion) scalar.Expr {
	if e.ResultType().Mod == want.Mod {
		return e
	}
	if want.Mod < 0 {
		if how.written { // n::numeric forgets the (10,2) of n, not its value
			return &scalar.Cast{Arg: e, Typ: want}
		}
		return e
	}
	if c, ok := e.(*scalar.Const); ok && c.Value.IsNull(0) {
		return &scalar.Const{Value: c.Value, Typ: want}
	}
	c, ok := functions.FindCast(want.OID, want.OID, how.context)
	if !ok {
		return e
	}
	return castWith(c, e, want, how)
}

// readLiteral turns an untyped literal into a constant of the wanted type.
func (b *binder) readLiteral(c *scalar.Const, want types.Type, how conversion) (scalar.Expr, error) {
	base := types.T(want.OID)
	if want.OID == types.Interval {
		base = want // the fields of the modifier decide how a bare number is read
	}
	v := vector.New(base.Kind(), 1)
	if c.Value.IsNull(0) {
		v.AppendNull()
		return &scalar.Const{Value: v, Typ: want}, nil
	}
	if want.OID == types.Unknown || isPseudo(want.OID) {
		return c, nil
	}
	if err := types.ParseText(v, base, c.Value.Bytes(0), b.ctx()); err != nil {
		return nil, b.at(err, how.location)
	}
	return b.applyModifier(&scalar.Const{Value: v, Typ: base}, want, how), nil
}

// asArgument casts a function's or operator's argument to the type that resolution chose.
func (b *binder) asArgument(e scalar.Expr, want types.OID, location int32) (scalar.Expr, error) {
	if e.ResultType().OID == want {
		return e, nil
	}
	out, ok, err := b.convert(e, types.T(want), implicitly(location))
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, b.cannotCast(e.ResultType().OID, want, location)
	}
	return out, nil
}

func (b *binder) cannotCast(from, to types.OID, location int32) error {
	return b.errorAt(location, pgerr.CannotCoerce, "cannot cast type %s to %s", typeText(from), typeText(to))
}

// asBoolean requires a condition: construct names its place ("WHERE", "AND").
func (b *binder) asBoolean(e scalar.Expr, construct string, n *pg_query.Node) (scalar.Expr, error) {
	return b.asType(e, types.Bool, construct, n)
}

func (b *binder) asType(e scalar.Expr, want types.OID, construct string, n *pg_query.Node) (scalar.Expr, error) {
	if e.ResultType().OID == want {
		return e, nil
	}
	how := conversion{context: functions.CastAssignment}
	if e.ResultType().OID == types.Unknown {
		how.location = locate(n)
	}
	out, ok, err := b.convert(e, types.T(want), how)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, b.errorAt(locate(n), pgerr.DatatypeMismatch, "argument of %s must be type %s, not type %s",
			construct, typeText(want), typeText(e.ResultType().OID))
	}
	return out, nil
}

// resolveUnknown makes an untyped literal or parameter of a result column text.
func (b *binder) resolveUnknown(e scalar.Expr, location int32) (scalar.Expr, error) {
	if e.ResultType().OID != types.Unknown {
		return e, nil
	}
	out, _, err := b.convert(e, types.T(types.Text), implicitly(location))
	return out, err
}

// operand is a bound expression with its source.
type operand struct {
	expr scalar.Expr
	node *pg_query.Node
}

// commonType returns the type that the operands of a construct share, as
// CASE, COALESCE, UNION and VALUES choose it.
func (b *binder) commonType(construct string, ops []operand) (types.Type, error) {
	var seen []types.OID
	last := types.OID(0)
	for _, o := range ops {
		t := o.expr.ResultType().OID
		if t == last {
			continue
		}
		last = t
		known := false
		for _, s := range seen {
			known = known || s == t
		}
		if !known {
			seen = append(seen, t)
		}
	}
	oid, ok := functions.ChooseType(seen)
	if !ok {
		return types.Type{}, b.noCommonType(construct, ops)
	}
	return commonModifier(oid, ops), nil
}

// commonModifier keeps the modifier that all operands share.
func commonModifier(oid types.OID, ops []operand) types.Type {
	mod := int32(-1)
	for i, o := range ops {
		t := o.expr.ResultType()
		if t.OID != oid || i > 0 && t.Mod != mod {
			return types.T(oid)
		}
		mod = t.Mod
	}
	return types.Type{OID: oid, Mod: mod}
}

// noCommonType names the first operand that does not fit the ones before it.
func (b *binder) noCommonType(construct string, ops []operand) error {
	var list []types.OID
	so := types.OID(types.Text)
	for _, o := range ops {
		t := o.expr.ResultType().OID
		list = append(list, t)
		c, ok := functions.ChooseType(list)
		if !ok {
			return b.errorAt(locate(o.node), pgerr.DatatypeMismatch, "%s types %s and %s cannot be matched",
				construct, typeText(so), typeText(t))
		}
		so = c
	}
	return pgerr.New(pgerr.DatatypeMismatch, "%s types cannot be matched", construct)
}

// toCommon casts an operand to the type that commonType found.
func (b *binder) toCommon(construct string, o operand, want types.Type) (scalar.Expr, error) {
	loc := locate(o.node)
	out, ok, err := b.convert(o.expr, types.T(want.OID), implicitly(loc))
	if err != nil {
		return nil, err
	}
	if !ok {
		if construct == "CASE" {
			construct = "CASE/WHEN" // PostgreSQL's two names for one construct
		}
		return nil, b.errorAt(loc, pgerr.CannotCoerce, "%s could not convert type %s to %s",
			construct, typeText(o.expr.ResultType().OID), typeText(want.OID))
	}
	return out, nil
}

// unify casts all operands to their common type.
func (b *binder) unify(construct string, ops []operand) ([]scalar.Expr, types.Type, error) {
	t, err := b.commonType(construct, ops)
	if err != nil {
		return nil, t, err
	}
	out := make([]scalar.Expr, len(ops))
	for i, o := range ops {
		if out[i], err = b.toCommon(construct, o, t); err != nil {
			return nil, t, err
		}
	}
	return out, t, nil
}
