package copyio

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// record builds a one-column record from JSON values.
func record(t testing.TB, typ arrow.DataType, json string) arrow.RecordBatch {
	t.Helper()
	a, _, err := array.FromJSON(memory.DefaultAllocator, typ, strings.NewReader(json))
	if err != nil {
		t.Fatalf("%s: %v", typ, err)
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: typ, Nullable: true}}, nil)
	return array.NewRecordBatch(schema, []arrow.Array{a}, int64(a.Len()))
}

func arrowFile(t testing.TB, recs ...arrow.RecordBatch) *bytes.Reader {
	t.Helper()
	var buf seekBuffer
	w, err := ipc.NewFileWriter(&buf, ipc.WithSchema(recs[0].Schema()))
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range recs {
		if err := w.Write(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(buf.b)
}

// seekBuffer is enough of a file for the writer.
type seekBuffer struct{ b []byte }

func (s *seekBuffer) Write(p []byte) (int, error) { s.b = append(s.b, p...); return len(p), nil }

func (s *seekBuffer) Seek(int64, int) (int64, error) { return int64(len(s.b)), nil }

func parquetFile(t testing.TB, rowGroup int64, recs ...arrow.RecordBatch) *bytes.Reader {
	t.Helper()
	var buf bytes.Buffer
	props := parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy), parquet.WithMaxRowGroupLength(rowGroup), parquet.WithVersion(parquet.V2_LATEST))
	w, err := pqarrow.NewFileWriter(recs[0].Schema(), &buf, props, pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range recs {
		if err := w.Write(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(buf.Bytes())
}

// column reads the one column of a file as texts.
func column(f *bytes.Reader, to types.Type, format Format) (string, error) {
	r, err := NewFileReader(f, "t", []Column{{"x", to}}, format)
	if err != nil {
		return "", err
	}
	var out []string
	for {
		b, err := r.Next()
		if err != nil || b == nil {
			return strings.Join(out, "|"), err
		}
		for i := range b.N {
			if b.Cols[0].IsNull(i) {
				out = append(out, "NULL")
				continue
			}
			out = append(out, string(types.AppendText(nil, to, b.Cols[0], i, &types.Context{ExtraFloatDigits: 1})))
		}
	}
}

var (
	tInt2, tInt4, tInt8    = types.T(types.Int2), types.T(types.Int4), types.T(types.Int8)
	tFloat4, tFloat8       = types.T(types.Float4), types.T(types.Float8)
	tNumeric, tText, tBool = types.T(types.Numeric), types.T(types.Text), types.T(types.Bool)
	tDate, tTime           = types.T(types.Date), types.T(types.Time)
	tTS, tTSTZ             = types.T(types.Timestamp), types.T(types.TimestampTZ)
)

func TestArrowConversions(t *testing.T) {
	arr := arrow.PrimitiveTypes
	for _, c := range []struct {
		from arrow.DataType
		json string
		to   types.Type
		want string // values, or "CODE message"
	}{
		{arr.Int8, `[1, null, -128]`, tInt2, "1|NULL|-128"},
		{arr.Int16, `[1, null, -32768]`, tInt2, "1|NULL|-32768"},
		{arr.Int32, `[1, null, 2147483647]`, tInt4, "1|NULL|2147483647"},
		{arr.Int64, `[1, null, 9223372036854775807]`, tInt8, "1|NULL|9223372036854775807"},
		{arr.Int64, `[1, 40000]`, tInt2, "22003 smallint out of range"},
		{arr.Int64, `[2147483648]`, tInt4, "22003 integer out of range"},
		{arr.Uint8, `[255]`, tInt2, "255"},
		{arr.Uint16, `[65535]`, tInt4, "65535"},
		{arr.Uint32, `[4294967295]`, tInt8, "4294967295"},
		{arr.Uint32, `[4294967295]`, types.T(types.Oid), "4294967295"},
		{arr.Uint64, `[18446744073709551615]`, tNumeric, "18446744073709551615"},
		{arr.Int64, `[9007199254740992]`, tFloat8, "9.007199254740992e+15"},
		{arr.Int64, `[9007199254740993]`, tFloat8, "22003 value 9007199254740993 cannot be stored exactly as type double precision"},
		{arr.Int32, `[16777217]`, tFloat4, "22003 value 16777217 cannot be stored exactly as type real"},
		{arr.Int32, `[7, null]`, tText, "7|NULL"},
		{arr.Int32, `[12345]`, types.Type{OID: types.Numeric, Mod: 4<<16 + 4}, "22003 numeric field overflow"},
		{arr.Int32, `[1]`, tTS, "42804 column \"x\" is of type timestamp without time zone but the file's column is of type int32"},
		{arr.Int32, `[1]`, tBool, "42804 column \"x\" is of type boolean but the file's column is of type int32"},
		{arr.Float32, `[1.5, null, 0.1]`, tFloat4, "1.5|NULL|0.1"},
		{arr.Float32, `[1.5]`, tFloat8, "1.5"},
		{arr.Float32, `[0.1]`, tNumeric, "0.1"},
		{arr.Float64, `[0.1, null, 1e300]`, tFloat8, "0.1|NULL|1e+300"},
		{arr.Float64, `[0.5]`, tFloat4, "0.5"},
		{arr.Float64, `[0.1]`, tFloat4, "22003 value 0.1 cannot be stored exactly as type real"},
		{arr.Float64, `[3, null]`, tInt4, "3|NULL"},
		{arr.Float64, `[3.5]`, tInt4, "22003 value 3.5 cannot be stored exactly as type integer"},
		{arr.Float64, `[1e30]`, tInt8, "22003 bigint out of range"},
		{arr.Float64, `[0.1, 12.25]`, tNumeric, "0.1|12.25"},
		{arrow.FixedWidthTypes.Boolean, `[true, false, null]`, tBool, "t|f|NULL"},
		{arrow.FixedWidthTypes.Boolean, `[true]`, tText, "true"},
		{arrow.BinaryTypes.String, `["a", null, ""]`, tText, "a|NULL|"},
		{arrow.BinaryTypes.LargeString, `["é"]`, types.Type{OID: types.Varchar, Mod: 5}, "é"},
		{arrow.BinaryTypes.StringView, `["2020-01-02 03:04:05"]`, tTS, "2020-01-02 03:04:05"},
		{arrow.BinaryTypes.String, `["12", "x"]`, tInt4, `22P02 invalid input syntax for type integer: "x"`},
		{arrow.BinaryTypes.Binary, `["AAH/"]`, types.T(types.Bytea), `\x0001ff`},
		{arrow.BinaryTypes.Binary, `["YWL/"]`, tText, `22021 invalid byte sequence for encoding "UTF8": 0xff`},
		{arrow.BinaryTypes.Binary, `["YWI="]`, tText, "ab"},
		{&arrow.FixedSizeBinaryType{ByteWidth: 16}, `["AAECAwQFBgcICQoLDA0ODw=="]`, types.T(types.UUID), "00010203-0405-0607-0809-0a0b0c0d0e0f"},
		{&arrow.DictionaryType{IndexType: arr.Int8, ValueType: arrow.BinaryTypes.String}, `["a", "b", null, "a"]`, tText, "a|b|NULL|a"},
		{arrow.FixedWidthTypes.Date32, `[0, null, -1, 18262]`, tDate, "1970-01-01|NULL|1969-12-31|2020-01-01"},
		{arrow.FixedWidthTypes.Date32, `[2147483647]`, tDate, "22008 date out of range"},
		{arrow.FixedWidthTypes.Date32, `[1]`, tTSTZ, "1970-01-02 00:00:00+00"},
		{arrow.FixedWidthTypes.Date64, `[86400000]`, tDate, "1970-01-02"},
		{&arrow.TimestampType{Unit: arrow.Second}, `["1960-01-01 00:00:01", null]`, tTS, "1960-01-01 00:00:01|NULL"},
		{&arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}, `["2020-01-02 03:04:05.006Z"]`, tTSTZ, "2020-01-02 03:04:05.006+00"},
		{&arrow.TimestampType{Unit: arrow.Microsecond}, `["2020-01-02 03:04:05.000006"]`, tTSTZ, "2020-01-02 03:04:05.000006+00"},
		{&arrow.TimestampType{Unit: arrow.Nanosecond}, `["2020-01-02 03:04:05.000006", "1969-12-31 23:59:59.999999"]`, tTS, "2020-01-02 03:04:05.000006|1969-12-31 23:59:59.999999"},
		{&arrow.TimestampType{Unit: arrow.Nanosecond}, `["2020-01-02 03:04:05.000000001"]`, tTS, "22003 value of a nanosecond timestamp cannot be stored exactly as type timestamp without time zone"},
		{&arrow.TimestampType{Unit: arrow.Second}, `["2020-01-02 00:00:00"]`, tDate, "2020-01-02"},
		{&arrow.TimestampType{Unit: arrow.Second}, `["2020-01-02 00:00:01"]`, tDate, "22003 value of a timestamp cannot be stored exactly as type date"},
		{&arrow.TimestampType{Unit: arrow.Millisecond}, `["2020-01-02 00:00:00.5"]`, types.Type{OID: types.Timestamp, Mod: 0}, "22003 value of a timestamp cannot be stored exactly as type timestamp(0) without time zone"},
		{arrow.FixedWidthTypes.Time32s, `["12:34:56"]`, tTime, "12:34:56"},
		{arrow.FixedWidthTypes.Time64us, `["12:34:56.000007"]`, tTime, "12:34:56.000007"},
		{&arrow.Decimal128Type{Precision: 20, Scale: 2}, `["12345678901234567.89", null, "-0.50"]`, tNumeric, "12345678901234567.89|NULL|-0.50"},
		{&arrow.Decimal128Type{Precision: 10, Scale: 2}, `["7.00"]`, tInt4, "7"},
		{&arrow.Decimal128Type{Precision: 10, Scale: 2}, `["7.10"]`, tInt4, "22003 value 7.1 cannot be stored exactly as type integer"},
		{&arrow.Decimal128Type{Precision: 10, Scale: 2}, `["7.10"]`, tFloat8, "7.1"},
		{arrow.FixedWidthTypes.Duration_ms, `[1500]`, types.T(types.Interval), "00:00:01.5"},
		{arrow.FixedWidthTypes.MonthDayNanoInterval, `[{"months": 14, "days": 3, "nanoseconds": 1000}]`, types.T(types.Interval), "1 year 2 mons 3 days 00:00:00.000001"},
		{arrow.Null, `[null, null]`, tInt4, "NULL|NULL"},
		{arrow.ListOf(arr.Int32), `[[1]]`, tText, "42804 column \"x\" is of type text but the file's column is of type list<item: int32, nullable>"},
	} {
		rec := record(t, c.from, c.json)
		files := map[string]func() (string, error){
			"Arrow": func() (string, error) { return column(arrowFile(t, rec), c.to, Arrow) },
		}
		switch c.from.ID() {
		case arrow.STRING_VIEW, arrow.DURATION, arrow.INTERVAL_MONTH_DAY_NANO, arrow.TIMESTAMP, arrow.TIME32, arrow.DATE64, arrow.NULL, arrow.LIST:
			// Parquet has no such type, or the writer picks another.
		default:
			files["Parquet"] = func() (string, error) { return column(parquetFile(t, 100, rec), c.to, Parquet) }
		}
		for name, read := range files {
			got, err := read()
			if err != nil {
				e := pgerr.From(err)
				got = string(e.Code) + " " + e.Message
				if e.Code != pgerr.DatatypeMismatch && !strings.HasPrefix(e.Where, "COPY t, line ") {
					t.Errorf("%s: where %q", e.Message, e.Where)
				}
			}
			if got != c.want {
				t.Errorf("%s: %s %s as %s:\n got %s\nwant %s", name, c.from, c.json, types.FormatType(c.to), got, c.want)
			}
		}
	}
}

// manyRows builds records of n rows in all: k counts, s is a text per row.
func manyRows(n, per int) []arrow.RecordBatch {
	schema := arrow.NewSchema([]arrow.Field{{Name: "Extra", Type: arrow.PrimitiveTypes.Float64}, {Name: "K", Type: arrow.PrimitiveTypes.Int64},
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "d", Type: &arrow.Decimal128Type{Precision: 9, Scale: 1}}}, nil)
	var out []arrow.RecordBatch
	for from := 0; from < n; from += per {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for k := from; k < min(n, from+per); k++ {
			b.Field(0).(*array.Float64Builder).Append(math.Pi)
			b.Field(1).(*array.Int64Builder).Append(int64(k))
			if k%3 == 0 {
				b.Field(2).AppendNull()
			} else {
				b.Field(2).(*array.StringBuilder).Append(strings.Repeat("s", k%7))
			}
			b.Field(3).(*array.Decimal128Builder).Append(decimal128.FromI64(int64(k)))
		}
		out = append(out, b.NewRecordBatch())
	}
	return out
}

func TestColumnarFiles(t *testing.T) {
	const n = 20_000
	recs := manyRows(n, 7000)
	cols := []Column{{"s", tText}, {"k", tInt4}}
	for name, open := range map[string]func() (Reader, error){
		"parquet": func() (Reader, error) { return NewFileReader(parquetFile(t, 6000, recs...), "t", cols, Parquet) },
		"arrow":   func() (Reader, error) { return NewFileReader(arrowFile(t, recs...), "t", cols, Arrow) },
		"stream": func() (Reader, error) {
			var buf bytes.Buffer
			w := ipc.NewWriter(&buf, ipc.WithSchema(recs[0].Schema()))
			for _, rec := range recs {
				if err := w.Write(rec); err != nil {
					t.Fatal(err)
				}
			}
			w.Close()
			return NewFileReader(bytes.NewReader(buf.Bytes()), "t", cols, Arrow)
		},
	} {
		r, err := open()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		row := 0
		for {
			b, err := r.Next()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if b == nil {
				break
			}
			if b.N > vector.BatchSize || r.Lines().Of(b.N-1) != int64(row+b.N) {
				t.Fatalf("%s: %d rows, line %d", name, b.N, r.Lines().Of(b.N-1))
			}
			for i := range b.N {
				if int(b.Cols[1].I32[i]) != row || b.Cols[0].IsNull(i) != (row%3 == 0) || row%3 != 0 && len(b.Cols[0].Bytes(i)) != row%7 {
					t.Fatalf("%s: row %d: %d %q", name, row, b.Cols[1].I32[i], b.Cols[0].Bytes(i))
				}
				row++
			}
		}
		if row != n {
			t.Errorf("%s: %d rows", name, row)
		}
	}
	_, err := NewFileReader(arrowFile(t, recs...), "t", []Column{{"nosuch", tText}}, Arrow)
	if e := pgerr.From(err); err == nil || e.Message != `missing data for column "nosuch"` || e.Detail != `The columns of the file are "Extra", "K", "s", "d".` {
		t.Errorf("missing column: %v", err)
	}
	empty := recs[0].NewSlice(0, 0)
	for format, f := range map[Format]*bytes.Reader{Parquet: parquetFile(t, 10, empty), Arrow: arrowFile(t, empty)} {
		r, err := NewFileReader(f, "t", cols, format)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := r.Next(); b != nil || err != nil {
			t.Errorf("no rows: %v, %v", b, err)
		}
	}
}

// TestColumnarMalformed damages files: every outcome is rows or an error.
func TestColumnarMalformed(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 3))
	recs := manyRows(500, 200)
	cols := []Column{{"s", tText}, {"k", tInt8}, {"d", tNumeric}}
	for format, f := range map[Format]*bytes.Reader{Parquet: parquetFile(t, 300, recs...), Arrow: arrowFile(t, recs...)} {
		whole := make([]byte, f.Len())
		f.ReadAt(whole, 0)
		for i := range 300 {
			b := bytes.Clone(whole)
			switch i % 3 {
			case 0:
				b = b[:rng.IntN(len(b))]
			case 1:
				b[rng.IntN(len(b))] ^= byte(1 << rng.IntN(8))
			case 2:
				at := rng.IntN(len(b) - 8)
				rng.Uint64()
				for j := range 8 {
					b[at+j] = byte(rng.Uint32())
				}
			}
			r, err := NewFileReader(bytes.NewReader(b), "t", cols, format)
			for err == nil {
				var batch *vector.Batch
				if batch, err = r.Next(); batch == nil {
					break
				}
			}
			if err != nil && pgerr.From(err).Code == pgerr.InternalError {
				t.Errorf("%v", err)
			}
		}
	}
	for _, b := range [][]byte{nil, []byte("PAR1"), []byte("PAR1PAR1"), []byte("ARROW1"), []byte("a,b\n1,2\n")} {
		for _, format := range []Format{Parquet, Arrow} {
			if _, err := NewFileReader(bytes.NewReader(b), "t", cols, format); err == nil || pgerr.From(err).Code != pgerr.BadCopyFileFormat {
				t.Errorf("%q: %v", b, err)
			}
		}
	}
}
