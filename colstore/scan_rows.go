package colstore

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"tsdb/colstore/keys"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

// rowScan is a scan of a table of layout row, always in key order.
type rowScan struct {
	sn     *Snapshot
	src    *source
	req    table.ScanRequest
	spans  []rowkey.Span // of whole keys, in reading order
	handed bool
}

func (s *Snapshot) scanRows(src *source, req table.ScanRequest) (table.Scan, error) {
	timeFirst := len(src.schema.Key) > 0 && src.schema.Time >= 0 && src.schema.Key[0].Column == src.schema.Time
	if req.Order == table.TimeOrder && !timeFirst || req.Order == table.KeyOrder && len(src.schema.Key) == 0 {
		return nil, table.ErrDeclined
	}
	prefix := keys.AppendTable(nil, keys.SpaceRow, uint64(src.schema.ID))
	sc := &rowScan{sn: s, src: src, req: req}
	if req.Spans == nil || req.NoPrune || len(src.schema.Key) == 0 {
		sc.spans = []rowkey.Span{{Start: prefix, End: keys.AfterPrefix(prefix)}}
		return sc, nil
	}
	for _, sp := range req.Spans {
		full := rowkey.Span{Start: append(bytes.Clone(prefix), sp.Start...), End: keys.AfterPrefix(prefix)}
		if sp.End != nil {
			full.End = append(bytes.Clone(prefix), sp.End...)
		}
		sc.spans = append(sc.spans, full)
	}
	if req.Reverse {
		for i, j := 0, len(sc.spans)-1; i < j; i, j = i+1, j-1 {
			sc.spans[i], sc.spans[j] = sc.spans[j], sc.spans[i]
		}
	}
	return sc, nil
}

// NewReader returns the one worker.
func (sc *rowScan) NewReader() table.Reader {
	r := &rowReader{sc: sc, dec: newRowDecoder(sc.src.schema), done: sc.handed}
	if sc.src.over != nil {
		r.own = &sc.src.over.rows
	}
	sc.handed = true
	for _, c := range sc.req.Columns {
		r.batch.Cols = append(r.batch.Cols, vector.New(sc.src.schema.Columns[c].Kind, 0))
	}
	if sc.req.RowIDs {
		r.ids = vector.New(vector.Bytes, 0)
		r.batch.Cols = append(r.batch.Cols, r.ids)
	}
	return r
}

// Morsels is 1: rows of this layout are few.
func (sc *rowScan) Morsels() int { return 1 }

// EstimatedRows is an upper bound of the rows that will be returned.
func (sc *rowScan) EstimatedRows() int64 {
	if o := sc.src.over; o != nil {
		// An older snapshot may lack rows that the transaction replaced.
		return sc.src.rows - o.added + o.rows.most()
	}
	return sc.src.rows
}

// rowReader merges the stored rows of each span with those of the transaction,
// whose rows win.
type rowReader struct {
	sc    *rowScan
	dec   *rowDecoder
	own   *rowOverlay // nil: none
	it    *pebble.Iterator
	has   bool           // it stands on a row, or point is one
	point []byte         // key of the only row of the span, found without it; nil: it is in use
	value []byte         // of that row
	mine  []uint32       // ops of own, in the span and not yet returned, in reading order
	ids   *vector.Vector // nil: not asked for
	span  int
	open  bool // a span is being read
	done  bool
	key   []byte // of the row, if asked for
	buf   []byte // of key and value
	batch vector.Batch
	stats table.ScanStats
}

// Next returns the next batch, nil at the end.
func (r *rowReader) Next() (*vector.Batch, error) {
	if r.done {
		return nil, nil
	}
	for i, c := range r.sc.req.Columns {
		r.batch.Cols[i].Reset(r.sc.src.schema.Columns[c].Kind)
	}
	if r.ids != nil {
		r.ids.Reset(vector.Bytes)
	}
	r.batch.N = 0
	for r.batch.N < vector.BatchSize {
		value, err := r.row()
		if err != nil {
			return nil, err
		}
		if value == nil {
			r.done = true
			break
		}
		if err := r.dec.split(value); err != nil {
			return nil, &table.CorruptionError{What: fmt.Sprintf("row of table %d", r.sc.src.schema.ID), Why: err.Error()}
		}
		for i, c := range r.sc.req.Columns {
			r.dec.appendTo(r.batch.Cols[i], c)
		}
		if r.ids != nil {
			r.ids.AppendBytes(r.key)
		}
		r.batch.N++
		r.stats.BytesRead += int64(len(value))
	}
	if r.batch.N == 0 {
		return nil, nil
	}
	r.stats.Rows += int64(r.batch.N)
	r.stats.BlocksRead++
	return &r.batch, nil
}

