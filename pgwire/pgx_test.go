package pgwire

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

var pgxModes = []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe,
	pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol}

// TestPgx runs the same work in each way in which pgx can talk to a server.
func TestPgx(t *testing.T) {
	s := startServer(t, Options{})
	for _, mode := range pgxModes {
		t.Run(mode.String(), func(t *testing.T) {
			ctx := context.Background()
			cfg, err := pgx.ParseConfig(s.url())
			if err != nil {
				t.Fatal(err)
			}
			cfg.DefaultQueryExecMode = mode
			c, err := pgx.ConnectConfig(ctx, cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close(ctx)
			if err := c.Ping(ctx); err != nil {
				t.Errorf("ping: %v", err)
			}
			table := "pgx_" + strings.ReplaceAll(mode.String(), " ", "_")
			pgxTypes(t, ctx, c, table)
			pgxErrors(t, ctx, c, table)
			pgxBatch(t, ctx, c, table)
		})
	}
}

// pgxTypes writes and reads a row of each type that has a Go type of its own.
func pgxTypes(t *testing.T, ctx context.Context, c *pgx.Conn, table string) {
	_, err := c.Exec(ctx, "CREATE TABLE "+table+` (id int4 PRIMARY KEY, i2 int2, i8 int8, f4 float4, f8 float8, b bool, s text,
		ts timestamp, tz timestamptz, d date, y bytea, u uuid, n numeric(10,2), j jsonb)`)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2024, 2, 29, 23, 59, 59, 123456000, time.UTC)
	day := time.Date(1969, 7, 20, 0, 0, 0, 0, time.UTC)
	const uuid = "12345678-9abc-def0-0102-030405060708"
	insert := "INSERT INTO " + table + " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)"
	for id := int32(1); id <= 2; id++ {
		tag, err := c.Exec(ctx, insert, id, int16(-7), int64(math.MaxInt64), float32(1.5), 1016.6, true, "it's é\\", at, at, day,
			[]byte{0, 1, 255}, uuid, "12.30", `{"a": 1}`)
		if err != nil || tag.RowsAffected() != 1 {
			t.Fatalf("insert: %v, %v", tag, err)
		}
	}
	var (
		i2     int16
		i8     int64
		f4     float32
		f8     float64
		b      bool
		str, n string
		u, j   string
		ts, tz time.Time
		d      time.Time
		y      []byte
	)
	err = c.QueryRow(ctx, "SELECT i2, i8, f4, f8, b, s, ts, tz, d, y, u::text, n::text, j::text FROM "+table+" WHERE id = $1", 2).
		Scan(&i2, &i8, &f4, &f8, &b, &str, &ts, &tz, &d, &y, &u, &n, &j)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(i2, i8, f4, f8, b, str, ts.UTC(), tz.UTC(), d.UTC(), y, u, n, j)
	want := fmt.Sprint(int16(-7), int64(math.MaxInt64), float32(1.5), 1016.6, true, "it's é\\", at, at, day,
		[]byte{0, 1, 255}, uuid, "12.30", `{"a": 1}`)
	if got != want {
		t.Errorf("read back\n%s\nwant\n%s", got, want)
	}
}

func pgxErrors(t *testing.T, ctx context.Context, c *pgx.Conn, table string) {
	var pe *pgconn.PgError
	_, err := c.Exec(ctx, "INSERT INTO "+table+" (id) VALUES ($1)", 1)
	if !errors.As(err, &pe) || pe.Code != "23505" {
		t.Errorf("duplicate key: %v", err)
	}
	tx, err := c.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(ctx, "INSERT INTO "+table+" (id) VALUES ($1)", 100); err != nil {
		t.Error(err)
	}
	if _, err := tx.Exec(ctx, "SELECT nope FROM "+table); !errors.As(err, &pe) || pe.Code != "42703" {
		t.Errorf("unknown column: %v", err)
	}
	if err := tx.Rollback(ctx); err != nil {
		t.Error(err)
	}
	var n int64
	if err := c.QueryRow(ctx, "SELECT count(*) FROM "+table).Scan(&n); err != nil || n != 2 {
		t.Errorf("after the rollback there are %d rows, %v", n, err)
	}
}

