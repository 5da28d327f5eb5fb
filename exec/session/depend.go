package session

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// How an object depends on another one: what DROP of the other one does to it.
const (
	dependsNormal   = 'n' // it is in the way, or goes with CASCADE and a notice
	dependsAuto     = 'a' // it goes in silence
	dependsInternal = 'i' // it is a part of the other one
)

// dependency says that one object needs another one.
type dependency struct {
	dependent, on catalog.Ref
	kind          byte
}

// maxReportedDependents is the number of lines that a client gets, PostgreSQL's.
const maxReportedDependents = 100

// victim is an object that DROP removes.
type victim struct {
	ref, by  catalog.Ref // by: the object through which it was reached
	original bool        // DROP names it
	silent   bool        // it goes without a word: a part, or kept by nobody else
	part     bool        // a column or default of a table that goes as a whole
}

// dropper finds everything that goes with the objects of one DROP.
type dropper struct {
	edges map[catalog.Ref][]dependency // by the object that is needed, columns apart
	owner map[catalog.Ref]catalog.Ref  // of internal parts
	list  []*victim                    // dependents before what they need
	stack []*victim
}

func newDropper(cat *catalog.Snapshot) *dropper {
	d := &dropper{edges: map[catalog.Ref][]dependency{}, owner: map[catalog.Ref]catalog.Ref{}}
	walkDependencies(cat, func(e dependency) {
		whole := catalog.Ref{Class: e.on.Class, OID: e.on.OID}
		d.edges[whole] = append(d.edges[whole], e)
		if e.kind == dependsInternal {
			d.owner[e.dependent] = e.on
		}
	})
	return d
}

// present finds an object, or the table that it is a column of, among vs.
func present(vs []*victim, ref catalog.Ref) *victim {
	for _, v := range vs {
		if v.ref == ref || v.ref.Class == ref.Class && v.ref.OID == ref.OID && v.ref.Column == 0 {
			return v
		}
	}
	return nil
}

// visit adds an object after everything that depends on it.
func (d *dropper) visit(ref, by catalog.Ref, original, silent bool) {
	if v := present(d.stack, ref); v != nil {
		v.silent = v.silent || v.ref == ref && silent
		return
	}
	if v := present(d.list, ref); v != nil {
		if v.ref == ref {
			v.original, v.silent = v.original || original, v.silent || silent
		}
		return
	}
	if owner, ok := d.owner[ref]; ok && !original && present(d.stack, owner) == nil {
		d.visit(owner, by, false, false) // parts go with what they are parts of
		return
	}
	if ref.Column == 0 {
		for _, v := range d.list {
			v.part = v.part || v.ref.Class == ref.Class && v.ref.OID == ref.OID
		}
	}
	v := &victim{ref: ref, by: by, original: original, silent: silent}
	d.stack = append(d.stack, v)
	for _, e := range d.dependents(ref) {
		d.visit(e.dependent, ref, false, e.kind != dependsNormal)
	}
	d.stack = d.stack[:len(d.stack)-1]
	d.list = append(d.list, v)
}

// dependents returns what needs an object, or a column of it, newest first.
func (d *dropper) dependents(ref catalog.Ref) []dependency {
	var out []dependency
	for _, e := range d.edges[catalog.Ref{Class: ref.Class, OID: ref.OID}] {
		if ref.Column != 0 && e.on.Column != ref.Column {
			continue
		}
		if ref.Column == 0 && e.dependent.Class == ref.Class && e.dependent.OID == ref.OID {
			continue // a part of itself
		}
		out = append(out, e)
	}
	slices.SortStableFunc(out, func(a, b dependency) int {
		x, y := a.dependent, b.dependent
		if x.OID == y.OID && a.on.OID == x.OID && a.on.Class == x.Class { // generated columns: of these the defaults have an age
			x.Column, y.Column = y.Column, x.Column
		}
		return cmp.Or(cmp.Compare(age(y.OID), age(x.OID)), cmp.Compare(x.Class, y.Class), cmp.Compare(x.Column, y.Column))
	})
	return out
}

// age orders objects by when they were made.
func age(oid types.OID) types.OID {
	switch {
	case types.IsEnum(oid):
		return oid - types.EnumBase + catalog.FirstUserOID
	case types.IsEnumArray(oid):
		return oid - types.EnumArrayBase + catalog.FirstUserOID
	}
	return oid
}

