package functions

import "tsdb/sql/types"

func isPolymorphic(t types.OID) bool {
	switch t {
	case types.AnyElement, types.AnyArray, types.AnyNonArray, types.AnyEnum, types.AnyCompatible, types.AnyCompatibleArray:
		return true
	}
	return false
}

// bound is what a call makes of the polymorphic families: 0 is undetermined.
type bound struct {
	elem       types.OID // anyelement, and the element of anyarray
	compatible types.OID // likewise of the anycompatible family
}

// polymorphicTypes matches polymorphic parameters with arguments.
func polymorphicTypes(params, args []types.OID) (bound, bool) {
	var b bound
	var common []types.OID
	unknown, compatible := false, false
	for i, p := range params {
		a := args[i]
		if p == types.AnyCompatible || p == types.AnyCompatibleArray {
			compatible = true
		}
		if a == types.Unknown {
			unknown = unknown || isPolymorphic(p)
			continue
		}
		switch p {
		case types.AnyElement, types.AnyNonArray, types.AnyEnum:
			if p == types.AnyNonArray && types.ElemOf(a) != 0 || p == types.AnyEnum && !types.IsEnum(a) {
				return b, false
			}
			if b.elem != 0 && b.elem != a {
				return b, false
			}
			b.elem = a
		case types.AnyArray:
			e := types.ElemOf(a)
			if e == 0 || b.elem != 0 && b.elem != e {
				return b, false
			}
			b.elem = e
		case types.AnyCompatible:
			common = append(common, a)
		case types.AnyCompatibleArray:
			e := types.ElemOf(a)
			if e == 0 {
				return b, false
			}
			common = append(common, e)
		}
	}
	if len(common) > 0 {
		t, ok := CommonType(common)
		if !ok {
			return b, false
		}
		b.compatible = t
	} else if compatible && unknown {
		b.compatible = types.Text
	}
	return b, true
}

func (b bound) concrete(p types.OID) types.OID {
	switch p {
	case types.AnyElement, types.AnyNonArray, types.AnyEnum:
		return b.elem
	case types.AnyArray:
		return types.ArrayOf(b.elem)
	case types.AnyCompatible:
		return b.compatible
	case types.AnyCompatibleArray:
		return types.ArrayOf(b.compatible)
	}
	return p
}

// resolvePolymorphic returns the parameter types of one call.
func resolvePolymorphic(params, args []types.OID) ([]types.OID, bool) {
	b, _ := polymorphicTypes(params, args)
	out := make([]types.OID, len(params))
	for i, p := range params {
		switch {
		case p == types.Any && args[i] == types.Unknown:
			out[i] = types.Text
		case p == types.Any:
			out[i] = args[i]
		default:
			out[i] = b.concrete(p)
		}
		if out[i] == 0 {
			return nil, false
		}
	}
	return out, true
}

func resultOf(ret types.OID, retType func([]types.Type) types.Type, params []types.OID, args []types.Type) types.Type {
	if retType != nil {
		return retType(args)
	}
	if !isPolymorphic(ret) {
		return types.T(ret)
	}
	n := min(len(params), len(args))
	oids := make([]types.OID, n)
	for i := range oids {
		oids[i] = args[i].OID
	}
	b, _ := polymorphicTypes(params[:n], oids)
	return types.T(b.concrete(ret))
}

// ResultType returns the type of a call whose arguments, after casts, have the given types.
func (o *Overload) ResultType(args []types.Type) types.Type {
	return resultOf(o.Ret, o.RetType, o.Args, args)
}

// ResultType returns the type of the aggregate over arguments of the given types.
func (a *Aggregate) ResultType(args []types.Type) types.Type {
	return resultOf(a.Ret, a.RetType, a.Args, args)
}

// ResultTypes returns the column types of a call with arguments of the given types.
func (f *SetReturning) ResultTypes(args []types.Type) []types.Type {
	out := make([]types.Type, len(f.Types))
	for i, t := range f.Types {
		out[i] = resultOf(t, nil, f.Args, args)
	}
	return out
}
