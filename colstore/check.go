package colstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"

	"tsdb/colstore/encoding"
	"tsdb/colstore/keys"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
)

// CheckResult counts what Check looked at and found.
type CheckResult struct {
	Files    int
	Tables   int
	Segments int
	Chunks   int64
	Rows     int64
	Bytes    int64 // of files
	Problems int64
	Harmless int64
}

// Check reads everything in a directory that no server has open and compares
// what belongs together: checksums of files, chunks and records; chunks with
// their segment rows; statistics and keys with values; unique entries with
// rows. In a backup it compares the files with the backup's manifest first.
//
// report receives each finding, progress (may be nil) the bytes done of all.
//
// Errors: as OpenOffline where nothing can be looked at, for instance because
// the directory is in use.
func Check(ctx context.Context, dir string, o Options, report func(Problem), progress func(done, all int64)) (CheckResult, error) {
	c := &checker{report: report, progress: progress}
	fs := newStore(dir, o)
	fs.popts.Cache.Unref()
	if isBackup(fs.fs, dir) {
		if err := c.manifest(ctx, fs.fs, dir); err != nil {
			return c.result, err
		}
	}
	d, err := OpenOffline(dir, o, c.found)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) || !pebble.IsCorruptionError(err) && c.result.Problems == 0 {
			return c.result, err
		}
		c.found(Problem{CorruptionError: table.CorruptionError{What: "data directory", Why: "it cannot be opened: " + rootText(err)}})
		return c.result, nil
	}
	c.d, c.s = d, d.s
	err = c.run(ctx)
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return c.result, err
}

// checker is a running Check.
type checker struct {
	d        *Offline
	s        *Store
	report   func(Problem)
	progress func(done, all int64)
	done     int64
	all      int64
	result   CheckResult
	dec      encoding.Decoder
	buf      []byte

	stored  int64   // rows of the table at hand
	entries []int64 // unique entries that they need, by index
}

func (c *checker) found(p Problem) {
	if p.Harmless {
		c.result.Harmless++
	} else {
		c.result.Problems++
	}
	c.report(p)
}

// bad reports a mismatch.
func (c *checker) bad(what, why string, args ...any) {
	c.found(Problem{CorruptionError: table.CorruptionError{What: what, Why: fmt.Sprintf(why, args...)}})
}

func (c *checker) advance(n int64) {
	c.done += n
	if c.progress != nil {
		c.progress(min(c.done, c.all), c.all)
	}
}

func (c *checker) run(ctx context.Context) error {
	levels, err := c.s.db.SSTables()
	if err != nil {
		return fmt.Errorf("list sstables: %w", err)
	}
	for _, l := range levels {
		for _, t := range l {
			c.result.Bytes += int64(t.Size)
		}
	}
	c.all = 2 * c.result.Bytes // once as files, once as values
	for _, l := range levels {
		for _, t := range l {
			if err := ctx.Err(); err != nil {
				return err
			}
			c.file(t)
			c.advance(int64(t.Size))
		}
	}
	for _, id := range c.d.Tables() {
		if err := c.table(ctx, c.d.tables[id]); err != nil {
			return err
		}
	}
	c.orphans()
	c.done = c.all
	c.advance(0)
	return nil
}

// file verifies the checksums of all blocks of an sstable.
func (c *checker) file(t pebble.SSTableInfo) {
	c.result.Files++
	name := tableFile(t)
	err := c.blocks(name)
	if err == nil {
		return
	}
	from, to := keyName(t.Smallest.UserKey), keyName(t.Largest.UserKey)
	if from != to {
		from += " to " + to
	}
	c.found(Problem{CorruptionError: table.CorruptionError{What: "file with " + from, Why: rootText(err), File: name}})
}

func (c *checker) blocks(name string) error {
	f, err := c.s.fs.Open(c.s.fs.PathJoin(c.s.dir, name))
	if err != nil {
		return err
	}
	readable, err := sstable.NewSimpleReadable(f)
	if err != nil {
		_ = f.Close()
		return err
	}
	r, err := sstable.NewReader(context.Background(), readable, c.s.popts.MakeReaderOptions())
	if err != nil {
		return err // it has closed the file
	}
	err = r.ValidateBlockChecksums()
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	return err
}

// keyName says what a key is of.
func keyName(key []byte) string {
	if len(key) < 9 {
		return "catalog records"
	}
	var space string
	switch key[0] {
	case keys.SpaceData, keys.SpaceSegment:
		space = "segments"
	case keys.SpaceArrival:
		space = "arrival blocks"
	case keys.SpaceRow:
		space = "rows"
	case keys.SpaceTombstone:
		space = "deletes"
	case keys.SpaceIndex:
		return fmt.Sprintf("entries of index %d", bigEndian(key[1:]))
	default:
		return "catalog records"
	}
	return fmt.Sprintf("%s of table %d", space, bigEndian(key[1:]))
}

func bigEndian(b []byte) (x uint64) {
	for _, v := range b[:8] {
		x = x<<8 | uint64(v)
	}
	return x
}

