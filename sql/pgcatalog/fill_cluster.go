package pgcatalog

import (
	"tsdb/sql/catalog"
	"tsdb/sql/types"
)

func fillNamespace(w *rows, s *source) {
	for _, sc := range s.cat.Schemas() {
		w.oid("oid", sc.OID).text("nspname", sc.Name).oid("nspowner", sc.Owner).end()
	}
}

// databases are the names that all stand for the one database.
var databases = []struct {
	oid  types.OID
	name string
}{{catalog.PostgresDatabaseOID, "postgres"}, {catalog.DatabaseOID, "tsdb"}}

func fillDatabase(w *rows, _ *source) {
	for _, d := range databases {
		w.oid("oid", d.oid).text("datname", d.name).oid("datdba", catalog.BootstrapRoleOID).num("encoding", 6)
		w.text("datlocprovider", "c").bool("datistemplate", false).bool("datallowconn", true).num("datconnlimit", -1)
		w.nums(0, "datfrozenxid", "datminmxid").oid("dattablespace", 1663)
		w.text("datcollate", "C.UTF-8").text("datctype", "C.UTF-8").end()
	}
}

func fillRoles(w *rows, s *source) {
	for _, r := range s.cat.Roles() {
		w.oid("oid", r.OID).text("rolname", r.Name).bool("rolsuper", r.Superuser).bool("rolinherit", r.Inherit)
		w.bool("rolcreaterole", r.CreateRole).bool("rolcreatedb", r.CreateDB).bool("rolcanlogin", r.Login)
		w.bool("rolreplication", r.Replication).bool("rolbypassrls", r.BypassRLS).num("rolconnlimit", -1)
		if w.rel.name == "pg_roles" {
			w.text("rolpassword", "********")
		} else if r.Verifier != "" {
			w.text("rolpassword", r.Verifier)
		}
		w.end()
	}
}

func fillUsers(w *rows, s *source) {
	for _, r := range s.cat.Roles() {
		if !r.Login {
			continue
		}
		w.text("usename", r.Name).oid("usesysid", r.OID).bool("usecreatedb", r.CreateDB).bool("usesuper", r.Superuser)
		w.bool("userepl", r.Replication).bool("usebypassrls", r.BypassRLS).text("passwd", "********").end()
	}
}

func fillTablespace(w *rows, _ *source) {
	w.oid("oid", 1663).text("spcname", "pg_default").oid("spcowner", catalog.BootstrapRoleOID).end()
	w.oid("oid", 1664).text("spcname", "pg_global").oid("spcowner", catalog.BootstrapRoleOID).end()
}

func fillAM(w *rows, _ *source) {
	w.oid("oid", 2).text("amname", "heap").oid("amhandler", 3).text("amtype", "t").end()
	w.oid("oid", 403).text("amname", "btree").oid("amhandler", 330).text("amtype", "i").end()
}

func fillCollation(w *rows, _ *source) {
	for _, c := range []struct {
		oid            types.OID
		name, provider string
		encoding       int64
		collate        string
	}{{100, "default", "d", -1, ""}, {950, "C", "c", -1, "C"}, {951, "POSIX", "c", -1, "POSIX"},
		{12340, "ucs_basic", "c", 6, "C"}, {12341, "C.UTF-8", "c", 6, "C.UTF-8"}} {
		w.oid("oid", c.oid).text("collname", c.name).oid("collnamespace", catalog.PgCatalogOID)
		w.oid("collowner", catalog.BootstrapRoleOID).text("collprovider", c.provider).bool("collisdeterministic", true).num("collencoding", c.encoding)
		if c.collate != "" {
			w.text("collcollate", c.collate).text("collctype", c.collate)
		}
		w.end()
	}
}

func fillLanguage(w *rows, _ *source) {
	for _, l := range []struct {
		oid     types.OID
		name    string
		trusted bool
	}{{12, "internal", false}, {13, "c", false}, {14, "sql", true}} {
		w.oid("oid", l.oid).text("lanname", l.name).oid("lanowner", catalog.BootstrapRoleOID).bool("lanispl", false)
		w.bool("lanpltrusted", l.trusted).nums(0, "lanplcallfoid", "laninline", "lanvalidator").end()
	}
}

func fillSettings(w *rows, s *source) {
	if s.ctx == nil {
		return
	}
	l, ok := s.ctx.Session.(SettingsLister)
	if !ok {
		return
	}
	for _, v := range l.ListSettings() {
		w.text("name", v.Name).text("setting", v.Value).text("short_desc", v.Description).text("context", v.Context)
		w.text("vartype", v.Type).text("boot_val", v.Boot).text("reset_val", v.Reset).bool("pending_restart", false)
		if v.Unit != "" {
			w.text("unit", v.Unit)
		}
		if v.Value == v.Boot {
			w.text("source", "default")
		} else {
			w.text("source", "session")
		}
		w.text("category", "Settings").end()
	}
}

func fillActivity(w *rows, s *source) {
	if s.ctx == nil {
		return
	}
	l, ok := s.ctx.Session.(ActivityLister)
	if !ok {
		return
	}
	for _, a := range l.ListActivity() {
		w.num("pid", int64(a.PID)).text("datname", a.Database).text("usename", a.User).text("application_name", a.Application)
		for _, d := range databases {
			if d.name == a.Database {
				w.oid("datid", d.oid)
			}
		}
		if r, ok := s.cat.Role(a.User); ok {
			w.oid("usesysid", r.OID)
		}
		w.text("state", a.State).text("query", a.Query).text("backend_type", "client backend")
		w.num("backend_start", a.BackendStart).num("query_start", a.QueryStart).end()
	}
}