func pgxBatch(t *testing.T, ctx context.Context, c *pgx.Conn, table string) {
	batch := &pgx.Batch{}
	for id := 10; id < 13; id++ {
		batch.Queue("INSERT INTO "+table+" (id, s) VALUES ($1, $2)", id, fmt.Sprint("batch ", id))
	}
	batch.Queue("SELECT count(*) FROM " + table)
	res := c.SendBatch(ctx, batch)
	for range 3 {
		if tag, err := res.Exec(); err != nil || tag.RowsAffected() != 1 {
			t.Errorf("batch insert: %v, %v", tag, err)
		}
	}
	var n int64
	if err := res.QueryRow().Scan(&n); err != nil || n != 5 {
		t.Errorf("batch count: %d, %v", n, err)
	}
	if err := res.Close(); err != nil {
		t.Error(err)
	}
	// A batch that fails leaves nothing behind.
	batch = &pgx.Batch{}
	batch.Queue("INSERT INTO "+table+" (id) VALUES ($1)", 20)
	batch.Queue("INSERT INTO "+table+" (id) VALUES ($1)", 10)
	if err := c.SendBatch(ctx, batch).Close(); err == nil {
		t.Error("a batch with a duplicate key succeeds")
	}
	if err := c.QueryRow(ctx, "SELECT count(*) FROM "+table).Scan(&n); err != nil || n != 5 {
		t.Errorf("after the failed batch: %d rows, %v", n, err)
	}
}

func TestPgxCopyFrom(t *testing.T) {
	s := startServer(t, Options{})
	ctx := context.Background()
	c, err := pgx.Connect(ctx, s.url())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	if _, err := c.Exec(ctx, "CREATE TABLE readings (host text, ts timestamptz, v float8, PRIMARY KEY (host, ts))"); err != nil {
		t.Fatal(err)
	}
	const rows = 10_000
	start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	row := func(i int) []any {
		return []any{fmt.Sprint("host_", i%10), start.Add(time.Duration(i) * time.Second), float64(i) / 4}
	}
	n, err := c.CopyFrom(ctx, pgx.Identifier{"readings"}, []string{"host", "ts", "v"},
		pgx.CopyFromSlice(rows, func(i int) ([]any, error) { return row(i), nil }))
	if err != nil || n != rows {
		t.Fatalf("copied %d rows, %v", n, err)
	}
	got, err := c.Query(ctx, "SELECT host, ts, v FROM readings ORDER BY ts")
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for got.Next() {
		var host string
		var ts time.Time
		var v float64
		if err := got.Scan(&host, &ts, &v); err != nil {
			t.Fatal(err)
		}
		if want := row(i); host != want[0] || !ts.Equal(want[1].(time.Time)) || v != want[2] {
			t.Fatalf("row %d is %s %s %v, want %v", i, host, ts, v, want)
		}
		i++
	}
	if got.Err() != nil || i != rows {
		t.Errorf("read %d rows, %v", i, got.Err())
	}
	_, err = c.CopyFrom(ctx, pgx.Identifier{"readings"}, []string{"host", "ts", "v"}, pgx.CopyFromSlice(3, func(i int) ([]any, error) {
		if i == 2 {
			return nil, errors.New("the source fails")
		}
		return []any{"new", start, 1.0}, nil
	}))
	if err == nil {
		t.Error("a source that fails is copied")
	}
	var count int64
	if err := c.QueryRow(ctx, "SELECT count(*) FROM readings WHERE host = 'new'").Scan(&count); err != nil || count != 0 {
		t.Errorf("%d rows of the failed copy stay, %v", count, err)
	}
}

func TestPgxCancel(t *testing.T) {
	s := startServer(t, Options{})
	c, err := pgx.Connect(context.Background(), s.url())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.Exec(ctx, longQuery); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a query with a deadline ends with %v", err)
	}
	deadline := time.Now().Add(20 * time.Second)
	for s.sessions.Load() > 0 {
		if time.Now().After(deadline) {
			t.Fatal("the abandoned statement goes on")
		}
		time.Sleep(10 * time.Millisecond)
	}
}
