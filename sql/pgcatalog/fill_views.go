package pgcatalog

import (
	"tsdb/colstore/vector"
	"tsdb/sql/catalog"
	"tsdb/sql/sqltext"
	"tsdb/sql/types"
)

// ViewUpdater is implemented by a session that knows through which views rows
// can be written.
type ViewUpdater interface {
	// UpdatableColumns tells which columns of a view can be written to; nil: the
	// view is read only.
	UpdatableColumns(v *catalog.View) []bool
}

func init() {
	fills["pg_catalog.pg_views"] = fillViews
	fills["pg_catalog.pg_matviews"] = fillMatviews
	fills["pg_catalog.pg_rewrite"] = fillRewrite
	fills["information_schema.views"] = fillInfoViews
	fills["information_schema.view_table_usage"] = fillViewTableUsage
	fills["information_schema.view_column_usage"] = fillViewColumnUsage
}

// viewText prints the query of a view under the names of now, with the
// semicolon of pg_get_viewdef.
func (s *source) viewText(query string, columns []string, names []catalog.UsedName) string {
	text, err := sqltext.View(query, columns, func(schema, name string) (sqltext.Relation, bool) {
		for _, n := range names {
			if n.Schema == schema && n.Name == name {
				return s.usedRelation(n)
			}
		}
		return sqltext.Relation{}, false
	})
	if err != nil {
		text = query
	}
	return text + ";"
}

// usedRelation is what a name in a view's text is called now.
func (s *source) usedRelation(n catalog.UsedName) (sqltext.Relation, bool) {
	r, ok := s.cat.RelationByOID(n.OID)
	if !ok {
		return sqltext.Relation{}, false
	}
	out := sqltext.Relation{Name: r.Name}
	if found, ok := s.objectByName("", r.Name); !ok || found.oid != n.OID {
		out.Schema = s.schemaName(r.Schema)
	}
	for _, c := range n.Columns {
		now := ""
		switch {
		case r.Table != nil:
			if i := r.Table.ColumnByNum(c.Num); i >= 0 {
				now = r.Table.Columns[i].Name
			}
		case r.View != nil && int(c.Num) <= len(r.View.Columns):
			now = r.View.Columns[c.Num-1].Name
		}
		out.Columns, out.When = append(out.Columns, now), append(out.When, c.Name)
	}
	return out, true
}

// viewDef is the query of a view.
func (s *source) viewDef(v *catalog.View) string {
	names := make([]string, len(v.Columns))
	for i, c := range v.Columns {
		names[i] = c.Name
	}
	return s.viewText(v.Query, names, v.Names)
}

// matviewDef is the query of a materialized view.
func (s *source) matviewDef(t *catalog.Table) string {
	names := make([]string, len(t.Columns))
	for i := range t.Columns {
		names[i] = t.Columns[i].Name
	}
	return s.viewText(t.Query, names, t.Names)
}

func getViewDef(s *source, args []*vector.Vector, i int) (string, bool) {
	return s.viewDefByOID(oidAt(args[0], i))
}

func getViewDefByName(s *source, args []*vector.Vector, i int) (string, bool) {
	parts, ok := splitName(string(args[0].Bytes(i)))
	if !ok || len(parts) > 2 {
		return "", false
	}
	schema := ""
	if len(parts) == 2 {
		schema = parts[0]
	}
	o, ok := s.objectByName(schema, parts[len(parts)-1])
	if !ok {
		return "", false
	}
	return s.viewDefByOID(o.oid)
}

func (s *source) viewDefByOID(oid types.OID) (string, bool) {
	if v, ok := s.cat.ViewByOID(oid); ok {
		return s.viewDef(v), true
	}
	if t, ok := s.cat.TableByOID(oid); ok && t.Query != "" {
		return s.matviewDef(t), true
	}
	return "", false
}

func fillViews(w *rows, s *source) {
	for _, v := range s.cat.Views() {
		w.text("schemaname", s.schemaName(v.Schema)).text("viewname", v.Name).text("viewowner", s.roleName(v.Owner))
		w.text("definition", s.viewDef(v)).end()
	}
}

