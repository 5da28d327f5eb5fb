package colstore

import (
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

// withColumn returns a schema with one column more, whose missing value is 7.
func withColumn(s table.Schema, id table.ColumnID) table.Schema {
	seven := vector.New(vector.Int32, 1)
	seven.AppendInt32(7)
	s.Columns = append(append([]table.Column(nil), s.Columns...), table.Column{ID: id, Kind: vector.Int32, Codec: rowkey.CodecInt, Missing: seven})
	return s
}

// withoutColumn returns a schema that lacks column i, which no key has.
func withoutColumn(s table.Schema, i int) table.Schema {
	s.Columns = append(append([]table.Column(nil), s.Columns[:i]...), s.Columns[i+1:]...)
	return s
}

// all returns the rows of a table in one string each, joined.
func allRows(t *testing.T, s *Store, id table.ID) string {
	t.Helper()
	sn := s.Snapshot()
	defer sn.Close()
	src, err := sn.source(id)
	check(t, err)
	return strings.Join(rowsOf(t, sn, id, table.ScanRequest{Columns: allColumns(src.schema)}), "\n")
}

// TestAlterTable adds and drops columns of tables with rows in segments, in
// memory and in space R, across flushes and restarts.
func TestAlterTable(t *testing.T) {
	fs := vfs.NewMem()
	s := mustOpen(t, fs, Options{})
	create(t, s, readings(100), tags(200))
	insert(t, s, 100, readingBatch(reading{"a", 1, 1}))
	check(t, s.Flush())
	insert(t, s, 100, readingBatch(reading{"b", 2, 2}))
	insert(t, s, 200, tagBatch(1, "one"))

	alter := func(next table.Schema, rollback bool) {
		t.Helper()
		tx := s.Begin()
		mark := tx.Savepoint()
		check(t, tx.AlterTable(next))
		if rollback {
			tx.RollbackTo(mark)
		}
		check(t, tx.Commit(ctx, true, nil))
	}
	before100, before200 := allRows(t, s, 100), allRows(t, s, 200)
	alter(withColumn(readings(100), 50), true)
	if got := allRows(t, s, 100); got != before100 {
		t.Fatalf("after the rollback:\n%s\nwant\n%s", got, before100)
	}
	wide100, wide200 := withColumn(readings(100), 50), withColumn(tags(200), 50)
	alter(wide100, false)
	alter(wide200, false)
	has := func(id table.ID, sevens, nulls int) {
		t.Helper()
		got := allRows(t, s, id) + "\n"
		if n := strings.Count(got, "|7|\n"); n != sevens {
			t.Fatalf("table %d: %d missing values, want %d:\n%s", id, n, sevens, got)
		}
		if n := strings.Count(got, "|NULL|\n"); nulls >= 0 && n != nulls {
			t.Fatalf("table %d: %d NULLs, want %d:\n%s", id, n, nulls, got)
		}
	}
	has(100, 2, 0)
	has(200, 1, 0)
	// A NULL that was written stays one.
	null := vector.New(vector.Int32, 1)
	null.AppendNull()
	b := readingBatch(reading{"c", 3, 3})
	b.Cols = append(b.Cols, null)
	insert(t, s, 100, b)
	b = tagBatch(2, "two")
	b.Cols = append(b.Cols, null)
	insert(t, s, 200, b)
	for range 2 {
		has(100, 2, 1)
		has(200, 1, 1)
		mustClose(t, s)
		s = mustOpen(t, fs, Options{})
		has(100, 2, 1)
		has(200, 1, 1)
		check(t, s.Flush())
	}
	// Dropped and added again: a column of its own.
	alter(withoutColumn(wide100, len(wide100.Columns)-1), false)
	alter(withoutColumn(wide200, len(wide200.Columns)-1), false)
	has(100, 0, -1)
	mustClose(t, s)
	s = mustOpen(t, fs, Options{})
	has(200, 0, -1)
	alter(withColumn(readings(100), 51), false)
	alter(withColumn(tags(200), 51), false)
	has(100, 3, 0)
	has(200, 2, 0)
	if strings.TrimSpace(before200) == "" {
		t.Fatal("table 200 was empty")
	}
	// A transaction that wrote with the old schema commits with the new one.
	tx := s.Begin()
	b = readingBatch(reading{"d", 4, 4})
	b.Cols = append(b.Cols, null)
	_, err := tx.Append(ctx, 100, b)
	check(t, err)
	alter(readings(100), false)
	check(t, tx.Commit(ctx, true, nil))
	mustClose(t, s)
	s = mustOpen(t, fs, Options{})
	if got := allRows(t, s, 100); strings.Count(got, "\n") != 3 || strings.Contains(got, "|7|") {
		t.Fatalf("after the late commit:\n%s", got)
	}
	mustClose(t, s)
}

// TestIgnoreOfSeveralKeys: a row that its unique value keeps out does not keep
// out the next row with its primary key.
func TestIgnoreOfSeveralKeys(t *testing.T) {
	s := mustOpen(t, vfs.NewMem(), Options{})
	defer mustClose(t, s)
	c := readings(100)
	c.Conflict = table.ConflictIgnore
	c.Indexes = []table.UniqueIndex{{ID: 101, Parts: []rowkey.Part{{Column: 2, Codec: rowkey.CodecFloat}}}}
	create(t, s, c)
	tx := s.Begin()
	n, err := tx.Append(ctx, 100, readingBatch(reading{"a", 1, 1}, reading{"b", 1, 1}, reading{"b", 1, 2}, reading{"b", 1, 3}, reading{"c", 1, 2}))
	check(t, err)
	if n != 2 {
		t.Fatalf("%d rows added, want 2", n)
	}
	check(t, tx.Commit(ctx, false, nil))
	equal(t, rowsOf(t, s.Snapshot(), 100, table.ScanRequest{Columns: []int{0, 2}}), []string{"a|1|", "b|2|"})
}
