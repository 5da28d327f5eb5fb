package colstore

import (
	"bytes"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"

	"tsdb/colstore/keys"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

// RowVersion is one stored form of a row.
type RowVersion struct {
	Where    string // kind of container: "segment", "arrival block" or "row"
	Segment  uint64 // of a segment, its id
	Position int64  // of the row in its container
	Sequence uint64 // of an arrival block; of a segment the largest of its rows; 0: unknown
	Deleted  bool
	Values   *vector.Batch
}

// History finds the stored rows whose key begins with the values, one-row
// vectors for the first columns of the key: segments first, then arrival
// blocks in order of sequence. f gets all columns of each row.
//
// Errors: those of f; *table.CorruptionError.
func (d *Offline) History(id table.ID, values []*vector.Vector, f func(RowVersion) error) error {
	t := d.tables[id]
	if t == nil {
		return table.ErrUnknownTable
	}
	parts := t.schema.Key
	if len(values) == 0 || len(values) > len(parts) {
		return fmt.Errorf("the key has %d columns, not %d", len(parts), len(values))
	}
	cols := make([]*vector.Vector, len(t.schema.Columns))
	for i, v := range values {
		cols[parts[i].Column] = v
	}
	key := appendRowKey(nil, parts[:len(values)], cols, 0)
	if t.schema.Layout == table.RowStore {
		return d.rowHistory(t.schema, key, f)
	}
	for _, g := range inKeyOrder(t.segs) {
		if err := d.segmentHistory(t, g, key, f); err != nil {
			return err
		}
	}
	return d.arrivalHistory(t, key, f)
}

func (d *Offline) rowHistory(s *table.Schema, key []byte, f func(RowVersion) error) (err error) {
	dec := newRowDecoder(s)
	prefix := append(keys.AppendTable(nil, keys.SpaceRow, uint64(s.ID)), key...)
	d.each(prefix, fmt.Sprintf("rows of table %d", s.ID), func(p Problem) { err = &p.CorruptionError }, func(_, value []byte) error {
		b, derr := dec.batch(value)
		if derr == nil && err == nil {
			err = f(RowVersion{Where: "row", Values: b})
		}
		return derr
	})
	return err
}

// segmentHistory decodes the blocks that may hold the key.
func (d *Offline) segmentHistory(t *offlineTable, g *seg, key []byte, f func(RowVersion) error) error {
	if !g.info.HasKeys {
		return nil
	}
	s := t.schema
	from, to := spanBlocks(g.info, rowkey.Span{Start: key, End: keys.AfterPrefix(key)})
	var r segReader
	r.init(d.s, g, s)
	defer r.close()
	cols := make([]*vector.Vector, len(s.Columns))
	for i := range cols {
		cols[i] = &vector.Vector{}
	}
	position := int64(0)
	for b := 0; b < to; b++ {
		rows := int(g.info.BlockRows[b]) + 1
		if b < from {
			position += int64(rows)
			continue
		}
		for c := range cols {
			if err := r.decode(c, []int{b}, cols[c]); err != nil {
				return err
			}
		}
		v := RowVersion{Where: "segment", Segment: g.id.ID, Position: position, Sequence: g.info.SeqMax}
		if err := matching(s, cols, rows, key, v, t.dead[g.id.ID], f); err != nil {
			return err
		}
		position += int64(rows)
	}
	return nil
}

func (d *Offline) arrivalHistory(t *offlineTable, key []byte, f func(RowVersion) error) (err error) {
	id := uint64(t.schema.ID)
	what := fmt.Sprintf("arrival blocks of table %d", id)
	d.each(keys.AppendTable(nil, keys.SpaceArrival, id), what, func(p Problem) { err = &p.CorruptionError }, func(k, value []byte) error {
		_, _, seq, derr := keys.DecodeArrival(k)
		if derr != nil || seq <= t.mark || err != nil {
			return derr
		}
		b, derr := decodeArrival(t.schema, value, what)
		if derr == nil {
			err = matching(t.schema, b.cols, b.n, key, RowVersion{Where: "arrival block", Sequence: seq}, t.gone[seq], f)
		}
		return derr
	})
	return err
}

// matching calls f for the rows that have the key; v holds the place of the
// first row.
func matching(s *table.Schema, cols []*vector.Vector, n int, key []byte, v RowVersion, dead *roaring.Bitmap, f func(RowVersion) error) error {
	var buf []byte
	first := v.Position
	for i := 0; i < n; i++ {
		if buf = appendRowKey(buf[:0], s.Key, cols, i); !bytes.HasPrefix(buf, key) {
			continue
		}
		v.Position = first + int64(i)
		v.Deleted = dead != nil && dead.Contains(uint32(v.Position))
		v.Values = (&vector.Batch{Cols: cols, N: n, Sel: []int32{int32(i)}}).Clone()
		if err := f(v); err != nil {
			return err
		}
	}
	return nil
}
