package pgcatalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tsdb/sql/catalog"
	"tsdb/sql/types"
)

// fills maps schema.relation to the function that writes its rows.
var fills = map[string]func(*rows, *source){
	"pg_catalog.pg_class":                        fillClass,
	"pg_catalog.pg_attribute":                    fillAttribute,
	"pg_catalog.pg_attrdef":                      fillAttrdef,
	"pg_catalog.pg_index":                        fillIndex,
	"pg_catalog.pg_constraint":                   fillConstraint,
	"pg_catalog.pg_tables":                       fillTables,
	"pg_catalog.pg_indexes":                      fillIndexes,
	"pg_catalog.pg_stat_user_tables":             fillStatTables,
	"pg_catalog.pg_stat_all_tables":              fillStatTables,
	"pg_catalog.pg_namespace":                    fillNamespace,
	"pg_catalog.pg_database":                     fillDatabase,
	"pg_catalog.pg_roles":                        fillRoles,
	"pg_catalog.pg_authid":                       fillRoles,
	"pg_catalog.pg_user":                         fillUsers,
	"pg_catalog.pg_shadow":                       fillUsers,
	"pg_catalog.pg_tablespace":                   fillTablespace,
	"pg_catalog.pg_am":                           fillAM,
	"pg_catalog.pg_collation":                    fillCollation,
	"pg_catalog.pg_language":                     fillLanguage,
	"pg_catalog.pg_type":                         fillType,
	"pg_catalog.pg_enum":                         fillEnum,
	"pg_catalog.pg_proc":                         fillProc,
	"pg_catalog.pg_operator":                     fillOperator,
	"pg_catalog.pg_cast":                         fillCast,
	"pg_catalog.pg_timezone_names":               fillTimezoneNames,
	"pg_catalog.pg_timezone_abbrevs":             fillTimezoneAbbrevs,
	"pg_catalog.pg_settings":                     fillSettings,
	"pg_catalog.pg_stat_activity":                fillActivity,
	"tsdb_stat.segments":                         fillSegments,
	"tsdb_stat.chunks":                           fillChunks,
	"tsdb_stat.writes":                           fillWrites,
	"tsdb_stat.rewrites":                         fillRewrites,
	"pg_catalog.pg_stat_progress_cluster":        fillProgressCluster,
	"information_schema.schemata":                fillSchemata,
	"information_schema.tables":                  fillInfoTables,
	"information_schema.columns":                 fillInfoColumns,
	"information_schema.table_constraints":       fillTableConstraints,
	"information_schema.key_column_usage":        fillKeyColumnUsage,
	"information_schema.constraint_column_usage": fillConstraintColumnUsage,
}

func sortedRelations() []*relation {
	out := make([]*relation, 0, len(relations()))
	for _, r := range relations() {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *relation) int { return cmp.Compare(a.oid, b.oid) })
	return out
}

func (r *relation) schemaOID() types.OID {
	switch r.schema {
	case "pg_catalog":
		return catalog.PgCatalogOID
	case "tsdb_stat":
		return catalog.StatOID
	}
	return catalog.InformationSchemaOID
}

// classDefaults sets the columns of pg_class that have the same value in every row.
func classDefaults(w *rows) {
	w.nums(0, "reloftype", "reltablespace", "relallvisible", "reltoastrelid", "relchecks", "relrewrite", "relfrozenxid", "relminmxid")
	w.bools(false, "relisshared", "relhasrules", "relhastriggers", "relhassubclass", "relrowsecurity",
		"relforcerowsecurity", "relispartition", "relhasindex")
	w.bool("relispopulated", true).text("relpersistence", "p").text("relreplident", "n")
	w.nums(0, "reltype", "relfilenode", "relpages")
	w.num("reltuples", -1)
	w.end()
}

// className writes what all rows of pg_class begin with.
func className(w *rows, oid types.OID, name string, schema, owner types.OID, kind byte, natts int) {
	w.oid("oid", oid).text("relname", name).oid("relnamespace", schema).oid("relowner", owner)
	w.text("relkind", string(kind)).num("relnatts", int64(natts))
}

func persistence(temp bool) string {
	if temp {
		return "t"
	}
	return "p"
}

