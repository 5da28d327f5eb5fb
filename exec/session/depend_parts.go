package session

import (
	"context"
	"slices"

	"tsdb/sql/catalog"
	"tsdb/sql/pgcatalog"
	"tsdb/sql/types"
)

// tableOfPart returns the table that a column, default, constraint, index or
// row type belongs to, nil for anything else.
func tableOfPart(cat *catalog.Snapshot, ref catalog.Ref) *catalog.Table {
	if ref.Class == classDefault || ref.Class == catalog.ClassRelation && ref.Column != 0 {
		t, _ := cat.TableByOID(ref.OID)
		return t
	}
	for _, t := range cat.Tables() {
		if ref.Class == catalog.ClassType && t.TypeOID == ref.OID || findPart(t, ref).any() {
			return t
		}
	}
	return nil
}

// part is a constraint or index of a table, given by its position.
type part struct{ key, check, foreign, index int }

func (p part) any() bool { return p.key >= 0 || p.check >= 0 || p.foreign >= 0 || p.index >= 0 }

// findPart finds a constraint or an index of t.
func findPart(t *catalog.Table, ref catalog.Ref) part {
	p := part{-1, -1, -1, -1}
	switch ref.Class {
	case catalog.ClassConstraint:
		p.key = slices.IndexFunc(t.Constraints, func(c catalog.Constraint) bool { return c.OID == ref.OID && !c.Index })
		p.check = slices.IndexFunc(t.Checks, func(c catalog.Check) bool { return c.OID == ref.OID })
		p.foreign = slices.IndexFunc(t.ForeignKeys, func(c catalog.ForeignKey) bool { return c.OID == ref.OID })
	case catalog.ClassRelation:
		if ref.Column == 0 {
			p.key = slices.IndexFunc(t.Constraints, func(c catalog.Constraint) bool { return c.IndexOID == ref.OID })
			p.index = slices.IndexFunc(t.Indexes, func(x catalog.Index) bool { return x.OID == ref.OID })
		}
	}
	return p
}

// name returns the name of a part.
func (p part) name(t *catalog.Table) string {
	switch {
	case p.key >= 0:
		return t.Constraints[p.key].Name
	case p.check >= 0:
		return t.Checks[p.check].Name
	case p.foreign >= 0:
		return t.ForeignKeys[p.foreign].Name
	}
	return t.Indexes[p.index].Name
}

// describe names an object as PostgreSQL's messages do: "view v", "column a of
// table t", "default value for column a of table t".
func (s *Session) describe(ref catalog.Ref) string {
	cat := s.catalog()
	switch ref.Class {
	case catalog.ClassRelation:
		return s.describeRelation(cat, ref)
	case classDefault:
		return "default value for " + s.describeRelation(cat, columnRef(ref.OID, ref.Column))
	case catalog.ClassConstraint:
		if t := tableOfPart(cat, ref); t != nil {
			return "constraint " + findPart(t, ref).name(t) + " on " + s.describeRelation(cat, relationRef(t.OID))
		}
		for _, d := range cat.Domains() {
			for i := range d.Checks {
				if d.Checks[i].OID == ref.OID {
					return "constraint " + d.Checks[i].Name
				}
			}
		}
	case catalog.ClassType:
		name, _ := pgcatalog.Names{Ctx: s.functionCtx()}.ObjectName(types.Regtype, ref.OID)
		return "type " + name
	case catalog.ClassSchema:
		return "schema " + s.schemaName(ref.OID)
	case catalog.ClassRole:
		if r, ok := cat.RoleByOID(ref.OID); ok {
			return "role " + r.Name
		}
	}
	return "object " + itoa(int64(ref.OID))
}

// describeRelation names a relation, qualified where the search path does not find it.
func (s *Session) describeRelation(cat *catalog.Snapshot, ref catalog.Ref) string {
	if ref.Column != 0 {
		name, whole := "", s.describeRelation(cat, relationRef(ref.OID))
		if r, ok := cat.RelationByOID(ref.OID); ok {
			name = columnName(r, ref.Column)
		}
		return "column " + name + " of " + whole
	}
	r, ok := cat.RelationByOID(ref.OID)
	if ok {
		return relationWord(r.Kind) + " " + s.shortName(r.Schema, r.Name)
	}
	if t := tableOfPart(cat, ref); t != nil {
		return "index " + s.shortName(t.Schema, findPart(t, ref).name(t))
	}
	return "relation " + itoa(int64(ref.OID))
}

// columnName returns the name of a column of a table or view.
func columnName(r catalog.Relation, num int16) string {
	switch {
	case r.Table != nil:
		if i := r.Table.ColumnByNum(num); i >= 0 {
			return r.Table.Columns[i].Name
		}
	case r.View != nil && int(num) <= len(r.View.Columns):
		return r.View.Columns[num-1].Name
	}
	return ""
}

