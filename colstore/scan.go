package colstore

import (
	"bytes"
	"fmt"
	"math"
	"sort"
	"sync/atomic"

	"tsdb/colstore/segment"
	"tsdb/colstore/table"
	"tsdb/rowkey"
)

// Scan starts a scan. Errors: table.ErrUnknownTable, table.ErrDeclined.
func (s *Snapshot) Scan(id table.ID, req table.ScanRequest) (table.Scan, error) {
	src, err := s.source(id)
	if err != nil {
		return nil, err
	}
	for _, c := range req.Columns {
		if c < 0 || c >= len(src.schema.Columns) {
			return nil, fmt.Errorf("scan of table %d: column %d does not exist", id, c)
		}
	}
	if src.schema.Layout == table.RowStore {
		return s.scanRows(src, req)
	}
	sc := &scan{s: s.s, schema: src.schema, req: req, expired: src.expired}
	sc.prepareFilters()
	if req.Order == table.AnyOrder {
		sc.plan(src)
		return sc, nil
	}
	if !sc.canOrder() {
		return nil, table.ErrDeclined
	}
	sc.plan(src)
	return &orderedScan{scan: sc}, nil
}

// scan is a running request over a columnar table.
type scan struct {
	s       *Store
	schema  *table.Schema
	req     table.ScanRequest
	filters []pushed
	morsels []morsel
	next    atomic.Int64
	rows    int64 // upper bound
	expired int64 // rows with an earlier time are hidden
	skipped table.ScanStats
}

// pushed is a filter in the form of zone maps.
type pushed struct {
	col int
	op  table.CompareOp
	key []byte
}

// morsel is a piece of work: blocks of one part of a segment, or a block in
// memory.
type morsel struct {
	at     int // number of the container in row ids
	seg    *seg
	gone   *deletes // of seg
	blocks []int
	first  bool // of its segment
	mem    *block
	picked bool    // only rows of mem are wanted
	rows   []int32 // ascending
}

// prepareFilters keeps the filters that zone maps can judge.
func (sc *scan) prepareFilters() {
	if sc.req.NoPrune {
		return
	}
	for _, f := range sc.req.Filters {
		if f.Column < 0 || f.Column >= len(sc.schema.Columns) {
			continue
		}
		p := pushed{col: f.Column, op: f.Op}
		if f.Op != table.IsNull && f.Op != table.IsNotNull {
			c := sc.schema.Columns[f.Column]
			if c.Codec == rowkey.CodecNone || f.Value == nil || f.Value.Kind != c.Kind || f.Value.N == 0 || f.Value.IsNull(0) {
				continue
			}
			p.key = rowkey.AppendKey(nil, c.Codec, f.Value, 0)
		}
		sc.filters = append(sc.filters, p)
	}
}

// plan lists the morsels, leaving out what ranges of keys and times, buckets
// and the zone maps of whole segments exclude.
func (sc *scan) plan(src *source) {
	for i, g := range src.segs {
		keep := sc.keepBlocks(g)
		if len(keep) == 0 {
			sc.skipped.SegmentsSkipped++
			sc.skipped.BlocksSkipped += int64(len(g.info.BlockRows))
			sc.skipped.BytesSkipped += sc.requested(g, -1)
			continue
		}
		sc.skipped.BlocksSkipped += int64(len(g.info.BlockRows) - len(keep))
		sc.addParts(i, g, src.deleted(i), keep)
	}
	var picker *picker
	if sc.req.Order == table.AnyOrder && len(src.blocks) > 0 {
		picker = sc.newPicker(src)
	}
	for i, b := range src.blocks {
		if b.alive() == 0 {
			continue
		}
		rows, whole := picker.pick(b, i >= src.committed)
		if !whole && len(rows) == 0 || !sc.keepMemory(b, whole) {
			sc.skipped.BlocksSkipped += int64(b.n+1023) / 1024
			continue
		}
		if whole {
			sc.rows += int64(b.alive())
		} else {
			sc.rows += int64(len(rows))
		}
		sc.morsels = append(sc.morsels, morsel{at: len(src.segs) + i, mem: b, picked: !whole, rows: rows})
	}
}

// requested returns the encoded size of the requested columns of a part of a
// segment, of all parts if part is negative.
func (sc *scan) requested(g *seg, part int) int64 {
	var n int64
	for _, c := range sc.req.Columns {
		col := g.info.Column(uint32(sc.schema.Columns[c].ID))
		if col == nil {
			continue
		}
		for p, x := range col.Parts {
			if part < 0 || p == part {
				n += int64(x.Size)
			}
		}
	}
	return n
}

