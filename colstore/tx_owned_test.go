package colstore

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
)

func owned(from, to int) *vector.Batch {
	var rows []reading
	for i := from; i < to; i++ {
		rows = append(rows, reading{"a", int64(i), float64(i)})
	}
	return readingBatch(rows...)
}

// countOwned returns the rows of a table and the sum of their values.
func countOwned(t *testing.T, s *Store, tx *Tx, id table.ID) (rows int, sum float64) {
	t.Helper()
	sn := s.Snapshot()
	if tx != nil {
		sn.Close()
		sn = tx.Snapshot()
	}
	defer sn.Close()
	scan, err := sn.Scan(id, table.ScanRequest{Columns: []int{2}})
	check(t, err)
	r := scan.NewReader()
	defer r.Close()
	for {
		b, err := r.Next()
		check(t, err)
		if b == nil {
			return rows, sum
		}
		for i := range b.Rows() {
			row := i
			if b.Sel != nil {
				row = int(b.Sel[i])
			}
			rows++
			sum += b.Cols[0].F64[row]
		}
	}
}

// TestAppendOwned mixes batches whose memory is kept with small ones, undoes
// some and reads the rest in the transaction, after its commit and from the log.
func TestAppendOwned(t *testing.T) {
	fs := vfs.NewMem()
	s := mustOpen(t, fs, Options{})
	create(t, s, readings(1))
	tx := s.Begin()
	add := func(from, to int) {
		t.Helper()
		n, err := tx.AppendOwned(ctx, 1, owned(from, to))
		check(t, err)
		if n != int64(to-from) {
			t.Fatalf("%d rows added, not %d", n, to-from)
		}
	}
	add(0, 10)
	add(10, 10+blockRows)
	mark := tx.Savepoint()
	add(20000, 20000+blockRows)
	tx.RollbackTo(mark)
	add(20000, 20005)
	add(30000, 30000+minOwned)
	if _, err := tx.AppendOwned(ctx, 1, owned(12, 12+minOwned)); err == nil {
		t.Error("keys of a batch that was kept are not known")
	}
	want := func(tx *Tx) {
		t.Helper()
		sum := 0.0
		for _, r := range [][2]int{{0, 10 + blockRows}, {20000, 20005}, {30000, 30000 + minOwned}} {
			for i := r[0]; i < r[1]; i++ {
				sum += float64(i)
			}
		}
		if rows, got := countOwned(t, s, tx, 1); rows != 15+blockRows+minOwned || got != sum {
			t.Errorf("%d rows, sum %v, want %d, %v", rows, got, 15+blockRows+minOwned, sum)
		}
	}
	want(tx)
	check(t, tx.Commit(ctx, true, nil))
	want(nil)
	mustClose(t, s)
	s = mustOpen(t, fs, Options{})
	want(nil)
	check(t, s.Flush())
	want(nil)
	mustClose(t, s)
}
