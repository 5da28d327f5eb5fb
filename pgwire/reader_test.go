package pgwire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"
	"testing/iotest"
)

func message(typ byte, body []byte) []byte {
	out := []byte{typ}
	out = binary.BigEndian.AppendUint32(out, uint32(len(body)+4))
	return append(out, body...)
}

// Messages of all sizes come out as they went in, however the stream is cut.
func TestReaderMessages(t *testing.T) {
	const seed = 7
	rng := rand.New(rand.NewPCG(seed, 0))
	sizes := []int{0, 1, smallRead - 5, smallRead - 4, smallRead, smallRead + 1, largeRead - 5, largeRead, largeRead + 1, growBody + 17}
	for range 200 {
		sizes = append(sizes, rng.IntN(1<<rng.IntN(17)))
	}
	var stream []byte
	var bodies [][]byte
	for i, n := range sizes {
		body := bytes.Repeat([]byte{byte(i + 1)}, n)
		bodies = append(bodies, body)
		stream = append(stream, message('d', body)...)
	}
	for name, cut := range map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r }, "half": iotest.HalfReader, "dataErr": iotest.DataErrReader,
		"bytes": iotest.OneByteReader,
	} {
		r := newReader(cut(bytes.NewReader(stream)))
		for i, want := range bodies {
			typ, size, err := r.header()
			if err != nil || typ != 'd' || size != len(want) {
				t.Fatalf("%s, message %d: header %c %d %v, want d %d", name, i, typ, size, err, len(want))
			}
			if i%3 == 2 {
				if err := r.skip(size); err != nil {
					t.Fatalf("%s, message %d: skip: %v", name, i, err)
				}
				continue
			}
			got, err := r.payload(size)
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s, message %d of %d bytes: %v", name, i, len(want), err)
			}
			if r.buffered() == 0 {
				r.shrink()
			}
		}
		if _, _, err := r.header(); err != io.EOF {
			t.Errorf("%s: after the end: %v", name, err)
		}
	}
}

func TestReaderEnds(t *testing.T) {
	for _, c := range []struct {
		name   string
		stream []byte
		want   error
	}{
		{"nothing", nil, io.EOF},
		{"half a header", []byte{'Q', 0, 0}, io.ErrUnexpectedEOF},
		{"short length", []byte{'Q', 0, 0, 0, 3}, errLength},
		{"negative length", []byte{'Q', 0xff, 0xff, 0xff, 0xff}, errLength},
		{"length over the limit", []byte{'Q', 0x40, 0, 0, 0}, errLength},
	} {
		r := newReader(bytes.NewReader(c.stream))
		if _, _, err := r.header(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// A length word takes no memory before the bytes are there.
func TestReaderMemory(t *testing.T) {
	stream := append([]byte{'Q', 0x3f, 0xff, 0xff, 0xf0}, make([]byte, 100)...)
	r := newReader(bytes.NewReader(stream))
	_, size, err := r.header()
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := r.payload(size); err != io.ErrUnexpectedEOF {
		t.Errorf("payload: %v", err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
		t.Errorf("a claim of %d bytes took %d bytes", size, took)
	}
}
