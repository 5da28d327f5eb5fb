package functions

import "tsdb/sql/types"

type castKey struct{ from, to types.OID }

// castTable holds pg_cast's pairs among our types; filled by init functions.
var castTable = map[castKey]*Cast{}

// RegisterCasts adds conversions. Only init functions call it.
func RegisterCasts(cs ...Cast) {
	for i := range cs {
		castTable[castKey{cs[i].From, cs[i].To}] = &cs[i]
	}
}

// AllCasts calls f for each registered conversion, in no particular order.
func AllCasts(f func(*Cast) bool) {
	for _, c := range castTable {
		if !f(c) {
			return
		}
	}
}

// FindCast returns the conversion from one type to another that ctx allows:
// a registered one, an array's element by element, or through the text form
// (anything to a string in assignments, a string to anything explicitly,
// unknown to anything always).
//
// From a type to itself it returns a Cast that applies the modifier. Cast.Make
// may be nil, and Make may return nil: the bytes stay as they are.
func FindCast(from, to types.OID, ctx CastContext) (*Cast, bool) {
	if c, ok := castTable[castKey{from, to}]; ok {
		if c.Context > ctx {
			return nil, false
		}
		return c, true
	}
	if from == to {
		if elem, ok := castTable[castKey{types.ElemOf(from), types.ElemOf(from)}]; ok && elem.Make != nil {
			return arrayCast(from, to, elem), true
		}
		return &Cast{From: from, To: to}, true
	}
	if from == types.Unknown {
		return ioCast(from, to, CastImplicit), true
	}
	if fe, te := types.ElemOf(from), types.ElemOf(to); fe != 0 && te != 0 {
		if ec, ok := FindCast(fe, te, ctx); ok {
			return arrayCast(from, to, ec), true
		}
	}
	tc, _ := categoryOf(to)
	fc, _ := categoryOf(from)
	switch {
	case fc == 'P' && from != types.Record || tc == 'P':
	case ctx >= CastAssignment && tc == 'S':
		return ioCast(from, to, CastAssignment), true
	case ctx >= CastExplicit && (fc == 'S' || from == types.Char || to == types.Char):
		return ioCast(from, to, CastExplicit), true
	}
	return nil, false
}

// CanImplicit reports whether a value of one type passes for another without a written cast.
func CanImplicit(from, to types.OID) bool {
	if from == to || from == types.Unknown || to == types.Any {
		return true
	}
	_, ok := FindCast(from, to, CastImplicit)
	return ok
}

// CommonType returns the type that UNION, CASE, COALESCE, VALUES, GREATEST and
// IN settle on for these operands: the first, unless a later one of the same
// category is its implicit target and it is not preferred. Only unknowns give
// text. ok is false if the categories differ or a cast is missing.
func CommonType(ts []types.OID) (types.OID, bool) {
	best, ok := ChooseType(ts)
	if !ok {
		return 0, false
	}
	for _, t := range ts {
		if !CanImplicit(t, best) {
			return 0, false
		}
	}
	return best, true
}

// ChooseType is CommonType for a caller that goes on to cast: the types are of
// one category, but not all of them need have a cast to the result.
func ChooseType(ts []types.OID) (types.OID, bool) {
	best := types.OID(0)
	var bestCat byte
	var bestPref bool
	for _, t := range ts {
		if t == types.Unknown || t == best {
			continue
		}
		cat, pref := categoryOf(t)
		switch {
		case best == 0:
			best, bestCat, bestPref = t, cat, pref
		case cat != bestCat:
			return 0, false
		case !bestPref && CanImplicit(best, t) && !CanImplicit(t, best):
			best, bestPref = t, pref
		}
	}
	if best == 0 {
		return types.Text, true
	}
	return best, true
}
