package colstore

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/cockroachdb/pebble/v2"

	"tsdb/colstore/keys"
	"tsdb/colstore/segment"
	"tsdb/colstore/table"
)

// Offline is a data directory, or a backup, that no server has open, opened
// for looking at it: nothing in it changes, and what is damaged is reported
// and left out instead of refused.
type Offline struct {
	s      *Store
	tables map[table.ID]*offlineTable
	lock   bool // there was a lock file before
}

// offlineTable is what a directory holds of one table besides its rows.
type offlineTable struct {
	schema *table.Schema
	segs   []*seg
	dead   map[uint64]*roaring.Bitmap // deleted rows of a segment, by its id
	gone   map[uint64]*roaring.Bitmap // and of an arrival block, by its sequence
	mark   uint64                     // flushed-to sequence: arrival blocks up to it are in segments
	rows   int64                      // of layout row, as recorded; -1: not recorded
}

// Problem is one finding about stored bytes.
type Problem struct {
	table.CorruptionError
	Harmless bool // left over and removed by the next opening
}

// OpenOffline opens a directory and reads what it says of tables and segments.
// report receives what cannot be read.
//
// Errors: of a directory that is no data directory, is in use, or whose
// manifest or log cannot be read.
func OpenOffline(dir string, o Options, report func(Problem)) (*Offline, error) {
	s := newStore(dir, o)
	s.popts.ReadOnly = true
	defer s.popts.Cache.Unref()
	// Opening it would leave a lock file behind in a directory of something else.
	desc, err := pebble.Peek(dir, s.fs)
	if err == nil && !desc.Exists {
		err = os.ErrNotExist
	}
	if err != nil {
		return nil, fmt.Errorf("open data directory %s: %w", dir, err)
	}
	d := &Offline{s: s, tables: map[table.ID]*offlineTable{}}
	_, err = s.fs.Stat(s.fs.PathJoin(dir, lockName))
	d.lock = err == nil
	if s.db, err = pebble.Open(dir, s.popts); err != nil {
		return nil, fmt.Errorf("open data directory %s: %w", dir, err)
	}
	d.load(report)
	return d, nil
}

// lockName is Pebble's lock file.
const lockName = "LOCK"

// Close closes the directory and leaves it as it was.
func (d *Offline) Close() error {
	err := d.s.db.Close()
	if !d.lock {
		_ = d.s.fs.Remove(d.s.fs.PathJoin(d.s.dir, lockName))
	}
	return err
}

// Tables returns the tables that have a readable schema, ascending.
func (d *Offline) Tables() []table.ID {
	ids := make([]table.ID, 0, len(d.tables))
	for id := range d.tables {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Meta is Store.Meta.
func (d *Offline) Meta(prefix []byte, f func(key, value []byte) error) error {
	return d.s.Meta(prefix, f)
}

// Segments describes the segments of a table, in key order.
func (d *Offline) Segments(id table.ID) []table.SegmentInfo {
	t := d.tables[id]
	if t == nil {
		return nil
	}
	return describeSegments(t.segs, func(g *seg) int64 { return cardinality(t.dead[g.id.ID]) })
}

// Unflushed describes what of a table is not in segments: its arrival blocks,
// or the rows of layout row. ID is 0; report receives what cannot be read.
func (d *Offline) Unflushed(id table.ID, report func(Problem)) table.SegmentInfo {
	t := d.tables[id]
	if t == nil {
		return table.SegmentInfo{}
	}
	var out table.SegmentInfo
	space := keys.SpaceArrival
	if t.schema.Layout == table.RowStore {
		space = keys.SpaceRow
	}
	what := fmt.Sprintf("rows of table %d outside of segments", id)
	d.each(keys.AppendTable(nil, space, uint64(id)), what, report, func(key, value []byte) error {
		if space == keys.SpaceRow {
			out.Rows++
			out.Bytes += int64(len(key) + len(value))
			return nil
		}
		_, _, seq, err := keys.DecodeArrival(key)
		if err != nil || seq <= t.mark {
			return err
		}
		b, err := decodeArrival(t.schema, value, what)
		if err == nil {
			out.Rows += int64(b.n)
			out.Deleted += cardinality(t.gone[seq])
			out.Bytes += int64(len(value))
			out.Blocks++
		}
		return err
	})
	return out
}

// Chunks describes the columns of a table's segments; report receives what
// cannot be read.
func (d *Offline) Chunks(id table.ID, report func(Problem)) []table.ChunkInfo {
	t := d.tables[id]
	if t == nil {
		return nil
	}
	var out []table.ChunkInfo
	for _, g := range inKeyOrder(t.segs) {
		for i := range g.info.Columns {
			c, err := d.s.describeChunk(g, &g.info.Columns[i])
			if err != nil {
				report(problem(err))
			}
			out = append(out, c)
		}
	}
	return out
}

func cardinality(b *roaring.Bitmap) int64 {
	if b == nil {
		return 0
	}
	return int64(b.GetCardinality())
}

// problem makes a finding of any error.
func problem(err error) Problem {
	var c *table.CorruptionError
	if errors.As(err, &c) {
		return Problem{CorruptionError: *c}
	}
	return Problem{CorruptionError: table.CorruptionError{What: "data directory", Why: err.Error()}}
}

// each calls f for the keys that start with prefix, up to the first that
// cannot be read; what names them in the report.
func (d *Offline) each(prefix []byte, what string, report func(Problem), f func(key, value []byte) error) {
	it, err := d.s.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: keys.AfterPrefix(prefix)})
	if err != nil {
		report(problem(d.s.damaged(what, err)))
		return
	}
	for ok := it.First(); ok; ok = it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			break
		}
		if err := f(it.Key(), value); err != nil {
			p := problem(d.s.damaged(what, err))
			d.s.locate(&p.CorruptionError, it.Key())
			report(p)
		}
	}
	if err := it.Close(); err != nil {
		report(problem(d.s.damaged(what, err)))
	}
}

