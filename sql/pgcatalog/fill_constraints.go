package pgcatalog

import (
	"tsdb/sql/catalog"
	"tsdb/sql/types"
)

// constraintStart sets what all rows of pg_constraint have.
func constraintStart(w *rows, oid types.OID, name string, schema, table types.OID, kind string) {
	w.oid("oid", oid).text("conname", name).oid("connamespace", schema).oid("conrelid", table).text("contype", kind)
}

func constraintEnd(w *rows) {
	w.bools(false, "condeferrable", "condeferred", "connoinherit").bools(true, "convalidated", "conislocal")
	w.nums(0, "contypid", "conparentid", "confrelid", "coninhcount", "conindid")
	w.text("confupdtype", " ").text("confdeltype", " ").text("confmatchtype", " ").end()
}

func fillConstraint(w *rows, s *source) {
	for _, t := range s.cat.Tables() {
		for i := range t.Constraints {
			c := &t.Constraints[i]
			if c.Index {
				continue
			}
			kind := "u"
			if c.Primary {
				kind = "p"
			}
			constraintStart(w, c.OID, c.Name, t.Schema, t.OID, kind)
			w.oid("conindid", c.IndexOID).bool("connoinherit", true).array("conkey", "{"+attNums(t, c.Columns, ",")+"}")
			constraintEnd(w)
		}
		for i := range t.Checks {
			c := &t.Checks[i]
			constraintStart(w, c.OID, c.Name, t.Schema, t.OID, "c")
			if len(c.Columns) > 0 {
				w.array("conkey", numArray(c.Columns))
			}
			w.bool("convalidated", !c.NotValid).bool("connoinherit", c.NoInherit).text("conbin", s.checkExpr(c))
			constraintEnd(w)
		}
		for i := range t.ForeignKeys {
			foreignKeyRow(w, s, t, &t.ForeignKeys[i])
		}
	}
	for _, d := range s.cat.Domains() {
		for i := range d.Checks {
			c := &d.Checks[i]
			constraintStart(w, c.OID, c.Name, d.Schema, 0, "c")
			w.oid("contypid", d.OID).bool("convalidated", !c.NotValid).text("conbin", s.checkExpr(c))
			constraintEnd(w)
		}
	}
}

func foreignKeyRow(w *rows, s *source, t *catalog.Table, k *catalog.ForeignKey) {
	constraintStart(w, k.OID, k.Name, t.Schema, t.OID, "f")
	if c := s.keyOf(k); c != nil {
		w.oid("conindid", c.IndexOID)
	}
	match := "s"
	if k.MatchFull {
		match = "f"
	}
	w.oid("confrelid", k.Table).text("confupdtype", string(k.OnUpdate)).text("confdeltype", string(k.OnDelete)).text("confmatchtype", match)
	w.bool("condeferrable", k.Deferrable).bool("condeferred", k.Deferred).bool("convalidated", !k.NotValid).bool("connoinherit", true)
	w.array("conkey", numArray(k.Columns)).array("confkey", numArray(k.RefColumns))
	constraintEnd(w)
}

// keyOf is the constraint of the referenced table that a foreign key uses.
func (s *source) keyOf(k *catalog.ForeignKey) *catalog.Constraint {
	t, ok := s.cat.TableByOID(k.Table)
	if !ok {
		return nil
	}
	for i := range t.Constraints {
		if t.Constraints[i].OID == k.Constraint {
			return &t.Constraints[i]
		}
	}
	return nil
}
