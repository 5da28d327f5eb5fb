package colstore

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
)

// A row that another transaction deleted is missed, too, when a flush or a
// compaction has left it out since.
func TestDeletedRowsAreMissedAfterReplacement(t *testing.T) {
	replace := map[string]func(s *Store) error{
		"nothing": func(s *Store) error { return nil },
		"flush":   func(s *Store) error { return s.Flush() },
		"vacuum":  func(s *Store) error { return s.Vacuum(ctx, []table.ID{100}, nil) },
	}
	for name, f := range replace {
		for _, flushed := range []bool{false, true} {
			t.Run(fmt.Sprint(name, flushed), func(t *testing.T) {
				s := mustOpen(t, vfs.NewMem(), Options{})
				defer mustClose(t, s)
				create(t, s, readings(100))
				insert(t, s, 100, readingBatch(reading{"a", 1, 1}, reading{"b", 2, 2}, reading{"c", 3, 3}))
				if flushed {
					check(t, s.Flush())
				}
				sn := s.Snapshot()
				defer sn.Close()
				ids := rowNames(t, sn, 100)
				first := s.Begin()
				n, err := first.Delete(ctx, sn, 100, ids, []int32{1})
				if check(t, err); n != 1 {
					t.Fatalf("deleted %d rows", n)
				}
				check(t, first.Commit(ctx, true, nil))
				check(t, f(s))
				second := s.Begin()
				defer second.Rollback()
				if _, err := second.Delete(ctx, sn, 100, ids, []int32{0, 1}); !errors.Is(err, table.ErrRowsChanged) {
					t.Fatalf("delete: %v", err)
				}
				if _, err := second.Update(ctx, sn, 100, ids, readingBatch(reading{"a", 1, 4}, reading{"b", 2, 4}, reading{"c", 3, 4})); !errors.Is(err, table.ErrRowsChanged) {
					t.Fatalf("update: %v", err)
				}
				n, err = second.Delete(ctx, sn, 100, ids, []int32{0, 2})
				if check(t, err); n != 2 {
					t.Fatalf("deleted %d other rows", n)
				}
			})
		}
	}
}

// rowNames returns the names of the rows of a table in the order of its key.
func rowNames(t *testing.T, sn *Snapshot, id table.ID) *vector.Vector {
	t.Helper()
	sc, err := sn.Scan(id, table.ScanRequest{RowIDs: true})
	check(t, err)
	r := sc.NewReader()
	defer r.Close()
	ids := vector.New(vector.Int64, 0)
	for {
		b, err := r.Next()
		check(t, err)
		if b == nil {
			return ids
		}
		b = b.Flat(nil)
		for i := range b.N {
			ids.AppendFrom(b.Cols[len(b.Cols)-1], i)
		}
	}
}
