package colstore

import "context"

// lockTable takes the right to delete and replace rows of a columnar table
// until the transaction ends.
func (t *Tx) lockTable(ctx context.Context, tt *txTable) error {
	if tt.created {
		return nil
	}
	return ctx.Err()
}
