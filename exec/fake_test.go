package exec_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"sync/atomic"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
	"tsdb/sql/catalog"
	"tsdb/sql/types"
)

// storage is a table.Scan over rows in memory. Its knobs are what real storage
// may do: any batch size, selections, dictionaries, skipping all it is allowed
// to skip or nothing, delivering an order or declining it.
type storage struct {
	tables map[table.ID]*stored
	batch  int  // rows per batch
	sel    bool // batches carry a selection that hides rows of garbage
	dict   bool // text columns are dictionary encoded
	strict bool // skip every row outside of the request
	orders bool // deliver orders

	opened atomic.Int32 // readers not closed
	reads  atomic.Int32 // batches asked for
	failAt int32        // the read that fails with errRead; 0: none
	stopAt int32        // the read at which stop is called; 0: none
	stop   func()
	asked  []table.ScanRequest
}

// errRead is what a read that is told to fails with.
var errRead = errors.New("the disk is gone")

type stored struct {
	cat  *catalog.Table
	rows *vector.Batch
}

func (s *storage) Scan(id table.ID, req table.ScanRequest) (table.Scan, error) {
	t, ok := s.tables[id]
	if !ok {
		return nil, table.ErrUnknownTable
	}
	s.asked = append(s.asked, req)
	if req.Order != table.AnyOrder && !s.orders {
		return nil, table.ErrDeclined
	}
	var ids []int32
	for i := range t.rows.N {
		if !s.strict || req.NoPrune || inside(t, req, i) {
			ids = append(ids, int32(i))
		}
	}
	sortIDs(t, req, ids)
	return &scan{s: s, t: t, req: req, ids: ids}, nil
}

func sortIDs(t *stored, req table.ScanRequest, ids []int32) {
	if req.Order == table.AnyOrder {
		return
	}
	part := []rowkey.Part{{Column: t.cat.Storage.Time, Codec: rowkey.CodecInt}}
	if req.Order == table.KeyOrder {
		part = t.cat.Storage.Key
	}
	slices.SortStableFunc(ids, func(a, b int32) int {
		c := bytes.Compare(key(t, part, int(a)), key(t, part, int(b)))
		if req.Reverse {
			return -c
		}
		return c
	})
}

func key(t *stored, parts []rowkey.Part, row int) []byte {
	var k []byte
	for _, p := range parts {
		k = rowkey.AppendKey(k, p.Codec, t.rows.Cols[p.Column], row)
	}
	return k
}

// inside reports whether a row may be returned under the narrowest reading of the request.
func inside(t *stored, req table.ScanRequest, row int) bool {
	if req.Spans != nil {
		k := key(t, t.cat.Storage.Key, row)
		if !slices.ContainsFunc(req.Spans, func(s rowkey.Span) bool { return s.Contains(k) }) {
			return false
		}
	}
	if req.Time != nil {
		v := t.rows.Cols[t.cat.Storage.Time]
		if v.IsNull(row) {
			return false
		}
		var x int64
		if t.cat.Storage.TimeUnit == table.Days {
			switch d := v.I32[row]; d {
			case math.MaxInt32:
				x = math.MaxInt64
			case math.MinInt32:
				x = math.MinInt64
			default:
				x = int64(d) * 86_400_000_000
			}
		} else {
			x = v.I64[row]
		}
		if !slices.ContainsFunc(req.Time, func(r table.Range) bool {
			return x >= r.Lo && (x < r.Hi || r.Hi == math.MaxInt64)
		}) {
			return false
		}
	}
	for _, f := range req.Filters {
		if !passes(t, f, row) {
			return false
		}
	}
	return true
}

func passes(t *stored, f table.Filter, row int) bool {
	v := t.rows.Cols[f.Column]
	switch {
	case f.Op == table.IsNull:
		return v.IsNull(row)
	case f.Op == table.IsNotNull:
		return !v.IsNull(row)
	case v.IsNull(row):
		return false
	}
	c := types.Compare(t.cat.Columns[f.Column].Type, v, row, f.Value, 0)
	switch f.Op {
	case table.EQ:
		return c == 0
	case table.NE:
		return c != 0
	case table.LT:
		return c < 0
	case table.LE:
		return c <= 0
	case table.GT:
		return c > 0
	}
	return c >= 0
}

type scan struct {
	s    *storage
	t    *stored
	req  table.ScanRequest
	ids  []int32
	next atomic.Int32
}

func (s *scan) Morsels() int { return (len(s.ids) + s.s.batch - 1) / s.s.batch }

func (s *scan) EstimatedRows() int64 { return int64(len(s.ids)) }

func (s *scan) NewReader() table.Reader {
	s.s.opened.Add(1)
	return &reader{scan: s}
}

type reader struct {
	scan   *scan
	stats  table.ScanStats
	closed bool
}

func (r *reader) Next() (*vector.Batch, error) {
	s := r.scan
	switch n := s.s.reads.Add(1); {
	case n == s.s.failAt:
		return nil, errRead
	case n == s.s.stopAt:
		s.s.stop()
	}
	lo := int(s.next.Add(1)-1) * s.s.batch
	if lo >= len(s.ids) {
		return nil, nil
	}
	ids := s.ids[lo:min(len(s.ids), lo+s.s.batch)]
	r.stats.Rows += int64(len(ids))
	out := &vector.Batch{N: len(ids)}
	var sel []int32
	if s.s.sel {
		doubled := make([]int32, 0, 2*len(ids))
		for i, id := range ids {
			sel = append(sel, int32(2*i))
			doubled = append(doubled, id, ids[0])
		}
		ids, out.N, out.Sel = doubled, len(doubled), sel
	}
	for _, c := range s.req.Columns {
		v := vector.New(s.t.rows.Cols[c].Kind, len(ids))
		v.AppendVector(s.t.rows.Cols[c], ids)
		if s.s.dict && v.Kind == vector.Bytes {
			v = encoded(v)
		}
		out.Cols = append(out.Cols, v)
	}
	return out, nil
}

func (r *reader) Stats() table.ScanStats { return r.stats }

func (r *reader) Close() {
	if !r.closed {
		r.closed = true
		r.scan.s.opened.Add(-1)
	}
}

// encoded returns v dictionary encoded.
func encoded(v *vector.Vector) *vector.Vector {
	out := &vector.Vector{Kind: vector.Bytes, N: v.N, Valid: v.Valid, Dict: vector.New(vector.Bytes, 0)}
	at := map[string]int32{}
	for i := range v.N {
		if v.IsNull(i) {
			out.I32 = append(out.I32, 0)
			continue
		}
		b := string(v.Bytes(i))
		if _, ok := at[b]; !ok {
			at[b] = int32(out.Dict.N)
			out.Dict.AppendString(b)
		}
		out.I32 = append(out.I32, at[b])
	}
	if out.Dict.N == 0 {
		out.Dict.AppendString("")
	}
	return out
}
