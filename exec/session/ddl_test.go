package session

import (
	"encoding/base64"
	"strings"
	"testing"

	"tsdb/colstore/table"
)

func (s *server) tableOf(name string) *tableInfo {
	for _, t := range s.e.published.Load().Tables() {
		if t.Name == name {
			return &tableInfo{t.Storage, t.Constraints != nil}
		}
	}
	s.t.Fatalf("no table %s", name)
	return nil
}

type tableInfo struct {
	table.Schema
	constrained bool
}

func TestCreateTableErrors(t *testing.T) {
	c := newServer(t).connect("tsdb")
	c.script(
		"CREATE TABLE t (a int, b text)", "[CREATE TABLE]",
		"CREATE TABLE t (a int)", `ERROR 42P07: relation "t" already exists`,
		"CREATE TABLE IF NOT EXISTS t (a int)", "[CREATE TABLE]",
		"CREATE TABLE x (a int, a int)", `ERROR 42701: column "a" specified more than once`,
		"CREATE TABLE x (ctid int)", `ERROR 42701: column name "ctid" conflicts with a system column name`,
		"CREATE TABLE x (a nothing)", `ERROR 42704: type "nothing" does not exist`,
		"CREATE TABLE x (a int, PRIMARY KEY (b))", `ERROR 42703: column "b" named in key does not exist`,
		"CREATE TABLE x (a int, PRIMARY KEY (a, a))", `ERROR 42701: column "a" appears twice in primary key constraint`,
		"CREATE TABLE x (a int PRIMARY KEY, b int PRIMARY KEY)", `ERROR 42P16: multiple primary keys for table "x" are not allowed`,
		"CREATE TABLE x (a int NULL NOT NULL)", `ERROR 42601: conflicting NULL/NOT NULL declarations for column "a" of table "x"`,
		"CREATE TABLE x (a int DEFAULT 1 DEFAULT 2)", `ERROR 42601: multiple default values specified for column "a" of table "x"`,
		"CREATE TABLE x (a int DEFAULT 'x')", `ERROR 22P02: invalid input syntax for type integer: "x"`,
		"CREATE TABLE x (a int DEFAULT b)", "ERROR 0A000: cannot use column reference in DEFAULT expression",
		"CREATE TABLE x (a json PRIMARY KEY)", `ERROR 42704: data type json has no default operator class for access method "btree"`,
		"CREATE TABLE x (a jsonb UNIQUE)", "ERROR 0A000: a key column of type jsonb is not supported",
		"CREATE TABLE x () INHERITS (t)", "ERROR 0A000: INHERITS is not supported",
		"CREATE TABLE x (a int) PARTITION BY RANGE (a)", "ERROR 0A000: PARTITION BY is not supported",
		"CREATE TABLE x (a int COLLATE \"de_DE\")", `ERROR 42704: collation "de_DE" for encoding "UTF8" does not exist`,
		"CREATE TABLE x (a text COLLATE \"C\")", "[CREATE TABLE]",
		"CREATE TABLE no.x (a int)", `ERROR 3F000: schema "no" does not exist`,
		"CREATE TABLE pg_catalog.x (a int)", `ERROR 42501: permission denied to create "pg_catalog.x" DETAIL: System catalog modifications are currently disallowed.`,
		"CREATE TABLE other.public.x (a int)", `ERROR 0A000: cross-database references are not implemented: "other.public.x"`,
		"CREATE DATABASE d", "ERROR 0A000: CREATE DATABASE is not supported",
		"LISTEN x", "ERROR 0A000: LISTEN is not supported",
		"DECLARE c CURSOR FOR SELECT 1", "ERROR 0A000: DECLARE CURSOR is not supported",
		"GRANT SELECT ON t TO public", "ERROR 0A000: GRANT is not supported",
	)
	c.run("CREATE TABLE IF NOT EXISTS t (a int)")
	if got := c.noticeText(); got != `NOTICE 42P07: relation "t" already exists, skipping` {
		t.Errorf("notice %q", got)
	}
}

