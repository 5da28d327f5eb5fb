package bind_test

import (
	"tsdb/planner/bind"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/pgcatalog"
	"tsdb/sql/types"
)

// testEnv is a catalog of three tables in public and one elsewhere.
func testEnv() *bind.Env {
	col := func(name string, t types.OID, mod int32) catalog.Column {
		return catalog.Column{Name: name, Type: types.Type{OID: t, Mod: mod}}
	}
	flights := &catalog.Table{OID: 16401, Schema: catalog.PublicOID, Name: "flights", Columns: []catalog.Column{
		col("id", types.Int8, -1), col("origin", types.Text, -1), col("dest", types.Varchar, 14), col("delay", types.Int2, -1),
		col("distance", types.Int4, -1), col("ratio", types.Float8, -1), col("price", types.Numeric, 10<<16|2+4),
		col("at", types.TimestampTZ, -1), col("day", types.Date, -1), col("tags", types.TextArray, -1), col("doc", types.JSONB, -1),
		col("ok", types.Bool, -1), col("note", types.Text, -1)},
		Constraints: []catalog.Constraint{{Name: "flights_pkey", Primary: true, Columns: []int{0}}}}
	flights.Columns[0].NotNull, flights.Columns[1].NotNull = true, true
	flights.Columns[11].Default, flights.Columns[12].Default = "true", "'x' || 'y'"
	airports := &catalog.Table{OID: 16402, Schema: catalog.PublicOID, Name: "airports", Columns: []catalog.Column{
		col("origin", types.Text, -1), col("city", types.Text, -1), col("lat", types.Float8, -1), col("delay", types.Int4, -1)},
		Constraints: []catalog.Constraint{{Name: "airports_pkey", Primary: true, Columns: []int{0}}}}
	t := &catalog.Table{OID: 16403, Schema: catalog.PublicOID, Name: "t", Columns: []catalog.Column{
		col("a", types.Int4, -1), col("b", types.Text, -1), col("c", types.Timestamp, 3), col("d", types.Interval, -1),
		col("j", types.JSON, -1), col("ch", types.BPChar, 7)}}
	u := &catalog.Table{OID: 16405, Schema: 16404, Name: "u", Columns: []catalog.Column{
		col("a", types.Int4, -1), col("z", types.Text, -1)}}
	snap := catalog.Bootstrap().WithSchema(&catalog.Schema{OID: 16404, Name: "other", Owner: catalog.BootstrapRoleOID})
	for _, tab := range []*catalog.Table{flights, airports, t, u} {
		for i := range tab.Columns {
			tab.Columns[i].AttNum = int16(i + 1)
		}
		snap = snap.WithTable(tab)
	}
	return &bind.Env{Catalog: snap, SearchPath: []types.OID{catalog.PublicOID}, Ctx: &functions.Ctx{}, Virtual: pgcatalog.Find}
}
