package session

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"tsdb/colstore"
)

// BenchmarkPrepared runs prepared statements that find one of 100,000 rows by
// key, each in a transaction of its own that is not synced.
func BenchmarkPrepared(b *testing.B) {
	for _, layout := range []string{"columnar", "row"} {
		for name, stmt := range map[string]string{
			"select": "SELECT n FROM t WHERE k = $1", "update": "UPDATE t SET n = n + 1 WHERE k = $1",
			"delete": "DELETE FROM t WHERE k = $1", "upsert": "INSERT INTO t VALUES ($1, 1) ON CONFLICT (k) DO UPDATE SET n = t.n + 1",
		} {
			b.Run(layout+"/"+name, func(b *testing.B) { benchPrepared(b, layout, stmt) })
		}
	}
}

func benchPrepared(b *testing.B, layout, stmt string) {
	store, err := colstore.Open("data", colstore.Options{FS: vfs.NewMem()})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	e, err := NewEngine(store, Options{Clock: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	var out log
	s, err := e.NewSession(Start{User: "tsdb", Database: "tsdb", Client: &out})
	if err != nil {
		b.Fatal(err)
	}
	out.s = s
	ctx := context.Background()
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	must(s.Simple(ctx, "CREATE TABLE t (k int PRIMARY KEY, n int) WITH (layout = '"+layout+"'); "+
		"INSERT INTO t SELECT i, i FROM generate_series(1, 100000) i", &out))
	must(s.Simple(ctx, "VACUUM", &out))
	must(s.Simple(ctx, "SET synchronous_commit = off", &out))
	must(s.Parse(ctx, "p", stmt, nil))
	b.ResetTimer()
	for i := range b.N {
		key := strconv.Itoa(i*7919%100000 + 1)
		must(s.Bind(ctx, "", "p", nil, [][]byte{[]byte(key)}, nil))
		must(s.Execute(ctx, "", 0, &out))
		must(s.Sync(ctx))
		out.out.Reset()
	}
}
