package colstore

import (
	"context"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
)

func (t *Tx) deleteRows(ctx context.Context, sn *Snapshot, tt *txTable, rows *vector.Vector, sel []int32) (int64, error) {
	return 0, nil
}
func (t *Tx) updateRows(ctx context.Context, sn *Snapshot, tt *txTable, rows *vector.Vector, b *vector.Batch) (int64, error) {
	return 0, nil
}
func (t *Tx) findRows(ctx context.Context, tt *txTable, index uint64, b *vector.Batch) (*Match, error) {
	return nil, nil
}
func (t *Tx) appendRowsWith(ctx context.Context, tt *txTable, b *vector.Batch, o table.AppendOptions) (int64, error) {
	return t.appendRows(tt, b)
}
func (tt *txTable) addedRows() int64 {
	n := int64(0)
	for _, op := range tt.ops {
		if !op.replaces {
			n++
		}
	}
	return n
}
