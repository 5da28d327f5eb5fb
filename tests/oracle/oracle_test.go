// Package oracle runs the same SQL on tsdb and on PostgreSQL 15 over the same
// real data and compares every answer: as text over the simple protocol, as
// text and as binary over the extended one.
package oracle

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"tsdb/colstore"
	"tsdb/tests/harness"
)

//go:embed schema.sql
var schema string

//go:embed queries.sql
var queryText string

// query is one named statement with the text values of its parameters.
type query struct {
	name, sql string
	params    [][]byte
}

func queries(t *testing.T) []query {
	var out []query
	for _, part := range strings.Split(queryText, "-- name: ")[1:] {
		head, sql, ok := strings.Cut(part, "\n")
		if !ok {
			t.Fatalf("query without text: %q", part)
		}
		fields := strings.Split(head, " | ")
		q := query{name: fields[0], sql: strings.TrimSuffix(strings.TrimSpace(sql), ";")}
		for _, p := range fields[1:] {
			q.params = append(q.params, []byte(strings.Trim(p, "'")))
		}
		out = append(out, q)
	}
	return out
}

type pair struct{ tsdb, postgres *pgconn.PgConn }

func connect(t *testing.T, url string) *pgconn.PgConn {
	t.Helper()
	c, err := pgconn.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	for _, set := range []string{"SET TIME ZONE 'UTC'"} {
		if _, err := c.Exec(context.Background(), set).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// load creates the tables on both sides and fills them from the files.
func load(t *testing.T, p pair, data string) {
	t.Helper()
	ctx := context.Background()
	for _, c := range []*pgconn.PgConn{p.tsdb, p.postgres} {
		if _, err := c.Exec(ctx, schema).ReadAll(); err != nil {
			t.Fatal(err)
		}
		for _, f := range []struct{ table, file string }{{"normals", "seattle-weather-hourly-normals.csv"}, {"stocks", "stocks.csv"},
			{"sp500", "sp500-2000.csv"}, {"co2", "co2-concentration.csv"}} {
			r, err := os.Open(filepath.Join(data, f.file))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.CopyFrom(ctx, r, "COPY "+f.table+" FROM STDIN (FORMAT csv, HEADER)"); err != nil {
				t.Fatalf("%s: %v", f.file, err)
			}
			r.Close()
		}
	}
	parquet := filepath.Join(data, "flights-3m.parquet")
	tag, err := p.tsdb.Exec(ctx, "COPY flights FROM '"+parquet+"'").ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got := tag[0].CommandTag.String(); got != "COPY 3000000" {
		t.Fatalf("loading the flights: %s", got)
	}
	csv := harness.FlightsCSV(t, parquet)
	defer csv.Close()
	if _, err := p.postgres.CopyFrom(ctx, csv, "COPY flights FROM STDIN (FORMAT csv)"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.postgres.Exec(ctx, "ANALYZE").ReadAll(); err != nil {
		t.Fatal(err)
	}
}

// answer is the outcome of a statement in comparable form.
type answer struct {
	columns []string
	oids    []uint32
	rows    [][]string
	err     string
}

func collect(r *pgconn.Result) answer {
	var a answer
	if r.Err != nil {
		a.err = errorText(r.Err)
		return a
	}
	for _, f := range r.FieldDescriptions {
		a.columns = append(a.columns, f.Name)
		a.oids = append(a.oids, f.DataTypeOID)
	}
	for _, row := range r.Rows {
		line := make([]string, len(row))
		for i, v := range row {
			if v == nil {
				line[i] = "NULL"
			} else {
				line[i] = string(v)
			}
		}
		a.rows = append(a.rows, line)
	}
	return a
}

func errorText(err error) string {
	if e, ok := err.(*pgconn.PgError); ok {
		return e.Code + " " + e.Message
	}
	return err.Error()
}

func simple(c *pgconn.PgConn, sql string) answer {
	rs, err := c.Exec(context.Background(), sql).ReadAll()
	if err != nil {
		return answer{err: errorText(err)}
	}
	return collect(rs[len(rs)-1])
}

func extended(c *pgconn.PgConn, q query, format int16) answer {
	return collect(c.ExecParams(context.Background(), q.sql, q.params, nil, nil, []int16{format}).Read())
}

// floatTolerance is the relative difference allowed between floating-point
// aggregates, whose value depends on the order of summation.
const floatTolerance = 1e-12

func sameValue(a, b string, oid uint32, binary bool) bool {
	if a == b {
		return true
	}
	if binary || (oid != 701 && oid != 700) {
		return false
	}
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err1 == nil && err2 == nil && math.Abs(x-y) <= floatTolerance*math.Max(math.Abs(x), math.Abs(y))
}

func compare(got, want answer, binary bool) error {
	if got.err != want.err {
		return fmt.Errorf("error %q, PostgreSQL %q", got.err, want.err)
	}
	if fmt.Sprint(got.columns, got.oids) != fmt.Sprint(want.columns, want.oids) {
		return fmt.Errorf("columns %v %v, PostgreSQL %v %v", got.columns, got.oids, want.columns, want.oids)
	}
	if len(got.rows) != len(want.rows) {
		return fmt.Errorf("%d rows, PostgreSQL %d", len(got.rows), len(want.rows))
	}
	for i := range got.rows {
		for j := range got.rows[i] {
			if !sameValue(got.rows[i][j], want.rows[i][j], got.oids[j], binary) {
				return fmt.Errorf("row %d, column %s: %q, PostgreSQL %q", i+1, got.columns[j], got.rows[i][j], want.rows[i][j])
			}
		}
	}
	return nil
}

func TestAnswersEqualPostgreSQL(t *testing.T) {
	if os.Getenv("TSDB_ORACLE") == "" {
		t.Skip("compares with PostgreSQL 15 on 3 M flights: set TSDB_ORACLE=1, or run make oracle")
	}
	data := harness.DataDir(t)
	pg := harness.StartPostgres(t, "fsync = off", "shared_buffers = 512MB")
	ts := harness.StartTSDB(t, colstore.Options{})
	p := pair{connect(t, ts.URL()), connect(t, pg.URL())}
	load(t, p, data)
	n := 0
	for _, phase := range []string{"as loaded", "flushed"} {
		if phase == "flushed" {
			if err := ts.Store.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		for _, q := range queries(t) {
			t.Run(phase+"/"+q.name, func(t *testing.T) { compareQuery(t, p, q) })
			n++
		}
	}
	t.Logf("%d queries compared in three forms each", n)
}

func compareQuery(t *testing.T, p pair, q query) {
	if q.params == nil {
		if err := compare(simple(p.tsdb, q.sql), simple(p.postgres, q.sql), false); err != nil {
			t.Errorf("simple: %v\n%s", err, q.sql)
		}
	}
	if err := compare(extended(p.tsdb, q, 0), extended(p.postgres, q, 0), false); err != nil {
		t.Errorf("extended, text: %v\n%s", err, q.sql)
	}
	if err := compare(extended(p.tsdb, q, 1), extended(p.postgres, q, 1), true); err != nil {
		t.Errorf("extended, binary: %v\n%s", err, q.sql)
	}
}
