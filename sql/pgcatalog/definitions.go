package pgcatalog

import (
	"strings"

	"tsdb/sql/catalog"
)

func columnList(t *catalog.Table, c *catalog.Constraint) string {
	names := make([]string, len(c.Columns))
	for i, col := range c.Columns {
		names[i] = QuoteIdent(t.Columns[col].Name)
	}
	return strings.Join(names, ", ")
}

// constraintDef is the text of pg_get_constraintdef.
func constraintDef(t *catalog.Table, c *catalog.Constraint) string {
	if c.Primary {
		return "PRIMARY KEY (" + columnList(t, c) + ")"
	}
	return "UNIQUE (" + columnList(t, c) + ")"
}

// attrDefOID is the OID of the pg_attrdef row of a column. A table owns the
// OIDs of its pg_class and pg_type rows only, so default rows are numbered
// from the table's OID in a range of their own.
func attrDefOID(t *catalog.Table, c *catalog.Column) uint32 {
	return 1<<31 | (t.OID<<10 | uint32(c.AttNum))
}
