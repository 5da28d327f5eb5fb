package sql

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

var typeOf = map[string]types.Type{
	"int2": types.T(types.Int2), "int4": types.T(types.Int4), "int8": types.T(types.Int8), "float4": types.T(types.Float4),
	"float8": types.T(types.Float8), "numeric": types.T(types.Numeric), "numeric(5,2)": {OID: types.Numeric, Mod: 5<<16 | 2 + 4},
	"text": types.T(types.Text), "varchar(3)": {OID: types.Varchar, Mod: 7}, "char(4)": {OID: types.BPChar, Mod: 8},
	"bool": types.T(types.Bool), "oid": types.T(types.Oid), "timestamp": types.T(types.Timestamp), "date": types.T(types.Date),
	"interval": types.T(types.Interval), "uuid": types.T(types.UUID), "bytea": types.T(types.Bytea), "jsonb": types.T(types.JSONB),
	"name": types.T(types.Name), `"char"`: types.T(types.Char), "int4[]": types.T(types.Int4Array),
}

// bulkOf parses an INSERT with the given rows, padded with rows of NULL in front.
func bulkOf(t *testing.T, columns int, rows ...string) *BulkValues {
	t.Helper()
	pad := "(" + strings.TrimSuffix(strings.Repeat("NULL, ", columns), ", ") + "),\n"
	sts, err := Parse("INSERT INTO t VALUES " + strings.Repeat(pad, bulkRows) + strings.Join(rows, ", "))
	if err != nil {
		t.Fatal(err)
	}
	if sts[0].Bulk == nil {
		t.Fatalf("not bulk: %s", rows)
	}
	return sts[0].Bulk
}

// TestBulkAssign compares every pair of target type and literal with what
// PostgreSQL 15 does: "=" and the value's text, or SQLSTATE ("@": with a
// position), message and "HINT".
func TestBulkAssign(t *testing.T) {
	data, err := os.ReadFile("testdata/bulk_assign.tsv")
	if err != nil {
		t.Fatal(err)
	}
	ctx := &types.Context{ExtraFloatDigits: 1}
	for line := range strings.Lines(string(data)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		typ, lit, want := f[0], f[1], strings.ReplaceAll(f[2], "\t", `\t`)
		b := bulkOf(t, 1, "("+lit+")")
		b.Names = []string{"x"}
		got := ""
		err := b.Read([]types.Type{typeOf[typ]}, ctx, func(bt *vector.Batch) error {
			got = bulkText1(typeOf[typ], bt, ctx)
			return nil
		})
		if err != nil {
			got = describe(t, err, len("INSERT INTO t VALUES ")+bulkRows*len("(NULL),\n")+1)
		}
		if got != want {
			t.Errorf("%s <- %s:\n got %.120s\nwant %.120s", typ, lit, got, want)
		}
	}
}

func bulkText1(typ types.Type, bt *vector.Batch, ctx *types.Context) string {
	v := bt.Cols[0]
	if v.IsNull(bt.N - 1) {
		return "<null>"
	}
	s := string(types.AppendText(nil, typ, v, bt.N-1, ctx))
	switch typ.OID {
	case types.Bool:
		s = map[string]string{"t": "true", "f": "false"}[s]
	case types.BPChar: // the cast to text trims
		s = strings.TrimRight(s, " ")
	}
	return "=" + strings.ReplaceAll(s, "\t", `\t`)
}

func describe(t *testing.T, err error, at int) string {
	t.Helper()
	var e *pgerr.Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	pos, hint := "", ""
	if e.Position != 0 {
		pos = "@"
		if e.Position != at+1 {
			t.Errorf("%s: position %d, want %d", e.Message, e.Position, at+1)
		}
	}
	if e.Hint != "" {
		hint = " HINT"
	}
	return string(e.Code) + pos + " " + strings.ReplaceAll(e.Message, "\t", `\t`) + hint
}