func TestConstraintNames(t *testing.T) {
	srv := newServer(t)
	c := srv.connect("tsdb")
	c.script("CREATE TABLE t (a int UNIQUE, b int PRIMARY KEY, UNIQUE (a, b), CONSTRAINT own UNIQUE (b, a))", "[CREATE TABLE]")
	var names []string
	for _, con := range srv.e.published.Load().Tables()[0].Constraints {
		names = append(names, con.Name)
	}
	if got := strings.Join(names, " "); got != "t_pkey t_a_key t_a_b_key own" {
		t.Errorf("names: %s", got)
	}
	c.want("CREATE TABLE u (a int, CONSTRAINT own UNIQUE (a))", `ERROR 42P07: relation "own" already exists`)
	c.want("CREATE TABLE t_pkey (a int)", `ERROR 42P07: relation "t_pkey" already exists`)
	long := strings.Repeat("x", 63)
	c.want("CREATE TABLE "+long+" (a int PRIMARY KEY)", "[CREATE TABLE]")
	c.want("INSERT INTO "+long+" VALUES (1), (1)",
		`ERROR 23505: duplicate key value violates unique constraint "`+strings.Repeat("x", 58)+`_pkey" DETAIL: Key (a)=(1) already exists.`)
}

func TestLayouts(t *testing.T) {
	srv := newServer(t)
	c := srv.connect("tsdb")
	const day = 86400e6
	for i, x := range []struct {
		def    string
		layout table.Layout
		time   int
		bucket int64
	}{
		{"(a int, ts timestamptz, u date)", table.Columnar, 1, 0},
		{"(a int, u date, ts timestamptz, PRIMARY KEY (a, u, ts))", table.Columnar, 2, 0},
		{"(a int, ts timestamptz, u date, PRIMARY KEY (u, a))", table.Columnar, 2, 0},
		{"(a int, b text)", table.Columnar, -1, 0},
		{"(a int PRIMARY KEY, b text)", table.RowStore, -1, 0},
		{"(a int PRIMARY KEY, created timestamptz)", table.RowStore, -1, 0},
		{"(a int, ts timestamptz, u date) WITH (time = 'u', bucket = '1 day')", table.Columnar, 2, day},
		{"(a int, ts timestamptz) WITH (layout = 'columnar', bucket = '1 month')", table.Columnar, 1, 30 * day},
		{"(a int, ts timestamptz, PRIMARY KEY (a, ts)) WITH (layout = 'row', conflict = 'replace')", table.RowStore, -1, 0},
	} {
		name := "t" + itoa(int64(i))
		c.want("CREATE TABLE "+name+" "+x.def, "[CREATE TABLE]")
		s := srv.tableOf(name)
		if s.Layout != x.layout || s.Time != x.time || s.Bucket != x.bucket {
			t.Errorf("%s: layout %d, time %d, bucket %d", x.def, s.Layout, s.Time, s.Bucket)
		}
	}
	if s := srv.tableOf("t2"); s.TimeUnit != table.Days || !s.Unique || len(s.Key) != 2 || s.Key[0].Column != 2 {
		t.Errorf("t2: %+v", s)
	}
	if s := srv.tableOf("t8"); s.Conflict != table.ConflictReplace {
		t.Errorf("t8: %+v", s)
	}
}

