package copyio

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

var quickTestColumns = []Column{{"t", types.T(types.TimestampTZ)}, {"s", types.T(types.Text)}, {"i", types.T(types.Int8)}, {"j", types.T(types.Int4)},
	{"k", types.T(types.Int2)}, {"f", types.T(types.Float8)}, {"d", types.T(types.Date)}, {"n", types.T(types.Numeric)}, {"b", types.T(types.Bool)}}

// fieldsOf are fields that somebody could read wrongly, right ones among them.
var fieldsOf = map[string][]string{
	"t": {"2024-01-01 00:00:00+00", "2024-01-01 00:00:00+01", "2024-01-01 00:00:00", "2024-01-01 00:00:00.5+00", "2024-01-01", "infinity", "epoch", "x", "294277-01-01"},
	"s": {"host_1", "ä", "\xff", "", "a b", "a\x00b", `a\tb`, `\\`, `"q"`, `"q,r"`, "'"},
	"i": {"0", "-0", "7", "-7", "007", "+7", " 7", "7 ", "999999999999999999", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "7x", "-", "7.0"},
	"j": {"2147483647", "-2147483648", "2147483648", "1"},
	"k": {"32767", "-32768", "32768", "1"},
	"f": {"0", "-0", "1.5", "-1.5", ".5", "5.", ".", "-", "1e5", "NaN", "Infinity", "123456789012345", "1234567890123456", "0.1", "0.000000000000001",
		"0.123456789012345", "3.14159", "1.7976931348623157e308", "1.5.5", "0000000000000001.5"},
	"d": {"2024-02-29", "2023-02-29", "epoch"},
	"n": {"1.50", "-3", "1e10", "x"},
	"b": {"t", "f", "true", "q"},
}

// usual is how many of the fields are common ones, at the front of the list.
const usual = 3

func randomField(rng *rand.Rand, name, null string) string {
	switch fields := fieldsOf[name]; rng.IntN(60) {
	case 0:
		return fields[rng.IntN(len(fields))]
	case 1, 2, 3:
		return null
	default:
		if name == "s" {
			return fmt.Sprint("host_", rng.IntN(20))
		}
		n := 1
		if name == "t" || name == "i" {
			n = usual
		}
		return fields[rng.IntN(n)]
	}
}

func randomLines(rng *rand.Rand, o Options, cols []Column) []byte {
	var w bytes.Buffer
	for range rng.IntN(120) {
		for i, c := range cols {
			if i > 0 {
				w.WriteByte(o.Delimiter)
			}
			w.WriteString(randomField(rng, c.Name, o.Null))
		}
		switch rng.IntN(200) {
		case 0:
			w.WriteString("\r")
		case 1:
			w.WriteString(string(o.Delimiter))
		}
		w.WriteByte('\n')
	}
	if rng.IntN(10) == 0 {
		w.WriteString("\\.\n")
	}
	return w.Bytes()
}

// render shows all rows with their lines, and the error in full.
func render(r Reader, cols []Column) string {
	var w strings.Builder
	for {
		b, err := r.Next()
		if err != nil {
			fmt.Fprintf(&w, "%+v", err)
			return w.String()
		}
		if b == nil {
			return w.String()
		}
		for i := range b.N {
			fmt.Fprint(&w, r.Lines().Of(i))
			for j, c := range cols {
				w.WriteString(" " + quoted(c.Type, b.Cols[j], i))
			}
			w.WriteByte('\n')
		}
	}
}

// TestQuickLines compares the quick way with the reader proper.
func TestQuickLines(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 1))
	for round := range 3000 {
		o := Options{Delimiter: '\t', Null: []string{`\N`, ""}[rng.IntN(2)]}
		if rng.IntN(2) == 0 {
			o = Options{Format: CSV, Delimiter: ",;"[rng.IntN(2)], Null: o.Null}
		}
		cols := quickTestColumns[:1+rng.IntN(len(quickTestColumns))]
		data := randomLines(rng, o, cols)
		read := func(quickly bool) string {
			r, err := NewReader(bytes.NewReader(data), "t", cols, o, &types.Context{Zone: time.UTC})
			if err != nil {
				t.Fatal(err)
			}
			if !quickly {
				r.(*delimitedReader).quick = nil
			} else if r.(*delimitedReader).quick == nil {
				t.Fatal("no quick way for common options")
			}
			return render(r, cols)
		}
		if got, want := read(true), read(false); got != want {
			t.Fatalf("seed %d, round %d: %q\n%+v\ngot\n%s\nwant\n%s", seed, round, data, o, got, want)
		}
	}
}

// TestQuickRows compares binary data that is cut and damaged at random.
func TestQuickRows(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 2))
	cols, ctx := quickTestColumns, &types.Context{Zone: time.UTC}
	b := &vector.Batch{N: 40}
	for _, c := range cols {
		v := vector.New(c.Type.Kind(), 40)
		for i := range 40 {
			if i%7 == 3 {
				v.AppendNull()
			} else if err := types.ParseText(v, c.Type, []byte(fieldsOf[c.Name][0]), ctx); err != nil {
				t.Fatal(err)
			}
		}
		b.Cols = append(b.Cols, v)
	}
	w := NewWriter(cols, Options{Format: Binary}, ctx)
	data, _ := w.Rows(w.Header(nil), nil, b)
	data = w.Trailer(data)
	for round := range 4000 {
		bad := bytes.Clone(data)
		if round > 0 {
			bad[19+rng.IntN(len(bad)-19)] = []byte{0, 1, 8, 0x7f, 0x80, 0xff}[rng.IntN(6)]
			bad = bad[:len(bad)-rng.IntN(2)*rng.IntN(200)]
		}
		read := func(quickly bool) string {
			r, err := NewReader(bytes.NewReader(bad), "t", cols, Options{Format: Binary}, ctx)
			if err != nil {
				t.Fatal(err)
			}
			r.(*binaryReader).slow = !quickly
			return render(r, cols)
		}
		if got, want := read(true), read(false); got != want {
			t.Fatalf("seed %d, round %d: %q\ngot\n%s\nwant\n%s", seed, round, bad, got, want)
		}
	}
}
