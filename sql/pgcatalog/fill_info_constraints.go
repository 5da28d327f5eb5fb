package pgcatalog

import (
	"fmt"

	"tsdb/sql/catalog"
	"tsdb/sql/types"
)

func init() {
	fills["information_schema.referential_constraints"] = fillReferentialConstraints
	fills["information_schema.check_constraints"] = fillCheckConstraints
	fills["information_schema.constraint_table_usage"] = fillConstraintTableUsage
	fills["information_schema.domains"] = fillDomains
	fills["information_schema.domain_constraints"] = fillDomainConstraints
	fills["information_schema.column_domain_usage"] = fillColumnDomainUsage
	fills["information_schema.enabled_roles"] = fillEnabledRoles
	fills["information_schema.character_sets"] = fillCharacterSets
}

// infoConstraint is a constraint as information_schema shows it. NOT NULL is a
// check there.
type infoConstraint struct {
	table   *catalog.Table
	name    string
	kind    string
	columns []int16
	key     *catalog.Constraint
	check   *catalog.Check
	foreign *catalog.ForeignKey
	clause  string // of a check
}

func (s *source) eachConstraint(f func(c infoConstraint)) {
	for _, t := range s.cat.Tables() {
		for i := range t.Constraints {
			c := &t.Constraints[i]
			if c.Index {
				continue
			}
			out := infoConstraint{table: t, name: c.Name, kind: "UNIQUE", key: c, columns: keyNums(t, c)}
			if c.Primary {
				out.kind = "PRIMARY KEY"
			}
			f(out)
		}
		for i := range t.ForeignKeys {
			k := &t.ForeignKeys[i]
			f(infoConstraint{table: t, name: k.Name, kind: "FOREIGN KEY", foreign: k, columns: k.Columns})
		}
		for i := range t.Checks {
			c := &t.Checks[i]
			f(infoConstraint{table: t, name: c.Name, kind: "CHECK", check: c, columns: c.Columns, clause: "(" + s.checkExpr(c) + ")"})
		}
		for i := range t.Columns {
			if c := &t.Columns[i]; c.NotNull {
				name := fmt.Sprintf("%d_%d_%d_not_null", t.Schema, t.OID, c.AttNum)
				f(infoConstraint{table: t, name: name, kind: "CHECK", clause: QuoteIdent(c.Name) + " IS NOT NULL"})
			}
		}
	}
}

func keyNums(t *catalog.Table, c *catalog.Constraint) []int16 {
	out := make([]int16, len(c.Columns))
	for i, col := range c.Columns {
		out[i] = t.Columns[col].AttNum
	}
	return out
}

func (s *source) constraintName(w *rows, schema types.OID, name string) {
	w.text("constraint_catalog", s.database()).text("constraint_schema", s.schemaName(schema)).text("constraint_name", name)
}

func (s *source) tableName(w *rows, t *catalog.Table) {
	w.text("table_catalog", s.database()).text("table_schema", s.schemaName(t.Schema)).text("table_name", t.Name)
}

func fillTableConstraints(w *rows, s *source) {
	s.eachConstraint(func(c infoConstraint) {
		s.constraintName(w, c.table.Schema, c.name)
		s.tableName(w, c.table)
		w.text("constraint_type", c.kind).text("enforced", "YES")
		if c.kind == "UNIQUE" {
			w.text("nulls_distinct", "YES")
		}
		w.text("is_deferrable", yesNo(c.foreign != nil && c.foreign.Deferrable))
		w.text("initially_deferred", yesNo(c.foreign != nil && c.foreign.Deferred)).end()
	})
}

func columnNameOf(t *catalog.Table, num int16) string {
	if i := t.ColumnByNum(num); i >= 0 {
		return t.Columns[i].Name
	}
	return ""
}

func fillKeyColumnUsage(w *rows, s *source) {
	s.eachConstraint(func(c infoConstraint) {
		if c.kind == "CHECK" {
			return
		}
		for i, num := range c.columns {
			s.constraintName(w, c.table.Schema, c.name)
			s.tableName(w, c.table)
			w.text("column_name", columnNameOf(c.table, num)).num("ordinal_position", int64(i+1))
			if c.foreign != nil {
				w.num("position_in_unique_constraint", int64(s.positionInKey(c.foreign, i)))
			}
			w.end()
		}
	})
}

