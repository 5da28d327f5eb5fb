package copyio

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

var testColumns = map[string]Column{
	"a": {"a", types.T(types.Int4)},
	"b": {"b", types.T(types.Text)},
	"c": {"c", types.Type{OID: types.Numeric, Mod: 5<<16 | 2 + 4}},
}

// copyCase is a COPY FROM into t (a int, b text, c numeric(5,2)) and what
// PostgreSQL 15 makes of it: the rows, quoted, or the error.
type copyCase struct {
	Opts, Cols, Data, Hex      string
	Rows                       string
	Code, Message, Hint, Where string
}

func (c copyCase) input() []byte {
	if c.Hex != "" {
		b, _ := hex.DecodeString(c.Hex)
		return b
	}
	return []byte(c.Data)
}

// options reads the COPY options that the cases use.
func (c copyCase) options(t *testing.T) (o Options, cols []Column) {
	for _, n := range strings.Split(c.Cols, ",") {
		cols = append(cols, testColumns[n])
	}
	o.Null = `\N`
	if strings.HasPrefix(c.Opts, "format csv") {
		o.Format, o.Null = CSV, ""
	}
	flags := func(list string) []bool {
		out := make([]bool, len(cols))
		for i, col := range cols {
			out[i] = strings.Contains(list, col.Name)
		}
		return out
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(c.Opts, "format csv"), ", ")
	rest = strings.ReplaceAll(rest, "(a,b)", "(ab)")
	for _, opt := range strings.Split(rest, ", ") {
		word, arg, _ := strings.Cut(opt, " ")
		arg = strings.ReplaceAll(strings.Trim(arg, "'"), "''", "'")
		switch word {
		case "":
		case "delimiter":
			o.Delimiter = arg[0]
		case "null":
			o.Null = arg
		case "quote":
			o.Quote = '\''
		case "escape":
			o.Escape = arg[0]
		case "header":
			o.Header, o.HeaderMatch = arg == "", arg == "match"
		case "force_null":
			o.ForceNull = flags(arg)
		case "force_not_null":
			o.ForceNotNull = flags(arg)
		default:
			t.Fatalf("option %q", opt)
		}
	}
	return o, cols
}

