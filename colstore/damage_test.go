package colstore

import (
	"errors"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"tsdb/colstore/keys"
	"tsdb/colstore/table"
)

func column(cols ...int) table.ScanRequest { return table.ScanRequest{Columns: cols} }

func scanError(s *Store, id table.ID, req table.ScanRequest) error {
	sn := s.Snapshot()
	defer sn.Close()
	sc, err := sn.Scan(id, req)
	if err != nil {
		return err
	}
	r := sc.NewReader()
	defer r.Close()
	for {
		b, err := r.Next()
		if b == nil || err != nil {
			return err
		}
	}
}

// TestDamagedChunkIsNamedAndAlone damages one chunk: its column cannot be
// read, all else can, and writes go on.
func TestDamagedChunkIsNamedAndAlone(t *testing.T) {
	s := mustOpen(t, vfs.NewMem(), Options{})
	defer mustClose(t, s)
	create(t, s, readings(100), readings(300), tags(200))
	for _, id := range []table.ID{100, 300} {
		insert(t, s, id, readingBatch(reading{"a", 1, 1}, reading{"b", 2, 2}))
	}
	insert(t, s, 200, tagBatch(1, "one"))
	check(t, s.Flush())
	st := s.acquire()
	g := st.find(100).segs.segs[0]
	schema := st.find(100).schema
	st.release()
	celsius := uint32(schema.Columns[2].ID)

	key := keys.AppendData(nil, g.id, celsius, 0)
	value, closer, err := s.db.Get(key)
	check(t, err)
	bad := append([]byte(nil), value...)
	check(t, closer.Close())
	bad[20] ^= 1
	check(t, s.db.Set(key, bad, pebble.Sync))
	var c *table.CorruptionError
	if err := scanError(s, 100, column(0, 1, 2)); !errors.As(err, &c) {
		t.Fatalf("scan of a damaged column: %v", err)
	}
	if c.Table != 100 || c.Column != table.ColumnID(celsius) || !strings.Contains(c.What, "bucket 1970-01-01 00:00:00Z") ||
		!strings.Contains(c.Why, "checksum") {
		t.Errorf("reported as %+v", c)
	}
	check(t, scanError(s, 100, column(0, 1)))
	check(t, scanError(s, 300, column(0, 1, 2)))
	check(t, s.Failed())
	insert(t, s, 100, readingBatch(reading{"c", 3, 3}))
}

func TestSegmentsAndChunks(t *testing.T) {
	s := mustOpen(t, vfs.NewMem(), Options{SegmentRows: 2})
	defer mustClose(t, s)
	create(t, s, readings(100), tags(200))
	insert(t, s, 100, readingBatch(reading{"a", 1, 1}, reading{"a", 2, 2}, reading{"b", 3, 2}))
	check(t, s.Flush())
	insert(t, s, 100, readingBatch(reading{"c", 4, 2}))
	insert(t, s, 200, tagBatch(1, "one"))
	sn := s.Snapshot()
	defer sn.Close()
	segs, err := sn.Segments(100)
	check(t, err)
	if len(segs) != 3 || segs[0].Rows != 2 || segs[1].Rows != 1 || segs[2].ID != 0 || segs[2].Rows != 1 ||
		segs[0].MinTime != 1 || segs[0].MaxTime != 2 || segs[0].BucketWidth != minBucket || segs[0].Bytes == 0 || segs[2].MaxTime != 4 {
		t.Errorf("segments %+v", segs)
	}
	chunks, err := sn.Chunks(100)
	check(t, err)
	var rows int64
	for _, c := range chunks {
		if c.Column == 1 {
			rows += c.Rows
		}
		if c.Bytes == 0 || c.Parts != 1 || len(c.Encodings) == 0 || c.Encodings[0].Blocks == 0 {
			t.Errorf("chunk %+v", c)
		}
	}
	if rows != 3 || len(chunks) != 2*5 {
		t.Errorf("%d rows in %d chunks", rows, len(chunks))
	}
	if segs, err = sn.Segments(200); err != nil || len(segs) != 1 || segs[0].Rows != 1 {
		t.Errorf("row store: %+v, %v", segs, err)
	}
	if _, err := sn.Chunks(999); err != table.ErrUnknownTable {
		t.Errorf("unknown table: %v", err)
	}
}
