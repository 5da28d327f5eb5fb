package bind_test

import (
	"strings"
	"testing"

	"tsdb/planner/bind"
	"tsdb/planner/logical"
	"tsdb/planner/scalar"
	"tsdb/sql"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

func TestExplainOptions(t *testing.T) {
	env := testEnv()
	b, err := bindText(env, "explain (analyze, verbose off, costs 0, format json) select $1 + 1")
	if err != nil {
		t.Fatal(err)
	}
	if b.Kind != bind.Explain || !b.Analyze || b.Verbose || b.Costs || !b.Timing || b.Format != "json" {
		t.Errorf("options %+v", b)
	}
	if b.Inner.Kind != bind.Select || len(b.Params) != 1 || b.Params[0].OID != types.Int4 || len(b.Cols) != 1 || b.Cols[0].Type.OID != types.JSON {
		t.Errorf("inner %+v", b)
	}
	if b, err = bindText(env, "explain select 1"); err != nil || b.Analyze || b.Timing || !b.Costs || b.Format != "text" {
		t.Errorf("defaults %+v %v", b, err)
	}
	wantError(t, env, "explain (nosuch) select 1", "42601", `unrecognized EXPLAIN option "nosuch"`, 10)
	wantError(t, env, "explain (format nosuch) select 1", "22023", `unrecognized value for EXPLAIN option "format": "nosuch"`, 10)
	wantError(t, env, "explain (timing) select 1", "22023", "EXPLAIN option TIMING requires ANALYZE", 0)
	wantError(t, env, "explain (analyze maybe) select 1", "42601", "analyze requires a Boolean value", 0)
	wantError(t, env, "explain select nosuch", "42703", `column "nosuch" does not exist`, 16)
}

func TestUtility(t *testing.T) {
	for _, q := range []string{"create table x (a int)", "begin", "set x = 1", "copy t from stdin", "prepare p as select 1"} {
		b, err := bindText(testEnv(), q)
		if err != nil || b.Kind != bind.Utility || b.Utility == nil {
			t.Errorf("%s: %+v %v", q, b, err)
		}
	}
}

func TestDeclaredParameters(t *testing.T) {
	sts, err := sql.Parse("select $1, $2 + 1 from t where a = $3")
	if err != nil {
		t.Fatal(err)
	}
	b, err := bind.Bind(testEnv(), sts[0], []types.OID{types.Date, types.Int8})
	if err != nil {
		t.Fatal(err)
	}
	if got := describeBound(b); got != "= ?column? date, ?column? bigint <- date, bigint, integer" {
		t.Error(got)
	}
	_, err = bind.Bind(testEnv(), sts[0], []types.OID{types.Date, types.Int8, types.Text})
	if e := pgerr.From(err); e.Message != "operator does not exist: integer = text" || e.Position != 34 {
		t.Error(e.Message, e.Position)
	}
}

func TestParameterPlaces(t *testing.T) {
	env := testEnv()
	wantError(t, env, "select interval $1", "42601", `syntax error at or near "$1"`, 17)
	wantError(t, env, "select 1::numeric($1)", "42601", "type modifiers must be simple constants or identifiers", 11)
	b, err := bindText(env, "select cast($1 as interval), $2::date")
	if err != nil {
		t.Fatal(err)
	}
	if got := describeBound(b); got != "= interval interval, date date <- interval, date" {
		t.Error(got)
	}
}

func TestBulkInsert(t *testing.T) {
	q := "insert into flights (origin, id) values ('SEA', 1)" + strings.Repeat(", ('LAX', 2)", 99)
	b, err := bindText(testEnv(), q)
	if err != nil {
		t.Fatal(err)
	}
	if b.Bulk == nil || b.Root != nil || len(b.Bulk.Target) != 2 || b.Bulk.Target[0] != 1 || b.Bulk.Target[1] != 0 {
		t.Fatalf("bulk %+v", b.Bulk)
	}
	row := b.Bulk.Defaults.(*logical.Values).Rows[0]
	if got := scalar.Format(row[12]); len(row) != 13 || got != "('x'::text || 'y'::text)" {
		t.Error(got)
	}
	wantError(t, testEnv(), strings.Replace(q, "(origin, id)", "(origin)", 1), "42601", "INSERT has more expressions than target columns", 45)
	wantError(t, testEnv(), strings.Replace(q, "(origin, id)", "(origin, id, dest)", 1), "42601", "INSERT has more target columns than expressions", 34)
	wantError(t, testEnv(), strings.Replace(q, "(origin, id)", "(origin, nosuch)", 1), "42703", `column "nosuch" of relation "flights" does not exist`, 30)
}

func TestExpression(t *testing.T) {
	env := testEnv()
	for text, want := range map[string]string{
		"5":                     "'5'::bigint",
		"'x'":                   "! invalid input syntax for type bigint: \"x\" @1",
		"1 + 2":                 "((1 + 2))~::bigint",
		"'5'":                   "'5'::bigint",
		"b":                     "! cannot use column reference in DEFAULT expression @1",
		"1 + (select 1)":        "! cannot use subquery in DEFAULT expression @5",
		"count(*)":              "! aggregate functions are not allowed in DEFAULT expressions @1",
		"$1":                    "! there is no parameter $1 @1",
		"true":                  "! column is of type bigint but default expression is of type boolean @1",
		"generate_series(1, 2)": "! set-returning functions are not allowed in DEFAULT expressions @1",
	} {
		e, err := bind.Expression(env, text, types.T(types.Int8))
		got := ""
		if err != nil {
			pe := pgerr.From(err)
			got = "! " + pe.Message + " @" + string(rune('0'+pe.Position))
		} else {
			got = scalar.String(e)
			if e.ResultType().OID != types.Int8 {
				t.Errorf("%s: type %v", text, e.ResultType())
			}
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestTypeName(t *testing.T) {
	for spelled, want := range map[string]string{
		"int":                    "integer",
		"varchar(10)":            "character varying(10)",
		"char":                   "character(1)",
		`"char"`:                 `"char"`,
		"numeric(10,-2)":         "numeric(10,-2)",
		"timestamp(3)":           "timestamp(3) without time zone",
		"timestamptz(9)":         "timestamp(6) with time zone",
		"interval day to second": "interval day to second",
		"interval second(2)":     "interval second(2)",
		"float(24)":              "real",
		"text[]":                 "text[]",
		"int[3][3]":              "integer[]",
		"varchar(5)[]":           "character varying(5)[]",
		"pg_catalog.int8":        "bigint",
		"serial":                 "! 0A000 type serial is not supported",
		"point":                  "! 0A000 type point is not supported",
		"nosuch":                 `! 42704 type "nosuch" does not exist`,
		`"integer"`:              `! 42704 type "integer" does not exist`,
		"int4(3)":                `! 42601 type modifier is not allowed for type "int4"`,
		"varchar(0)":             "! 22023 length for type varchar must be at least 1",
		"char(10485761)":         "! 22023 length for type char cannot exceed 10485760",
		"numeric(0)":             "! 22023 NUMERIC precision 0 must be between 1 and 1000",
		"numeric(5,1001)":        "! 22023 NUMERIC scale 1001 must be between -1000 and 1000",
		"numeric('x')":           `! 22P02 invalid input syntax for type integer: "x"`,
	} {
		sts, err := sql.Parse("create table x (é " + spelled + ")")
		if err != nil {
			t.Fatal(spelled, err)
		}
		node := sts[0].Node.GetCreateStmt().TableElts[0].GetColumnDef().TypeName
		got := ""
		if typ, err := bind.TypeNameIn(nil, sts[0], node); err != nil {
			e := pgerr.From(err)
			got = "! " + string(e.Code) + " " + e.Message
			if e.Position != 19 {
				t.Errorf("%s: position %d", spelled, e.Position)
			}
		} else {
			got = types.FormatType(typ)
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", spelled, got, want)
		}
	}
}

func BenchmarkBind(b *testing.B) {
	env := testEnv()
	for name, q := range map[string]string{
		"point":     "select id, origin, delay from flights where id = $1",
		"dashboard": "select date_trunc('hour', at) as h, origin, count(*), avg(delay) from flights where at >= '2020-01-01' and at < '2020-02-01' and origin in ('SEA', 'LAX') group by 1, 2 order by 1, 2 limit 100",
	} {
		sts, err := sql.Parse(q)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if _, err := bind.Bind(env, sts[0], nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
