package catalog

import (
	"reflect"
	"testing"

	"tsdb/sql/types"
)

// TestObjects stores one object of every kind and reads it back.
func TestObjects(t *testing.T) {
	tab := sample()
	tab.Columns[2].Generated, tab.Columns[0].Identity, tab.Columns[1].Domain = "v * 2", 'd', 900
	tab.Columns[0].Depends = []Ref{{Class: ClassRelation, OID: 16602}}
	tab.Checks = []Check{{OID: 16510, Name: "positive", Expr: "v > 0", Columns: []int16{3}}}
	tab.ForeignKeys = []ForeignKey{{OID: 16511, Name: "fk", Columns: []int16{1}, Table: 16700, RefColumns: []int16{2}, OnDelete: 'c', OnUpdate: 'a'}}
	tab.Indexes = []Index{{OID: 16512, Name: "by_v", Method: "btree", Columns: []IndexColumn{{Column: 3, Desc: true}, {Expr: "v + 1"}}}}
	tab.Query, tab.Path, tab.Unpopulated, tab.Temp, tab.OnCommit = "SELECT 1", []string{"public"}, true, true, 'd'
	tab.Depends = []Ref{{Class: ClassRelation, OID: 16700, Column: 2}}
	view := &View{OID: 16601, TypeOID: 16603, Schema: PublicOID, Name: "v", Owner: 10, Columns: []ViewColumn{{"a", types.Varchar, 14}},
		Query: "SELECT a FROM t", Path: []string{"public"}, Options: []Option{{"check_option", "local"}}, Depends: tab.Depends}
	seq := &Sequence{OID: 16602, Schema: PublicOID, Name: "s", Type: types.Int4, Start: 1, Increment: -1, Min: -5, Max: 1 << 40, Cache: 3,
		Cycle: true, OwnedBy: Ref{Class: ClassRelation, OID: 16500, Column: 1}, Generation: 4}
	enum := &Enum{OID: types.EnumBase + 7, Schema: PublicOID, Name: "mood", Labels: []EnumLabel{{1, "sad", 1 << 32}, {2, "ok", 2 << 32}}}
	domain := &Domain{OID: 900, ArrayOID: 901, Schema: PublicOID, Name: "pos", Base: types.Int4, Mod: -1, NotNull: true, Default: "1",
		Checks: []Check{{OID: 902, Name: "pos_check", Expr: "VALUE > 0"}}}
	about := Ref{Class: ClassRelation, OID: 16500, Column: 2}
	s := Bootstrap().WithTable(tab).WithView(view).WithSequence(seq).WithEnum(enum).WithDomain(domain).WithComment(about, "when")
	stored := records{}
	stored.apply(Changes(nil, s))
	got, ok, err := Load(stored.meta)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	gt, _ := got.TableByOID(tab.OID)
	if !reflect.DeepEqual(gt, tab) {
		t.Errorf("table\n got %+v\nwant %+v", gt, tab)
	}
	gv, _ := got.View(PublicOID, "v")
	gs, _ := got.SequenceByOID(seq.OID)
	ge, _ := got.Enum(PublicOID, "mood")
	gd, _ := got.DomainByOID(900)
	for _, pair := range [][2]any{{gv, view}, {gs, seq}, {ge, enum}, {gd, domain}} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("got %+v, want %+v", pair[0], pair[1])
		}
	}
	if c, _ := got.Comment(about); c != "when" {
		t.Errorf("comment %q", c)
	}
	renamed := *view
	renamed.Name = "w"
	next := s.WithView(&renamed).WithoutSequence(seq.OID).WithoutComments(ClassRelation, 16500)
	if _, ok := next.View(PublicOID, "v"); ok {
		t.Error("the old name still finds the view")
	}
	if r, ok := next.Relation(PublicOID, "by_v"); !ok || r.Kind != RelIndex || r.Index == nil {
		t.Errorf("index by name: %+v", r)
	}
	stored.apply(Changes(s, next))
	if got, _, err = Load(stored.meta); err != nil {
		t.Fatal(err)
	}
	if r, ok := got.Relation(PublicOID, "w"); !ok || r.Kind != RelView {
		t.Errorf("renamed view: %+v", r)
	}
	if _, ok := got.Relation(PublicOID, "s"); ok || len(got.Comments()) != 0 {
		t.Error("what was removed is still stored")
	}
}