func TestOptionErrors(t *testing.T) {
	c := newServer(t).connect("tsdb")
	const ts = "CREATE TABLE t (a int, ts timestamptz) WITH "
	c.script(
		ts+"(speed = 'high')", `ERROR 22023: unrecognized parameter "speed"`,
		ts+"(layout = 'event_cells')", `ERROR 0A000: layout "event_cells" is not supported`,
		ts+"(layout = 'diagonal')", `ERROR 22023: invalid value for parameter "layout": "diagonal"`,
		ts+"(retention = '0 days')", `ERROR 22023: invalid value for parameter "retention": "0 days"`,
		"CREATE TABLE t (a int PRIMARY KEY) WITH (retention = '1 day')", `ERROR 0A000: option "retention" in layout "row" is not supported`,
		"CREATE TABLE t (a int) WITH (retention = '1 day')", `ERROR 22023: option "retention" needs a time column`,
		ts+"(bucket = '-1 day')", `ERROR 22023: invalid value for parameter "bucket": "-1 day"`,
		ts+"(bucket = 'soon')", `ERROR 22023: invalid value for parameter "bucket": "soon"`,
		ts+"(time = 'a')", `ERROR 42804: time column "a" is of type integer`,
		ts+"(time = 'b')", `ERROR 42703: column "b" named in option "time" does not exist`,
		ts+"(conflict = 'maybe')", `ERROR 22023: invalid value for parameter "conflict": "maybe"`,
		ts+"(conflict = 'ignore')", `ERROR 22023: option "conflict" needs a primary key`,
		ts+"(layout = 'row')", `ERROR 42P16: layout "row" needs a primary key`,
		ts+"(layout = 'row', layout = 'row')", `ERROR 22023: parameter "layout" specified more than once`,
		"CREATE TABLE t (a int PRIMARY KEY, ts timestamptz) WITH (layout = 'columnar')",
		`ERROR 42P16: primary key of columnar table "t" must contain the time column "ts"`,
		"CREATE TABLE t (a int PRIMARY KEY, ts timestamptz) WITH (time = 'ts')",
		`ERROR 42P16: primary key of columnar table "t" must contain the time column "ts"`,
		"CREATE TABLE t (a int PRIMARY KEY) WITH (bucket = '1 day')", `ERROR 22023: option "bucket" does not apply to layout "row"`,
		ts+"(fillfactor = 70, autovacuum_enabled = false)", "[CREATE TABLE]",
	)
	want := `NOTICE 00000: storage parameter "fillfactor" of PostgreSQL is accepted and has no effect; ` +
		`NOTICE 00000: storage parameter "autovacuum_enabled" of PostgreSQL is accepted and has no effect`
	if got := c.noticeText(); got != want {
		t.Errorf("notices %q", got)
	}
}

func TestDrop(t *testing.T) {
	c := newServer(t).connect("tsdb")
	c.script(
		"CREATE TABLE t (a int PRIMARY KEY); CREATE TABLE u (a int)", "[CREATE TABLE][CREATE TABLE]",
		"DROP TABLE x", `ERROR 42P01: table "x" does not exist`,
		"DROP TABLE no.x", `ERROR 3F000: schema "no" does not exist`,
		"DROP TABLE u, x", `ERROR 42P01: table "x" does not exist`,
		"SELECT count(*) FROM u", "0\n[SELECT 1]",
		"DROP TABLE IF EXISTS x, u CASCADE", "[DROP TABLE]",
	)
	c.run("DROP TABLE IF EXISTS x, no.y")
	if got := c.noticeText(); got != `NOTICE 00000: table "x" does not exist, skipping; NOTICE 00000: schema "no" does not exist, skipping` {
		t.Errorf("notices %q", got)
	}
	c.script(
		"DROP INDEX t_pkey", "ERROR 2BP01: cannot drop index t_pkey because constraint t_pkey on table t requires it",
		"DROP VIEW t", `ERROR 42809: "t" is not a view`,
		"DROP VIEW IF EXISTS v", "[DROP VIEW]",
		"DROP SEQUENCE q", `ERROR 42P01: sequence "q" does not exist`,
		"TRUNCATE t, x", `ERROR 42P01: relation "x" does not exist`,
		"INSERT INTO t VALUES (1); TRUNCATE TABLE t; INSERT INTO t VALUES (1); SELECT * FROM t", "[INSERT 0 1][TRUNCATE TABLE][INSERT 0 1]1\n[SELECT 1]",
		"CREATE SCHEMA s; CREATE TABLE s.t (a int)", "[CREATE SCHEMA][CREATE TABLE]",
		"CREATE SCHEMA s", `ERROR 42P06: schema "s" already exists`,
		"DROP SCHEMA s", "ERROR 2BP01: cannot drop schema s because other objects depend on it DETAIL: table s.t depends on schema s",
		"DROP SCHEMA s CASCADE", "[DROP SCHEMA]",
		"DROP SCHEMA s", `ERROR 3F000: schema "s" does not exist`,
		"VACUUM; SELECT 1", "ERROR 25001: VACUUM cannot run inside a transaction block",
		"VACUUM t", "[VACUUM]", "ANALYZE", "[ANALYZE]", "CHECKPOINT", "[CHECKPOINT]",
		"SELECT * FROM t", "1\n[SELECT 1]",
	)
}