// row returns the next row's value, valid until the next call; nil at the end.
func (r *rowReader) row() ([]byte, error) {
	for {
		if !r.open {
			if r.span >= len(r.sc.spans) {
				return nil, nil
			}
			if err := r.enter(r.sc.spans[r.span]); err != nil {
				return nil, err
			}
			r.span++
		}
		if !r.has && len(r.mine) == 0 {
			if r.point == nil {
				if err := r.it.Error(); err != nil {
					return nil, r.damaged(err)
				}
			}
			r.open = false
			continue
		}
		if value, err := r.pick(); value != nil || err != nil {
			return value, err
		}
	}
}

// pick takes the row that comes first of the stored and the own ones; nil if
// there are only deleted ones.
func (r *rowReader) pick() ([]byte, error) {
	for len(r.mine) > 0 {
		op := &r.own.ops[r.mine[0]]
		c := -1
		if r.has {
			c = bytes.Compare(op.key(), r.at())
			if r.sc.req.Reverse {
				c = -c
			}
		}
		if c > 0 {
			break
		}
		r.mine = r.mine[1:]
		if c == 0 {
			r.move()
		}
		if !op.deleted() {
			r.key = op.key()
			return op.value(), nil
		}
	}
	if !r.has {
		return nil, nil
	}
	value := r.value
	if r.point == nil {
		var err error
		if value, err = r.it.ValueAndErr(); err != nil {
			return nil, r.damaged(err)
		}
	}
	r.buf = append(r.buf[:0], value...)
	if r.ids != nil {
		r.buf = append(r.buf, r.at()...)
		r.key = r.buf[len(value):]
	}
	value = r.buf[:len(value)]
	r.move()
	return value, nil
}

// at returns the key of the stored row that is next.
func (r *rowReader) at() []byte {
	if r.point != nil {
		return r.point
	}
	return r.it.Key()
}

func (r *rowReader) damaged(err error) error {
	return r.sc.sn.s.damaged(fmt.Sprintf("rows of table %d", r.sc.src.schema.ID), err)
}

func (r *rowReader) move() {
	if r.point != nil {
		r.has = false
	} else if r.sc.req.Reverse {
		r.has = r.it.Prev()
	} else {
		r.has = r.it.Next()
	}
}

// enter positions on the first row of a span.
func (r *rowReader) enter(sp rowkey.Span) error {
	r.mine = nil
	if r.own != nil {
		r.mine = r.own.within(sp)
	}
	if r.sc.req.Reverse {
		r.mine = slices.Clone(r.mine)
		slices.Reverse(r.mine)
	}
	r.open = true
	if found, err := r.lookUp(sp); found || err != nil {
		return err
	}
	if r.it == nil {
		it, err := r.sc.sn.rowReader().NewIter(&pebble.IterOptions{LowerBound: sp.Start, UpperBound: sp.End})
		if err != nil {
			return r.damaged(err)
		}
		r.it = it
	} else {
		r.it.SetBounds(sp.Start, sp.End)
	}
	if r.sc.req.Reverse {
		r.has = r.it.Last()
	} else {
		r.has = r.it.First()
	}
	return nil
}

// lookUp finds the row of a span that is one key. An iterator would go on from
// it to find that there is no other, over all older versions of the row: those
// of a counter are many. No key is the beginning of another one, so that a
// row whose key begins the span is alone in the span of its prefix.
func (r *rowReader) lookUp(sp rowkey.Span) (bool, error) {
	r.point = nil
	if !r.sc.src.schema.Unique || !bytes.Equal(sp.End, keys.AfterPrefix(sp.Start)) {
		return false, nil
	}
	value, closer, err := r.sc.sn.rowReader().Get(sp.Start)
	if errors.Is(err, pebble.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, r.damaged(err)
	}
	r.value = append(r.value[:0], value...)
	r.point, r.has = sp.Start, true
	return true, closer.Close()
}

// Stats returns the counts so far.
func (r *rowReader) Stats() table.ScanStats { return r.stats }

// Close releases the iterator.
func (r *rowReader) Close() {
	r.done = true
	if r.it != nil {
		_ = r.it.Close()
		r.it = nil
	}
}
