package copyio

import (
	"bytes"
	"encoding/hex"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

const (
	hexSignature = "5047434f50590aff0d0a00"
	hexHeader    = hexSignature + "0000000000000000"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func abc() []Column {
	return []Column{testColumns["a"], testColumns["b"], testColumns["c"]}
}

func readBinary(in io.Reader) (string, error) {
	r, err := NewReader(in, "t", abc(), Options{Format: Binary}, &types.Context{})
	if err != nil {
		return "", err
	}
	return readAll(r, abc())
}

// TestBinaryRead has what PostgreSQL 15 makes of each input: rows, or an
// error's message and context.
func TestBinaryRead(t *testing.T) {
	for _, c := range []struct{ name, hex, rows, message, where string }{
		{"good", hexHeader + "0003 00000004 00000007 00000001 78 ffffffff 0003 ffffffff 00000000 ffffffff ffff", "'7'|'x'|NULL\nNULL|''|NULL", "", ""},
		{"no trailer", hexHeader + "0003 00000004 00000007 00000001 78 ffffffff", "'7'|'x'|NULL", "", ""},
		{"numeric", hexHeader + "0003 ffffffff ffffffff 0000000a 00010000000000020005 ffff", "NULL|NULL|'5.00'", "", ""},
		{"empty", "", "", "COPY file signature not recognized", ""},
		{"short signature", "5047434f50", "", "COPY file signature not recognized", ""},
		{"text", "31097809320a31097809320a31097809320a", "", "COPY file signature not recognized", ""},
		{"no flags", hexSignature + "00", "", "invalid COPY file header (missing flags)", ""},
		{"oids", hexSignature + "0001000000000000", "", "invalid COPY file header (WITH OIDS)", ""},
		{"critical", hexSignature + "0010000000000000", "", "unrecognized critical flags in COPY file header", ""},
		{"critical sign", hexSignature + "8000000000000000", "", "unrecognized critical flags in COPY file header", ""},
		{"other flags", hexSignature + "0000000500000000 ffff", "", "", ""},
		{"no length", hexSignature + "00000000 00", "", "invalid COPY file header (missing length)", ""},
		{"negative length", hexSignature + "00000000 ffffffff", "", "invalid COPY file header (missing length)", ""},
		{"extension", hexSignature + "00000000 00000003 616263 ffff", "", "", ""},
		{"short extension", hexSignature + "00000000 7fffffff 616263", "", "invalid COPY file header (wrong length)", ""},
		{"after the trailer", hexHeader + "ffff 78", "", "received copy data after EOF marker", "COPY t, line 1"},
		{"field count", hexHeader + "0002 ffffffff ffffffff", "", "row field count is 2, expected 3", "COPY t, line 1"},
		{"negative count", hexHeader + "fffe", "", "row field count is -2, expected 3", "COPY t, line 1"},
		{"half a count", hexHeader + "00", "", "", ""},
		{"end in a length", hexHeader + "0003 0000", "", "unexpected EOF in COPY data", "COPY t, line 1, column a"},
		{"end between fields", hexHeader + "0003 00000004 00000001", "", "unexpected EOF in COPY data", "COPY t, line 1, column b"},
		{"end in a value", hexHeader + "0003 00000004 00000001 3fffffff 616263", "", "unexpected EOF in COPY data", "COPY t, line 1, column b"},
		{"negative size", hexHeader + "0003 00000004 00000001 fffffffe", "", "invalid field size", "COPY t, line 1, column b"},
		{"huge", hexHeader + "0003 ffffffff 7ffffff0 ffffffff", "", "out of memory", "COPY t, line 1, column b"},
		{"bad bytes", hexHeader + "0003 ffffffff 00000002 61ff ffffffff", "", `invalid byte sequence for encoding "UTF8": 0xff`, "COPY t, line 1, column b"},
		{"long integer", hexHeader + "0003 00000008 0000000000000000 ffffffff ffffffff", "", "incorrect binary data format", "COPY t, line 1, column a"},
		{"short integer in row 2", hexHeader + "0003 00000004 00000001 ffffffff ffffffff 0003 00000002 0000 ffffffff ffffffff", "", "insufficient data left in message", "COPY t, line 2, column a"},
		{"overflow", hexHeader + "0003 ffffffff ffffffff 0000000a 00010001000000020005 ffff", "", "numeric field overflow", "COPY t, line 1, column c"},
	} {
		data := unhex(t, c.hex)
		for _, in := range []io.Reader{bytes.NewReader(data), iotest.OneByteReader(bytes.NewReader(data))} {
			rows, err := readBinary(in)
			if err == nil {
				if c.message != "" || rows != c.rows {
					t.Errorf("%s: rows %q", c.name, rows)
				}
				continue
			}
			if e := pgerr.From(err); e.Message != c.message || e.Where != c.where || e.Code == pgerr.InternalError {
				t.Errorf("%s: %s %q, %q", c.name, e.Code, e.Message, e.Where)
			}
		}
	}
}

func TestBinaryWrite(t *testing.T) {
	cols := abc()
	b := &vector.Batch{N: 2, Cols: []*vector.Vector{vector.New(vector.Int32, 2), vector.New(vector.Bytes, 2), vector.New(vector.Bytes, 2)}}
	b.Cols[0].AppendInt32(7)
	b.Cols[0].AppendNull()
	b.Cols[1].AppendString("x")
	b.Cols[1].AppendString("")
	if err := types.ParseText(b.Cols[2], cols[2].Type, []byte("5"), &types.Context{}); err != nil {
		t.Fatal(err)
	}
	b.Cols[2].AppendNull()
	w := NewWriter(cols, Options{Format: Binary}, &types.Context{})
	out := w.Header(nil)
	out, ends := w.Rows(out, nil, b)
	out = w.Trailer(out)
	want := unhex(t, hexHeader+"0003 00000004 00000007 00000001 78 0000000a 00010000000000020005 0003 ffffffff 00000000 ffffffff ffff")
	if !bytes.Equal(out, want) || ends[1] != len(out)-2 {
		t.Errorf("%x, ends %v", out, ends)
	}
	rows, err := readBinary(bytes.NewReader(out))
	if err != nil || rows != "'7'|'x'|'5.00'\nNULL|''|NULL" {
		t.Errorf("%q, %v", rows, err)
	}
}

func FuzzBinary(f *testing.F) {
	f.Add(unhex(f, hexHeader+"0003 00000004 00000007 00000001 78 ffffffff 0003 ffffffff 00000000 ffffffff ffff"))
	f.Add(unhex(f, hexSignature+"00000000 00000003 616263 ffff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		readBinary(bytes.NewReader(data))
	})
}