func TestRoles(t *testing.T) {
	srv := newServer(t)
	c := srv.connect("tsdb")
	if srv.e.HasPasswords() {
		t.Error("a new server has no password")
	}
	c.script(
		"CREATE ROLE bob", "[CREATE ROLE]",
		"CREATE ROLE bob", `ERROR 42710: role "bob" already exists`,
		"CREATE USER ann WITH PASSWORD 'x' CREATEDB", "[CREATE ROLE]",
		"CREATE ROLE pg_x", `ERROR 42939: role name "pg_x" is reserved DETAIL: Role names starting with "pg_" are reserved.`,
		"CREATE ROLE x LOGIN NOLOGIN", "ERROR 42601: conflicting or redundant options",
		"CREATE ROLE x IN ROLE bob", "ERROR 0A000: role membership is not supported",
		"ALTER ROLE nobody LOGIN", `ERROR 42704: role "nobody" does not exist`,
		"DROP ROLE nobody", `ERROR 42704: role "nobody" does not exist`,
		"DROP ROLE tsdb", "ERROR 55006: current user cannot be dropped",
		"ALTER USER tsdb PASSWORD 'pw'", "[ALTER ROLE]",
	)
	if !srv.e.HasPasswords() {
		t.Error("tsdb has a password now")
	}
	if _, ok := srv.e.Verifier("bob"); ok {
		t.Error("bob may not log in")
	}
	if _, err := srv.e.NewSession(Start{User: "bob", Database: "tsdb"}); errText(err) != `ERROR 28000: role "bob" is not permitted to log in` {
		t.Error(err)
	}
	ann := srv.connect("ann")
	ann.script(
		"SHOW is_superuser", "off\n[SHOW]",
		"CREATE ROLE x", "ERROR 42501: permission denied to create role",
		"ALTER ROLE ann PASSWORD 'y'", "[ALTER ROLE]",
		"ALTER ROLE bob PASSWORD 'y'", "ERROR 42501: permission denied",
		"ALTER ROLE ann SUPERUSER", "ERROR 42501: must be superuser to alter superuser roles or change superuser attribute",
		"SET ROLE bob", `ERROR 42501: permission denied to set role "bob"`,
		"CREATE TABLE t (a int)", "[CREATE TABLE]",
	)
	c.script("DROP ROLE ann", `ERROR 2BP01: role "ann" cannot be dropped because some objects depend on it DETAIL: owner of table t`,
		"DROP TABLE t; DROP ROLE ann, bob", "[DROP TABLE][DROP ROLE]")
	if err := srv.e.SetPassword("postgres", "p"); err != nil {
		t.Error(err)
	}
	if v, ok := srv.e.Verifier("postgres"); !ok || !isVerifier(v) {
		t.Errorf("verifier %q", v)
	}
}

func TestScramVerifier(t *testing.T) {
	// A verifier that PostgreSQL 15 made of the password "secret".
	const want = "SCRAM-SHA-256$4096:Cl+0zjUof9r8BQN1Co/O0w==$a7gs1UI0sOgAJyeZxbMO1TO4o3ozf+8EfJXoK0r1vPI=:t0giDar92T7Q0Me9gJSkVTc7kwBQ0Xy2tHer6plPdss="
	salt, err := base64.StdEncoding.DecodeString("Cl+0zjUof9r8BQN1Co/O0w==")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := scramVerifierFor("secret", salt, 4096); err != nil || got != want {
		t.Errorf("got %s, %v", got, err)
	}
	if !isVerifier(want) || isVerifier("secret") {
		t.Error("verifiers are told from passwords by their form")
	}
}
