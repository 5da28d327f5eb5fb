package session

import (
	"tsdb/sql/catalog"
	"tsdb/sql/sqltext"
	"tsdb/sql/types"
)

// classDefault is pg_attrdef: a Ref of it names the default of column Column
// of the table OID.
const classDefault types.OID = 2604

func relationRef(oid types.OID) catalog.Ref {
	return catalog.Ref{Class: catalog.ClassRelation, OID: oid}
}

func columnRef(table types.OID, num int16) catalog.Ref {
	return catalog.Ref{Class: catalog.ClassRelation, OID: table, Column: num}
}

func typeRef(oid types.OID) catalog.Ref { return catalog.Ref{Class: catalog.ClassType, OID: oid} }

func schemaRef(oid types.OID) catalog.Ref { return catalog.Ref{Class: catalog.ClassSchema, OID: oid} }

func constraintRef(oid types.OID) catalog.Ref {
	return catalog.Ref{Class: catalog.ClassConstraint, OID: oid}
}

func enumArray(enum types.OID) types.OID { return enum - types.EnumBase + types.EnumArrayBase }

// walkDependencies tells f what needs what. It is the one place that knows:
// DROP, pg_depend and ALTER read it.
func walkDependencies(cat *catalog.Snapshot, f func(dependency)) {
	w := &dependencyWalk{cat: cat, f: f}
	for _, t := range cat.Tables() {
		w.table(t)
	}
	for _, v := range cat.Views() {
		w.needs(relationRef(v.OID), schemaRef(v.Schema), dependsNormal)
		w.all(relationRef(v.OID), v.Depends)
	}
	for _, q := range cat.Sequences() {
		w.needs(relationRef(q.OID), schemaRef(q.Schema), dependsNormal)
		if q.OwnedBy.OID != 0 {
			kind := byte(dependsAuto)
			if q.Identity {
				kind = dependsInternal
			}
			w.needs(relationRef(q.OID), q.OwnedBy, kind)
		}
	}
	for _, e := range cat.Enums() {
		w.needs(typeRef(e.OID), schemaRef(e.Schema), dependsNormal)
		w.needs(typeRef(enumArray(e.OID)), typeRef(e.OID), dependsInternal)
	}
	for _, d := range cat.Domains() {
		w.domain(d)
	}
}

type dependencyWalk struct {
	cat *catalog.Snapshot
	f   func(dependency)
}

func (w *dependencyWalk) needs(dependent, on catalog.Ref, kind byte) {
	w.f(dependency{dependent, on, kind})
}

func (w *dependencyWalk) all(dependent catalog.Ref, on []catalog.Ref) {
	for _, r := range on {
		w.needs(dependent, r, dependsNormal)
	}
}

// usesType notes the need of a type that a user made.
func (w *dependencyWalk) usesType(dependent catalog.Ref, t types.OID) {
	if types.IsEnum(t) || types.IsEnumArray(t) {
		w.needs(dependent, typeRef(t), dependsNormal)
	}
}

func (w *dependencyWalk) domain(d *catalog.Domain) {
	self := typeRef(d.OID)
	w.needs(self, schemaRef(d.Schema), dependsNormal)
	w.needs(typeRef(d.ArrayOID), self, dependsInternal)
	if d.Parent != 0 {
		w.needs(self, typeRef(d.Parent), dependsNormal)
	} else {
		w.usesType(self, d.Base)
	}
	for i := range d.Checks {
		w.needs(constraintRef(d.Checks[i].OID), self, dependsAuto)
	}
}

func (w *dependencyWalk) table(t *catalog.Table) {
	self := relationRef(t.OID)
	w.needs(self, schemaRef(t.Schema), dependsNormal)
	if t.Query == "" {
		w.needs(typeRef(t.TypeOID), self, dependsInternal)
	}
	w.all(self, t.Depends)
	for i := range t.Columns {
		w.column(t, &t.Columns[i])
	}
	for i := range t.Constraints {
		w.key(t, &t.Constraints[i])
	}
	for i := range t.Checks {
		c := constraintRef(t.Checks[i].OID)
		for _, num := range t.Checks[i].Columns {
			w.needs(c, columnRef(t.OID, num), dependsAuto)
		}
		if len(t.Checks[i].Columns) == 0 {
			w.needs(c, self, dependsAuto)
		}
	}
	for i := range t.ForeignKeys {
		w.foreignKey(t, &t.ForeignKeys[i])
	}
	for i := range t.Indexes {
		w.index(t, &t.Indexes[i])
	}
}

func (w *dependencyWalk) column(t *catalog.Table, c *catalog.Column) {
	self := columnRef(t.OID, c.AttNum)
	if c.Domain != 0 {
		w.needs(self, typeRef(c.Domain), dependsNormal)
	} else {
		w.usesType(self, c.Type.OID)
	}
	if c.Generated != "" {
		// Without the columns that it reads a generated column cannot be.
		w.all(self, c.Depends)
		w.reads(self, t, c.Generated, dependsNormal)
		return
	}
	if c.Default != "" {
		def := catalog.Ref{Class: classDefault, OID: t.OID, Column: c.AttNum}
		w.needs(def, self, dependsAuto)
		w.all(def, c.Depends)
	}
}

// reads notes the need of the columns of t that an expression names.
func (w *dependencyWalk) reads(dependent catalog.Ref, t *catalog.Table, expr string, kind byte) (any bool) {
	if expr == "" {
		return false
	}
	for _, name := range sqltext.Columns(expr) {
		if i := t.ColumnIndex(name); i >= 0 {
			w.needs(dependent, columnRef(t.OID, t.Columns[i].AttNum), kind)
			any = true
		}
	}
	return any
}

func (w *dependencyWalk) key(t *catalog.Table, c *catalog.Constraint) {
	index, self := relationRef(c.IndexOID), constraintRef(c.OID)
	if c.Index {
		self = index
	} else {
		w.needs(index, self, dependsInternal)
	}
	for _, col := range c.Columns {
		w.needs(self, columnRef(t.OID, t.Columns[col].AttNum), dependsAuto)
	}
}

func (w *dependencyWalk) foreignKey(t *catalog.Table, k *catalog.ForeignKey) {
	self := constraintRef(k.OID)
	for _, num := range k.Columns {
		w.needs(self, columnRef(t.OID, num), dependsAuto)
	}
	for _, num := range k.RefColumns {
		w.needs(self, columnRef(k.Table, num), dependsNormal)
	}
	if to, ok := w.cat.TableByOID(k.Table); ok {
		for i := range to.Constraints {
			if c := &to.Constraints[i]; c.OID == k.Constraint || c.IndexOID == k.Constraint {
				w.needs(self, relationRef(c.IndexOID), dependsNormal)
			}
		}
	}
}

func (w *dependencyWalk) index(t *catalog.Table, x *catalog.Index) {
	self := relationRef(x.OID)
	any := w.reads(self, t, x.Where, dependsAuto)
	for _, c := range x.Columns {
		if c.Column != 0 {
			w.needs(self, columnRef(t.OID, c.Column), dependsAuto)
			any = true
		}
		any = w.reads(self, t, c.Expr, dependsAuto) || any
	}
	for _, num := range x.Include {
		w.needs(self, columnRef(t.OID, num), dependsAuto)
	}
	if !any {
		w.needs(self, relationRef(t.OID), dependsAuto)
	}
}
