package bind

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/scalar"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// maxParams is the wire protocol's limit of parameters.
const maxParams = 65535

// param is what is known of a statement parameter.
type param struct {
	typ      types.OID // 0 or Unknown: not yet
	declared bool
}

type paramUse struct {
	expr     *scalar.Param
	location int32
}

// paramRef binds $n. Its type stays unknown until a context asks for one.
func (b *binder) paramRef(n *pg_query.ParamRef) (scalar.Expr, error) {
	k := int(n.Number)
	if b.noParams || k <= 0 || k > maxParams {
		return nil, b.errorAt(n.Location, pgerr.UndefinedParameter, "there is no parameter $%d", k)
	}
	for len(b.params) < k {
		b.params = append(b.params, param{})
	}
	t := b.params[k-1].typ
	if t == 0 {
		t = types.Unknown
	}
	p := &scalar.Param{Number: k, Typ: types.T(t)}
	b.paramAt = append(b.paramAt, paramUse{p, n.Location})
	return p, nil
}

// coerceParam gives a parameter of unknown type the type that its context wants.
//
// The node is changed in place: it was made by this binder and is not shared yet.
func (b *binder) coerceParam(p *scalar.Param, want types.Type, location int32) (scalar.Expr, error) {
	k := &b.params[p.Number-1]
	if k.typ == 0 || k.typ == types.Unknown {
		k.typ = want.OID
	} else if k.typ != want.OID {
		return nil, b.errorAt(location, pgerr.AmbiguousParameter, "inconsistent types deduced for parameter $%d", p.Number).
			WithDetail("%s versus %s", typeText(k.typ), typeText(want.OID))
	}
	p.Typ = types.T(want.OID)
	return p, nil
}

// finishParams checks that every parameter has one type and writes them to out.
func (b *binder) finishParams(out *Bound) error {
	for _, u := range b.paramAt {
		if t := b.params[u.expr.Number-1].typ; t != 0 && t != u.expr.Typ.OID {
			return b.errorAt(u.location, pgerr.AmbiguousParameter, "could not determine data type of parameter $%d", u.expr.Number)
		}
	}
	n := max(len(b.params), b.st.NumParams)
	ts := make([]types.Type, n)
	for i := range ts {
		if i >= len(b.params) || b.params[i].typ == 0 || b.params[i].typ == types.Unknown {
			return pgerr.New(pgerr.IndeterminateDatatype, "could not determine data type of parameter $%d", i+1)
		}
		ts[i] = types.T(b.params[i].typ)
	}
	out.Params = ts
	if out.Inner != nil {
		out.Inner.Params = ts
	}
	return nil
}
