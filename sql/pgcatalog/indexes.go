package pgcatalog

import (
	"strconv"
	"strings"

	"tsdb/sql/catalog"
	"tsdb/sql/types"
)

// index is any index of a table: of a key, unique, or one that is recorded.
type index struct {
	oid              types.OID
	name             string
	table            *catalog.Table
	unique, primary  bool
	key              bool // rows are in its order
	method           string
	columns          []catalog.IndexColumn
	include          []int16
	where            string
	options          []catalog.Option
	constraint       *catalog.Constraint // of a key or a unique index
	constraintObject bool                // it has a row in pg_constraint
}

// indexesOf lists the indexes of a table.
func indexesOf(t *catalog.Table) []index {
	var out []index
	for i := range t.Constraints {
		c := &t.Constraints[i]
		x := index{oid: c.IndexOID, name: c.Name, table: t, unique: true, primary: c.Primary, key: c.Primary, method: "btree",
			constraint: c, constraintObject: !c.Index}
		for _, col := range c.Columns {
			x.columns = append(x.columns, catalog.IndexColumn{Column: t.Columns[col].AttNum})
		}
		out = append(out, x)
	}
	for i := range t.Indexes {
		c := &t.Indexes[i]
		out = append(out, index{oid: c.OID, name: c.Name, table: t, key: c.Key, method: c.Method, columns: c.Columns, include: c.Include,
			where: c.Where, options: c.Options})
	}
	return out
}

// width is the number of columns, those of INCLUDE among them.
func (x *index) width() int { return len(x.columns) + len(x.include) }

// methodOID is the OID of the access method in pg_am.
func (x *index) methodOID() types.OID {
	return map[string]types.OID{"btree": 403, "hash": 405, "gist": 783, "gin": 2742, "spgist": 4000, "brin": 3580}[x.method]
}

// column prints column i as pg_get_indexdef does.
func (x *index) column(i int) string {
	if i >= len(x.columns) {
		return x.attribute(x.include[i-len(x.columns)])
	}
	c := x.columns[i]
	if c.Column != 0 {
		return x.attribute(c.Column)
	}
	if strings.HasSuffix(c.Expr, ")") && !strings.HasPrefix(c.Expr, "(") && !strings.ContainsAny(c.Expr, " ") {
		return c.Expr // a call needs no parentheses
	}
	return "((" + c.Expr + "))"
}

func (x *index) attribute(num int16) string {
	if col := x.table.ColumnByNum(num); col >= 0 {
		return QuoteIdent(x.table.Columns[col].Name)
	}
	return "?"
}

// columnList prints the columns with their order.
func (x *index) columnList() string {
	parts := make([]string, len(x.columns))
	for i, c := range x.columns {
		parts[i] = x.column(i)
		if c.OpClass != "" {
			parts[i] += " " + c.OpClass
		}
		if c.Desc {
			parts[i] += " DESC"
		}
		switch {
		case c.NullsFirst && !c.Desc:
			parts[i] += " NULLS FIRST"
		case c.Desc && !c.NullsFirst:
			parts[i] += " NULLS LAST"
		}
	}
	return strings.Join(parts, ", ")
}

// indexDef is the text of pg_get_indexdef: the whole statement, with the table
// qualified by its schema unless pretty is set and the search path finds it.
func (s *source) indexDef(x *index, pretty bool) string {
	table := QuoteIdent(x.table.Name)
	if !pretty || !s.visible(object{oid: x.table.OID, name: x.table.Name}) {
		table = QuoteIdent(s.schemaName(x.table.Schema)) + "." + table
	}
	var b strings.Builder
	b.WriteString("CREATE ")
	if x.unique {
		b.WriteString("UNIQUE ")
	}
	b.WriteString("INDEX " + QuoteIdent(x.name) + " ON " + table + " USING " + x.method + " (" + x.columnList() + ")")
	if len(x.include) > 0 {
		names := make([]string, len(x.include))
		for i, n := range x.include {
			names[i] = x.attribute(n)
		}
		b.WriteString(" INCLUDE (" + strings.Join(names, ", ") + ")")
	}
	if len(x.options) > 0 {
		opts := make([]string, len(x.options))
		for i, o := range x.options {
			opts[i] = o.Name + "='" + strings.ReplaceAll(o.Value, "'", "''") + "'"
		}
		b.WriteString(" WITH (" + strings.Join(opts, ", ") + ")")
	}
	if x.where != "" {
		b.WriteString(" WHERE (" + x.where + ")")
	}
	return b.String()
}

