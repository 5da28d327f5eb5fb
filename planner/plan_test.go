package planner_test

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/planner"
	"tsdb/planner/explain"
	"tsdb/planner/physical"
	"tsdb/rowkey"
	"tsdb/sql"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

var update = flag.Bool("update", false, "rewrite testdata/plans.txt")

// schema is the catalog of the goldens: a table with a primary key of text and
// time, one without a key, one by number.
func schema() *planner.Env {
	cat := catalog.Bootstrap()
	add := func(name string, rows int64, key string, cols ...string) {
		oid := catalog.FirstUserOID + types.OID(rows)
		t := &catalog.Table{OID: oid, Schema: catalog.PublicOID, Name: name,
			Storage: table.Schema{ID: table.ID(rows), Layout: table.Columnar, Time: -1, Unique: key != ""}}
		for i, c := range cols {
			f := strings.Fields(c)
			info, _ := types.ByName(f[1])
			typ := types.T(info.OID)
			codec := rowkey.CodecInt
			switch typ.OID {
			case types.Text:
				codec = rowkey.CodecBytes
			case types.Float8:
				codec = rowkey.CodecFloat
			case types.TimestampTZ, types.Timestamp:
				t.Storage.Time = i
			}
			t.Columns = append(t.Columns, catalog.Column{ID: table.ColumnID(i + 1), AttNum: int16(i + 1), Name: f[0], Type: typ, NotNull: len(f) > 2})
			t.Storage.Columns = append(t.Storage.Columns, table.Column{ID: table.ColumnID(i + 1), Kind: typ.Kind(), Codec: codec})
		}
		for _, k := range strings.Fields(key) {
			i := t.ColumnIndex(k)
			t.Storage.Key = append(t.Storage.Key, rowkey.Part{Column: i, Codec: t.Storage.Columns[i].Codec})
		}
		cat = cat.WithTable(t)
	}
	add("weather", 5_000_000, "station ts", "station text !", "ts timestamptz !", "temp float8", "wind float8", "sky text")
	add("flights", 3_000_000, "", "date timestamp", "origin text", "destination text", "delay int4", "distance int4")
	add("airports", 400, "code", "code text !", "city text", "elevation int4")
	now := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC).UnixMicro()
	ctx := &functions.Ctx{StatementTime: now, Clock: func() int64 { return now }}
	ctx.Now = now
	return &planner.Env{Catalog: cat, SearchPath: []types.OID{catalog.PgCatalogOID, catalog.PublicOID}, Ctx: ctx, Pruning: true,
		Virtual: func(string, string) catalog.VirtualRelation { return nil },
		Stats: func(id table.ID) table.Stats {
			return table.Stats{Rows: int64(id), MinTime: time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro(), MaxTime: now}
		}}
}

func plan(env *planner.Env, query string, params ...planner.ParamValue) (physical.Node, error) {
	sts, err := sql.Parse(query)
	if err != nil {
		return nil, err
	}
	b, err := planner.Bind(env, sts[0], nil)
	if err != nil {
		return nil, err
	}
	return planner.Plan(env, b, b.Root, params)
}

// TestPlans compares the plans of the queries in testdata/plans.txt with what
// follows each query there.
func TestPlans(t *testing.T) {
	const file = "testdata/plans.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	env := schema()
	var out strings.Builder
	for _, block := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
		query, _, _ := strings.Cut(block, "\n")
		if strings.HasPrefix(query, "#") {
			out.WriteString(block + "\n\n")
			continue
		}
		n, err := plan(env, query)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		lines, err := explain.Text(n, explain.Options{Costs: true, Ctx: env.Ctx}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := query + "\n    " + strings.Join(lines, "\n    ")
		if got != block && !*update {
			t.Errorf("plan of %s\n got\n%s\nwant\n%s", query, got, block)
		}
		out.WriteString(got + "\n\n")
	}
	if *update {
		if err := os.WriteFile(file, []byte(strings.TrimSpace(out.String())+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestParameters(t *testing.T) {
	env := schema()
	station := vector.New(vector.Bytes, 1)
	station.AppendString("KSEA")
	n, err := plan(env, "SELECT temp FROM weather WHERE station = $1", station)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := explain.Text(n, explain.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(lines, "\n"); !strings.Contains(got, "Key Ranges: 1 span (station = 'KSEA')") {
		t.Errorf("plan\n%s", got)
	}
}

func TestExplainAnalyze(t *testing.T) {
	env := schema()
	n, err := plan(env, "SELECT count(*) FROM flights WHERE delay > 5")
	if err != nil {
		t.Fatal(err)
	}
	stats := func(n physical.Node) (explain.Stats, bool) {
		s := explain.Stats{Rows: 1, Batches: 1, Nanos: 1_500_000}
		if _, ok := n.(*physical.Scan); ok {
			s = explain.Stats{Rows: 10, Batches: 2, Nanos: 1_000_000, Workers: 2, Scan: &table.ScanStats{Rows: 30, SegmentsRead: 3, SegmentsSkipped: 1,
				BlocksRead: 5, BlocksSkipped: 95, BytesRead: 2048, BytesSkipped: 50 << 20}}
		}
		return s, true
	}
	o := explain.Options{Analyze: true, Timing: true, Summary: true, Planning: 250 * time.Microsecond, Execution: 2 * time.Millisecond}
	lines, err := explain.Text(n, o, stats)
	if err != nil {
		t.Fatal(err)
	}
	want := `Aggregate (actual rows=1 batches=1 time=1.500 ms)
  Aggregates: count(*)
  ->  Scan on flights (actual rows=10 batches=2 time=1.000 ms)
        Layout: columnar
        Key Ranges: all
        Time Range: all
        Columns Read: delay
        Pruned by: delay > 5
        Filter: (delay > 5)
        Rows Scanned: 30
        Rows Removed by Filter: 20
        Segments: 3 scanned, 1 skipped
        Blocks: 5 scanned, 95 skipped
        Bytes: 2048 bytes scanned, 50 MB skipped
        Workers: 2
Planning Time: 0.250 ms
Execution Time: 2.000 ms`
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if lines, err = explain.Text(n, explain.Options{Format: "JSON", Costs: true}, nil); err != nil ||
		!strings.Contains(lines[0], `"Columns Read": "delay"`) || !strings.Contains(lines[0], `"Node Type": "Scan on flights"`) {
		t.Errorf("JSON: %v, %s", err, lines)
	}
	if _, err = explain.Text(n, explain.Options{Format: "xml"}, nil); err == nil || err.Error() != "EXPLAIN (FORMAT XML) is not supported" {
		t.Errorf("XML: %v", err)
	}
}
