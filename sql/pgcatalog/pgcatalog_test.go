package pgcatalog

import (
	"testing"

	"tsdb/colstore/vector"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// session is a functions.Session over a fixed catalog.
type session struct{ cat *catalog.Snapshot }

func (s session) CurrentUser() string                   { return "tsdb" }
func (s session) SessionUser() string                   { return "tsdb" }
func (s session) Database() string                      { return "tsdb" }
func (s session) SearchPath() []string                  { return []string{"pg_catalog", "public"} }
func (s session) Setting(string) (string, bool)         { return "", false }
func (s session) SetSetting(string, string, bool) error { return nil }
func (s session) BackendPID() int32                     { return 1 }
func (s session) Catalog() any                          { return s.cat }

func testCtx() *functions.Ctx {
	t := &catalog.Table{OID: 16400, TypeOID: 16402, Schema: catalog.PublicOID, Name: "t", Owner: 10,
		Columns: []catalog.Column{
			{ID: 1, AttNum: 1, Name: "a", Type: types.T(types.Int4), NotNull: true, Default: "5"},
			{ID: 2, AttNum: 2, Name: "Odd", Type: types.Type{OID: types.Varchar, Mod: 14}},
		},
		Constraints: []catalog.Constraint{
			{OID: 16404, IndexOID: 16405, Name: "t_pkey", Primary: true, Columns: []int{0}},
			{OID: 16406, IndexOID: 16407, Name: "t_Odd_key", Columns: []int{1}},
		}}
	return &functions.Ctx{Session: session{catalog.Bootstrap().WithTable(t)}}
}

func rowsOf(t *testing.T, name string) *vector.Batch {
	t.Helper()
	r := Find("pg_catalog", name)
	if r == nil {
		t.Fatalf("no relation %s", name)
	}
	b, err := r.Rows(testCtx())
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range b.Cols {
		if c.N != b.N {
			t.Fatalf("%s: column %s has %d rows of %d", name, r.RelColumns()[i].Name, c.N, b.N)
		}
	}
	return b
}

func TestEveryRelationHasEqualColumns(t *testing.T) {
	for full, r := range relations() {
		b, err := r.Rows(testCtx())
		if err != nil {
			t.Fatalf("%s: %v", full, err)
		}
		for i, c := range b.Cols {
			if c.N != b.N {
				t.Errorf("%s: column %s has %d rows of %d", full, r.cols[i].Name, c.N, b.N)
			}
		}
	}
	if n := len(relations()); n < 180 {
		t.Errorf("only %d relations", n)
	}
}

func TestClassListsTableAndIndexes(t *testing.T) {
	b := rowsOf(t, "pg_class")
	kinds := map[string]string{}
	for i := 0; i < b.N; i++ {
		kinds[string(b.Cols[1].Bytes(i))] = string(b.Cols[16].Bytes(i))
	}
	for name, kind := range map[string]string{"t": "r", "t_pkey": "i", "t_Odd_key": "i", "pg_class": "r", "pg_tables": "v"} {
		if kinds[name] != kind {
			t.Errorf("%s has relkind %q, want %q", name, kinds[name], kind)
		}
	}
}

func TestDefinitions(t *testing.T) {
	s := newSource(testCtx())
	o, ok := s.object(16407)
	if !ok {
		t.Fatal("index not found")
	}
	if got, want := s.indexDef(o.index, false), `CREATE UNIQUE INDEX "t_Odd_key" ON public.t USING btree ("Odd")`; got != want {
		t.Errorf("index: %s, want %s", got, want)
	}
	if got, want := s.indexDef(o.index, true), `CREATE UNIQUE INDEX "t_Odd_key" ON t USING btree ("Odd")`; got != want {
		t.Errorf("index: %s, want %s", got, want)
	}
	if got, want := constraintDef(o.table, &o.table.Constraints[0]), "PRIMARY KEY (a)"; got != want {
		t.Errorf("constraint: %s, want %s", got, want)
	}
}

func TestNames(t *testing.T) {
	n := Names{Ctx: testCtx()}
	for text, want := range map[string]uint32{"t": 16400, "public.t": 16400, `"t_Odd_key"`: 16407, "pg_class": 1259, "T": 16400, "42": 42} {
		if got, err := n.ObjectID(types.Regclass, text); err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", text, got, err, want)
		}
	}
	if _, err := n.ObjectID(types.Regclass, "nix"); err == nil || err.Error() != `relation "nix" does not exist` {
		t.Errorf("unknown: %v", err)
	}
	if got, _ := n.ObjectName(types.Regclass, 16407); got != `"t_Odd_key"` {
		t.Errorf("name: %s", got)
	}
}

func TestSizePretty(t *testing.T) {
	v := vector.New(vector.Int64, 1)
	for n, want := range map[int64]string{10239: "10239 bytes", 10240: "10 kB", 10485247: "10239 kB", 10485248: "10 MB", -20480: "-20 kB", 123456789012: "115 GB"} {
		v.Reset(vector.Int64)
		v.AppendInt64(n)
		if got, _ := sizePretty(nil, []*vector.Vector{v}, 0); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
