package colstore

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"tsdb/colstore/keys"
	"tsdb/colstore/table"
)

// tablesOf lists the sstables that hold keys of a range.
func tablesOf(t testing.TB, s *Store, prefix []byte) []string {
	t.Helper()
	levels, err := s.db.SSTables(pebble.WithKeyRangeFilter(prefix, keys.AfterPrefix(prefix)))
	check(t, err)
	var names []string
	for _, l := range levels {
		for _, x := range l {
			names = append(names, tableFile(x))
		}
	}
	return names
}

// TestDamagedFileIsNamed flips a bit in the chunks of one table: opening
// succeeds, its scan names the file, all else works.
func TestDamagedFileIsNamed(t *testing.T) {
	mem := vfs.NewMem()
	s := mustOpen(t, mem, Options{})
	create(t, s, readings(100), readings(300), tags(200))
	for _, id := range []table.ID{100, 300} {
		insert(t, s, id, readingBatch(reading{"a", 1, 1}, reading{"b", 2, 2}))
	}
	check(t, s.Flush())
	st := s.acquire()
	damaged := st.find(300).segs.segs[0]
	st.release()
	files := tablesOf(t, s, keys.AppendDataPrefix(nil, damaged.id))
	mustClose(t, s)
	rewrite(t, mem, mem.PathJoin("db", files[0]), func(b []byte) {
		i := bytes.Index(b, []byte("TSDC"))
		b[i+17] ^= 0x40
	})
	s = mustOpen(t, mem, Options{})
	defer mustClose(t, s)
	var c *table.CorruptionError
	if err := scanError(s, 300, column(0, 1, 2)); !errors.As(err, &c) || c.File != files[0] || c.Table != 300 {
		t.Fatalf("scan of a damaged file: %v, %+v", err, c)
	}
	check(t, s.Failed())
	check(t, scanError(s, 100, column(0, 1, 2)))
	check(t, scanError(s, 200, column(0, 1)))
	insert(t, s, 200, tagBatch(2, "two"))
	check(t, s.Flush())
}

// TestDamagedTableIsCondemned spoils one record that opening reads: its table
// answers with an error, keeps its bytes, and can be dropped; others work.
func TestDamagedTableIsCondemned(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, s *Store, g *seg)
	}{
		{"segment row", func(t *testing.T, s *Store, g *seg) {
			check(t, s.db.Set(keys.AppendSegment(nil, g.id), []byte("TSDX nonsense"), pebble.Sync))
		}},
		{"arrival block", func(t *testing.T, s *Store, g *seg) {
			check(t, s.db.Set(keys.AppendArrival(nil, 100, 0, 1<<40), []byte("TSDA nonsense"), pebble.Sync))
		}},
		{"schema", func(t *testing.T, s *Store, g *seg) {
			check(t, s.db.Set(keys.AppendMetaID(nil, keys.MetaTable, 100), []byte("?"), pebble.Sync))
		}},
		{"delete", func(t *testing.T, s *Store, g *seg) {
			check(t, s.db.Set(recordKey(100, g.id.Bucket, 1<<40), []byte("TSDT nonsense"), pebble.Sync))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem := vfs.NewMem()
			s := mustOpen(t, mem, Options{})
			create(t, s, readings(100), readings(300), tags(200))
			for _, id := range []table.ID{100, 300} {
				insert(t, s, id, readingBatch(reading{"a", 1, 1}, reading{"b", 2, 2}))
			}
			check(t, s.Flush())
			st := s.acquire()
			g := st.find(100).segs.segs[0]
			st.release()
			c.spoil(t, s, g)
			mustClose(t, s)
			for round := range int32(2) {
				s = mustOpen(t, mem, Options{})
				var bad *table.CorruptionError
				if err := scanError(s, 100, column(0)); !errors.As(err, &bad) || bad.Table != 100 {
					t.Fatalf("scan: %v", err)
				}
				tx := s.Begin()
				if _, err := tx.Append(ctx, 100, readingBatch(reading{"c", 1, 1})); !errors.As(err, &bad) {
					t.Fatalf("append: %v", err)
				}
				tx.Rollback()
				check(t, scanError(s, 300, column(0)))
				insert(t, s, 200, tagBatch(round, fmt.Sprint("tag ", round)))
				check(t, s.Flush())
				if _, closer, err := s.db.Get(keys.AppendData(nil, g.id, 1, 0)); err != nil {
					t.Fatalf("the chunks of a condemned table are gone: %v", err)
				} else {
					check(t, closer.Close())
				}
				mustClose(t, s)
			}
			s = mustOpen(t, mem, Options{})
			drop(t, s, 100)
			mustClose(t, s)
			s = mustOpen(t, mem, Options{})
			defer mustClose(t, s)
			if _, _, err := s.db.Get(keys.AppendData(nil, g.id, 1, 0)); !errors.Is(err, pebble.ErrNotFound) {
				t.Errorf("the chunks of a dropped table stay: %v", err)
			}
			ownedChunks(t, s)
		})
	}
}

func drop(t testing.TB, s *Store, id table.ID) {
	t.Helper()
	tx := s.Begin()
	check(t, tx.DropTable(id))
	check(t, tx.Commit(ctx, true, nil))
}
