package colstore

import (
	"context"
	"slices"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
)

// minOwned is the rows of a batch from which on its memory is taken over:
// smaller batches are gathered in blocks.
const minOwned = blockRows / 2

// AppendOwned is Append of a batch whose vectors the caller does not use again:
// a large one becomes a block as it is. The vectors must not share memory with
// others. The batch itself and its list of columns stay the caller's.
func (t *Tx) AppendOwned(ctx context.Context, id table.ID, b *vector.Batch) (int64, error) {
	t.owned = true
	defer func() { t.owned = false }()
	return t.Append(ctx, id, b)
}

// take makes the rows of b a block, if they are many enough and as they stand.
func (tt *txTable) take(b *vector.Batch) bool {
	if b.N < minOwned || b.N > blockRows {
		return false
	}
	for _, c := range b.Cols {
		if c.Const || c.Dict != nil || c.N != b.N {
			return false
		}
	}
	nb := newBlock(tt.schema, slices.Clone(b.Cols), b.N)
	if k := len(tt.blocks); k > 0 {
		nb.ord = tt.blocks[k-1].end()
	}
	tt.blocks = append(tt.blocks, nb)
	tt.sealed = true
	tt.bytes += nb.size
	tt.rows += int64(b.N)
	return true
}
