package pgcatalog

import (
	"fmt"
	"strings"

	"tsdb/sql/catalog"
	"tsdb/sql/types"
)

func columnList(t *catalog.Table, c *catalog.Constraint) string {
	names := make([]string, len(c.Columns))
	for i, col := range c.Columns {
		names[i] = QuoteIdent(t.Columns[col].Name)
	}
	return strings.Join(names, ", ")
}

// constraintDef is the text of pg_get_constraintdef for a key.
func constraintDef(t *catalog.Table, c *catalog.Constraint) string {
	if c.Primary {
		return "PRIMARY KEY (" + columnList(t, c) + ")"
	}
	return "UNIQUE (" + columnList(t, c) + ")"
}

// checkDef is the same for a check.
func (s *source) checkDef(c *catalog.Check) string {
	text := "CHECK (" + s.checkExpr(c) + ")"
	if c.NoInherit {
		text += " NO INHERIT"
	}
	if c.NotValid {
		text += " NOT VALID"
	}
	return text
}

// checkExpr prints a check's expression in brackets, as PostgreSQL does for
// everything but names and calls.
func (s *source) checkExpr(c *catalog.Check) string {
	e := s.expression(c.Expr)
	if !strings.ContainsAny(e, " <>=") {
		return e
	}
	return "(" + e + ")"
}

// columnNames lists columns of a table by number.
func columnNames(t *catalog.Table, nums []int16) string {
	names := make([]string, len(nums))
	for i, n := range nums {
		names[i] = "?"
		if col := t.ColumnByNum(n); col >= 0 {
			names[i] = QuoteIdent(t.Columns[col].Name)
		}
	}
	return strings.Join(names, ", ")
}

// referenceActions spells what ON UPDATE and ON DELETE do.
var referenceActions = map[byte]string{'r': "RESTRICT", 'c': "CASCADE", 'n': "SET NULL", 'd': "SET DEFAULT"}

// foreignKeyDef is the text of pg_get_constraintdef for a foreign key.
func (s *source) foreignKeyDef(t *catalog.Table, k *catalog.ForeignKey) string {
	var b strings.Builder
	b.WriteString("FOREIGN KEY (" + columnNames(t, k.Columns) + ") REFERENCES ")
	if ref, ok := s.cat.TableByOID(k.Table); ok {
		o, _ := s.object(k.Table)
		b.WriteString(s.relationText(o) + "(" + columnNames(ref, k.RefColumns) + ")")
	}
	if k.MatchFull {
		b.WriteString(" MATCH FULL")
	}
	if a := referenceActions[k.OnUpdate]; a != "" {
		b.WriteString(" ON UPDATE " + a)
	}
	if a := referenceActions[k.OnDelete]; a != "" {
		b.WriteString(" ON DELETE " + a)
	}
	if k.Deferrable {
		b.WriteString(" DEFERRABLE")
	}
	if k.Deferred {
		b.WriteString(" INITIALLY DEFERRED")
	}
	if k.NotValid {
		b.WriteString(" NOT VALID")
	}
	return b.String()
}

// constraintText is pg_get_constraintdef for a constraint of any kind.
func (s *source) constraintText(oid types.OID) (string, bool) {
	for _, t := range s.cat.Tables() {
		for i := range t.Constraints {
			if c := &t.Constraints[i]; c.OID == oid {
				return constraintDef(t, c), true
			}
		}
		for i := range t.Checks {
			if c := &t.Checks[i]; c.OID == oid {
				return s.checkDef(c), true
			}
		}
		for i := range t.ForeignKeys {
			if k := &t.ForeignKeys[i]; k.OID == oid {
				return s.foreignKeyDef(t, k), true
			}
		}
	}
	for _, d := range s.cat.Domains() {
		for i := range d.Checks {
			if c := &d.Checks[i]; c.OID == oid {
				return s.checkDef(c), true
			}
		}
	}
	return "", false
}

// attrDefOID is the OID of the pg_attrdef row of a column. A table owns the
// OIDs of its pg_class and pg_type rows only, so default rows are numbered
// from the table's OID in a range of their own.
func attrDefOID(t *catalog.Table, c *catalog.Column) uint32 {
	return 1<<31 | (t.OID<<10 | uint32(c.AttNum))
}

// numArray is the text of an array of numbers.
func numArray(nums []int16) string {
	parts := make([]string, len(nums))
	for i, n := range nums {
		parts[i] = fmt.Sprint(n)
	}
	return "{" + strings.Join(parts, ",") + "}"
}
