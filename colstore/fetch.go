package colstore

import (
	"fmt"
	"sort"

	"github.com/RoaringBitmap/roaring/v2"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
)

// container is what a place stands for.
type container struct {
	seg *seg
	blk *block
}

// container finds a place of a table among a version (nil: none) and the
// transaction's own rows (tt may be nil).
func findContainer(v *version, tt *txTable, p place) (container, bool) {
	switch {
	case p.own:
		if tt != nil {
			if b := tt.blockAt(p.block); b != nil && b.ord == p.block {
				return container{blk: b}, true
			}
		}
	case p.seg != 0:
		if v != nil {
			if i := v.segIndex(p.seg); i >= 0 {
				return container{seg: v.segs.segs[i]}, true
			}
		}
		if tt != nil {
			for _, g := range tt.staged {
				if g.id.ID == p.seg {
					return container{seg: g}, true
				}
			}
		}
	case v != nil:
		if i := v.blockIndex(p.block); i >= 0 {
			return container{blk: v.blocks[i]}, true
		}
	}
	return container{}, false
}

// blockAt returns the transaction's block that holds an ordinal.
func (tt *txTable) blockAt(ord uint64) *block {
	i := sort.Search(len(tt.blocks), func(i int) bool { return tt.blocks[i].end() > ord })
	if i < len(tt.blocks) && tt.blocks[i].ord <= ord {
		return tt.blocks[i]
	}
	return nil
}

// fetcher reads single rows, decoding each block of a segment once for rows
// that follow each other.
type fetcher struct {
	s      *Store
	schema *table.Schema
	want   []int // columns

	seg    *seg
	block  int
	reader segReader
	cols   []vector.Vector // of the decoded block
}

func newFetcher(s *Store, schema *table.Schema, want []int) *fetcher {
	return &fetcher{s: s, schema: schema, want: want, cols: make([]vector.Vector, len(want))}
}

func (f *fetcher) close() { f.reader.close() }

// add appends the wanted columns of a row to dst, one vector per column.
func (f *fetcher) add(c container, row int, dst []*vector.Vector) error {
	if c.blk != nil {
		b := c.blk.reshape(f.schema)
		for i, col := range f.want {
			dst[i].AppendFrom(b.cols[col], row)
		}
		return nil
	}
	b := c.seg.blockOf(row)
	if f.seg != c.seg || f.block != b {
		if f.seg != c.seg {
			f.reader.init(f.s, c.seg, f.schema)
		}
		for i, col := range f.want {
			if err := f.reader.decode(col, []int{b}, &f.cols[i]); err != nil {
				return err
			}
		}
		f.seg, f.block = c.seg, b
	}
	row -= int(c.seg.starts[b])
	for i := range f.want {
		dst[i].AppendFrom(&f.cols[i], row)
	}
	return nil
}

// fetchSet returns the wanted columns of rows of one container.
func (f *fetcher) fetchSet(c container, rows *roaring.Bitmap) ([]*vector.Vector, error) {
	dst := f.vectors(int(rows.GetCardinality()))
	it := rows.Iterator()
	for it.HasNext() {
		if err := f.add(c, int(it.Next()), dst); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

func (f *fetcher) vectors(n int) []*vector.Vector {
	dst := make([]*vector.Vector, len(f.want))
	for i, col := range f.want {
		dst[i] = vector.New(f.schema.Columns[col].Kind, n)
	}
	return dst
}

// allColumns returns the indexes of a schema's columns.
func allColumns(s *table.Schema) []int {
	all := make([]int, len(s.Columns))
	for i := range all {
		all[i] = i
	}
	return all
}

// named turns row ids of a scan of this snapshot into rows by place.
func (s *Snapshot) named(src *source, ids *vector.Vector, sel []int32) (map[place]*roaring.Bitmap, error) {
	out := map[place]*roaring.Bitmap{}
	n := ids.N
	if sel != nil {
		n = len(sel)
	}
	last, set := -1, (*roaring.Bitmap)(nil)
	for i := 0; i < n; i++ {
		row := i
		if sel != nil {
			row = int(sel[i])
		}
		if ids.IsNull(row) {
			continue
		}
		id := ids.I64[row&ids.Mask()]
		at := int(id >> 32)
		if at != last {
			p, ok := src.place(at)
			if !ok || id < 0 {
				return nil, fmt.Errorf("row id %d of table %d is not of this snapshot", id, src.schema.ID)
			}
			if set = out[p]; set == nil {
				set = roaring.New()
				out[p] = set
			}
			last = at
		}
		set.Add(uint32(id))
	}
	return out, nil
}

// rowID names a row of container at of a source.
func rowID(at int, row int) int64 { return int64(at)<<32 | int64(row) }

// place returns the place of container at: segments first, then blocks.
func (src *source) place(at int) (place, bool) {
	if at < len(src.segs) {
		return place{seg: src.segs[at].id.ID}, true
	}
	at -= len(src.segs)
	if at >= len(src.blocks) {
		return place{}, false
	}
	b := src.blocks[at]
	return place{block: b.ord, own: at >= src.committed}, true
}

// position is the inverse of place, -1 if the source lacks it.
func (src *source) position(p place) int {
	if p.seg != 0 {
		for i, g := range src.segs {
			if g.id.ID == p.seg {
				return i
			}
		}
		return -1
	}
	from, to := 0, src.committed
	if p.own {
		from, to = src.committed, len(src.blocks)
	}
	i := from + sort.Search(to-from, func(i int) bool { return src.blocks[from+i].ord >= p.block })
	if i < to && src.blocks[i].ord == p.block {
		return len(src.segs) + i
	}
	return -1
}
