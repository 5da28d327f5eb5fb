package colstore

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"tsdb/colstore/keys"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

// accounts is a table of layout row: id int4, name text unique, n int8. Its key
// is id: a primary key or only an order.
func accounts(id uint64, unique bool) table.Schema {
	s := tags(id)
	s.Columns = append(s.Columns, table.Column{ID: 3, Kind: vector.Int64, Codec: rowkey.CodecInt})
	s.Unique = unique
	return s
}

// account is a row of accounts; an empty name is NULL.
type account struct {
	id   int32
	name string
	n    int64
}

func (a account) String() string {
	if a.name == "" {
		return fmt.Sprintf("%d|NULL|%d|", a.id, a.n)
	}
	return fmt.Sprintf("%d|%s|%d|", a.id, a.name, a.n)
}

func accountBatch(rows []account) *vector.Batch {
	b := &vector.Batch{N: len(rows), Cols: []*vector.Vector{vector.New(vector.Int32, 0), vector.New(vector.Bytes, 0), vector.New(vector.Int64, 0)}}
	for _, r := range rows {
		b.Cols[0].AppendInt32(r.id)
		if r.name == "" {
			b.Cols[1].AppendNull()
		} else {
			b.Cols[1].AppendString(r.name)
		}
		b.Cols[2].AppendInt64(r.n)
	}
	return b
}

func accountsOf(b *vector.Batch) (out []account) {
	for i := 0; i < b.N; i++ {
		a := account{id: b.Cols[0].I32[i], n: b.Cols[2].I64[i]}
		if !b.Cols[1].IsNull(i) {
			a.name = string(b.Cols[1].Bytes(i))
		}
		out = append(out, a)
	}
	return out
}

// readAccounts returns the rows of a scan and their names.
func readAccounts(t testing.TB, sn *Snapshot, id table.ID, req table.ScanRequest) (rows []account, ids *vector.Vector) {
	t.Helper()
	req.Columns, req.RowIDs = []int{0, 1, 2}, true
	sc, err := sn.Scan(id, req)
	check(t, err)
	r := sc.NewReader()
	defer r.Close()
	ids = vector.New(vector.Bytes, 0)
	for {
		b, err := r.Next()
		check(t, err)
		if b == nil {
			break
		}
		rows = append(rows, accountsOf(b)...)
		for i := 0; i < b.N; i++ {
			ids.AppendFrom(b.Cols[3], i)
		}
	}
	if int64(len(rows)) > sc.EstimatedRows() {
		t.Fatalf("%d rows, estimated %d", len(rows), sc.EstimatedRows())
	}
	return rows, ids
}

// ledger is the model of accounts.
type ledger struct {
	schema table.Schema
	rows   []account
}

func (l *ledger) clone() *ledger { return &ledger{l.schema, slices.Clone(l.rows)} }

// holder returns the row that a row collides with in the primary key or in the
// names, -1 for none.
func (l *ledger) holder(a account) (byKey, byName int) {
	byKey, byName = -1, -1
	for i, r := range l.rows {
		if l.schema.Unique && r.id == a.id {
			byKey = i
		}
		if a.name != "" && r.name == a.name {
			byName = i
		}
	}
	return byKey, byName
}

func (l *ledger) without(gone func(account) bool) {
	l.rows = slices.DeleteFunc(slices.Clone(l.rows), gone)
}

// add puts rows as an append does; false for a duplicate.
func (l *ledger) add(rows []account, o table.AppendOptions) (added int64, ok bool) {
	for _, a := range rows {
		k, n := l.holder(a)
		if k >= 0 {
			switch modeOf(&o, 0) {
			case table.ConflictError:
				return 0, false
			case table.ConflictIgnore:
				continue
			}
		}
		if n >= 0 && n != k {
			if modeOf(&o, 1) == table.ConflictIgnore {
				continue
			}
			return 0, false
		}
		if k >= 0 {
			l.rows = slices.Delete(slices.Clone(l.rows), k, k+1)
		}
		l.rows = append(l.rows, a)
		added++
	}
	return added, true
}

func randomAccount(rng *rand.Rand) account {
	a := account{id: int32(rng.IntN(30)), n: rng.Int64N(100)}
	if rng.IntN(4) > 0 {
		a.name = fmt.Sprint("n", rng.IntN(30))
	}
	return a
}