// shortName qualifies a relation's name where the search path does not find it.
func (s *Session) shortName(schema types.OID, name string) string {
	cat := s.catalog()
	for _, oid := range s.searchOIDs(cat) {
		if oid == schema {
			return quoteIdent(name)
		}
		if _, hidden := cat.Relation(oid, name); hidden {
			break
		}
	}
	return quoteIdent(s.schemaName(schema)) + "." + quoteIdent(name)
}

// relationWord is the kind of a relation in messages.
func relationWord(k catalog.RelationKind) string {
	switch k {
	case catalog.RelView:
		return "view"
	case catalog.RelMaterialized:
		return "materialized view"
	case catalog.RelSequence:
		return "sequence"
	case catalog.RelIndex:
		return "index"
	}
	return "table"
}

// removeObject takes one object out of the catalog, with its comments. What
// depends on it is gone already.
func (s *Session) removeObject(ctx context.Context, ref catalog.Ref) error {
	cat := s.tx.local
	switch ref.Class {
	case catalog.ClassRelation:
		if ref.Column != 0 {
			return s.removePart(ctx, ref)
		}
		r, ok := cat.RelationByOID(ref.OID)
		switch {
		case !ok:
			return s.removePart(ctx, ref)
		case r.Table != nil:
			if err := s.dropTable(ctx, r.Table); err != nil {
				return err
			}
			s.forgetParts(r.Table)
		case r.View != nil:
			s.tx.local = cat.WithoutView(ref.OID)
		case r.Sequence != nil:
			s.tx.local = cat.WithoutSequence(ref.OID)
		}
	case catalog.ClassSchema:
		s.tx.local = cat.WithoutSchema(s.schemaName(ref.OID))
	case catalog.ClassType:
		s.tx.local = cat.WithoutEnum(ref.OID).WithoutDomain(ref.OID)
	default:
		return s.removePart(ctx, ref)
	}
	s.tx.local = s.tx.local.WithoutComments(ref.Class, ref.OID)
	return nil
}

// forgetParts removes the comments on the constraints and indexes of a table
// that is gone.
func (s *Session) forgetParts(t *catalog.Table) {
	if len(s.tx.local.Comments()) == 0 {
		return
	}
	for i := range t.Constraints {
		s.forget(catalog.ClassConstraint, t.Constraints[i].OID)
		s.forget(catalog.ClassRelation, t.Constraints[i].IndexOID)
	}
	for i := range t.Checks {
		s.forget(catalog.ClassConstraint, t.Checks[i].OID)
	}
	for i := range t.ForeignKeys {
		s.forget(catalog.ClassConstraint, t.ForeignKeys[i].OID)
	}
	for i := range t.Indexes {
		s.forget(catalog.ClassRelation, t.Indexes[i].OID)
	}
}

func (s *Session) forget(class, oid types.OID) {
	s.tx.local = s.tx.local.WithoutComments(class, oid)
}

// removePart removes a column, default, constraint or index from its table, or
// a check from its domain.
func (s *Session) removePart(ctx context.Context, ref catalog.Ref) error {
	t := tableOfPart(s.tx.local, ref)
	if t == nil {
		return s.removeDomainCheck(ref)
	}
	if err := s.lockTableAlone(ctx, t.OID); err != nil {
		return err
	}
	x := s.newAlteration(nil, t)
	if err := x.removePart(ref); err != nil {
		return err
	}
	if err := x.apply(ctx); err != nil {
		return err
	}
	s.tx.local = s.tx.local.WithComment(ref, "")
	return nil
}

// removePart takes a part out of the altered table.
func (x *alteration) removePart(ref catalog.Ref) error {
	if ref.Column != 0 {
		i := x.t.ColumnByNum(ref.Column)
		if i < 0 {
			return nil
		}
		if ref.Class == classDefault {
			x.t.Columns[i].Default, x.t.Columns[i].Depends = "", nil
			return nil
		}
		return x.removeColumn(i)
	}
	p := findPart(x.t, ref)
	switch {
	case p.check >= 0:
		x.t.Checks = slices.Delete(x.t.Checks, p.check, p.check+1)
	case p.foreign >= 0:
		x.t.ForeignKeys = slices.Delete(x.t.ForeignKeys, p.foreign, p.foreign+1)
	case p.index >= 0:
		x.rewrite = x.rewrite || x.t.Indexes[p.index].Key
		x.t.Indexes = slices.Delete(x.t.Indexes, p.index, p.index+1)
	case p.key >= 0:
		if x.t.Constraints[p.key].Primary {
			x.rewrite, x.rekeyed = true, true
		}
		x.t.Constraints = slices.Delete(x.t.Constraints, p.key, p.key+1)
	}
	return nil
}

func (s *Session) removeDomainCheck(ref catalog.Ref) error {
	for _, d := range s.tx.local.Domains() {
		i := slices.IndexFunc(d.Checks, func(c catalog.Check) bool { return c.OID == ref.OID })
		if ref.Class != catalog.ClassConstraint || i < 0 {
			continue
		}
		n := *d
		n.Checks = slices.Delete(slices.Clone(d.Checks), i, i+1)
		s.tx.local = s.tx.local.WithDomain(&n)
		s.forget(ref.Class, ref.OID)
	}
	return nil
}
