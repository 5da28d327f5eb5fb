package pgcatalog

import (
	"cmp"
	"slices"

	"tsdb/colstore/vector"
	"tsdb/sql/catalog"
	"tsdb/sql/types"
)

func init() {
	fills["pg_catalog.pg_description"] = fillDescription
	fills["pg_catalog.pg_shdescription"] = fillSharedDescription
}

// shared reports whether a class of objects belongs to all databases.
func shared(class types.OID) bool {
	return class == catalog.ClassRole || class == catalog.ClassDatabase
}

// comments calls f for each comment, ordered by what it is about.
func (s *source) comments(f func(about catalog.Ref, text string)) {
	all := s.cat.Comments()
	refs := make([]catalog.Ref, 0, len(all))
	for r := range all {
		refs = append(refs, r)
	}
	slices.SortFunc(refs, func(a, b catalog.Ref) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.OID, b.OID), cmp.Compare(a.Column, b.Column))
	})
	for _, r := range refs {
		f(r, all[r])
	}
}

func fillDescription(w *rows, s *source) {
	s.comments(func(about catalog.Ref, text string) {
		if !shared(about.Class) {
			w.oid("objoid", about.OID).oid("classoid", about.Class).num("objsubid", int64(about.Column)).text("description", text).end()
		}
	})
}

func fillSharedDescription(w *rows, s *source) {
	s.comments(func(about catalog.Ref, text string) {
		if shared(about.Class) {
			w.oid("objoid", about.OID).oid("classoid", about.Class).text("description", text).end()
		}
	})
}

// classOf is the OID of the catalog with that name.
func classOf(name []byte) types.OID {
	if r, ok := relations()["pg_catalog."+string(name)]; ok {
		return r.oid
	}
	return 0
}

// columnDescription is col_description(table, column number).
func columnDescription(s *source, args []*vector.Vector, i int) (string, bool) {
	num := args[1].I32[i&args[1].Mask()]
	if num <= 0 || num > 1<<15-1 {
		return "", false
	}
	return s.cat.Comment(catalog.Ref{Class: catalog.ClassRelation, OID: oidAt(args[0], i), Column: int16(num)})
}

// objectDescription is obj_description(object, catalog).
func objectDescription(s *source, args []*vector.Vector, i int) (string, bool) {
	class := classOf(args[1].Bytes(i))
	if shared(class) {
		return "", false
	}
	return s.cat.Comment(catalog.Ref{Class: class, OID: oidAt(args[0], i)})
}

// anyDescription is obj_description(object): of whatever catalog has that OID.
func anyDescription(s *source, args []*vector.Vector, i int) (string, bool) {
	oid := oidAt(args[0], i)
	for _, class := range []types.OID{catalog.ClassRelation, catalog.ClassType, catalog.ClassConstraint, catalog.ClassSchema} {
		if text, ok := s.cat.Comment(catalog.Ref{Class: class, OID: oid}); ok {
			return text, true
		}
	}
	return "", false
}

// sharedDescription is shobj_description(object, catalog).
func sharedDescription(s *source, args []*vector.Vector, i int) (string, bool) {
	class := classOf(args[1].Bytes(i))
	if !shared(class) {
		return "", false
	}
	return s.cat.Comment(catalog.Ref{Class: class, OID: oidAt(args[0], i)})
}