// load reads schemas, row counts and segment rows.
func (d *Offline) load(report func(Problem)) {
	d.each(keys.AppendMeta(nil, keys.MetaTable, nil), "schemas", report, func(key, value []byte) error {
		id, err := keys.DecodeMetaID(key)
		if err != nil {
			return malformed("schema", err)
		}
		schema, err := decodeSchema(value)
		if err == nil && uint64(schema.ID) != id {
			err = errors.New("it names another table")
		}
		if err != nil {
			return malformed(fmt.Sprintf("schema of table %d", id), err)
		}
		d.tables[schema.ID] = &offlineTable{schema: schema, rows: -1, dead: map[uint64]*roaring.Bitmap{}, gone: map[uint64]*roaring.Bitmap{}}
		return nil
	})
	d.each(keys.AppendMeta(nil, keys.MetaCount, nil), "row counts", report, func(key, value []byte) error {
		id, err := keys.DecodeMetaID(key)
		r := &schemaReader{src: value}
		if rows := r.uvarint(); err != nil || r.bad {
			return malformed("row count", errRow)
		} else if t := d.tables[table.ID(id)]; t != nil {
			t.rows = int64(rows)
		}
		return nil
	})
	d.each([]byte{keys.SpacePending}, "commit records of large transactions", report, func(key, value []byte) error {
		list, err := segment.DecodePending(value, fmt.Sprintf("commit record %x", key[1:]))
		for _, p := range list {
			if err == nil {
				err = d.addSegment(p.Key, p.Row)
			}
		}
		return err
	})
	for _, id := range d.Tables() {
		d.each(keys.AppendTable(nil, keys.SpaceSegment, uint64(id)), fmt.Sprintf("segment rows of table %d", id), report, d.addSegment)
		d.each(keys.AppendTable(nil, keys.SpaceTombstone, uint64(id)), fmt.Sprintf("deletes of table %d", id), report, d.addDeletes)
	}
}

// addDeletes notes a record of deleted rows.
func (d *Offline) addDeletes(key, value []byte) error {
	id, seq, err := keys.DecodeTombstone(key)
	if err != nil {
		return malformed("record of deleted rows", err)
	}
	what := fmt.Sprintf("record %d of deleted rows of table %d", seq, id)
	r, err := segment.DecodeTombstone(value, what)
	if err != nil {
		return err
	}
	t := d.tables[table.ID(id)]
	for _, a := range r.Arrivals {
		if t.gone[a.Sequence] == nil {
			t.gone[a.Sequence] = roaring.New()
		}
		t.gone[a.Sequence].Add(a.Row)
	}
	for _, g := range t.segs {
		if g.id.ID != r.Segment {
			continue
		}
		if !r.Rows.IsEmpty() && int64(r.Rows.Maximum()) >= g.info.Rows {
			return malformed(what, fmt.Errorf("it names row %d of a segment of %d", r.Rows.Maximum(), g.info.Rows))
		}
		t.kill(r.Segment, r.Rows)
	}
	return nil
}

func (t *offlineTable) kill(segment uint64, rows *roaring.Bitmap) {
	if rows == nil {
		return
	}
	if t.dead[segment] == nil {
		t.dead[segment] = roaring.New()
	}
	t.dead[segment].Or(rows)
}

func malformed(what string, err error) error {
	return &table.CorruptionError{What: what, Why: err.Error()}
}

func (d *Offline) addSegment(key, value []byte) error {
	id, err := keys.DecodeSegment(bytes.Clone(key))
	if err != nil {
		return malformed("segment row", err)
	}
	info, err := segment.DecodeInfo(value, segmentName(id))
	if err != nil {
		return err
	}
	t := d.tables[tableID(id)]
	if t == nil {
		return nil // of a dropped table
	}
	for _, g := range t.segs {
		if g.id == id {
			return nil // a large transaction's, published already
		}
	}
	t.segs = append(t.segs, newSeg(id, info, func(*seg) {}))
	t.mark = max(t.mark, info.FlushedTo)
	t.kill(id.ID, info.Deleted)
	return nil
}
