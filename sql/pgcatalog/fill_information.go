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

// typeColumns sets what information_schema says of a type; of a domain, its base.
func (s *source) typeColumns(w *rows, t types.Type) {
	w.text("udt_catalog", s.database())
	info, known := types.Lookup(t.OID)
	switch {
	case types.IsEnum(t.OID):
		w.text("data_type", "USER-DEFINED")
		if e, ok := s.cat.EnumByOID(t.OID); ok {
			w.text("udt_schema", s.schemaName(e.Schema)).text("udt_name", e.Name)
		}
	case types.ElemOf(t.OID) != 0:
		w.text("data_type", "ARRAY")
	default:
		w.text("data_type", types.FormatType(types.T(t.OID)))
	}
	if known {
		w.text("udt_schema", "pg_catalog").text("udt_name", info.Name)
	}
	typeFacts(w, t)
}

// identityOf is the sequence of an identity column, nil for others.
func (s *source) identityOf(rel types.OID, a attribute) *catalog.Sequence {
	if a.identity == 0 {
		return nil
	}
	return s.sequenceOf(rel, int16(a.num))
}

// infoColumn writes a row of information_schema.columns.
func infoColumn(w *rows, s *source, schema, table string, rel types.OID, a attribute, updatable bool) {
	w.text("table_catalog", s.database()).text("table_schema", schema).text("table_name", table).text("column_name", a.name)
	w.num("ordinal_position", int64(a.num)).text("is_nullable", yesNo(!a.notNull))
	if a.def != "" {
		w.text("column_default", s.expression(a.def))
	}
	if d, ok := s.cat.DomainByOID(a.declared); ok {
		s.domainName(w, d)
	}
	s.typeColumns(w, a.typ)
	w.text("dtd_identifier", strconv.Itoa(a.num)).text("is_self_referencing", "NO").text("is_identity", yesNo(a.identity != 0))
	if q := s.identityOf(rel, a); q != nil {
		generation := "BY DEFAULT"
		if a.identity == 'a' {
			generation = "ALWAYS"
		}
		w.text("identity_generation", generation).text("identity_start", decimal(q.Start)).text("identity_increment", decimal(q.Increment))
		w.text("identity_maximum", decimal(q.Max)).text("identity_minimum", decimal(q.Min)).text("identity_cycle", yesNo(q.Cycle))
	}
	w.text("identity_cycle", "NO")
	if a.generated != "" {
		w.text("is_generated", "ALWAYS").text("generation_expression", s.expression(a.generated))
	}
	w.text("is_generated", "NEVER").text("is_updatable", yesNo(updatable)).end()
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
		for _, a := range virtualAttributes(r) {
			infoColumn(w, s, r.schema, r.name, r.oid, a, false)
		}
	}
	for _, v := range s.cat.Views() {
		updatable := s.updatable(v)
		for i, a := range viewAttributes(v) {
			infoColumn(w, s, s.schemaName(v.Schema), v.Name, v.OID, a, i < len(updatable) && updatable[i])
		}
	}
	for _, t := range s.cat.Tables() {
		if t.Kind() != catalog.RelTable {
			continue
		}
		for _, a := range tableAttributes(t) {
			infoColumn(w, s, s.schemaName(t.Schema), t.Name, t.OID, a, true)
		}
	}
}
