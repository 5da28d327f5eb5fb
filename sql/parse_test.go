package sql

import (
	"errors"
	"strings"
	"testing"

	"tsdb/sql/pgerr"
)

func TestParseSplits(t *testing.T) {
	q := "SELECT 1 ; -- é\n select 'ü', $3;;\n\tINSERT INTO t VALUES (2)"
	sts, err := Parse(q)
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		text, norm string
		params     int
	}{
		{"SELECT 1", "select ?i", 0},
		{"-- é\n select 'ü', $3", "select ?s , $3", 3},
		{"INSERT INTO t VALUES (2)", "insert into t values ( ?i )", 0},
	}
	if len(sts) != len(want) {
		t.Fatalf("%d statements, want %d", len(sts), len(want))
	}
	for i, w := range want {
		st := sts[i]
		if st.Text != w.text || st.Normalized != w.norm || st.NumParams != w.params {
			t.Errorf("%d: text %q, normalised %q, params %d", i, st.Text, st.Normalized, st.NumParams)
		}
		if q[st.Offset:st.Offset+len(st.Text)] != st.Text {
			t.Errorf("%d: offset %d does not give the text", i, st.Offset)
		}
	}
	at := sts[2].Node.GetInsertStmt().Relation.Location
	if got, want := sts[2].Position(at), len([]rune(q[:strings.Index(q, "t VALUES")]))+1; got != want {
		t.Errorf("position %d, want %d", got, want)
	}
	for _, empty := range []string{"", " ; ", "-- x", "/* a /* b */ */;"} {
		if sts, err := Parse(empty); err != nil || len(sts) != 0 {
			t.Errorf("%q: %v, %v", empty, sts, err)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		query, message string
		code           pgerr.Code
		pos            int
		hint           string
	}{
		{"select 'é' fro", "", "", 0, ""},
		{"select 'é' from where", `syntax error at or near "where"`, "42601", 17, ""},
		{"select 1 union", "syntax error at end of input", "42601", 15, ""},
		{"select 'a", `unterminated quoted string at or near "'a"`, "42601", 8, ""},
		{"select /* a", `unterminated /* comment at or near "/* a"`, "42601", 8, ""},
		{"select $a$ x", `unterminated dollar-quoted string at or near "$a$ x"`, "42601", 8, ""},
		{`select U&'\00zz'`, "invalid Unicode escape", "42601", 11, `Unicode escapes must be \XXXX or \+XXXXXX.`},
		{`select E'\u00'`, "invalid Unicode escape", "22025", 10, `Unicode escapes must be \uXXXX or \UXXXXXXXX.`},
		{"select 1a", `trailing junk after numeric literal at or near "1a"`, "42601", 8, ""},
		{"select 1 limit 1, 2", "LIMIT #,# syntax is not supported", "42601", 10, "Use separate LIMIT and OFFSET clauses."},
		{"create assertion a check (true)", "CREATE ASSERTION is not yet implemented", "0A000", 0, ""},
		{"select 1::float(99)", "precision for type float must be less than 54 bits", "22023", 17, ""},
		{"create role public", `role name "public" is reserved`, "42939", 13, ""},
		{"select interval $1", `syntax error at or near "$1"`, "42601", 17, ""},
		{"select sum(1) over (rows between unbounded following and current row)", "frame start cannot be UNBOUNDED FOLLOWING", "42P20", 34, ""},
		{"select 'a\xff'", `invalid byte sequence for encoding "UTF8": 0xff`, "22021", 0, ""},
		{"select 'a\xe2\x28'", `invalid byte sequence for encoding "UTF8": 0xe2 0x28 0x27`, "22021", 0, ""},
		{"select 'a\x00'", `invalid byte sequence for encoding "UTF8": 0x00`, "22021", 0, ""},
		{`select E'\xff'`, `invalid byte sequence for encoding "UTF8": 0xff`, "22021", 0, ""},
	} {
		_, err := Parse(c.query)
		if c.message == "" {
			if err != nil {
				t.Errorf("%q: %v", c.query, err)
			}
			continue
		}
		var e *pgerr.Error
		if !errors.As(err, &e) {
			t.Errorf("%q: %v", c.query, err)
			continue
		}
		if e.Message != c.message || e.Code != c.code || e.Position != c.pos || e.Hint != c.hint {
			t.Errorf("%q: %s %q at %d, hint %q", c.query, e.Code, e.Message, e.Position, e.Hint)
		}
	}
}

