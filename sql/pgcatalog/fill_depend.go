package pgcatalog

import (
	"tsdb/sql/catalog"
	"tsdb/sql/types"
)

// Dependency is one row of pg_depend: Dependent needs On.
type Dependency struct {
	Dependent, On catalog.Ref
	Kind          byte // n normal, a auto, i internal
}

// DependencyLister is implemented by a session that knows what needs what.
type DependencyLister interface {
	EachDependency(f func(Dependency))
}

const (
	classAttrDef types.OID = 2604
	classRewrite types.OID = 2618
)

func init() { fills["pg_catalog.pg_depend"] = fillDepend }

func fillDepend(w *rows, s *source) {
	if s.ctx == nil {
		return
	}
	l, ok := s.ctx.Session.(DependencyLister)
	if !ok {
		return
	}
	row := func(d Dependency) {
		w.oid("classid", d.Dependent.Class).oid("objid", d.Dependent.OID).num("objsubid", int64(d.Dependent.Column))
		w.oid("refclassid", d.On.Class).oid("refobjid", d.On.OID).num("refobjsubid", int64(d.On.Column))
		w.text("deptype", string(d.Kind)).end()
	}
	views := map[types.OID]bool{}
	l.EachDependency(func(d Dependency) {
		if d.Dependent.Class == classAttrDef {
			d.Dependent = s.attrDef(d.Dependent)
		}
		if d.On.Class != catalog.ClassSchema && d.Dependent.Column == 0 && s.hasQuery(d.Dependent) {
			// What a view reads its rule needs, and the rule is a part of the view.
			view := d.Dependent
			d.Dependent = catalog.Ref{Class: classRewrite, OID: ruleOID(view.OID)}
			if !views[view.OID] {
				views[view.OID] = true
				row(Dependency{d.Dependent, view, 'i'})
				row(Dependency{d.Dependent, view, 'n'})
			}
		}
		row(d)
	})
}

// hasQuery reports whether a reference is to a view or materialized view.
func (s *source) hasQuery(ref catalog.Ref) bool {
	if ref.Class != catalog.ClassRelation {
		return false
	}
	r, ok := s.cat.RelationByOID(ref.OID)
	return ok && (r.Kind == catalog.RelView || r.Kind == catalog.RelMaterialized)
}

// attrDef names a column's default by its row in pg_attrdef.
func (s *source) attrDef(ref catalog.Ref) catalog.Ref {
	if t, ok := s.cat.TableByOID(ref.OID); ok {
		if i := t.ColumnByNum(ref.Column); i >= 0 {
			return catalog.Ref{Class: classAttrDef, OID: attrDefOID(t, &t.Columns[i])}
		}
	}
	return ref
}
