package colstore

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"

	"tsdb/colstore/keys"
)

// stage turns the rows that a transaction wrote to a table since its last
// savepoint into segments without segment rows: nobody sees them, and a crash
// leaves chunks that opening sweeps. Rows before the savepoint stay in memory,
// so that RollbackTo can tell them apart.
func (t *Tx) stage(ctx context.Context, tt *txTable) error {
	base := 0
	if n := len(t.marks); n > 0 {
		for _, p := range t.marks[n-1].parts {
			if p.t == tt {
				base = p.blocks
			}
		}
	}
	if base > len(tt.blocks) {
		base = len(tt.blocks)
	}
	var size, rows int64
	for _, b := range tt.blocks[base:] {
		size += b.size
	}
	for _, b := range tt.blocks[:base] {
		rows += int64(b.n)
	}
	if size < t.s.stageBytes/2 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	total, lo, hi := tt.rows, int64(math.MaxInt64), int64(math.MinInt64)
	for _, g := range tt.staged {
		if g.lo <= g.hi && !g.id.Bucket.Special() {
			lo, hi = min(lo, g.lo), max(hi, g.hi)
		}
	}
	t.withoutGone(tt, base)
	in := make([]input, len(tt.blocks)-base)
	for i, b := range tt.blocks[base:] {
		in[i] = input{mem: b, dead: b.gone.bitmap()}
		t.s.written.appended(int64(b.n), naturalBytes(b.cols, b.n))
	}
	b := t.s.newBuilder(tt.schema, in, ctx.Err)
	b.live = noExpiry // the transaction's end hides them
	err := b.build(total, lo, hi)
	if err == nil {
		err = t.s.ingest(ctx, b.files)
	}
	if err != nil {
		return fmt.Errorf("stage rows of table %d: %w", tt.schema.ID, err)
	}
	t.s.written.IngestBytes.Add(b.bytes)
	tt.staged = append(tt.staged[:len(tt.staged):len(tt.staged)], b.segs...)
	tt.blocks = tt.blocks[:base:base]
	tt.bytes -= size
	tt.sealed = true
	if tt.index != nil {
		tt.index.truncate(int(rows))
	}
	return nil
}

// withoutGone marks the rows that the transaction deleted in the blocks from
// base on, which will not reach segments.
func (t *Tx) withoutGone(tt *txTable, base int) {
	for i := base; i < len(tt.blocks); i++ {
		b := tt.blocks[i]
		p := place{block: b.ord, own: true}
		if set := tt.gone.rows[p]; set != nil {
			tt.blocks[i] = b.without(newDeletes(set, nil))
			delete(tt.gone.rows, p)
		}
	}
}

// publishPending ends a large transaction's commit: one Ingest adds its segment
// rows and removes its P record. Until it succeeds the record speaks for them;
// opening repeats it.
func (s *Store) publishPending(r *commitRequest) {
	defer func() {
		for _, g := range r.pending {
			g.release()
		}
	}()
	if err := s.ingestPending(r.txn, r.pending); err != nil {
		s.log.Error("publish a large transaction, opening will repeat it", "error", err)
		return
	}
	for _, g := range r.pending {
		g.pending.Store(false)
	}
	// A table dropped meanwhile has removed rows that were not there yet.
	s.commitMu.Lock()
	defer s.commitMu.Unlock()
	st := s.current.Load()
	var orphans []*seg
	for _, g := range r.pending {
		if st.find(tableID(g.id)) == nil {
			g.refs.Add(1)
			orphans = append(orphans, g)
		}
	}
	if len(orphans) > 0 {
		if err := s.disown(orphans); err != nil {
			s.log.Error("drop a large transaction's rows", "error", err)
		}
	}
}

func (s *Store) ingestPending(txn uint64, segs []*seg) error {
	segs = slices.Clone(segs)
	slices.SortFunc(segs, func(x, y *seg) int {
		return bytes.Compare(keys.AppendSegment(nil, x.id), keys.AppendSegment(nil, y.id))
	})
	files, n, err := s.segmentRows(segs, nil)
	if err != nil {
		return err
	}
	w, name, err := s.newTable(anyLevel)
	if err != nil {
		s.removeFiles(files)
		return err
	}
	files = append(files, name)
	s.written.IngestBytes.Add(n)
	err = w.Delete(keys.AppendPending(nil, txn))
	if _, cerr := closeTable(w); err == nil {
		err = cerr
	}
	if err != nil {
		s.removeFiles(files)
		return fmt.Errorf("write removal of the commit record: %w", err)
	}
	return s.ingest(context.Background(), files)
}