// dropObjects removes objects and, with cascade, everything that depends on
// them. Without, it refuses if there is such a thing. several: the command
// names more than one.
//
// Errors: 2BP01, and what the removal of one object may return.
func (s *Session) dropObjects(ctx context.Context, refs []catalog.Ref, several, cascade bool) error {
	d := newDropper(s.catalog())
	for _, r := range refs {
		if owner, ok := d.owner[r]; ok && !slices.Contains(refs, owner) {
			return pgerr.New(pgerr.DependentObjectsStillExist, "cannot drop %s because %s requires it", s.describe(r), s.describe(owner)).
				WithHint("You can drop %s instead.", s.describe(owner))
		}
	}
	for _, r := range refs {
		d.visit(r, catalog.Ref{}, true, false)
	}
	what := "desired object(s)"
	if !several {
		what = s.describe(refs[0])
	}
	if err := s.reportDependents(d.list, what, several, cascade); err != nil {
		return err
	}
	return s.removeAll(ctx, d)
}

// removeAll removes what a dropper found.
func (s *Session) removeAll(ctx context.Context, d *dropper) error {
	cat := s.catalog()
	for _, v := range d.list {
		if d.within(cat, v.ref) {
			continue
		}
		if err := s.removeObject(ctx, v.ref); err != nil {
			return err
		}
	}
	return nil
}

// within reports whether a part goes with a whole that is removed too.
func (d *dropper) within(cat *catalog.Snapshot, ref catalog.Ref) bool {
	if t := tableOfPart(cat, ref); t != nil && d.removes(relationRef(t.OID)) {
		return true
	}
	owner, ok := d.owner[ref]
	return ok && ref.Class != catalog.ClassRelation && d.removes(owner) || // the type of a table, the array type of a type
		ok && owner.Class == catalog.ClassConstraint && d.removes(owner) // the index of a constraint
}

func (d *dropper) removes(ref catalog.Ref) bool {
	return slices.ContainsFunc(d.list, func(v *victim) bool { return v.ref == ref })
}

// reportDependents refuses a DROP with dependents, or tells which go with it.
func (s *Session) reportDependents(list []*victim, what string, several, cascade bool) error {
	var lines []string
	for _, v := range slices.Backward(list) {
		switch {
		case v.original || v.silent || v.part:
		case cascade:
			lines = append(lines, "drop cascades to "+s.describe(v.ref))
		default:
			lines = append(lines, s.describe(v.ref)+" depends on "+s.describe(v.by))
		}
	}
	switch {
	case len(lines) == 0:
		return nil
	case cascade && len(lines) == 1:
		s.notice(pgerr.Notice("%s", lines[0]))
		return nil
	case cascade:
		n := pgerr.Notice("drop cascades to %d other objects", len(lines))
		n.Detail = reportedLines(lines)
		s.notice(n)
		return nil
	}
	them := "it"
	if several {
		them = "them"
	}
	return pgerr.New(pgerr.DependentObjectsStillExist, "cannot drop %s because other objects depend on %s", what, them).
		WithDetail("%s", reportedLines(lines)).WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
}

func reportedLines(lines []string) string {
	if more := len(lines) - maxReportedDependents; more > 0 {
		other := "objects"
		if more == 1 {
			other = "object"
		}
		lines = append(lines[:maxReportedDependents:maxReportedDependents], fmt.Sprintf("and %d other %s (see server log for list)", more, other))
	}
	return strings.Join(lines, "\n")
}

// dropDependents prepares the removal of a part of a table, such as a column or
// a constraint, by ALTER TABLE: it removes what depends on the part, or refuses.
// The part itself and what belongs to the same table are left to the caller,
// who gets them through own, dependents first.
//
// Errors: 2BP01, and what own and the removal of one object may return.
func (s *Session) dropDependents(ctx context.Context, part catalog.Ref, of *catalog.Table, cascade bool, own func(catalog.Ref) error) error {
	d := newDropper(s.catalog())
	d.visit(part, catalog.Ref{}, true, false)
	if err := s.reportDependents(d.list, s.describe(part), false, cascade); err != nil {
		return err
	}
	cat := s.catalog()
	for _, v := range d.list {
		var err error
		t := tableOfPart(cat, v.ref)
		switch {
		case v.ref == part:
		case t != nil && t.OID == of.OID:
			err = own(v.ref)
		case !d.within(cat, v.ref):
			err = s.removeObject(ctx, v.ref)
		}
		if err != nil {
			return err
		}
		s.tx.local = s.tx.local.WithComment(v.ref, "")
	}
	return nil
}