// equalTo compares a snapshot with the model: everything, a range of keys in
// both directions, the row count.
func (l *ledger) equalTo(t *testing.T, rng *rand.Rand, sn *Snapshot) {
	t.Helper()
	id := l.schema.ID
	all, _ := readAccounts(t, sn, id, table.ScanRequest{})
	same(t, all, l.rows)
	if st := sn.Stats(id); st.Rows != int64(len(l.rows)) || sn.over == nil && len(l.rows) == 0 && st.Bytes != 0 {
		t.Fatalf("statistics say %d rows of %d bytes, there are %d", st.Rows, st.Bytes, len(l.rows))
	}
	lo, hi := int32(rng.IntN(30)), int32(rng.IntN(30))
	bounds := accountBatch([]account{{id: lo}, {id: max(lo, hi)}})
	span := rowkey.Span{Start: appendRowKey(nil, l.schema.Key, bounds.Cols, 0), End: appendRowKey(nil, l.schema.Key, bounds.Cols, 1)}
	for _, reverse := range []bool{false, true} {
		got, _ := readAccounts(t, sn, id, table.ScanRequest{Spans: []rowkey.Span{span}, Order: table.KeyOrder, Reverse: reverse})
		for i := range got[min(1, len(got)):] {
			if c := got[i+1].id - got[i].id; c < 0 && !reverse || c > 0 && reverse {
				t.Fatalf("out of order: %v", got)
			}
		}
		same(t, got, slices.DeleteFunc(slices.Clone(l.rows), func(a account) bool { return a.id < lo || a.id >= hi }))
	}
}

func same(t *testing.T, got, want []account) {
	t.Helper()
	var a, b []string
	for _, x := range got {
		a = append(a, x.String())
	}
	for _, x := range want {
		b = append(b, x.String())
	}
	slices.Sort(a)
	slices.Sort(b)
	equal(t, a, b)
}

// entriesMatch checks that space I holds one entry per name, and in tables whose
// keys repeat, that it names the row.
func (l *ledger) entriesMatch(t *testing.T, s *Store) {
	t.Helper()
	prefix := keys.AppendTable(nil, keys.SpaceIndex, l.schema.Indexes[0].ID)
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: keys.AfterPrefix(prefix)})
	check(t, err)
	defer it.Close()
	n := 0
	for ok := it.First(); ok; ok = it.Next() {
		n++
		if l.schema.Unique {
			continue
		}
		key := append(keys.AppendTable(nil, keys.SpaceRow, uint64(l.schema.ID)), it.Value()...)
		if _, closer, err := s.db.Get(key); err != nil {
			t.Fatalf("entry %x names row %x: %v", it.Key(), it.Value(), err)
		} else {
			closer.Close()
		}
	}
	for _, a := range l.rows {
		if a.name != "" {
			n--
		}
	}
	if n != 0 {
		t.Fatalf("table %d: %d entries too many", l.schema.ID, n)
	}
}

// step does one random statement through tx and in the model.
func (l *ledger) step(t *testing.T, rng *rand.Rand, tx *Tx, sn *Snapshot) {
	t.Helper()
	id, next, mark := l.schema.ID, l.clone(), tx.Savepoint()
	ok := true
	var err error
	var got, want int64
	pick := rng.IntN(4)
	chosen := func(a account) bool { return int(a.id+int32(a.n))%4 == pick }
	switch rng.IntN(5) {
	case 0, 1:
		rows := make([]account, 1+rng.IntN(4))
		for i := range rows {
			rows[i] = randomAccount(rng)
		}
		o := table.AppendOptions{Conflict: table.Conflict(rng.IntN(3))}
		if rng.IntN(3) == 0 {
			o.Arbiters = []uint64{0}
		}
		want, ok = next.add(rows, o)
		got, err = tx.AppendWith(ctx, id, accountBatch(rows), o)
	case 2:
		rows, ids := readAccounts(t, sn, id, table.ScanRequest{})
		var sel []int32
		for i, a := range rows {
			if chosen(a) {
				sel = append(sel, int32(i))
			}
		}
		want = int64(len(sel))
		next.without(chosen)
		if sel == nil {
			break
		}
		got, err = tx.Delete(ctx, sn, id, ids, sel)
		if again, e := tx.Delete(ctx, sn, id, ids, sel); e != nil || again != 0 {
			t.Fatalf("deleted %d rows a second time, %v", again, e)
		}
	case 3:
		got, want, err, ok = next.shift(t, rng, tx, sn, chosen)
	case 4:
		got, want, err = next.upsert(t, rng, tx)
	}
	if ok && (err != nil || got != want) {
		t.Fatalf("table %d: %d rows, want %d, %v", id, got, want, err)
	}
	if !ok && !isDuplicate(err) {
		t.Fatalf("table %d: %v, want a duplicate", id, err)
	}
	if !ok || rng.IntN(6) == 0 {
		tx.RollbackTo(mark)
		return
	}
	*l = *next
}

