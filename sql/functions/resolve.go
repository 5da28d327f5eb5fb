package functions

import (
	"strings"

	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// ResolveFunction picks the overload of a plain function for arguments of the
// given types; types.Unknown stands for an untyped literal.
//
// The second result has one type per argument: what the caller casts that
// argument to (implicitly). Polymorphic parameters are resolved; a parameter of
// type "any" keeps the argument's own type, unknown becoming text.
//
// Errors: *pgerr.Error 42883, 42725, without position.
func ResolveFunction(name string, args []types.OID) (*Overload, []types.OID, error) {
	all := functionsByName[name]
	cands := make([]candidate, 0, len(all))
	for i, o := range all {
		cands = addCandidate(cands, i, o.Args, len(args), o.Defaults, o.Variadic)
	}
	best, actual, err := resolve(cands, args, func() error { return noFunction(name, args) }, func() error { return manyFunctions(name, args) })
	if err != nil {
		return nil, nil, err
	}
	return all[best], actual, nil
}

// ResolveAggregate picks the overload of an aggregate; see ResolveFunction.
// count(*) is ResolveAggregate("count", nil).
func ResolveAggregate(name string, args []types.OID) (*Aggregate, []types.OID, error) {
	all := aggregatesByName[name]
	cands := make([]candidate, 0, len(all))
	for i, a := range all {
		cands = addCandidate(cands, i, a.Args, len(args), 0, false)
	}
	best, actual, err := resolve(cands, args, func() error { return noFunction(name, args) }, func() error { return manyFunctions(name, args) })
	if err != nil {
		return nil, nil, err
	}
	return all[best], actual, nil
}

// ResolveSetReturning picks the overload of a set-returning function; see ResolveFunction.
func ResolveSetReturning(name string, args []types.OID) (*SetReturning, []types.OID, error) {
	all := returningByName[name]
	cands := make([]candidate, 0, len(all))
	for i, f := range all {
		cands = addCandidate(cands, i, f.Args, len(args), f.Defaults, false)
	}
	best, actual, err := resolve(cands, args, func() error { return noFunction(name, args) }, func() error { return manyFunctions(name, args) })
	if err != nil {
		return nil, nil, err
	}
	return all[best], actual, nil
}

// ResolveOperator picks the overload of an operator; left is 0 for a prefix
// operator. The types returned are those of the operands in order (one for prefix).
//
// Errors: *pgerr.Error 42883, 42725, without position.
func ResolveOperator(symbol string, left, right types.OID) (*Overload, []types.OID, error) {
	if symbol == "!=" {
		symbol = "<>"
	}
	args := []types.OID{left, right}
	if left == 0 {
		args = args[1:]
	}
	all := operatorsBySign[symbol]
	cands := make([]candidate, 0, len(all))
	for i, o := range all {
		if len(o.Args) == len(args) {
			cands = append(cands, candidate{index: i, args: o.Args})
		}
	}
	// An unknown operand is first taken for the other operand's type.
	if len(args) == 2 && (left == types.Unknown) != (right == types.Unknown) {
		t := left
		if t == types.Unknown {
			t = right
		}
		for _, c := range cands {
			if c.args[0] == t && c.args[1] == t {
				return all[c.index], []types.OID{t, t}, nil
			}
		}
	}
	best, actual, err := resolve(cands, args, func() error { return noOperator(symbol, args) }, func() error { return manyOperators(symbol, args) })
	if err != nil {
		return nil, nil, err
	}
	return all[best], actual, nil
}

// candidate is one overload with its parameter list stretched to the call's length.
type candidate struct {
	index    int
	args     []types.OID
	variadic bool
}

func addCandidate(cands []candidate, index int, params []types.OID, n, defaults int, variadic bool) []candidate {
	if variadic && n >= len(params) {
		list := append(make([]types.OID, 0, n), params...)
		for len(list) < n {
			list = append(list, params[len(params)-1])
		}
		return append(cands, candidate{index: index, args: list, variadic: true})
	}
	if variadic || n > len(params) || n < len(params)-defaults {
		return cands
	}
	return append(cands, candidate{index: index, args: params[:n]})
}

// resolve runs PostgreSQL's choice: an exact match, else the only candidate
// that implicit casts reach, else the tie-breaking rules.
func resolve(cands []candidate, args []types.OID, none, many func() error) (int, []types.OID, error) {
	for _, c := range cands {
		if sameTypes(c.args, args) {
			return c.index, append([]types.OID(nil), c.args...), nil
		}
	}
	fit := cands[:0:0]
	for _, c := range cands {
		if canCoerce(args, c.args) {
			fit = append(fit, c)
		}
	}
	if len(fit) == 0 {
		return 0, nil, none()
	}
	c := &fit[0]
	if len(fit) > 1 {
		if c = chooseCandidate(fit, args); c == nil {
			return 0, nil, many()
		}
	}
	actual, ok := resolvePolymorphic(c.args, args)
	if !ok {
		return 0, nil, pgerr.New(pgerr.DatatypeMismatch, "could not determine polymorphic type because input has type unknown")
	}
	return c.index, actual, nil
}

func sameTypes(a, b []types.OID) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func canCoerce(args, params []types.OID) bool {
	generic := false
	for i, p := range params {
		a := args[i]
		switch {
		case a == p || p == types.Any || a == types.Unknown:
		case isPolymorphic(p):
		case CanImplicit(a, p):
		default:
			return false
		}
		generic = generic || isPolymorphic(p)
	}
	if !generic {
		return true
	}
	_, ok := polymorphicTypes(params, args)
	return ok
}

// chooseCandidate breaks ties between overloads that all accept the arguments;
// nil means that the call is ambiguous.
func chooseCandidate(cands []candidate, args []types.OID) *candidate {
	cands = keepBest(cands, args, func(p, a types.OID) bool { return p == a })
	if len(cands) == 1 {
		return &cands[0]
	}
	cands = keepBest(cands, args, func(p, a types.OID) bool { return p == a || isPreferred(a, p) })
	if len(cands) == 1 {
		return &cands[0]
	}
	unknowns := 0
	for _, a := range args {
		if a == types.Unknown {
			unknowns++
		}
	}
	if unknowns == 0 {
		return nil
	}
	if kept := keepUnknownCategory(cands, args); len(kept) == 1 {
		return &kept[0]
	} else if len(kept) > 0 {
		cands = kept
	}
	if unknowns < len(args) {
		return assumeOneType(cands, args)
	}
	return nil
}

// keepBest keeps the candidates with the most known arguments that match.
func keepBest(cands []candidate, args []types.OID, match func(param, arg types.OID) bool) []candidate {
	best, out := -1, cands[:0:0]
	for _, c := range cands {
		n := 0
		for i, a := range args {
			if a != types.Unknown && match(c.args[i], a) {
				n++
			}
		}
		if n > best {
			best, out = n, out[:0]
		}
		if n == best {
			out = append(out, c)
		}
	}
	return out
}

// keepUnknownCategory settles a type category for each unknown argument, strings
// first, and keeps the candidates that agree; nil if a position has no settled one.
func keepUnknownCategory(cands []candidate, args []types.OID) []candidate {
	cats := make([]byte, len(args))
	prefs := make([]bool, len(args))
	for i, a := range args {
		if a != types.Unknown {
			continue
		}
		conflict := false
		for _, c := range cands {
			cat, pref := categoryOf(c.args[i])
			switch {
			case cats[i] == 0:
				cats[i], prefs[i] = cat, pref
			case cat == cats[i]:
				prefs[i] = prefs[i] || pref
			case cat == 'S':
				cats[i], prefs[i] = cat, pref
			default:
				conflict = true
			}
		}
		if conflict && cats[i] != 'S' {
			return nil
		}
	}
	var out []candidate
	for _, c := range cands {
		keep := true
		for i, a := range args {
			if a != types.Unknown {
				continue
			}
			cat, pref := categoryOf(c.args[i])
			if cat != cats[i] || prefs[i] && !pref {
				keep = false
				break
			}
		}
		if keep {
			out = append(out, c)
		}
	}
	return out
}

// assumeOneType tries unknown arguments as the type that all known ones share.
func assumeOneType(cands []candidate, args []types.OID) *candidate {
	known := types.OID(0)
	for _, a := range args {
		if a == types.Unknown {
			continue
		}
		if known != 0 && known != a {
			return nil
		}
		known = a
	}
	all := make([]types.OID, len(args))
	for i := range all {
		all[i] = known
	}
	var found *candidate
	for i := range cands {
		if canCoerce(all, cands[i].args) {
			if found != nil {
				return nil
			}
			found = &cands[i]
		}
	}
	return found
}

func categoryOf(t types.OID) (byte, bool) {
	switch t {
	case types.Unknown:
		return 'X', false
	case types.Any, types.AnyElement, types.AnyArray, types.AnyNonArray, types.AnyEnum, types.AnyCompatible, types.AnyCompatibleArray, types.Record, types.Void:
		return 'P', false
	}
	info, ok := types.Lookup(t)
	if !ok {
		return 'U', false
	}
	return info.Category, info.Preferred
}

// isPreferred reports whether p is the preferred type of a's category.
func isPreferred(a, p types.OID) bool {
	ac, _ := categoryOf(a)
	pc, pref := categoryOf(p)
	return pref && ac == pc
}

func signature(name string, args []types.OID) string {
	var b strings.Builder
	b.WriteString(name)
	b.WriteByte('(')
	for i, a := range args {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(typeName(a))
	}
	b.WriteByte(')')
	return b.String()
}

func typeName(t types.OID) string { return types.FormatType(types.T(t)) }

func noFunction(name string, args []types.OID) error {
	return pgerr.New(pgerr.UndefinedFunction, "function %s does not exist", signature(name, args)).
		WithHint("No function matches the given name and argument types. You might need to add explicit type casts.")
}

func manyFunctions(name string, args []types.OID) error {
	return pgerr.New(pgerr.AmbiguousFunction, "function %s is not unique", signature(name, args)).
		WithHint("Could not choose a best candidate function. You might need to add explicit type casts.")
}

func operation(symbol string, args []types.OID) string {
	if len(args) == 1 {
		return symbol + " " + typeName(args[0])
	}
	return typeName(args[0]) + " " + symbol + " " + typeName(args[1])
}

func noOperator(symbol string, args []types.OID) error {
	e := pgerr.New(pgerr.UndefinedFunction, "operator does not exist: %s", operation(symbol, args))
	if len(args) == 1 {
		return e.WithHint("No operator matches the given name and argument type. You might need to add an explicit type cast.")
	}
	return e.WithHint("No operator matches the given name and argument types. You might need to add explicit type casts.")
}

func manyOperators(symbol string, args []types.OID) error {
	return pgerr.New(pgerr.AmbiguousFunction, "operator is not unique: %s", operation(symbol, args)).
		WithHint("Could not choose a best candidate operator. You might need to add explicit type casts.")
}