// indexAttribute returns the type of column i, text for an expression.
func (x *index) columnType(i int) types.Type {
	num := int16(0)
	if i < len(x.columns) {
		num = x.columns[i].Column
	} else {
		num = x.include[i-len(x.columns)]
	}
	if col := x.table.ColumnByNum(num); col >= 0 {
		return x.table.Columns[col].Type
	}
	return types.T(types.Text)
}

// columnName is the attname of column i.
func (x *index) columnName(i int) string {
	num := int16(0)
	if i < len(x.columns) {
		num = x.columns[i].Column
	} else {
		num = x.include[i-len(x.columns)]
	}
	if col := x.table.ColumnByNum(num); col >= 0 {
		return x.table.Columns[col].Name
	}
	return "expr"
}

func fillIndex(w *rows, s *source) {
	for _, t := range s.cat.Tables() {
		for _, x := range indexesOf(t) {
			keys, options := make([]string, 0, x.width()), make([]string, 0, len(x.columns))
			for _, c := range x.columns {
				keys = append(keys, strconv.Itoa(int(c.Column)))
				bits := 0
				if c.Desc {
					bits |= 1
				}
				if c.NullsFirst {
					bits |= 2
				}
				options = append(options, strconv.Itoa(bits))
			}
			for _, n := range x.include {
				keys = append(keys, strconv.Itoa(int(n)))
			}
			w.oid("indexrelid", x.oid).oid("indrelid", t.OID).num("indnatts", int64(x.width())).num("indnkeyatts", int64(len(x.columns)))
			w.bools(true, "indimmediate", "indisvalid", "indisready", "indislive").bool("indisunique", x.unique).bool("indisprimary", x.primary)
			w.bools(false, "indnullsnotdistinct", "indisexclusion", "indcheckxmin", "indisreplident").bool("indisclustered", x.key && !x.primary)
			w.array("indkey", strings.Join(keys, " ")).array("indoption", strings.Join(options, " "))
			w.array("indcollation", repeat("0", len(x.columns))).array("indclass", repeat("0", len(x.columns)))
			if x.where != "" {
				w.text("indpred", x.where)
			}
			var exprs []string
			for _, c := range x.columns {
				if c.Expr != "" {
					exprs = append(exprs, c.Expr)
				}
			}
			if len(exprs) > 0 {
				w.text("indexprs", strings.Join(exprs, ", "))
			}
			w.end()
		}
	}
}

func fillIndexes(w *rows, s *source) {
	for _, t := range s.cat.Tables() {
		for _, x := range indexesOf(t) {
			w.text("schemaname", s.schemaName(t.Schema)).text("tablename", t.Name).text("indexname", x.name)
			w.text("indexdef", s.indexDef(&x, false)).end()
		}
	}
}

// fillRewrites writes a row per table that is being rewritten.
func fillRewrites(w *rows, s *source) {
	s.rewrites(func(r Rewrite) {
		t, ok := s.cat.TableByOID(r.Table)
		if !ok {
			return
		}
		w.num("pid", int64(r.PID)).text("schema_name", s.schemaName(t.Schema)).text("table_name", t.Name).text("phase", r.Phase)
		w.num("rows", r.Rows).num("total_rows", r.Total).end()
	})
}

// fillProgressCluster writes the same in PostgreSQL's terms.
func fillProgressCluster(w *rows, s *source) {
	s.rewrites(func(r Rewrite) {
		w.num("pid", int64(r.PID)).oid("datid", catalog.DatabaseOID).text("datname", "tsdb").oid("relid", r.Table)
		w.text("command", "CLUSTER").text("phase", r.Phase).num("cluster_index_relid", 0)
		w.num("heap_tuples_scanned", r.Rows).num("heap_tuples_written", r.Rows)
		w.nums(0, "heap_blks_total", "heap_blks_scanned", "index_rebuild_count").end()
	})
}

func (s *source) rewrites(f func(Rewrite)) {
	if s.ctx == nil {
		return
	}
	if l, ok := s.ctx.Session.(RewriteLister); ok {
		for _, r := range l.ListRewrites() {
			f(r)
		}
	}
}