// shift updates the chosen rows: their numbers, names or ids.
func (l *ledger) shift(t *testing.T, rng *rand.Rand, tx *Tx, sn *Snapshot, chosen func(account) bool) (got, want int64, err error, ok bool) {
	rows, ids := readAccounts(t, sn, l.schema.ID, table.ScanRequest{})
	by, kind := int32(rng.IntN(3)), rng.IntN(3)
	var changed []account
	names := vector.New(vector.Bytes, 0)
	for i, a := range rows {
		if !chosen(a) {
			continue
		}
		a.n++
		switch kind {
		case 1:
			a.id += by
		case 2:
			a.name = fmt.Sprint("n", (int(a.id)+int(by))%30)
		}
		changed = append(changed, a)
		names.AppendFrom(ids, i)
	}
	l.without(chosen)
	_, ok = l.add(changed, table.AppendOptions{})
	if len(changed) > 0 {
		got, err = tx.Update(ctx, sn, l.schema.ID, names, accountBatch(changed))
	}
	return got, int64(len(changed)), err, ok
}

// upsert inserts a row or adds its number to that of the row it collides with.
func (l *ledger) upsert(t *testing.T, rng *rand.Rand, tx *Tx) (got, want int64, err error) {
	a := randomAccount(rng)
	index := l.schema.Indexes[0].ID
	k, n := l.holder(a)
	at := n
	if l.schema.Unique && rng.IntN(2) == 0 {
		index, at = 0, k
	}
	m, err := tx.Find(ctx, l.schema.ID, index, accountBatch([]account{{id: 1000}, a, {id: 1001}}))
	if err != nil {
		return 0, 0, err
	}
	defer m.Close()
	found := accountsOf(m.Rows)
	if at < 0 {
		if len(found) > 0 {
			t.Fatalf("found %v for %v", found, a)
		}
		if k >= 0 || n >= 0 {
			return 0, 0, nil
		}
		l.rows = append(l.rows, a)
		got, err = tx.Append(ctx, l.schema.ID, accountBatch([]account{a}))
		return got, 1, err
	}
	if len(found) != 1 || m.Of[0] != 1 || found[0] != l.rows[at] {
		t.Fatalf("found %v of %v for %v, want %v", found, m.Of, a, l.rows[at])
	}
	found[0].n += a.n
	l.rows = slices.Clone(l.rows)
	l.rows[at].n += a.n
	got, err = tx.Update(ctx, m.Snap, l.schema.ID, m.IDs, accountBatch(found))
	return got, 1, err
}

// TestRandomRowChanges compares random statements, savepoints, commits and
// restarts with a model, for tables with a primary key and without one, both
// with a unique index; half of the transactions are REPEATABLE READ.
func TestRandomRowChanges(t *testing.T) {
	seed := testSeed(t)
	for round := uint64(0); round < 6; round++ {
		rng := rand.New(rand.NewPCG(seed, round))
		fs := vfs.NewMem()
		s := mustOpen(t, fs, Options{})
		models := []*ledger{{schema: accounts(200, true)}, {schema: accounts(300, false)}}
		create(t, s, models[0].schema, models[1].schema)
		for range 60 {
			if rng.IntN(8) == 0 {
				mustClose(t, s)
				s = mustOpen(t, fs, Options{})
			}
			tx, base := s.Begin(), s.Snapshot()
			drafts := []*ledger{models[0].clone(), models[1].clone()}
			repeatable := rng.IntN(2) == 0
			for range rng.IntN(12) {
				sn := tx.Snapshot()
				if repeatable {
					sn.Close()
					sn = tx.SnapshotAt(base)
				}
				l := drafts[rng.IntN(2)]
				l.equalTo(t, rng, sn)
				l.step(t, rng, tx, sn)
				sn.Close()
			}
			base.Close()
			if rng.IntN(4) == 0 {
				tx.Rollback()
			} else {
				check(t, tx.Commit(ctx, rng.IntN(2) == 0, nil))
				models = drafts
			}
			sn := s.Snapshot()
			for _, l := range models {
				l.equalTo(t, rng, sn)
				l.entriesMatch(t, s)
			}
			sn.Close()
		}
		mustClose(t, s)
	}
}

