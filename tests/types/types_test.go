// Package types compares tsdb with PostgreSQL 15 by thousands of expressions on
// constants: literals of all types that are valid, extreme or malformed, their
// text and binary output under all settings of output, casts between all types,
// and operators and functions at the ends of their ranges. Values must be the
// same byte by byte, and so must be SQLSTATEs and messages. It needs
// TSDB_ORACLE=1.
//
// Variables: TSDB_SEED repeats a run, TSDB_POSTGRES=URL uses a running
// PostgreSQL 15, TSDB_SHOW=n prints that many differences of a test (20).
//
// The differences that remain are those of the table known.
package types

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"regexp"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/jackc/pgx/v5/pgconn"

	"tsdb/colstore"
	"tsdb/tests/harness"
)

func TestTypesAgainstPostgreSQL(t *testing.T) {
	url := harness.OracleURL(t, false)
	seed := harness.Number("TSDB_SEED", time.Now().UnixNano())
	fmt.Printf("TSDB_SEED=%d\n", seed)
	s := harness.StartTSDB(t, colstore.Options{FS: vfs.NewMem()})
	d := &duel{ours: connect(t, s.URL()), theirs: connect(t, url)}
	g := &gen{r: rand.New(rand.NewSource(seed))}
	for _, c := range []struct {
		name string
		run  func(*gen, *duel)
	}{
		{"input", input}, {"output", output}, {"casts", casts},
		{"numbers", numbers}, {"numeric", numerics}, {"text", texts},
		{"dates", dates}, {"zones", zones}, {"intervals", intervals},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.t, d.compared, d.failures, d.known = t, 0, 0, 0
			d.set("")
			c.run(g, d)
			fmt.Printf("%s: %d expressions, %d differences, %d known\n", c.name, d.compared, d.failures, d.known)
		})
	}
}

// known are the differences that stay, by a pattern of the expression, and of
// the outcomes where it alone says too little.
var known = []struct{ expression, outcomes, reason string }{
	{``, `^22008 (?s:.*)(29424[7-9]|2942[5-7]\d)-`, "timestamps end at 294247-01-10"},
	{``, `(?i)type 1700:-1 ‘-?inf`, "the scale that the binary form of an infinity has says nothing"},
	{`::regtype$`, ``, "regtype reads a name, not the whole grammar of types"},
	{`infinity`, `^22008 (timestamp|interval) out of range\n`, "age and differences of infinity overflow in silence in PostgreSQL 15"},
	{`2562047788`, ``, "a sum of times wraps around at 2^63 in PostgreSQL"},
	{`timestamp(tz)? - `, `^22008 interval out of range\n`, "a difference of timestamps wraps around at 2^63 in PostgreSQL"},
	{`::(date|time|timestamp|timetz|timestamptz|interval)\b`, `^(22007|22008|22009|22023) .*\n(22007|22008|22009|22023) `, "which of several faults of a malformed text is named"},
	{``, `^22P02 .*\n22003 `, "a number that is too large and followed by garbage"},
	{`::(date|time|timetz)\b`, `^22007 .*\ntype|^type .*\n22007 `, "garbage between date and time fields"},
	{`::interval \w+ to `, `^22.*\ntype|^type .*\n22|^22007.*\n22015`, "malformed intervals under a modifier of fields"},
	{`::int4\[\]$`, `‘{}’.*\n22P02`, "bounds of an empty array"},
	{`::interval`, `^22007 .*\ntype`, "PostgreSQL takes a number before a bare hyphen for years and months"},
	{`::(date|timestamp|timestamptz)(\[\]|\(\d\))?$`, `^22\d\d\d .*\ntype`, "garbage between date fields that PostgreSQL skips"},
	{`AT TIME ZONE '(UTC)?[-+]\d+(:30)?x'`, ``, "a POSIX zone whose name has a sign"},
	{`^sum\('-0'`, ``, "a sum starts from 0"},
	{`"char"`, ``, "a value of \"char\" above 0x7f is written as it is, and casts through text"},
	{`\]$|\]::`, `^22.*\n22P02 malformed array literal`, "an array's elements are read before its end is seen"},
	{`^overlay\(`, `22003 integer out of range`, "overlay far behind the end of a string"},
	{`^to_char\(.*interval.*HH12`, ``, "hours of negative intervals from -12 on"},
	{`::regclass`, `^42P01 .*\n(?s:.*)42P01`, "spaces around a name in an error"},
	{`^(\|\|/|power\(|exp\(|ln\(|log\(|.* \^ )`, `^type 701.*\ntype 701`, "the last digit of cube roots, powers and logarithms"},
	{`^'\[.*::int4\[\]`, `^22P02 .*\n2202E `, "a bound beyond int4"},
	{`::jsonb`, `^22003 .*\n22P02 `, "a number that overflows, with garbage behind it"},
	{``, `^type 70[01]:-1 ‘NaN’.*\ntype 70[01]:-1 ‘NaN’`, "the sign bit of NaN"},
	{`numeric \^ `, `^22003 value overflows`, "negative powers of small numerics overflow earlier"},
	{`^'4714-11-24 BC'::date`, `^type 16:`, "the first date is before the first timestamp in zones east of UTC"},
	{`::interval`, `^22015 .*\n22007 `, "which of several faults of a malformed text is named"},
	{`[a-zA-Z]T\d\d:.*Z?'::timestamptz`, ``, "a zone name that runs into a time"},
	{`^pg_typeof`, `unknown`, "unknown constants are text by then"},
}