// positionInKey is where the i-th referenced column stands in the key there.
func (s *source) positionInKey(k *catalog.ForeignKey, i int) int {
	t, ok := s.cat.TableByOID(k.Table)
	if key := s.keyOf(k); ok && key != nil {
		for j, num := range keyNums(t, key) {
			if num == k.RefColumns[i] {
				return j + 1
			}
		}
	}
	return i + 1
}

// used is the table that a constraint reads, and the columns there.
func (s *source) used(c infoConstraint) (*catalog.Table, []int16) {
	if c.foreign == nil {
		return c.table, c.columns
	}
	t, _ := s.cat.TableByOID(c.foreign.Table)
	return t, c.foreign.RefColumns
}

func fillConstraintColumnUsage(w *rows, s *source) {
	s.eachConstraint(func(c infoConstraint) {
		t, columns := s.used(c)
		if t == nil {
			return
		}
		for _, num := range columns {
			s.constraintName(w, c.table.Schema, c.name)
			s.tableName(w, t)
			w.text("column_name", columnNameOf(t, num)).end()
		}
	})
}

func fillConstraintTableUsage(w *rows, s *source) {
	s.eachConstraint(func(c infoConstraint) {
		t, _ := s.used(c)
		if t == nil || c.kind == "CHECK" {
			return
		}
		s.constraintName(w, c.table.Schema, c.name)
		s.tableName(w, t)
		w.end()
	})
}

var ruleNames = map[byte]string{'a': "NO ACTION", 'r': "RESTRICT", 'c': "CASCADE", 'n': "SET NULL", 'd': "SET DEFAULT"}

func fillReferentialConstraints(w *rows, s *source) {
	s.eachConstraint(func(c infoConstraint) {
		if c.foreign == nil {
			return
		}
		s.constraintName(w, c.table.Schema, c.name)
		if key := s.keyOf(c.foreign); key != nil {
			t, _ := s.cat.TableByOID(c.foreign.Table)
			w.text("unique_constraint_catalog", s.database()).text("unique_constraint_schema", s.schemaName(t.Schema))
			w.text("unique_constraint_name", key.Name)
		}
		match := "NONE"
		if c.foreign.MatchFull {
			match = "FULL"
		}
		w.text("match_option", match).text("update_rule", ruleNames[c.foreign.OnUpdate]).text("delete_rule", ruleNames[c.foreign.OnDelete]).end()
	})
}

func fillCheckConstraints(w *rows, s *source) {
	for _, d := range s.cat.Domains() {
		for i := range d.Checks {
			s.constraintName(w, d.Schema, d.Checks[i].Name)
			w.text("check_clause", "("+s.checkExpr(&d.Checks[i])+")").end()
		}
	}
	s.eachConstraint(func(c infoConstraint) {
		if c.kind == "CHECK" {
			s.constraintName(w, c.table.Schema, c.name)
			w.text("check_clause", c.clause).end()
		}
	})
}

func (s *source) domainName(w *rows, d *catalog.Domain) {
	w.text("domain_catalog", s.database()).text("domain_schema", s.schemaName(d.Schema)).text("domain_name", d.Name)
}

func fillDomains(w *rows, s *source) {
	for _, d := range s.cat.Domains() {
		base := types.Type{OID: d.Base, Mod: d.Mod}
		s.domainName(w, d)
		s.typeColumns(w, base)
		if d.Default != "" {
			w.text("domain_default", d.Default)
		}
		w.text("dtd_identifier", "1").end()
	}
}

func fillDomainConstraints(w *rows, s *source) {
	for _, d := range s.cat.Domains() {
		for i := range d.Checks {
			s.constraintName(w, d.Schema, d.Checks[i].Name)
			s.domainName(w, d)
			w.text("is_deferrable", "NO").text("initially_deferred", "NO").end()
		}
	}
}

func fillColumnDomainUsage(w *rows, s *source) {
	for _, t := range s.cat.Tables() {
		for i := range t.Columns {
			if d, ok := s.cat.DomainByOID(t.Columns[i].Domain); ok {
				s.domainName(w, d)
				s.tableName(w, t)
				w.text("column_name", t.Columns[i].Name).end()
			}
		}
	}
}

func fillEnabledRoles(w *rows, s *source) {
	for _, r := range s.cat.Roles() {
		w.text("role_name", r.Name).end()
	}
}

func fillCharacterSets(w *rows, s *source) {
	w.text("character_set_name", "UTF8").text("character_repertoire", "UCS").text("form_of_use", "UTF8")
	w.text("default_collate_catalog", s.database()).text("default_collate_schema", "pg_catalog").text("default_collate_name", "default").end()
}