func fillMatviews(w *rows, s *source) {
	for _, t := range s.cat.Tables() {
		if t.Query == "" {
			continue
		}
		w.text("schemaname", s.schemaName(t.Schema)).text("matviewname", t.Name).text("matviewowner", s.roleName(t.Owner))
		w.bool("hasindexes", len(t.Constraints)+len(t.Indexes) > 0).bool("ispopulated", !t.Unpopulated).text("definition", s.matviewDef(t)).end()
	}
}

// ruleOID is the OID of a view's row in pg_rewrite, which has no OID of its own
// here.
func ruleOID(view types.OID) types.OID { return 1<<31 | view }

func fillRewrite(w *rows, s *source) {
	rule := func(view types.OID) {
		w.oid("oid", ruleOID(view)).text("rulename", "_RETURN").oid("ev_class", view).text("ev_type", "1").text("ev_enabled", "O")
		w.bool("is_instead", true).text("ev_qual", "<>").text("ev_action", "<>").end()
	}
	for _, v := range s.cat.Views() {
		rule(v.OID)
	}
	for _, t := range s.cat.Tables() {
		if t.Query != "" {
			rule(t.OID)
		}
	}
}

// updatable tells which columns of a view can be written to; nil: none.
func (s *source) updatable(v *catalog.View) []bool {
	if s.ctx != nil {
		if u, ok := s.ctx.Session.(ViewUpdater); ok {
			return u.UpdatableColumns(v)
		}
	}
	return nil
}

func fillInfoViews(w *rows, s *source) {
	for _, r := range sortedRelations() {
		if r.kind == 'v' {
			w.text("table_catalog", s.database()).text("table_schema", r.schema).text("table_name", r.name).text("check_option", "NONE")
			infoViewFacts(w, false)
		}
	}
	for _, v := range s.cat.Views() {
		check := "NONE"
		for _, o := range v.Options {
			if o.Name == "check_option" {
				check = map[string]string{"local": "LOCAL", "cascaded": "CASCADED"}[o.Value]
			}
		}
		w.text("table_catalog", s.database()).text("table_schema", s.schemaName(v.Schema)).text("table_name", v.Name)
		w.text("view_definition", s.viewDef(v)).text("check_option", check)
		infoViewFacts(w, s.updatable(v) != nil)
	}
}

func infoViewFacts(w *rows, updatable bool) {
	w.text("is_updatable", yesNo(updatable)).text("is_insertable_into", yesNo(updatable))
	w.text("is_trigger_updatable", "NO").text("is_trigger_deletable", "NO").text("is_trigger_insertable_into", "NO").end()
}

// usage sets the columns that say which view uses which relation.
func (s *source) usage(w *rows, v *catalog.View, on catalog.Relation) {
	w.text("view_catalog", s.database()).text("view_schema", s.schemaName(v.Schema)).text("view_name", v.Name)
	w.text("table_catalog", s.database()).text("table_schema", s.schemaName(on.Schema)).text("table_name", on.Name)
}

func fillViewTableUsage(w *rows, s *source) {
	for _, v := range s.cat.Views() {
		last := types.OID(0) // references are ordered
		for _, ref := range v.Depends {
			if r, ok := s.cat.RelationByOID(ref.OID); ok && ref.Class == catalog.ClassRelation && ref.OID != last && r.Sequence == nil {
				last = ref.OID
				s.usage(w, v, r)
				w.end()
			}
		}
	}
}

func fillViewColumnUsage(w *rows, s *source) {
	for _, v := range s.cat.Views() {
		for _, ref := range v.Depends {
			r, ok := s.cat.RelationByOID(ref.OID)
			if !ok || ref.Class != catalog.ClassRelation || ref.Column == 0 {
				continue
			}
			s.usage(w, v, r)
			w.text("column_name", relationColumn(r, ref.Column)).end()
		}
	}
}

// relationColumn is the name of a column of a table or view.
func relationColumn(r catalog.Relation, num int16) string {
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