// duel evaluates expressions on both servers.
type duel struct {
	t                         *testing.T
	ours, theirs              *pgconn.PgConn
	settings                  string
	compared, failures, known int
}

// set runs statements that change settings.
func (d *duel) set(q string) {
	d.t.Helper()
	for _, c := range []*pgconn.PgConn{d.ours, d.theirs} {
		for _, q := range []string{"RESET ALL; SET timezone = 'Europe/Berlin'; SET datestyle = iso, mdy", q} {
			if _, err := c.Exec(context.Background(), q).ReadAll(); err != nil {
				d.t.Fatal(q, err)
			}
		}
	}
	d.settings = q
}

// compare evaluates the expressions, each as a statement of its own, and reports
// those whose outcomes differ.
func (d *duel) compare(expressions []string) {
	d.t.Helper()
	const batch = 400
	for len(expressions) > 0 {
		part := expressions[:min(batch, len(expressions))]
		expressions = expressions[len(part):]
		done := make(chan []string)
		go func() { done <- evaluate(d.t, d.theirs, part) }()
		o := evaluate(d.t, d.ours, part)
		p := <-done
		for i, e := range part {
			d.compared++
			if o[i] != p[i] {
				d.differ(e, o[i], p[i])
			}
		}
	}
}

func (d *duel) differ(e, o, p string) {
	for _, k := range known {
		if regexp.MustCompile(k.expression).MatchString(e) && regexp.MustCompile(k.outcomes).MatchString(o+"\n"+p) {
			d.known++
			return
		}
	}
	if d.failures++; d.failures <= int(harness.Number("TSDB_SHOW", 20)) {
		d.t.Errorf("%s (%s)\n  tsdb:       %.300s\n  PostgreSQL: %.300s", e, d.settings, o, p)
	}
}

// evaluate gives the outcomes of the expressions: type, text and bytes of the
// value, or SQLSTATE and message.
func evaluate(t *testing.T, c *pgconn.PgConn, expressions []string) []string {
	ctx := context.Background()
	p := c.StartPipeline(ctx)
	for _, e := range expressions {
		p.SendQueryParams("SELECT v, v FROM (SELECT "+e+") AS s(v)", nil, nil, nil, []int16{0, 1})
		p.SendPipelineSync()
	}
	if err := p.Flush(); err != nil {
		t.Error(err)
	}
	out := make([]string, 0, len(expressions))
	current := ""
	for len(out) < len(expressions) {
		r, err := p.GetResults()
		switch r := r.(type) {
		case *pgconn.ResultReader:
			current = value(r.Read())
		case *pgconn.PipelineSync:
			out = append(out, current)
			current = ""
		default:
			e, ok := err.(*pgconn.PgError)
			if !ok {
				t.Errorf("%s: %v", expressions[len(out)], err)
				return append(out, make([]string, len(expressions)-len(out))...)
			}
			current = e.Code + " " + e.Message
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	return out
}

func value(r *pgconn.Result) string {
	if e, ok := r.Err.(*pgconn.PgError); ok {
		return e.Code + " " + e.Message
	}
	if r.Err != nil || len(r.Rows) != 1 {
		return fmt.Sprintf("%d rows, %v", len(r.Rows), r.Err)
	}
	v := r.Rows[0]
	if v[0] == nil {
		return fmt.Sprintf("type %d NULL", r.FieldDescriptions[0].DataTypeOID)
	}
	s := fmt.Sprintf("type %d:%d ‘%s’", r.FieldDescriptions[0].DataTypeOID, r.FieldDescriptions[0].TypeModifier, v[0])
	if !bytes.Equal(v[0], v[1]) {
		s += fmt.Sprintf(" %x", v[1])
	}
	return s
}

func connect(t *testing.T, url string) *pgconn.PgConn {
	t.Helper()
	c, err := pgconn.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}
