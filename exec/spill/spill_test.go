package spill

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
)

var kinds = []vector.Kind{vector.Bool, vector.Int16, vector.Int32, vector.Int64, vector.Uint32, vector.Float32, vector.Float64,
	vector.Fixed16, vector.Bytes}

// every makes n rows of all kinds, twice: a column with NULLs and one without.
func every(n int, r *rand.Rand) *vector.Batch {
	b := &vector.Batch{N: n}
	for _, k := range kinds {
		for _, nulls := range []bool{false, true} {
			v := vector.New(k, n)
			for range n {
				if nulls && r.IntN(3) == 0 {
					v.AppendNull()
				} else {
					appendRandom(v, r)
				}
			}
			b.Cols = append(b.Cols, v)
		}
	}
	return b
}

func appendRandom(v *vector.Vector, r *rand.Rand) {
	x := r.Uint64() >> r.IntN(64)
	switch v.Kind {
	case vector.Bool:
		v.AppendBool(x&1 == 1)
	case vector.Int16:
		v.AppendInt16(int16(x))
	case vector.Int32:
		v.AppendInt32(int32(x))
	case vector.Int64:
		v.AppendInt64(int64(x))
	case vector.Uint32:
		v.AppendUint32(uint32(x))
	case vector.Float32:
		v.AppendFloat32(math.Float32frombits(uint32(x)))
	case vector.Float64:
		v.AppendFloat64(math.Float64frombits(x))
	case vector.Fixed16:
		v.AppendFixed16([16]byte{byte(x), 15: byte(x >> 8)})
	case vector.Bytes:
		v.AppendBytes(bytes.Repeat([]byte{byte(x)}, r.IntN(40)))
	}
}

// rowsOf spells all values, floats by their bits.
func rowsOf(b *vector.Batch) string {
	var out bytes.Buffer
	for _, v := range b.Cols {
		fmt.Fprintf(&out, "%v:", v.Kind)
		for i := range b.N {
			switch {
			case v.IsNull(i):
				out.WriteString(" NULL")
			case v.Kind == vector.Bool:
				fmt.Fprint(&out, " ", v.Bool(i))
			case v.Kind == vector.Int16:
				fmt.Fprint(&out, " ", v.I16[i])
			case v.Kind == vector.Int32:
				fmt.Fprint(&out, " ", v.I32[i])
			case v.Kind == vector.Int64:
				fmt.Fprint(&out, " ", v.I64[i])
			case v.Kind == vector.Uint32:
				fmt.Fprint(&out, " ", v.U32[i])
			case v.Kind == vector.Float32:
				fmt.Fprint(&out, " ", math.Float32bits(v.F32[i]))
			case v.Kind == vector.Float64:
				fmt.Fprint(&out, " ", math.Float64bits(v.F64[i]))
			case v.Kind == vector.Fixed16:
				fmt.Fprint(&out, " ", v.F16[i])
			default:
				fmt.Fprintf(&out, " %q", v.Bytes(i))
			}
		}
		out.WriteByte('\n')
	}
	return out.String()
}