func fillClass(w *rows, s *source) {
	for _, r := range sortedRelations() {
		className(w, r.oid, r.name, r.schemaOID(), catalog.BootstrapRoleOID, r.kind, len(r.cols))
		if r.kind == 'r' {
			w.oid("relam", 2)
		} else {
			w.oid("relam", 0)
		}
		classDefaults(w)
	}
	for _, t := range s.cat.Tables() {
		tableClass(w, s, t)
	}
	for _, v := range s.cat.Views() {
		className(w, v.OID, v.Name, v.Schema, v.Owner, 'v', len(v.Columns))
		w.oid("relam", 0).oid("reltype", v.TypeOID).bool("relhasrules", true).text("relpersistence", persistence(v.Temp))
		w.num("reltuples", 0)
		if opts := optionArray(v.Options); opts != "" {
			w.array("reloptions", opts)
		}
		classDefaults(w)
	}
	for _, q := range s.cat.Sequences() {
		className(w, q.OID, q.Name, q.Schema, q.Owner, 'S', len(sequenceAttributes))
		w.oid("relam", 0).oid("relfilenode", q.OID).num("relpages", 1).num("reltuples", 1).text("relpersistence", persistence(q.Temp))
		classDefaults(w)
	}
}

func tableClass(w *rows, s *source, t *catalog.Table) {
	bytes, n := s.size(t)
	className(w, t.OID, t.Name, t.Schema, t.Owner, byte(t.Kind()), max(int(t.Last), len(t.Columns)))
	w.oid("relam", 2).oid("reltype", t.TypeOID)
	w.oid("relfilenode", t.OID).num("relpages", (bytes+8191)/8192).num("reltuples", n)
	w.bool("relhasindex", len(t.Constraints)+len(t.Indexes) > 0).text("relreplident", "d").num("relchecks", int64(len(t.Checks)))
	w.text("relpersistence", persistence(t.Temp)).bool("relispopulated", !t.Unpopulated).bool("relhasrules", t.Query != "")
	w.bool("relhastriggers", len(t.ForeignKeys) > 0 || len(s.cat.References(t.OID)) > 0)
	if opts := optionArray(t.Options); opts != "" {
		w.array("reloptions", opts)
	}
	classDefaults(w)
	for _, x := range indexesOf(t) {
		className(w, x.oid, x.name, t.Schema, t.Owner, 'i', x.width())
		w.oid("relam", x.methodOID()).oid("relfilenode", x.oid).text("relpersistence", persistence(t.Temp))
		classDefaults(w)
	}
}

func optionArray(opts []catalog.Option) string {
	if len(opts) == 0 {
		return ""
	}
	var b strings.Builder
	for i, o := range opts {
		if i > 0 {
			b.WriteByte(',')
		}
		v := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(o.Name + "=" + o.Value)
		fmt.Fprintf(&b, `"%s"`, v)
	}
	return "{" + b.String() + "}"
}

func attNums(t *catalog.Table, cols []int, sep string) string {
	parts := make([]string, len(cols))
	for i, c := range cols {
		parts[i] = fmt.Sprint(t.Columns[c].AttNum)
	}
	return strings.Join(parts, sep)
}

func repeat(v string, n int) string { return strings.TrimSuffix(strings.Repeat(v+" ", n), " ") }

func fillTables(w *rows, s *source) {
	for _, r := range sortedRelations() {
		if r.kind == 'r' {
			w.text("schemaname", r.schema).text("tablename", r.name).text("tableowner", s.roleName(catalog.BootstrapRoleOID))
			w.bools(false, "hasindexes", "hasrules", "hastriggers", "rowsecurity").end()
		}
	}
	for _, t := range s.cat.Tables() {
		if t.Query != "" {
			continue
		}
		w.text("schemaname", s.schemaName(t.Schema)).text("tablename", t.Name).text("tableowner", s.roleName(t.Owner))
		w.bool("hasindexes", len(t.Constraints)+len(t.Indexes) > 0).bools(false, "hasrules", "hastriggers", "rowsecurity").end()
	}
}

func fillStatTables(w *rows, s *source) {
	for _, t := range s.cat.Tables() {
		_, n := s.size(t)
		w.oid("relid", t.OID).text("schemaname", s.schemaName(t.Schema)).text("relname", t.Name).num("n_live_tup", n)
		w.nums(0, "seq_scan", "seq_tup_read", "n_tup_ins", "n_tup_upd", "n_tup_del", "n_tup_hot_upd", "n_dead_tup",
			"n_mod_since_analyze", "n_ins_since_vacuum", "vacuum_count", "autovacuum_count", "analyze_count", "autoanalyze_count")
		w.end()
	}
}
