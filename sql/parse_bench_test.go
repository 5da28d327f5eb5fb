package sql

import (
	"fmt"
	"strings"
	"testing"

	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

const dashboard = `SELECT date_bin('5 minutes', ts, '2020-01-01') AS bucket, host, avg(usage_user) AS u, max(usage_system)
FROM cpu JOIN hosts h ON h.id = cpu.host_id AND h.region = 'eu' -- one region
WHERE ts >= '2024-01-01 00:00:00+00' AND ts < now() AND usage_user > 90.5 /* hot */
GROUP BY 1, 2 HAVING count(*) > 10 ORDER BY bucket DESC, host LIMIT 100;
`

func BenchmarkGuard(b *testing.B) {
	text := strings.Repeat(dashboard, 100)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if err := guardOf(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNormalize(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		normalize(dashboard)
	}
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := Parse(dashboard); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCache(b *testing.B) {
	c := NewCache(0, 0)
	for b.Loop() {
		if _, err := c.Parse(dashboard); err != nil {
			b.Fatal(err)
		}
	}
}

// bulkText is an INSERT of rows with twelve columns.
func bulkText(rows int) string {
	var w strings.Builder
	w.WriteString("INSERT INTO t VALUES ")
	for i := range rows {
		if i > 0 {
			w.WriteString(", ")
		}
		fmt.Fprintf(&w, "(%d, 'host-%d', %d, %d.25, -%d.5, 'it''s', NULL, true, %d, %d.125, 'x', '%d')", i, i%100, i*7, i, i, i%30000, i%100, i)
	}
	return w.String()
}

var bulkTypes = []types.Type{types.T(types.Int8), types.T(types.Text), types.T(types.Int4), types.T(types.Float8), types.T(types.Float8), types.T(types.Text),
	types.T(types.Int4), types.T(types.Bool), types.T(types.Int2), types.T(types.Float4), types.T(types.Text), types.T(types.Text)}

func BenchmarkBulk(b *testing.B) {
	text := bulkText(100_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		sts, err := Parse(text)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		err = sts[0].Bulk.Read(bulkTypes, &types.Context{}, func(bt *vector.Batch) error { n += bt.N; return nil })
		if err != nil || n != 100_000 {
			b.Fatal(n, err)
		}
	}
}
