package colstore

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

// atOnce runs f in n goroutines and reports their errors.
func atOnce(t *testing.T, n int, f func(g int) error) {
	t.Helper()
	errs := make([]error, n)
	var wg sync.WaitGroup
	for g := range n {
		wg.Go(func() { errs[g] = f(g) })
	}
	wg.Wait()
	for _, err := range errs {
		check(t, err)
	}
}

// add finds a row, in a unique index, and adds to its number.
func add(tx *Tx, index uint64, a account) error {
	m, err := tx.Find(ctx, 200, index, accountBatch([]account{a}))
	if err != nil {
		return err
	}
	defer m.Close()
	rows := accountsOf(m.Rows)
	if len(rows) == 0 {
		_, err = tx.Append(ctx, 200, accountBatch([]account{a}))
		return err
	}
	rows[0].n += a.n
	n, err := tx.Update(ctx, m.Snap, 200, m.IDs, accountBatch(rows))
	if err == nil && n != 1 {
		err = errors.New("the found row was not updated")
	}
	return err
}

// Upserts that add to counters lose nothing, whether rows exist or not, and
// whichever index finds those that do.
func TestConcurrentUpserts(t *testing.T) {
	s := mustOpen(t, vfs.NewMem(), Options{})
	defer mustClose(t, s)
	create(t, s, accounts(200, true))
	insert(t, s, 200, accountBatch([]account{{0, "zero", 0}}))
	names := []string{"zero", "one", "two"}
	const each = 150
	atOnce(t, 8, func(g int) error {
		for i := range each {
			tx := s.Begin()
			k := (g + i) % 3
			index := uint64(0)
			if k == 2 || k == 0 && g%2 == 0 {
				index = 201
			}
			err := add(tx, index, account{int32(k), names[k], 1})
			if err != nil {
				tx.Rollback()
				return err
			}
			if err := tx.Commit(ctx, false, nil); err != nil {
				return err
			}
		}
		return nil
	})
	sn := s.Snapshot()
	defer sn.Close()
	rows, _ := readAccounts(t, sn, 200, table.ScanRequest{})
	same(t, rows, []account{{0, "zero", 8 * each / 3}, {1, "one", 8 * each / 3}, {2, "two", 8 * each / 3}})
}

// bump adds one to a row that a scan found, as UPDATE does: after
// ErrRowsChanged it takes a new snapshot.
func bump(t *testing.T, s *Store, tx *Tx, id int32) error {
	key := accountBatch([]account{{id: id}})
	span := rowkey.Span{Start: appendRowKey(nil, accounts(200, true).Key, key.Cols, 0)}
	span.End = append(slices.Clone(span.Start), 0)
	for mark := tx.Savepoint(); ; tx.RollbackTo(mark) {
		sn := tx.Snapshot()
		rows, ids := readAccounts(t, sn, 200, table.ScanRequest{Spans: []rowkey.Span{span}})
		rows[0].n++
		_, err := tx.Update(ctx, sn, 200, ids, accountBatch(rows))
		sn.Close()
		if !errors.Is(err, table.ErrRowsChanged) {
			return err
		}
	}
}

// Counters that are read in a snapshot and written back lose nothing.
func TestConcurrentUpdates(t *testing.T) {
	s := mustOpen(t, vfs.NewMem(), Options{})
	defer mustClose(t, s)
	create(t, s, accounts(200, true))
	insert(t, s, 200, accountBatch([]account{{1, "a", 0}, {2, "b", 0}}))
	const each = 100
	atOnce(t, 8, func(g int) error {
		for i := range each {
			tx := s.Begin()
			if err := bump(t, s, tx, int32(1+(g+i)%2)); err != nil {
				return err
			}
			if err := tx.Commit(ctx, false, nil); err != nil {
				return err
			}
		}
		return nil
	})
	sn := s.Snapshot()
	defer sn.Close()
	rows, _ := readAccounts(t, sn, 200, table.ScanRequest{})
	same(t, rows, []account{{1, "a", 4 * each}, {2, "b", 4 * each}})
}

// Money moves between accounts, in any order, so that transactions deadlock;
// victims try again. The sum stays, at each moment.
func TestConcurrentTransfers(t *testing.T) {
	seed := testSeed(t)
	s := mustOpen(t, vfs.NewMem(), Options{})
	defer mustClose(t, s)
	create(t, s, accounts(200, true))
	const holders, money = 5, 100
	var start []account
	for i := range holders {
		start = append(start, account{int32(i), "", money})
	}
	insert(t, s, 200, accountBatch(start))
	transfer := func(from, to int32, n int64) error {
		for {
			tx := s.Begin()
			err := add(tx, 0, account{id: from, n: -n})
			if err == nil {
				err = add(tx, 0, account{id: to, n: n})
			}
			if err == nil {
				return tx.Commit(ctx, false, nil)
			}
			tx.Rollback()
			if !errors.Is(err, table.ErrDeadlock) {
				return err
			}
		}
	}
	atOnce(t, 8, func(g int) error {
		rng := rand.New(rand.NewPCG(seed, uint64(g)))
		for range 100 {
			from := rng.IntN(holders)
			if err := transfer(int32(from), int32((from+1+rng.IntN(holders-1))%holders), rng.Int64N(10)); err != nil {
				return err
			}
			sn := s.Snapshot()
			rows, _ := readAccounts(t, sn, 200, table.ScanRequest{})
			sn.Close()
			sum := int64(0)
			for _, a := range rows {
				sum += a.n
			}
			if len(rows) != holders || sum != holders*money {
				return errors.New("money was made or lost")
			}
		}
		return nil
	})
}

// BenchmarkDeleteRead deletes single rows of a table of 200,000 and reads
// another one after each, every one in a transaction of its own.
func BenchmarkDeleteRead(b *testing.B) {
	s, err := Open(b.TempDir(), Options{})
	check(b, err)
	defer mustClose(b, s)
	schema := accounts(200, true)
	schema.Indexes = nil
	create(b, s, schema)
	const total = 200_000
	for from := 0; from < total; from += 1000 {
		rows := make([]account, 1000)
		for i := range rows {
			rows[i] = account{id: int32(from + i), name: "some name", n: int64(i)}
		}
		insert(b, s, 200, accountBatch(rows))
	}
	read := func(sn *Snapshot, id int) *vector.Vector {
		key := accountBatch([]account{{id: int32(id)}})
		span := rowkey.Span{Start: appendRowKey(nil, schema.Key, key.Cols, 0)}
		span.End = append(slices.Clone(span.Start), 0)
		rows, ids := readAccounts(b, sn, 200, table.ScanRequest{Spans: []rowkey.Span{span}})
		if len(rows) != 1 {
			b.Fatalf("%d rows with key %d", len(rows), id)
		}
		return ids
	}
	b.ResetTimer()
	for i := range b.N {
		at := i * 7919 % (total / 2)
		tx := s.Begin()
		sn := tx.Snapshot()
		n, err := tx.Delete(ctx, sn, 200, read(sn, 2*at), nil)
		sn.Close()
		if err != nil || n != 1 {
			b.Fatal(n, err)
		}
		check(b, tx.Commit(ctx, false, nil))
		sn = s.Snapshot()
		read(sn, 2*at+1)
		sn.Close()
	}
}
