package colstore

import (
	"runtime"
	"sync"
	"sync/atomic"

	"tsdb/colstore/segment"
	"tsdb/colstore/table"
)

// encodeArrivals encodes the blocks of a transaction. A COPY has many of them,
// which all processors share.
func encodeArrivals(s *table.Schema, blocks []*block) [][]byte {
	out := make([][]byte, len(blocks))
	var next atomic.Int64
	work := func() {
		w := arrivalWriters.Get().(*arrivalWriter)
		defer arrivalWriters.Put(w)
		for i := int(next.Add(1)) - 1; i < len(blocks); i = int(next.Add(1)) - 1 {
			out[i] = w.encode(s, blocks[i])
		}
	}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(blocks)) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	return out
}

// arrivalWriter encodes one block after the other.
type arrivalWriter struct {
	blocks segment.ArrivalWriter
	buf    []byte
}

var arrivalWriters = sync.Pool{New: func() any { return &arrivalWriter{} }}

// maxArrivalBuffer is the largest buffer that a writer keeps.
const maxArrivalBuffer = 4 << 20

func (w *arrivalWriter) encode(s *table.Schema, b *block) []byte {
	if b.n <= segment.SmallArrival {
		return encodeRows(s, b)
	}
	ids, _ := columnIDs(s)
	w.buf = w.blocks.Append(w.buf[:0], ids, b.cols, b.n)
	out := append(make([]byte, 0, len(w.buf)), w.buf...)
	if cap(w.buf) > maxArrivalBuffer {
		w.buf = nil
	}
	return out
}

// encodeRows encodes a small arrival block.
func encodeRows(s *table.Schema, b *block) []byte {
	rows := make([][]byte, b.n)
	for i := range rows {
		rows[i] = appendRowValue(nil, s, b.cols, i)
	}
	return segment.AppendArrivalRows(nil, rows)
}

// decodeArrival decodes either form of an arrival block.
func decodeArrival(s *table.Schema, value []byte, what string) (*block, error) {
	if !segment.IsArrivalRows(value) {
		ids, kinds := columnIDs(s)
		cols, n, err := segment.DecodeArrival(value, ids, kinds, what)
		if err != nil {
			return nil, err
		}
		for i, c := range s.Columns {
			if cols[i] == nil {
				cols[i] = missing(c, n)
			}
		}
		return newBlock(s, cols, n), nil
	}
	rows, err := segment.DecodeArrivalRows(value, what)
	if err != nil {
		return nil, err
	}
	b := emptyBlock(s, len(rows))
	d := newRowDecoder(s)
	for _, r := range rows {
		if err := d.split(r); err != nil {
			return nil, &table.CorruptionError{What: what, Why: err.Error()}
		}
		for i, v := range b.cols {
			d.appendTo(v, i)
		}
	}
	return newBlock(s, b.cols, len(rows)), nil
}
