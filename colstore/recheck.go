package colstore

import (
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
)

// recheck repeats the uniqueness checks of a table that others wrote to since.
func (g *groupCommit) recheck(t *Tx, tt *txTable, v *version) error {
	if tt.schema.Layout == table.RowStore {
		if !tt.schema.Unique && len(tt.schema.Indexes) == 0 {
			return nil
		}
		return tt.replay(g.batch)
	}
	if len(tt.entries) > 0 {
		if err := tt.recheckEntries(g.batch); err != nil {
			return err
		}
	}
	if tt.index == nil {
		return nil
	}
	if err := g.s.recheckStaged(t, tt, v); err != nil {
		return err
	}
	return g.recheckBlocks(t, tt, v)
}

// recheckBlocks checks the keys of the transaction's blocks again. With
// conflict = ignore the rows that lost are taken out.
func (g *groupCommit) recheckBlocks(t *Tx, tt *txTable, v *version) error {
	changed := false
	for i, b := range tt.blocks {
		k := &t.keys
		k.fill(tt.schema, b.cols, b.n, nil)
		dup, err := g.s.existing(v, nil, tt.schema, k, b.cols)
		if err != nil {
			return err
		}
		if dup == nil {
			continue
		}
		var keep []int32
		for row := 0; row < b.n; row++ {
			if !dup.Get(row) {
				keep = append(keep, int32(row))
			} else if tt.schema.Conflict != table.ConflictIgnore {
				return &table.DuplicateKeyError{Table: tt.schema.ID, Batch: b.batch(), Row: row}
			}
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

// reindex rebuilds the blocks and the key index after rows were taken out.
func (tt *txTable) reindex() {
	blocks := tt.blocks
	tt.blocks = nil
	tt.index.reset()
	var k keyBatch
	for _, b := range blocks {
		if b.n == 0 {
			continue
		}
		tt.blocks = append(tt.blocks, b)
		k.fill(tt.schema, b.cols, b.n, nil)
		for i := range k.rows {
			tt.index.add(k.keys.At(i), k.hashes[i])
		}
	}
}

// recheckStaged checks the keys of staged segments again.
func (s *Store) recheckStaged(t *Tx, tt *txTable, v *version) error {
	for _, sg := range tt.staged {
		var r segReader
		r.init(s, sg, tt.schema)
		cols := make([]*vector.Vector, len(tt.schema.Columns))
		for b := range sg.info.BlockRows {
			for _, p := range tt.schema.Key {
				if cols[p.Column] == nil {
					cols[p.Column] = &vector.Vector{}
				}
				if err := r.decode(p.Column, []int{b}, cols[p.Column]); err != nil {
					r.close()
					return err
				}
			}
			n := int(sg.info.BlockRows[b]) + 1
			k := &t.keys
			k.fill(tt.schema, cols, n, nil)
			dup, err := s.existing(v, nil, tt.schema, k, cols)
			if err == nil && dup != nil {
				err = s.stagedDuplicate(&r, tt, b, dup, n)
			}
			if err != nil {
				r.close()
				return err
			}
		}
		r.close()
	}
	return nil
}

func (s *Store) stagedDuplicate(r *segReader, tt *txTable, block int, dup vector.Bitmap, n int) error {
	b := &vector.Batch{N: n}
	for i := range tt.schema.Columns {
		v := &vector.Vector{}
		if err := r.decode(i, []int{block}, v); err != nil {
			return err
		}
		b.Cols = append(b.Cols, v)
	}
	rows := dup.AppendIndexes(nil, n)
	return &table.DuplicateKeyError{Table: tt.schema.ID, Batch: b.Clone(), Row: int(rows[0])}
}
