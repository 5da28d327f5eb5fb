package colstore

import (
	"math"

	"github.com/RoaringBitmap/roaring/v2"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
)

// recheck repeats the uniqueness checks of a table that others wrote to since.
func (g *groupCommit) recheck(t *Tx, tt *txTable, v *version) error {
	if tt.schema.Layout == table.RowStore {
		if !tt.schema.Unique && len(tt.schema.Indexes) == 0 {
			return nil
		}
		return tt.verifyRows(g.batch)
	}
	if len(tt.entries) > 0 {
		if err := tt.recheckColumnar(g.batch); err != nil {
			return err
		}
	}
	if tt.index == nil {
		return nil
	}
	r := v.since(tt)
	if err := g.s.recheckStaged(t, tt, v, r); err != nil {
		return err
	}
	return g.recheckBlocks(t, tt, v, r)
}

// since returns the bounds of the times of rows that were committed after the
// transaction looked its keys up, and of some older ones; all times in a table
// without a time column. Keys of other times cannot have been taken meanwhile:
// a primary key has the time column.
func (v *version) since(tt *txTable) table.Range {
	if v.schema.Time < 0 {
		return table.Range{Lo: math.MinInt64, Hi: math.MaxInt64}
	}
	r := table.Range{Lo: math.MaxInt64, Hi: math.MinInt64}
	for _, b := range v.blocks {
		if b.end() > tt.seenOrd && b.lo <= b.hi {
			r.Lo, r.Hi = min(r.Lo, b.lo), max(r.Hi, b.hi)
		}
	}
	for _, g := range v.segs.segs {
		if g.info.SeqMax > tt.seenSeq && g.lo <= g.hi {
			r.Lo, r.Hi = min(r.Lo, g.lo), max(r.Hi, g.hi)
		}
	}
	return r
}

// recheckBlocks checks the keys of the transaction's blocks again. With
// conflict = ignore the rows that lost are taken out, with replace the rows of
// others are.
func (g *groupCommit) recheckBlocks(t *Tx, tt *txTable, v *version, since table.Range) error {
	changed := false
	for i, b := range tt.blocks {
		if v.schema.Time >= 0 && (b.hi < since.Lo || b.lo > since.Hi) {
			continue
		}
		k := &t.keys
		k.fill(tt.schema, b.cols, b.n, nil)
		hits, err := g.s.holders(v, nil, tt.gone.rows, tt.schema, k, b.cols)
		if err != nil {
			return err
		}
		if hits == nil {
			continue
		}
		var keep []int32
		replaced := rowSets{}
		for row := 0; row < b.n; row++ {
			switch {
			case !hits[row].ok:
				keep = append(keep, int32(row))
			case tt.replaces:
				replaced.add(hits[row].at, hits[row].row)
				keep = append(keep, int32(row))
			case !tt.ignores:
				return &table.DuplicateKeyError{Table: tt.schema.ID, Batch: b.batch(), Row: row}
			}
		}
		if len(replaced) > 0 {
			if _, err := t.remove(tt, v, replaced, nil); err != nil {
				return err
			}
		}
		if len(keep) == b.n {
			continue
		}
		nb := emptyBlock(tt.schema, len(keep))
		tt.blocks[i] = nb.extendWith(b.cols, keep, 0, len(keep))
		tt.rows -= int64(b.n - len(keep))
		changed = true
	}
	if changed {
		tt.reindex()
		t.encode(tt)
	}
	return nil
}

// reindex renumbers the blocks and empties the key index after rows were taken out.
func (tt *txTable) reindex() {
	blocks := tt.blocks
	tt.blocks = nil
	if tt.index != nil {
		tt.index.reset()
	}
	ord := uint64(0)
	for _, b := range blocks {
		if b.n == 0 {
			continue
		}
		nb := *b
		nb.ord = ord
		ord = nb.end()
		tt.blocks = append(tt.blocks, &nb)
	}
}

// recheckStaged checks the keys of staged segments again.
func (s *Store) recheckStaged(t *Tx, tt *txTable, v *version, since table.Range) error {
	for _, sg := range tt.staged {
		if v.schema.Time >= 0 && (sg.hi < since.Lo || sg.lo > since.Hi) {
			continue
		}
		var r segReader
		r.init(s, sg, tt.schema)
		for b := range sg.info.BlockRows {
			if err := s.recheckStagedBlock(t, tt, v, &r, b); err != nil {
				r.close()
				return err
			}
		}
		r.close()
	}
	return nil
}

func (s *Store) recheckStagedBlock(t *Tx, tt *txTable, v *version, r *segReader, b int) error {
	cols := make([]*vector.Vector, len(tt.schema.Columns))
	for _, p := range tt.schema.Key {
		if cols[p.Column] == nil {
			cols[p.Column] = &vector.Vector{}
		}
		if err := r.decode(p.Column, []int{b}, cols[p.Column]); err != nil {
			return err
		}
	}
	n := int(r.g.info.BlockRows[b]) + 1
	k := &t.keys
	k.fill(tt.schema, cols, n, nil)
	hits, err := s.holders(v, nil, tt.gone.rows, tt.schema, k, cols)
	if err != nil || hits == nil {
		return err
	}
	replaced := rowSets{}
	for i := range hits {
		if !hits[i].ok || r.g.info.Deleted != nil && r.g.info.Deleted.Contains(r.g.starts[b]+uint32(i)) {
			continue
		}
		switch {
		case tt.replaces:
			replaced.add(hits[i].at, hits[i].row)
		case tt.ignores:
			r.g.drop(r.g.starts[b] + uint32(i))
			tt.rows--
		default:
			return s.stagedDuplicate(r, tt, b, i, n)
		}
	}
	if len(replaced) > 0 {
		_, err = t.remove(tt, v, replaced, nil)
	}
	return err
}

// drop deletes a row of a segment that is not published yet.
func (g *seg) drop(row uint32) {
	if g.info.Deleted == nil {
		g.info.Deleted = roaring.New()
	}
	g.info.Deleted.Add(row)
}

func (s *Store) stagedDuplicate(r *segReader, tt *txTable, block, row, n int) error {
	b := &vector.Batch{N: n}
	for i := range tt.schema.Columns {
		v := &vector.Vector{}
		if err := r.decode(i, []int{block}, v); err != nil {
			return err
		}
		b.Cols = append(b.Cols, v)
	}
	return &table.DuplicateKeyError{Table: tt.schema.ID, Batch: b.Clone(), Row: row}
}