// table checks one table.
func (c *checker) table(ctx context.Context, t *offlineTable) error {
	c.result.Tables++
	before := c.result.Problems
	c.stored, c.entries = 0, make([]int64, len(t.schema.Indexes))
	for _, g := range inKeyOrder(t.segs) {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.segment(t, g)
		c.advance(g.bytes)
	}
	c.arrivals(t)
	if t.schema.Layout == table.RowStore {
		c.rows(t)
	}
	if c.result.Problems == before { // else counts cannot agree
		c.counts(t)
	}
	return nil
}

// arrivals checks the arrival blocks that are not in segments yet.
func (c *checker) arrivals(t *offlineTable) {
	id := uint64(t.schema.ID)
	what := fmt.Sprintf("arrival blocks of table %d", id)
	c.d.each(keys.AppendTable(nil, keys.SpaceArrival, id), what, c.found, func(key, value []byte) error {
		_, _, seq, err := keys.DecodeArrival(key)
		if err != nil {
			return malformed(what, err)
		}
		if seq <= t.mark {
			return nil
		}
		b, err := decodeArrival(t.schema, value, fmt.Sprintf("arrival block %d of table %d", seq, id))
		if err != nil {
			return err
		}
		c.result.Rows += int64(b.n)
		for i := 0; i < b.n && len(t.schema.Indexes) > 0; i++ {
			if dead := t.gone[seq]; dead != nil && dead.Contains(uint32(i)) {
				continue
			}
			if err := c.lookUp(t.schema, b.cols, i); err != nil {
				return err
			}
		}
		return nil
	})
}

// rows checks the rows of layout row: that their keys are those of their
// values, and their unique entries.
func (c *checker) rows(t *offlineTable) {
	s := t.schema
	dec := newRowDecoder(s)
	prefix := keys.AppendTable(nil, keys.SpaceRow, uint64(s.ID))
	c.d.each(prefix, fmt.Sprintf("rows of table %d", s.ID), c.found, func(key, value []byte) error {
		c.stored++
		b, err := dec.batch(value)
		if err != nil {
			return malformed(fmt.Sprintf("row %x of table %d", key[len(prefix):], s.ID), err)
		}
		c.buf = appendRowKey(append(c.buf[:0], prefix...), s.Key, b.Cols, 0)
		if s.Unique && !bytes.Equal(key, c.buf) || !s.Unique && !bytes.HasPrefix(key, c.buf) {
			return malformed(fmt.Sprintf("row %x of table %d", key[len(prefix):], s.ID), errors.New("its values have another key"))
		}
		return c.lookUp(s, b.Cols, 0)
	})
	c.result.Rows += c.stored
}

// lookUp looks the unique entries of a row up and counts those that it needs.
func (c *checker) lookUp(s *table.Schema, cols []*vector.Vector, row int) error {
	var rowKey []byte
	if s.Unique {
		rowKey = appendRowKey(nil, s.Key, cols, row)
	}
	tt := &txTable{schema: s}
	for i, x := range s.Indexes {
		e, ok := tt.makeEntry(x, cols, row, rowKey)
		if !ok {
			continue
		}
		c.entries[i]++
		_, closer, err := c.s.db.Get(e.key)
		if errors.Is(err, pebble.ErrNotFound) {
			return malformed(fmt.Sprintf("unique index %d of table %d", x.ID, s.ID), fmt.Errorf("row %x has no entry", rowKey))
		}
		if err != nil {
			return err
		}
		_ = closer.Close()
	}
	return nil
}

// counts compares the number of rows of layout row with the table's record,
// and of unique entries with what the rows need.
func (c *checker) counts(t *offlineTable) {
	s := t.schema
	if s.Layout == table.RowStore && t.rows >= 0 && t.rows != c.stored {
		c.bad(fmt.Sprintf("rows of table %d", s.ID), "there are %d, the table's record says %d", c.stored, t.rows)
	}
	for i, x := range s.Indexes {
		var have int64
		name := fmt.Sprintf("entries of unique index %d of table %d", x.ID, s.ID)
		c.d.each(keys.AppendTable(nil, keys.SpaceIndex, x.ID), name, c.found, func(_, _ []byte) error { have++; return nil })
		if have != c.entries[i] {
			c.bad(name, "there are %d, the rows need %d", have, c.entries[i])
		}
	}
}

// orphans finds chunks that no segment row lists: a crash or a large
// transaction under way leaves them, the next opening removes them.
func (c *checker) orphans() {
	live := map[keys.SegmentID]bool{}
	for _, t := range c.d.tables {
		for _, g := range t.segs {
			live[g.id] = true
		}
	}
	prefix := []byte{keys.SpaceData}
	it, err := c.s.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: keys.AfterPrefix(prefix)})
	if err != nil {
		c.found(problem(c.s.damaged("chunks", err)))
		return
	}
	defer it.Close()
	for ok := it.First(); ok; {
		id, _, _, err := keys.DecodeData(it.Key())
		if err != nil {
			c.bad("chunks", "%v", err)
			return
		}
		if !live[id] {
			c.found(Problem{Harmless: true, CorruptionError: table.CorruptionError{
				What: fmt.Sprintf("chunks of table %d, segment %d", id.Table, id.ID), Why: "no segment row lists them", Table: tableID(id)}})
		}
		ok = it.SeekGE(keys.AfterPrefix(keys.AppendDataPrefix(nil, id)))
	}
	// What cannot be read here was reported with its file.
}