// An entry of a table without a primary key that does not name its row, as the
// first releases wrote them, is found all the same.
func TestFindByOldEntry(t *testing.T) {
	s := mustOpen(t, vfs.NewMem(), Options{})
	defer mustClose(t, s)
	create(t, s, accounts(300, false))
	insert(t, s, 300, accountBatch([]account{{1, "", 1}, {1, "a", 2}, {1, "b", 3}}))
	tt := &txTable{schema: s.lookup(300)}
	e, _ := tt.makeEntry(tt.schema.Indexes[0], accountBatch([]account{{0, "b", 0}}).Cols, 0, nil)
	check(t, s.db.Set(e.key, nil, pebble.NoSync))
	tx := s.Begin()
	defer tx.Rollback()
	m, err := tx.Find(ctx, 300, 301, accountBatch([]account{{9, "b", 0}}))
	check(t, err)
	defer m.Close()
	same(t, accountsOf(m.Rows), []account{{1, "b", 3}})
}

// What a statement leaves out or fails at, it does not lock.
func TestIgnoredRowsAreNotLocked(t *testing.T) {
	s := mustOpen(t, vfs.NewMem(), Options{})
	defer mustClose(t, s)
	create(t, s, accounts(200, true))
	insert(t, s, 200, accountBatch([]account{{1, "a", 1}}))
	tx := s.Begin()
	defer tx.Rollback()
	n, err := tx.AppendWith(ctx, 200, accountBatch([]account{{1, "x", 1}, {2, "a", 1}}), table.AppendOptions{Conflict: table.ConflictIgnore})
	check(t, err)
	_, err = tx.Append(ctx, 200, accountBatch([]account{{3, "a", 1}}))
	if n != 0 || !isDuplicate(err) || tx.locks.Held() != 0 {
		t.Fatalf("%d rows added, %v, %d locks", n, err, tx.locks.Held())
	}
}

// Rows that others changed after the snapshot are not touched; after a new
// snapshot the statement goes through, as the locks stay.
func TestRowsChanged(t *testing.T) {
	s := mustOpen(t, vfs.NewMem(), Options{})
	defer mustClose(t, s)
	create(t, s, accounts(200, true), accounts(300, false))
	for _, id := range []table.ID{200, 300} {
		insert(t, s, id, accountBatch([]account{{1, "a", 1}, {2, "b", 1}}))
		other, tx := s.Begin(), s.Begin()
		old := tx.Snapshot()
		_, ids := readAccounts(t, old, id, table.ScanRequest{})
		if n, err := other.Update(ctx, old, id, ids, accountBatch([]account{{1, "a", 5}, {2, "c", 1}})); n != 2 || err != nil {
			t.Fatal(n, err)
		}
		waiting := make(chan error, 1)
		mark := tx.Savepoint()
		go func() {
			_, err := tx.Delete(ctx, old, id, ids, nil)
			waiting <- err
		}()
		check(t, other.Commit(ctx, false, nil))
		if err := <-waiting; !errors.Is(err, table.ErrRowsChanged) {
			t.Fatal(err)
		}
		old.Close()
		tx.RollbackTo(mark)
		sn := tx.Snapshot()
		_, ids = readAccounts(t, sn, id, table.ScanRequest{})
		if n, err := tx.Delete(ctx, sn, id, ids, nil); n != 2 || err != nil {
			t.Fatal(n, err)
		}
		sn.Close()
		check(t, tx.Commit(ctx, false, nil))
	}
}

func testSeed(t *testing.T) uint64 {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return seed
}
