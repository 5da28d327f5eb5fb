package catalog

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
	"tsdb/sql/types"
)

type records map[string][]byte

func (r records) apply(cs []Record) {
	for _, c := range cs {
		if c.Value == nil {
			delete(r, string(c.Key))
		} else {
			r[string(c.Key)] = c.Value
		}
	}
}

func (r records) meta(prefix []byte, f func(k, v []byte) error) error {
	keys := []string{}
	for k := range r {
		if strings.HasPrefix(k, string(prefix)) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		if err := f([]byte(k), r[k]); err != nil {
			return err
		}
	}
	return nil
}

func sample() *Table {
	t := &Table{OID: 16500, TypeOID: 16501, Schema: PublicOID, Name: "readings", Owner: BootstrapRoleOID,
		Columns: []Column{
			{ID: 1, AttNum: 1, Name: "station", Type: types.Type{OID: types.Varchar, Mod: 14}, NotNull: true},
			{ID: 2, AttNum: 2, Name: "ts", Type: types.T(types.TimestampTZ), NotNull: true, Default: "now()"},
			{ID: 3, AttNum: 3, Name: "v", Type: types.T(types.Float8)},
		},
		Constraints: []Constraint{
			{OID: 16502, IndexOID: 16503, Name: "readings_pkey", Primary: true, Columns: []int{0, 1}},
			{OID: 16504, IndexOID: 16505, Name: "readings_v_key", Columns: []int{2}, StoreID: 77},
		},
		Options: []Option{{"bucket", "1 day"}}, Last: 3,
		Storage: table.Schema{ID: 42, Layout: table.Columnar, Time: 1, Bucket: 86400e6, Conflict: table.ConflictReplace,
			Columns: []table.Column{{ID: 1, Kind: vector.Bytes, Codec: rowkey.CodecBytes},
				{ID: 2, Kind: vector.Int64, Codec: rowkey.CodecInt}, {ID: 3, Kind: vector.Float64, Codec: rowkey.CodecFloat}}},
	}
	t.DeriveKeys()
	return t
}

func TestStoredCatalogComesBack(t *testing.T) {
	r := records{}
	if _, ok, err := Load(r.meta); ok || err != nil {
		t.Fatalf("empty store: %v, %v", ok, err)
	}
	a := Bootstrap()
	r.apply(Changes(nil, a))
	b := a.WithTable(sample()).WithSchema(&Schema{OID: 16600, Name: "s", Owner: 10}).
		WithRole(&Role{OID: 16601, Name: "bob", Login: true, Verifier: "SCRAM-SHA-256$x"})
	r.apply(Changes(a, b))
	got, ok, err := Load(r.meta)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if !reflect.DeepEqual(got.Tables(), b.Tables()) {
		t.Errorf("tables differ:\n%+v\n%+v", got.Tables()[0], b.Tables()[0])
	}
	if !reflect.DeepEqual(got.Roles(), b.Roles()) || !reflect.DeepEqual(got.Schemas(), b.Schemas()) {
		t.Error("roles or schemas differ")
	}
	c := b.WithoutTable(16500).WithoutRole("bob").WithoutSchema("s").WithoutSchema("public")
	r.apply(Changes(b, c))
	got, _, err = Load(r.meta)
	if err != nil || len(got.Tables()) != 0 || len(got.Roles()) != 2 || len(got.Schemas()) != 3 {
		t.Errorf("after drops: %d tables, %d roles, %d schemas, %v", len(got.Tables()), len(got.Roles()), len(got.Schemas()), err)
	}
	if len(Changes(c, c)) != 0 {
		t.Error("no change must write nothing")
	}
}

func TestChangesWriteOnlyWhatChanged(t *testing.T) {
	a := Bootstrap()
	ch := Changes(a, a.WithTable(sample()))
	if len(ch) != 1 || string(ch[0].Key) != "catalog/table/00004074" {
		t.Errorf("changes: %q", ch)
	}
}

func TestMalformedRecords(t *testing.T) {
	for name, rec := range map[string][2]string{
		"not json":        {"catalog/table/00000001", "{"},
		"future version":  {"catalog/role/00000001", `{"v":9,"oid":1,"name":"x"}`},
		"no version":      {"catalog/schema/00000001", `{"oid":1}`},
		"future format":   {"catalog/format", `{"v":9}`},
		"unknown kind":    {"catalog/rule/00000001", `{"v":1}`},
		"bad constraint":  {"catalog/table/00000001", `{"v":1,"columns":[],"time":-1,"constraints":[{"columns":[3]}]}`},
		"bad time column": {"catalog/table/00000001", `{"v":1,"columns":[],"time":4}`},
	} {
		r := records{rec[0]: []byte(rec[1])}
		_, _, err := Load(r.meta)
		var ce *table.CorruptionError
		if !errors.As(err, &ce) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRecordForm(t *testing.T) {
	got := string(encodeTable(sample()).Value)
	want := `{"v":1,"oid":16500,"typeoid":16501,"schema":2200,"name":"readings","owner":10,"columns":[` +
		`{"id":1,"attnum":1,"name":"station","type":1043,"mod":14,"notnull":true,"codec":5,"kind":7},` +
		`{"id":2,"attnum":2,"name":"ts","type":1184,"mod":-1,"notnull":true,"default":"now()","codec":2,"kind":4},` +
		`{"id":3,"attnum":3,"name":"v","type":701,"mod":-1,"codec":4,"kind":6}],"constraints":[` +
		`{"oid":16502,"index":16503,"name":"readings_pkey","primary":true,"columns":[0,1]},` +
		`{"oid":16504,"index":16505,"name":"readings_v_key","columns":[2],"store":77}],` +
		`"options":[{"name":"bucket","value":"1 day"}],"storage":42,"layout":1,"time":1,"bucket":86400000000,"conflict":1}`
	if got != want {
		t.Errorf("stored form changed:\n got %s\nwant %s", got, want)
	}
}