// quoted renders a value as PostgreSQL's quote_nullable does.
func quoted(t types.Type, v *vector.Vector, i int) string {
	if v.IsNull(i) {
		return "NULL"
	}
	s := string(types.AppendText(nil, t, v, i, &types.Context{}))
	e := ""
	if strings.Contains(s, `\`) {
		e, s = "E", strings.ReplaceAll(s, `\`, `\\`)
	}
	return e + "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

// readAll renders all rows in the order a, b, c.
func readAll(r Reader, cols []Column) (string, error) {
	var lines []string
	for {
		b, err := r.Next()
		if err != nil {
			return "", err
		}
		if b == nil {
			return strings.Join(lines, "\n"), nil
		}
		for i := range b.N {
			row := map[string]string{"a": "NULL", "b": "NULL", "c": "NULL"}
			for j, c := range cols {
				row[c.Name] = quoted(c.Type, b.Cols[j], i)
			}
			lines = append(lines, row["a"]+"|"+row["b"]+"|"+row["c"])
		}
	}
}

func TestDelimitedEqualsPostgres(t *testing.T) {
	data, err := os.ReadFile("testdata/delimited.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var c copyCase
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		o, cols := c.options(t)
		for _, chunk := range []func(io.Reader) io.Reader{
			func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.DataErrReader,
		} {
			r, err := NewReader(chunk(bytes.NewReader(c.input())), "t", cols, o, &types.Context{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := readAll(r, cols)
			if err == nil {
				if c.Code != "" || got != c.Rows {
					t.Errorf("(%s) %q: rows\n%s\nwant %s%s", c.Opts, c.input(), got, c.Rows, c.Message)
				}
				continue
			}
			e := pgerr.From(err)
			if string(e.Code) != c.Code || e.Message != c.Message || e.Hint != c.Hint || e.Where != c.Where {
				t.Errorf("(%s) %q:\n got %s %s | %s | %s\nwant %s %s | %s | %s %s", c.Opts, c.input(), e.Code, e.Message, e.Hint, e.Where,
					c.Code, c.Message, c.Hint, c.Where, c.Rows)
			}
		}
	}
}

func TestDelimitedBatches(t *testing.T) {
	const n = 10_000
	var w bytes.Buffer
	for i := range n {
		fmt.Fprintf(&w, "%d,\"line\n%d\",%d\n", i, i, i%100)
	}
	cols := []Column{testColumns["a"], testColumns["b"], testColumns["c"]}
	r, _ := NewReader(&w, "t", cols, Options{Format: CSV}, &types.Context{})
	row := 0
	for {
		b, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if b == nil {
			break
		}
		if b.N > MaxRows {
			t.Fatalf("batch of %d", b.N)
		}
		for i := range b.N {
			if int(b.Cols[0].I32[i]) != row || string(b.Cols[1].Bytes(i)) != fmt.Sprintf("line\n%d", row) {
				t.Fatalf("row %d: %d %q", row, b.Cols[0].I32[i], b.Cols[1].Bytes(i))
			}
			// The first record's line end is not known yet when its quotes are read.
			if want := int64(2*row + 1); r.Lines().Of(i) != want {
				t.Fatalf("row %d is line %d, want %d", row, r.Lines().Of(i), want)
			}
			row++
		}
	}
	if row != n {
		t.Errorf("%d rows", row)
	}
}

func TestReadErrors(t *testing.T) {
	broken := pgerr.New(pgerr.QueryCanceled, "COPY from stdin failed: x")
	r, _ := NewReader(io.MultiReader(strings.NewReader("1\n2"), iotest.ErrReader(broken)), "t", []Column{testColumns["a"]}, Options{Null: `\N`}, &types.Context{})
	_, err := r.Next()
	if e := pgerr.From(err); !errors.Is(err, broken) || e.Where != "COPY t, line 2" {
		t.Errorf("%v, %q", err, e.Where)
	}
	r, _ = NewReader(strings.NewReader("1\n\n"), "t", nil, Options{Null: `\N`}, &types.Context{})
	if _, err := r.Next(); err == nil || pgerr.From(err).Message != "extra data after last expected column" {
		t.Errorf("no columns: %v", err)
	}
}

func TestDelimitedWrite(t *testing.T) {
	cols := []Column{{"a", types.T(types.Int4)}, {"b \"x\"", types.T(types.Text)}}
	b := &vector.Batch{N: 9, Cols: []*vector.Vector{vector.New(vector.Int32, 9), vector.New(vector.Bytes, 9)}}
	for i, s := range []string{"plain", "tab\there", "a,b", `q"q`, "line\nend\r", `back\slash`, "", `\.`, "\b\f\v\x01|"} {
		b.Cols[0].AppendInt32(int32(i))
		b.Cols[1].AppendString(s)
	}
	b.Cols[0].SetNull(2)
	b.Cols[1].SetNull(6)
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Null: `\N`, Header: true}, "a\tb \"x\"\n0\tplain\n1\ttab\\there\n\\N\ta,b\n3\tq\"q\n4\tline\\nend\\r\n5\tback\\\\slash\n6\t\\N\n7\t\\\\.\n8\t\\b\\f\\v\x01|\n"},
		{Options{Null: "", Delimiter: '|'}, "0|plain\n1|tab\\there\n|a,b\n3|q\"q\n4|line\\nend\\r\n5|back\\\\slash\n6|\n7|\\\\.\n8|\\b\\f\\v\x01\\|\n"},
		{Options{Format: CSV, Header: true}, "a,\"b \"\"x\"\"\"\n0,plain\n1,tab\there\n,\"a,b\"\n3,\"q\"\"q\"\n4,\"line\nend\r\"\n5,back\\slash\n6,\n7,\\.\n8,\b\f\v\x01|\n"},
		{Options{Format: CSV, Null: "plain", Escape: '\\', ForceQuote: []bool{true, false}}, "\"0\",\"plain\"\n\"1\",tab\there\nplain,\"a,b\"\n\"3\",\"q\\\"q\"\n\"4\",\"line\nend\r\"\n\"5\",back\\slash\n\"6\",plain\n\"7\",\\.\n\"8\",\b\f\v\x01|\n"},
		{Options{Format: CSV, Delimiter: ';', Null: "0", ForceQuoteAll: true}, "\"0\";\"plain\"\n\"1\";\"tab\there\"\n0;\"a,b\"\n\"3\";\"q\"\"q\"\n\"4\";\"line\nend\r\"\n\"5\";\"back\\slash\"\n\"6\";0\n\"7\";\"\\.\"\n\"8\";\"\b\f\v\x01|\"\n"},
	} {
		w := NewWriter(cols, c.o, &types.Context{})
		out := w.Header(nil)
		out, ends := w.Rows(out, nil, b)
		out = w.Trailer(out)
		if string(out) != c.want {
			t.Errorf("%+v:\n got %q\nwant %q", c.o, out, c.want)
		}
		if len(ends) != b.N || ends[b.N-1] != len(out) || out[ends[0]-1] != '\n' {
			t.Errorf("ends %v", ends)
		}
	}
	one := &vector.Batch{N: 1, Cols: []*vector.Vector{vector.New(vector.Bytes, 1)}}
	one.Cols[0].AppendString(`\.`)
	if out, _ := NewWriter(cols[1:], Options{Format: CSV}, nil).Rows(nil, nil, one); string(out) != "\"\\.\"\n" {
		t.Errorf("alone on its line: %q", out)
	}
}

func FuzzDelimited(f *testing.F) {
	data, _ := os.ReadFile("testdata/delimited.jsonl")
	for line := range strings.Lines(string(data)) {
		var c copyCase
		if json.Unmarshal([]byte(line), &c) == nil {
			f.Add(c.input(), strings.HasPrefix(c.Opts, "format csv"), byte(0))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, csv bool, escape byte) {
		o := Options{Null: `\N`}
		if csv {
			o = Options{Format: CSV, Escape: escape}
		}
		cols := []Column{testColumns["b"], testColumns["b"], testColumns["b"]}
		var first string
		var firstErr error
		for i, in := range []io.Reader{bytes.NewReader(data), iotest.OneByteReader(bytes.NewReader(data))} {
			r, _ := NewReader(in, "t", cols, o, &types.Context{})
			rows, err := readAll(r, cols)
			if i == 0 {
				first, firstErr = rows, err
			} else if rows != first || (err == nil) != (firstErr == nil) || err != nil && pgerr.From(err).Where != pgerr.From(firstErr).Where {
				t.Fatalf("depends on how the data arrives: %v, %v", firstErr, err)
			}
		}
	})
}
