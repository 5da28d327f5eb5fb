package colstore

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
)

// tagRows is n rows of the table tags from a first id on, the names of some length.
func tagRows(from, n, length int) *vector.Batch {
	id, name := vector.New(vector.Int32, n), vector.New(vector.Bytes, n)
	for i := range n {
		id.AppendInt32(int32(from + i))
		name.AppendBytes([]byte(fmt.Sprintf("%0*d", length, from+i)))
	}
	return &vector.Batch{Cols: []*vector.Vector{id, name}, N: n}
}

// A transaction that would hold too much is refused, what it held before the
// statement stays, and after RollbackTo there is room again.
func TestTransactionTooLarge(t *testing.T) {
	keyed, bag, indexed := tags(200), tags(300), tags(400)
	keyed.Indexes, bag.Indexes = nil, nil
	bag.Key, bag.Unique = nil, false
	indexed.Layout, indexed.Key, indexed.Unique = table.Columnar, nil, false
	s := mustOpen(t, vfs.NewMem(), Options{Memory: 16 << 20, StageBytes: 64 << 10})
	if s.txBytes != minTxBytes {
		t.Fatalf("limit of a small store is %d", s.txBytes)
	}
	defer mustClose(t, s)
	s.txBytes = 1 << 20
	create(t, s, keyed, bag, indexed, tags(500))
	for _, id := range []table.ID{200, 300, 400, 500} {
		tx := s.Begin()
		tx.Savepoint()
		if _, err := tx.Append(ctx, id, tagRows(0, 10, 100)); err != nil {
			t.Fatal(err)
		}
		for round := range 3 {
			mark, before := tx.Savepoint(), tx.held()-tx.locks.Bytes()
			rows := 0
			var err error
			for ; err == nil && rows < 20000; rows += 100 {
				_, err = tx.Append(ctx, id, tagRows(10+rows, 100, 100))
			}
			var large *table.TransactionTooLargeError
			if !errors.As(err, &large) || large.Limit != 1<<20 || large.Bytes <= large.Limit || large.Bytes > large.Limit+64<<10 {
				t.Fatalf("table %d, round %d: %d rows, %v", id, round, rows, err)
			}
			if rows < 1500 {
				t.Errorf("table %d: only %d rows of 100 bytes fit into 1 MiB", id, rows)
			}
			tx.RollbackTo(mark)
			if after := tx.held() - tx.locks.Bytes(); after != before {
				t.Errorf("table %d: %d bytes held after the rollback, %d before", id, after, before)
			}
		}
		if _, err := tx.Append(ctx, id, tagRows(10, 10, 100)); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(ctx, true, nil); err != nil {
			t.Fatal(err)
		}
		sn := s.Snapshot()
		if n := len(rowsOf(t, sn, id, table.ScanRequest{Columns: []int{0, 1}})); n != 20 {
			t.Errorf("table %d has %d rows", id, n)
		}
		sn.Close()
	}
}

// Large transactions are refused for what they hold, not for what they staged.
func TestStagedRowsAreNotHeld(t *testing.T) {
	s := mustOpen(t, vfs.NewMem(), Options{StageBytes: 64 << 10})
	defer mustClose(t, s)
	s.txBytes = 1 << 20
	wide := tags(200)
	wide.Layout, wide.Indexes = table.Columnar, nil
	create(t, s, wide)
	tx := s.Begin()
	tx.Savepoint()
	for from := 0; from < 30000; from += 1000 {
		if _, err := tx.Append(ctx, 200, tagRows(from, 1000, 100)); err != nil {
			t.Fatalf("row %d: %v", from, err)
		}
	}
	if err := tx.Commit(ctx, true, nil); err != nil {
		t.Fatal(err)
	}
}

func TestPositions(t *testing.T) {
	list := strings.Fields("a b a c d e f g h b i j k l m n o p q r s t a")
	at := func(i int) []byte { return []byte(list[i]) }
	var p positions
	if p.find([]byte("a"), at) != -1 {
		t.Error("found in nothing")
	}
	for i := range list {
		p.set(i, at)
	}
	check := func(n int) {
		t.Helper()
		for _, key := range append(list, "", "z") {
			want := -1
			for i, s := range list[:n] {
				if s == key {
					want = i
				}
			}
			if got := p.find([]byte(key), at); got != want {
				t.Errorf("%q of %d is at %d, not %d", key, n, got, want)
			}
		}
	}
	check(len(list))
	p.rebuild(9, at)
	check(9)
	p.rebuild(0, at)
	check(0)
}
