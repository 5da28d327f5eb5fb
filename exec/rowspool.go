package exec

import (
	"context"

	"tsdb/colstore/vector"
	"tsdb/exec/spill"
)

// rowSpool keeps rows that are read several times, from the front each time:
// the first of them in memory, the rest, where that is too much, in a file.
// Reading may begin before the last row is added.
type rowSpool struct {
	kinds []vector.Kind
	held  account
	rows  *rowStore
	file  *rowFile // nil: all rows are in memory
	n     int64    // rows
	spill.Scratch
}

func newRowSpool(held account, kinds []vector.Kind) *rowSpool {
	return &rowSpool{kinds: kinds, held: held, rows: newRowStore(kinds)}
}

// add appends the rows of a flat batch; more is memory that the owner holds besides.
func (s *rowSpool) add(b *vector.Batch, more int64) error {
	s.n += int64(b.N)
	if s.file != nil {
		return s.file.add(&s.held, &s.Scratch, b.Cols, b.N, nil)
	}
	s.rows.add(b.Cols, b.N, nil)
	size := s.rows.size() + more
	if !s.held.pressed(size) {
		err := s.held.set(size)
		if err == nil || !s.held.spills() {
			return err
		}
	}
	s.held.force(size)
	var err error
	s.file, err = newRowFile(&s.held, s.kinds, min(64<<10, max(4<<10, s.held.share/16)))
	return err
}

// reset drops the rows; the memory of a few stays.
func (s *rowSpool) reset() error {
	s.rows.clear()
	s.n = 0
	s.held.release()
	if s.file == nil {
		return nil
	}
	err := s.file.file.Close()
	s.file = nil
	return err
}

// spoolReader reads the rows of a spool.
type spoolReader struct {
	s    *rowSpool
	at   int // row in memory
	file *fileRows
	done int64 // rows returned
	out  vector.Batch
	one  rowStore
}

// next returns the next rows, nil if there are no more yet. They are valid until
// the next call.
func (r *spoolReader) next(ctx context.Context) (*vector.Batch, error) {
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	if r.done == r.s.n {
		return nil, nil
	}
	if r.at < r.s.rows.n {
		chunk := r.s.rows.chunks[r.at>>chunkShift]
		lo := r.at & (chunkRows - 1)
		r.at += chunk.N - lo
		r.done += int64(chunk.N - lo)
		if lo == 0 && chunk.N == chunkRows {
			return chunk, nil
		}
		return slice(&r.out, chunk, lo, chunk.N), nil // more rows may come to the chunk
	}
	if r.file == nil {
		r.file = readRows(r.s.file.file)
	}
	b, err := r.file.next()
	if err == nil && b == nil {
		if err = r.s.file.flush(&r.s.held, &r.s.Scratch); err == nil {
			b, err = r.file.next()
		}
	}
	if b == nil || err != nil {
		return nil, err
	}
	r.done += int64(b.N)
	return b, nil
}

// store returns the next rows as a store: all in memory at once, then parts of
// the file; nil at the end.
func (r *spoolReader) store(ctx context.Context) (*rowStore, error) {
	if r.done == 0 && r.s.rows.n > 0 {
		r.at, r.done = r.s.rows.n, int64(r.s.rows.n)
		return r.s.rows, nil
	}
	b, err := r.next(ctx)
	if b == nil || err != nil {
		return nil, err
	}
	r.one = rowStore{kinds: r.s.kinds, chunks: append(r.one.chunks[:0], b), n: b.N}
	return &r.one, nil
}
