package colstore

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"

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
}

// offlineTable is what a directory holds of one table besides its rows.
type offlineTable struct {
	schema *table.Schema
	segs   []*seg
	mark   uint64 // flushed-to sequence: arrival blocks up to it are in segments
	rows   int64  // of layout row, as recorded; -1: not recorded
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
	if s.db, err = pebble.Open(dir, s.popts); err != nil {
		return nil, fmt.Errorf("open data directory %s: %w", dir, err)
	}
	d := &Offline{s: s, tables: map[table.ID]*offlineTable{}}
	d.load(report)
	return d, nil
}

// Close closes the directory.
func (d *Offline) Close() error { return d.s.db.Close() }

// Tables returns the tables that have a readable schema, ascending.
func (d *Offline) Tables() []table.ID {
	ids := make([]table.ID, 0, len(d.tables))
	for id := range d.tables {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Schema returns the schema of a table, nil if there is none.
func (d *Offline) Schema(id table.ID) *table.Schema {
	if t := d.tables[id]; t != nil {
		return t.schema
	}
	return nil
}

// Meta is Store.Meta.
func (d *Offline) Meta(prefix []byte, f func(key, value []byte) error) error {
	return d.s.Meta(prefix, f)
}

// Segments describes the segments of a table, in key order.
func (d *Offline) Segments(id table.ID) []table.SegmentInfo {
	if t := d.tables[id]; t != nil {
		return describeSegments(t.segs)
	}
	return nil
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
		d.tables[schema.ID] = &offlineTable{schema: schema, rows: -1}
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
	}
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
	return nil
}
