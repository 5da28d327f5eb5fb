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

func fillClass(w *rows, s *source) {
	for _, r := range sortedRelations() {
		w.oid("oid", r.oid).text("relname", r.name).oid("relnamespace", r.schemaOID()).oid("relowner", catalog.BootstrapRoleOID)
		w.text("relkind", string(r.kind)).num("relnatts", int64(len(r.cols)))
		if r.kind == 'r' {
			w.oid("relam", 2)
		} else {
			w.oid("relam", 0)
		}
		classDefaults(w)
	}
	for _, t := range s.cat.Tables() {
		bytes, n := s.size(t)
		w.oid("oid", t.OID).text("relname", t.Name).oid("relnamespace", t.Schema).oid("relowner", t.Owner)
		w.text("relkind", "r").num("relnatts", int64(max(int(t.Last), len(t.Columns)))).oid("relam", 2).oid("reltype", t.TypeOID)
		w.oid("relfilenode", t.OID).num("relpages", (bytes+8191)/8192).num("reltuples", n)
		w.bool("relhasindex", len(t.Constraints)+len(t.Indexes) > 0).text("relreplident", "d")
		if opts := optionArray(t.Options); opts != "" {
			w.array("reloptions", opts)
		}
		classDefaults(w)
		for _, x := range indexesOf(t) {
			w.oid("oid", x.oid).text("relname", x.name).oid("relnamespace", t.Schema).oid("relowner", t.Owner)
			w.text("relkind", "i").num("relnatts", int64(x.width())).oid("relam", x.methodOID()).oid("relfilenode", x.oid)
			classDefaults(w)
		}
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

// attribute writes one row of pg_attribute.
func attribute(w *rows, rel types.OID, num int, name string, t types.Type, notNull, hasDefault bool) {
	st := storageOf(t.OID)
	w.oid("attrelid", rel).text("attname", name).oid("atttypid", t.OID).num("attnum", int64(num)).num("atttypmod", int64(t.Mod))
	w.num("attlen", int64(st.length)).bool("attbyval", st.byValue).text("attalign", string(st.align)).text("attstorage", string(st.storage))
	w.oid("attcollation", st.collation).bool("attnotnull", notNull).bool("atthasdef", hasDefault)
	w.nums(-1, "attstattarget", "attcacheoff").nums(0, "attinhcount")
	if types.ElemOf(t.OID) != 0 {
		w.num("attndims", 1)
	} else {
		w.num("attndims", 0)
	}
	w.bools(false, "atthasmissing", "attisdropped").bool("attislocal", true)
	w.text("attidentity", "").text("attgenerated", "").text("attcompression", "")
	w.end()
}

func fillAttribute(w *rows, s *source) {
	for _, r := range sortedRelations() {
		for i, c := range r.cols {
			attribute(w, r.oid, i+1, c.Name, c.Type, c.Name == "oid", false)
		}
	}
	for _, t := range s.cat.Tables() {
		for i := range t.Columns {
			c := &t.Columns[i]
			attribute(w, t.OID, int(c.AttNum), c.Name, c.Type, c.NotNull, c.Default != "")
		}
		for _, x := range indexesOf(t) {
			for j := range x.width() {
				attribute(w, x.oid, j+1, x.columnName(j), x.columnType(j), false, false)
			}
		}
	}
}

func fillAttrdef(w *rows, s *source) {
	for _, t := range s.cat.Tables() {
		for i := range t.Columns {
			if c := &t.Columns[i]; c.Default != "" {
				w.oid("oid", attrDefOID(t, c)).oid("adrelid", t.OID).num("adnum", int64(c.AttNum)).text("adbin", c.Default).end()
			}
		}
	}
}

func attNums(t *catalog.Table, cols []int, sep string) string {
	parts := make([]string, len(cols))
	for i, c := range cols {
		parts[i] = fmt.Sprint(t.Columns[c].AttNum)
	}
	return strings.Join(parts, sep)
}

func repeat(v string, n int) string { return strings.TrimSuffix(strings.Repeat(v+" ", n), " ") }

func fillConstraint(w *rows, s *source) {
	for _, t := range s.cat.Tables() {
		for i := range t.Constraints {
			c := &t.Constraints[i]
			if c.Index {
				continue
			}
			w.oid("oid", c.OID).text("conname", c.Name).oid("connamespace", t.Schema).oid("conrelid", t.OID).oid("conindid", c.IndexOID)
			if c.Primary {
				w.text("contype", "p")
			} else {
				w.text("contype", "u")
			}
			w.bools(false, "condeferrable", "condeferred").bools(true, "convalidated", "conislocal", "connoinherit")
			w.nums(0, "contypid", "conparentid", "confrelid", "coninhcount")
			w.text("confupdtype", " ").text("confdeltype", " ").text("confmatchtype", " ")
			w.array("conkey", "{"+attNums(t, c.Columns, ",")+"}")
			w.end()
		}
	}
}

func fillTables(w *rows, s *source) {
	for _, r := range sortedRelations() {
		if r.kind == 'r' {
			w.text("schemaname", r.schema).text("tablename", r.name).text("tableowner", s.roleName(catalog.BootstrapRoleOID))
			w.bools(false, "hasindexes", "hasrules", "hastriggers", "rowsecurity").end()
		}
	}
	for _, t := range s.cat.Tables() {
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