func TestParams(t *testing.T) {
	for _, q := range []string{"select interval(3) $1", "select date $1", "select $1 as a, interval $1 day", "select extract($1 from a)",
		"set x = $1", "SET x TO $1", "set time zone $1", "create role a password $1", "select int4($1) $1",
		"alter system set a = $1", "set role $1", `select "a" $1`} {
		_, err := Parse(q)
		e := pgerr.From(err)
		if at := strings.LastIndex(q, "$1") + 1; err == nil || e.Message != `syntax error at or near "$1"` || e.Code != "42601" || e.Position < 8 || e.Position > at {
			t.Errorf("%q: %v", q, err)
		}
	}
	for _, q := range []string{"select $1", "select $1::interval, interval '1' + $2", "select a at time zone $1", "select 1 fetch first $1 rows only",
		"select 1 limit $1 offset $2", "select a operator(pg_catalog.+) $1", "select a like $1 escape $2", "select 1 where a between $1 and $2",
		"update t set x = $1, y = -$2", "insert into t values ($1, $2)", "select case $1 when $2 then $3 else $4 end",
		"select sum(a) over (order by $1 rows between $2 preceding and $3 following)", "select a is distinct from $1", "select a similar to $1",
		"select array[$1], f(variadic $1), x = any($2)", "select 1 order by $1", "select substring(a from $1 for $2)", "select distinct $1", "execute p($1)",
		"select overlay(a placing $1 from $2)", "select trim(both $1 from a)", "prepare x as select $1"} {
		if _, err := Parse(q); err != nil {
			t.Errorf("%q: %v", q, err)
		}
	}
}

func TestRivals(t *testing.T) {
	for _, c := range []struct {
		query, near, hint string
	}{
		{"SELECT * FROM trades ASOF JOIN q ON true", "ASOF", hintASOF},
		{"SELECT * FROM trades asof LEFT JOIN q ON true", "asof", hintASOF},
		{"SELECT * FROM trades t ASOF JOIN q ON true", "ASOF", hintASOF},
		{"SELECT * FROM a JOIN trades asof JOIN q ON true ON true", "asof", hintASOF},
		{"SELECT * FROM (SELECT 1) anti JOIN q ON true", "anti", hintSemi},
		{"SELECT * FROM a semi JOIN q ON true", "semi", hintSemi},
		{"SELECT * FROM a positional JOIN q ON true", "positional", hintPositional},
		{"SELECT * FROM a splice JOIN q ON true", "splice", hintSplice},
		{"SELECT * FROM t FINAL", "FINAL", hintFinal},
		{"SELECT * FROM s.t FINAL WHERE true", "FINAL", hintFinal},
		{"SELECT * FROM t sample", "sample", hintSample},
		{"SELECT (SELECT 1 FROM t latest)", "latest", hintLatest},
		{"SELECT avg(v) FROM t SAMPLE BY 1h", "BY", hintSampleBy},
		{"SELECT * FROM t LATEST ON ts PARTITION BY k", "ON", hintLatest},
		{"SELECT * FROM t LATEST BY k", "BY", hintLatest},
		{"SELECT a FROM t QUALIFY row_number() OVER () = 1", "row_number", hintQualify},
		{"SELECT a FROM t WHERE b QUALIFY c", "QUALIFY", hintQualify},
		{"SELECT a, count(*) FROM t GROUP BY ALL", "", hintGroupAll},
		{"SELECT a, count(*) FROM t GROUP BY ALL ORDER BY 1", "ORDER", hintGroupAll},
		{"SELECT * EXCLUDE (a) FROM t", "EXCLUDE", hintExclude},
		{"SELECT * EXCEPT (a) FROM t", "a", hintExclude},
		{"SELECT last_value(x IGNORE NULLS) OVER () FROM t", "IGNORE", hintNulls},
		{"SELECT last_value(x) IGNORE NULLS OVER () FROM t", "NULLS", hintNulls},
		{"SELECT a FROM t GROUP BY a FILL(prev)", "FILL", hintFill},
	} {
		_, err := Parse(c.query)
		var e *pgerr.Error
		if !errors.As(err, &e) {
			t.Errorf("%q: %v", c.query, err)
			continue
		}
		if e.Code != pgerr.SyntaxError || e.Hint != c.hint || c.near != "" && e.Message != `syntax error at or near "`+c.near+`"` {
			t.Errorf("%q: %s %q, hint %q", c.query, e.Code, e.Message, e.Hint)
		}
	}
	for _, ok := range []string{
		"SELECT * FROM trades AS asof JOIN q ON true",
		`SELECT * FROM trades "asof" JOIN q ON true`,
		"SELECT * FROM asof JOIN q ON true",
		"SELECT * FROM a, asof JOIN q ON true",
		"SELECT * FROM s.asof JOIN q ON true",
		"SELECT * FROM t AS final",
		`SELECT * FROM t "final"`,
		"SELECT * FROM final",
		"SELECT final FROM t",
		"SELECT a final FROM t",
		"SELECT * FROM t TABLESAMPLE system (1)",
		"SELECT * FROM t q JOIN r ON asof(q.a >= r.a)",
	} {
		if _, err := Parse(ok); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
}
