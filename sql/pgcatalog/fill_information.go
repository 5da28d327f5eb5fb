package pgcatalog

import (
	"strconv"

	"tsdb/sql/catalog"
	"tsdb/sql/types"
)

func (s *source) database() string {
	if s.ctx != nil && s.ctx.Session != nil {
		return s.ctx.Session.Database()
	}
	return "tsdb"
}

func yesNo(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}

func fillSchemata(w *rows, s *source) {
	for _, sc := range s.cat.Schemas() {
		w.text("catalog_name", s.database()).text("schema_name", sc.Name).text("schema_owner", s.roleName(sc.Owner)).end()
	}
}

func fillInfoTables(w *rows, s *source) {
	row := func(schema, name, kind string, insertable bool) {
		w.text("table_catalog", s.database()).text("table_schema", schema).text("table_name", name).text("table_type", kind)
		w.text("is_insertable_into", yesNo(insertable)).text("is_typed", "NO").end()
	}
	for _, r := range sortedRelations() {
		if r.kind == 'r' {
			row(r.schema, r.name, "BASE TABLE", false)
		} else {
			row(r.schema, r.name, "VIEW", false)
		}
	}
	for _, t := range s.cat.Tables() {
		kind := "BASE TABLE"
		if t.Temp {
			kind = "LOCAL TEMPORARY"
		}
		if t.Kind() == catalog.RelTable {
			row(s.schemaName(t.Schema), t.Name, kind, true)
		}
	}
	for _, v := range s.cat.Views() {
		row(s.schemaName(v.Schema), v.Name, "VIEW", s.updatable(v) != nil)
	}
}

func infoColumn(w *rows, s *source, schema, table string, num int, name string, t types.Type, notNull bool, def string) {
	w.text("table_catalog", s.database()).text("table_schema", schema).text("table_name", table).text("column_name", name)
	w.num("ordinal_position", int64(num)).text("is_nullable", yesNo(!notNull))
	if def != "" {
		w.text("column_default", def)
	}
	if types.ElemOf(t.OID) != 0 {
		w.text("data_type", "ARRAY")
	} else {
		w.text("data_type", types.FormatType(types.T(t.OID)))
	}
	typeFacts(w, t)
	if info, ok := types.Lookup(t.OID); ok {
		w.text("udt_name", info.Name)
	}
	w.text("udt_catalog", s.database()).text("udt_schema", "pg_catalog").text("dtd_identifier", strconv.Itoa(num))
	w.text("is_self_referencing", "NO").text("is_identity", "NO").text("identity_cycle", "NO").text("is_generated", "NEVER")
	w.text("is_updatable", "YES").end()
}

// typeFacts sets lengths and precisions as information_schema defines them.
func typeFacts(w *rows, t types.Type) {
	switch t.OID {
	case types.Varchar, types.BPChar:
		if t.Mod >= 4 {
			w.num("character_maximum_length", int64(t.Mod-4)).num("character_octet_length", int64(t.Mod-4)*4)
		} else {
			w.num("character_octet_length", 1<<30)
		}
	case types.Text:
		w.num("character_octet_length", 1<<30)
	case types.Int2:
		w.num("numeric_precision", 16).num("numeric_precision_radix", 2).num("numeric_scale", 0)
	case types.Int4:
		w.num("numeric_precision", 32).num("numeric_precision_radix", 2).num("numeric_scale", 0)
	case types.Int8:
		w.num("numeric_precision", 64).num("numeric_precision_radix", 2).num("numeric_scale", 0)
	case types.Float4:
		w.num("numeric_precision", 24).num("numeric_precision_radix", 2)
	case types.Float8:
		w.num("numeric_precision", 53).num("numeric_precision_radix", 2)
	case types.Numeric:
		w.num("numeric_precision_radix", 10)
		if t.Mod >= 4 {
			w.num("numeric_precision", int64((t.Mod-4)>>16)).num("numeric_scale", int64((t.Mod-4)&0x7ff))
		}
	case types.Date:
		w.num("datetime_precision", 0)
	case types.Timestamp, types.TimestampTZ, types.Time, types.TimeTZ, types.Interval:
		if t.Mod >= 0 && t.OID != types.Interval {
			w.num("datetime_precision", int64(t.Mod))
		} else {
			w.num("datetime_precision", 6)
		}
	}
}

func fillInfoColumns(w *rows, s *source) {
	for _, r := range sortedRelations() {
		for i, c := range r.cols {
			infoColumn(w, s, r.schema, r.name, i+1, c.Name, c.Type, c.Name == "oid", "")
		}
	}
	for _, v := range s.cat.Views() {
		for i, c := range v.Columns {
			infoColumn(w, s, s.schemaName(v.Schema), v.Name, i+1, c.Name, types.Type{OID: c.Type, Mod: c.Mod}, false, "")
		}
	}
	for _, t := range s.cat.Tables() {
		if t.Kind() != catalog.RelTable {
			continue
		}
		for i := range t.Columns {
			c := &t.Columns[i]
			infoColumn(w, s, s.schemaName(t.Schema), t.Name, int(c.AttNum), c.Name, c.Type, c.NotNull, c.Default)
		}
	}
}

func eachConstraint(s *source, f func(schema string, t *catalog.Table, c *catalog.Constraint)) {
	for _, t := range s.cat.Tables() {
		for i := range t.Constraints {
			if !t.Constraints[i].Index {
				f(s.schemaName(t.Schema), t, &t.Constraints[i])
			}
		}
	}
}

func constraintHead(w *rows, s *source, schema string, t *catalog.Table, c *catalog.Constraint) {
	w.text("constraint_catalog", s.database()).text("constraint_schema", schema).text("constraint_name", c.Name)
	w.text("table_catalog", s.database()).text("table_schema", schema).text("table_name", t.Name)
}

func fillTableConstraints(w *rows, s *source) {
	eachConstraint(s, func(schema string, t *catalog.Table, c *catalog.Constraint) {
		constraintHead(w, s, schema, t, c)
		if c.Primary {
			w.text("constraint_type", "PRIMARY KEY")
		} else {
			w.text("constraint_type", "UNIQUE").text("nulls_distinct", "YES")
		}
		w.text("is_deferrable", "NO").text("initially_deferred", "NO").text("enforced", "YES").end()
	})
}

func fillKeyColumnUsage(w *rows, s *source) {
	eachConstraint(s, func(schema string, t *catalog.Table, c *catalog.Constraint) {
		for i, col := range c.Columns {
			constraintHead(w, s, schema, t, c)
			w.text("column_name", t.Columns[col].Name).num("ordinal_position", int64(i+1)).end()
		}
	})
}

func fillConstraintColumnUsage(w *rows, s *source) {
	eachConstraint(s, func(schema string, t *catalog.Table, c *catalog.Constraint) {
		for _, col := range c.Columns {
			constraintHead(w, s, schema, t, c)
			w.text("column_name", t.Columns[col].Name).end()
		}
	})
}