// addParts cuts the kept blocks of a segment into morsels at the parts.
func (sc *scan) addParts(at int, g *seg, gone *deletes, keep []int) {
	end, first := 0, true
	for p, n := range g.info.PartBlocks {
		end += n
		k := sort.SearchInts(keep, end)
		if k == 0 {
			sc.skipped.BytesSkipped += sc.requested(g, p)
			continue
		}
		sc.morsels = append(sc.morsels, morsel{at: at, seg: g, gone: gone, blocks: keep[:k:k], first: first})
		first = false
		for _, b := range keep[:k] {
			sc.rows += int64(g.info.BlockRows[b]) + 1
		}
		keep = keep[k:]
	}
}

// keepBlocks returns the blocks of a segment that may hold wanted rows.
func (sc *scan) keepBlocks(g *seg) []int {
	n := len(g.info.BlockRows)
	if g.lo <= g.hi && g.hi < sc.expired && !g.id.Bucket.Special() {
		return nil
	}
	keep := make([]int, 0, n)
	if sc.req.NoPrune {
		for i := 0; i < n; i++ {
			keep = append(keep, i)
		}
		return keep
	}
	if sc.req.Time != nil && g.info.HasTimes && !overlapsTime(sc.req.Time, g.lo, g.hi) {
		return nil
	}
	for _, f := range sc.filters {
		if c := g.info.Column(uint32(sc.schema.Columns[f.col].ID)); c != nil && !c.Stats.MayMatch(f.op, f.key) {
			return nil
		}
	}
	times := sc.req.Time != nil && g.info.HasTimes
	add := func(from, to int) {
		if len(keep) > 0 {
			from = max(from, keep[len(keep)-1]+1)
		}
		for i := from; i < to; i++ {
			if times && !overlapsTime(sc.req.Time, g.info.BlockTimes[i].Lo, g.info.BlockTimes[i].Hi) {
				continue
			}
			if g.info.HasTimes && sc.expires(g.info.BlockTimes[i]) > 1 {
				continue
			}
			keep = append(keep, i)
		}
	}
	if sc.req.Spans == nil || !g.info.HasKeys {
		add(0, n)
		return keep
	}
	for _, sp := range sc.req.Spans {
		if from, to := spanBlocks(g.info, sp); from < to {
			add(from, to)
		}
	}
	return keep
}

// expires says how many rows of a block with these bounds retention hides: 0
// none, 1 perhaps some, 2 all. NULL and infinite times are never hidden.
func (sc *scan) expires(r table.Range) int {
	switch {
	case r.Lo > r.Hi || r.Lo >= sc.expired || r.Hi == math.MinInt64:
		return 0
	case r.Hi < sc.expired && r.Lo != math.MinInt64:
		return 2
	}
	return 1
}

// spanBlocks returns the blocks that may hold keys of a span. The block before
// the first one that begins at or after Start may reach into the span, even
// where blocks begin with the same key.
func spanBlocks(info *segment.Info, sp rowkey.Span) (from, to int) {
	n := info.FirstKeys.Len()
	if bytes.Compare(info.LastKey, sp.Start) < 0 {
		return 0, 0
	}
	from = sort.Search(n, func(i int) bool { return bytes.Compare(info.FirstKeys.At(i), sp.Start) >= 0 })
	to = n
	if sp.End != nil {
		to = sort.Search(n, func(i int) bool { return bytes.Compare(info.FirstKeys.At(i), sp.End) >= 0 })
	}
	return max(0, from-1), to
}

// overlapsTime reports whether a range holds a time between lo and hi
// inclusive; the last range may reach +infinity.
func overlapsTime(ranges []table.Range, lo, hi int64) bool {
	if lo > hi {
		return false
	}
	for _, r := range ranges {
		if r.Lo <= hi && (lo < r.Hi || r.Hi == math.MaxInt64) {
			return true
		}
	}
	return false
}

// keepMemory reports whether a block in memory may hold wanted rows, by its
// times and, if not judged yet, its keys.
func (sc *scan) keepMemory(b *block, byKeys bool) bool {
	if !b.nullTime && sc.expires(table.Range{Lo: b.lo, Hi: b.hi}) > 1 {
		return false
	}
	if sc.req.NoPrune {
		return true
	}
	if sc.req.Time != nil && sc.schema.Time >= 0 && !overlapsTime(sc.req.Time, b.lo, b.hi) {
		return false
	}
	if !byKeys || sc.req.Spans == nil || len(sc.schema.Key) == 0 {
		return true
	}
	if len(sc.req.Spans) == 0 {
		return false
	}
	keys := &b.sorted().keys
	first, last := keys.At(0), keys.At(keys.Len()-1)
	for _, sp := range sc.req.Spans {
		if sp.Overlaps(first, last) {
			return true
		}
	}
	return false
}

// NewReader returns another worker.
func (sc *scan) NewReader() table.Reader { return &handle{r: newReader(sc)} }

// Morsels returns the number of pieces of work.
func (sc *scan) Morsels() int { return len(sc.morsels) }

// EstimatedRows is an upper bound of the rows that will be returned.
func (sc *scan) EstimatedRows() int64 { return sc.rows }