func create(t *testing.T, s *Space) *File {
	t.Helper()
	f, err := s.Create()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestRoundTrip reads back batches of all kinds and of sizes around a word of bits.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s := New(t.TempDir(), -1)
	f := create(t, s)
	var want []string
	var w, p Scratch
	total := int64(0)
	for _, n := range []int{0, 1, 63, 64, 65, 4096, 2} {
		b := every(n, r)
		if err := f.Write(b, &w); err != nil {
			t.Fatal(err)
		}
		want = append(want, rowsOf(b))
		total += int64(n)
	}
	if f.Rows() != total || f.Size() != s.Used() || f.Size() == 0 {
		t.Errorf("%d rows of %d, %d bytes, %d used", f.Rows(), total, f.Size(), s.Used())
	}
	for range 2 { // readers do not disturb each other
		in, b := f.Read(), vector.Batch{}
		for i, x := range want {
			if ok, err := in.Next(&b, &p); !ok || err != nil {
				t.Fatalf("batch %d: %t, %v", i, ok, err)
			}
			if got := rowsOf(&b); got != x {
				t.Fatalf("batch %d:\n%s\nwant\n%s", i, got, x)
			}
		}
		if ok, err := in.Next(&b, &p); ok || err != nil {
			t.Errorf("after the end: %t, %v", ok, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestDamage flips each byte of a file, and cuts it everywhere: an error, no
// other rows, no panic.
func TestDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	s := New(dir, -1)
	defer s.Close()
	f := create(t, s)
	var sc Scratch
	for range 2 {
		if err := f.Write(every(9, r), &sc); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(f.name)
	if err != nil {
		t.Fatal(err)
	}
	read := func() error {
		in, b := f.Read(), vector.Batch{}
		for {
			if ok, err := in.Next(&b, &sc); !ok || err != nil {
				return err
			}
		}
	}
	check := func(what string, at int) {
		t.Helper()
		var e *pgerr.Error
		if err := read(); !errors.As(err, &e) || e.Code != pgerr.DataCorrupted {
			t.Errorf("byte %d %s: %v", at, what, err)
		}
	}
	for at := range whole {
		for _, mask := range []byte{1, 0x80} {
			if _, err := f.f.WriteAt([]byte{whole[at] ^ mask}, int64(at)); err != nil {
				t.Fatal(err)
			}
			check("flipped", at)
		}
		if _, err := f.f.WriteAt(whole[at:at+1], int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	if err := read(); err != nil {
		t.Fatalf("after repair: %v", err)
	}
	for at := len(whole) - 1; at >= 0; at-- {
		if err := f.f.Truncate(int64(at)); err != nil {
			t.Fatal(err)
		}
		check("and what follows cut", at)
	}
}

// TestDamagedPlain gives the codec bytes that no checksum has refused.
func TestDamagedPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	plain := appendBatch(nil, every(70, r))
	var b vector.Batch
	if !readBatch(&b, plain) {
		t.Fatal("what was written is refused")
	}
	for at := 0; at < len(plain); at += 1 + at/100 {
		p := bytes.Clone(plain)
		p[at] ^= 1 << r.IntN(8)
		if readBatch(&b, p) {
			_ = rowsOf(&b) // a value may differ, none is out of bounds
		}
		if readBatch(&b, plain[:at]) {
			t.Errorf("%d of %d bytes pass", at, len(plain))
		}
	}
}

// TestLimit writes until the space is full, and again when a file is gone.
func TestLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	b := every(1000, r)
	s := New(t.TempDir(), 300_000)
	defer s.Close()
	var sc Scratch
	first, second := create(t, s), create(t, s)
	fill := func(f *File) (int64, error) {
		for n := int64(0); ; n++ {
			if err := f.Write(b, &sc); err != nil {
				return n, err
			}
		}
	}
	n, err := fill(first)
	var e *pgerr.Error
	if !errors.As(err, &e) || e.Code != "53400" || n == 0 {
		t.Fatalf("after %d batches: %v, want 53400", n, err)
	}
	if used := s.Used(); used != first.Size() || used > 300_000 || first.Rows() != n*1000 {
		t.Errorf("%d used, the file has %d and %d rows", used, first.Size(), first.Rows())
	}
	if err := second.Write(b, &sc); err == nil {
		t.Error("another file has room")
	}
	if err := errors.Join(first.Close(), first.Close()); err != nil {
		t.Fatal(err)
	}
	if again, err := fill(second); again != n || err == nil {
		t.Errorf("%d batches after the first file is gone, %v; want %d", again, err, n)
	}
}

// TestFilesAreGone closes a space with open files, and clears what a process left.
func TestFilesAreGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "temporary")
	left := func() (n int) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	s := New(dir, -1)
	files := []*File{create(t, s), create(t, s), create(t, s)}
	if left() != 3 {
		t.Errorf("%d files, want 3", left())
	}
	if err := files[1].Close(); err != nil || left() != 2 {
		t.Errorf("%v, %d files, want 2", err, left())
	}
	if err := errors.Join(s.Close(), files[0].Close()); err != nil || left() != 0 || s.Used() != 0 {
		t.Errorf("%v, %d files and %d bytes, want none", err, left(), s.Used())
	}
	for _, name := range []string{"query1", "query77", "other"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := Clear(dir); err != nil || left() != 1 {
		t.Errorf("%v, %d files, want the one of another name", err, left())
	}
	if err := Clear(filepath.Join(dir, "missing")); err != nil {
		t.Error(err)
	}
}