func TestBulkRows(t *testing.T) {
	const n = 10_000
	var w strings.Builder
	w.WriteString("SELECT 1; /* é */ INSERT INTO t (a, b, c, d) VALUES ")
	for i := range n {
		if i > 0 {
			w.WriteString(" ,\n-- next\n")
		}
		fmt.Fprintf(&w, "( %d,'row ''%d''' , -%d.5,/* x */ null)", i, i, i)
	}
	w.WriteString(" ON CONFLICT DO NOTHING RETURNING a, bad + 1; SELECT x FROM y")
	q := w.String()
	sts, err := Parse(q)
	if err != nil {
		t.Fatal(err)
	}
	if len(sts) != 3 || sts[0].Bulk != nil || sts[1].Bulk == nil || sts[2].Bulk != nil {
		t.Fatalf("%d statements", len(sts))
	}
	ins := sts[1].Node.GetInsertStmt()
	if got := len(ins.SelectStmt.GetSelectStmt().ValuesLists); got != 1 {
		t.Errorf("%d rows in the tree", got)
	}
	bad := ins.ReturningList[1].GetResTarget().Val.GetAExpr().Lexpr.GetColumnRef().Location
	if q[bad:bad+3] != "bad" {
		t.Errorf("location after the rows: %q", q[bad:bad+3])
	}
	if at := sts[2].Node.GetSelectStmt().FromClause[0].GetRangeVar().Location; q[at:] != "y" {
		t.Errorf("location in the next statement: %q", q[at:])
	}
	if !strings.HasSuffix(sts[1].Text, "bad + 1") || sts[2].Text != "SELECT x FROM y" || !strings.HasPrefix(sts[1].Text, "/* é */ INSERT") {
		t.Errorf("texts %.20q, %q", sts[1].Text, sts[2].Text)
	}
	if want := "insert into t ( a , b , c , d ) values ( ?i , ?s , - ?n , null ) on conflict do nothing returning a , bad + ?i"; sts[1].Normalized != want {
		t.Errorf("normalised %q", sts[1].Normalized)
	}
	b := sts[1].Bulk
	if b.Columns() != 4 || b.Rows() != n {
		t.Fatalf("%d columns, %d rows", b.Columns(), b.Rows())
	}
	row := 0
	err = b.Read([]types.Type{types.T(types.Int4), types.T(types.Text), types.T(types.Float8), types.T(types.Date)}, &types.Context{}, func(bt *vector.Batch) error {
		if bt.N > vector.BatchSize || bt.Cols[3].N != bt.N {
			t.Fatalf("batch of %d rows", bt.N)
		}
		for i := range bt.N {
			if int(bt.Cols[0].I32[i]) != row || string(bt.Cols[1].Bytes(i)) != fmt.Sprintf("row '%d'", row) ||
				bt.Cols[2].F64[i] != -float64(row)-0.5 || !bt.Cols[3].IsNull(i) {
				t.Fatalf("row %d: %d %q %g", row, bt.Cols[0].I32[i], bt.Cols[1].Bytes(i), bt.Cols[2].F64[i])
			}
			row++
		}
		return nil
	})
	if err != nil || row != n {
		t.Errorf("%d rows, %v", row, err)
	}
}

func TestBulkFallsBack(t *testing.T) {
	for _, row := range []string{"(DEFAULT)", "(1 + 1)", "(f(1))", "('1'::int)", "(date '2020-01-01')", "($1)", "(B'1')", "(X'1')", "(U&'a')", "($$a$$)", "('a'\n'b')",
		"(E'\\x41')", "(E'\\101')", "(E'\\u0041')", "(1), (2) , (a)", "(- - 1)", "((1))", "(0x10)", "(1_000)", "(nullx)", "(true AND true)", "(+ +1)"} {
		q := "INSERT INTO t VALUES " + strings.Repeat("(1),", 100) + row
		sts, err := Parse(q)
		if err != nil {
			t.Errorf("%s: %v", row, err)
			continue
		}
		if sts[0].Bulk != nil {
			t.Errorf("%s: taken as literals", row)
		}
	}
	for _, q := range []string{
		"INSERT INTO t SELECT * FROM (VALUES " + strings.Repeat("(1),", 100) + "(1)) v",
		"VALUES " + strings.Repeat("(1),", 100) + "(1)",
		"INSERT INTO t VALUES " + strings.Repeat("(1),", bulkRows-1) + "(1)",
		"INSERT INTO t VALUES " + strings.Repeat("(1),", 100) + "(1) LIMIT 2",
		"INSERT INTO t VALUES " + strings.Repeat("(1),", 100) + "(1) ORDER BY 1 OFFSET 5",
		"INSERT INTO t VALUES " + strings.Repeat("(1),", 100) + "(1) UNION SELECT 1",
		"INSERT INTO t VALUES " + strings.Repeat("(1),", 100) + "(1) /* ; */ EXCEPT SELECT 1",
	} {
		sts, err := Parse(q)
		if err != nil || sts[0].Bulk != nil {
			t.Errorf("%.40s: %v", q, err)
		}
	}
	for _, bad := range []string{"(1) (2)", "(1),", "(1", "(1)x(", "()"} {
		q := "INSERT INTO t VALUES " + strings.Repeat("(1),", 100) + bad
		if _, err := Parse(q); err == nil || pgerr.From(err).Code != pgerr.SyntaxError {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestBulkErrors(t *testing.T) {
	cols := []types.Type{types.T(types.Int4), {OID: types.Varchar, Mod: 5}}
	for _, c := range []struct {
		rows    []string
		want    string
		message string
		at      string // the error stands at the first occurrence of it; empty: no position
	}{
		{[]string{"(1, 'a')", "(2)"}, "42601", "VALUES lists must all be the same length", "2)"},
		{[]string{"(1, 'a')", "( -2 , 'a', 3)"}, "42601", "VALUES lists must all be the same length", "-2"},
		{[]string{"('x')", "(1, 'a')"}, "42601", "VALUES lists must all be the same length", "'x'"},
		{[]string{"(1, 'a')", "('y', 'b')"}, "22P02", `invalid input syntax for type integer: "y"`, "'y'"},
		{[]string{"(1, 'ab')", "(3, 'b')"}, "22001", "value too long for type character varying(1)", ""},
		// Reading a literal fails before converting one does.
		{[]string{"(1, 'ab')", "('z', 'b')"}, "22P02", `invalid input syntax for type integer: "z"`, "'z'"},
		{[]string{"(99999999999, 'b')", "(1, 'ab')"}, "22003", "integer out of range", ""},
	} {
		b := bulkOf(t, 2, c.rows...)
		b.Names = []string{"a", "b"}
		err := b.Read(cols, &types.Context{}, func(*vector.Batch) error { return nil })
		e := pgerr.From(err)
		pos := 0
		if c.at != "" {
			pos = position(b.query, strings.Index(b.query, c.at))
		}
		if string(e.Code) != c.want || e.Message != c.message || e.Position != pos {
			t.Errorf("%v: %s %q at %d, want %d", c.rows, e.Code, e.Message, e.Position, pos)
		}
	}
	stop := errors.New("stop")
	if err := bulkOf(t, 2, "(1, 'a')").Read(cols, nil, func(*vector.Batch) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
}

func TestCache(t *testing.T) {
	c := NewCache(3, 0)
	first, err := c.Parse("SELECT 1")
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"SELECT 2", "SELECT 3", "SELECT 1"} {
		if _, err := c.Parse(q); err != nil {
			t.Fatal(err)
		}
	}
	if again, _ := c.Parse("SELECT 1"); again[0] != first[0] {
		t.Error("not from the cache")
	}
	c.Parse("SELECT 4")
	if c.Len() != 3 || c.byText["SELECT 2"] != nil || c.byText["SELECT 1"] == nil {
		t.Errorf("%d entries; the least recently used should be gone", c.Len())
	}
	if _, err := c.Parse("SELEC"); err == nil || c.Len() != 3 {
		t.Error("errors must not be kept")
	}
	small := NewCache(0, 5000)
	for i := range 100 {
		small.Parse(fmt.Sprintf("SELECT %d, a, b, c FROM t", i))
	}
	if small.bytes > 5000 || small.Len() == 0 {
		t.Errorf("%d bytes in %d entries", small.bytes, small.Len())
	}
	small.Parse(bulkText(40))
	if small.byText[bulkText(40)] != nil {
		t.Error("bulk VALUES kept")
	}
}
