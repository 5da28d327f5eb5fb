package colstore

import (
	"bytes"
	"math"
	"slices"

	"tsdb/colstore/encoding"
	"tsdb/colstore/segment"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
)

// cut splits n rows, whose sort keys begin at at, into blocks. A series of
// seriesRows and more has blocks of its own, equally long ones, so that its
// values differ little from row to row and a query for it reads nothing else;
// shorter ones share blocks. It also returns the number of series.
func (b *builder) cut(at, n int) (blocks []encoding.Block, series int) {
	if !b.split {
		return segment.SplitBlocks(nil, 0, n), n
	}
	open := 0 // first row of the block that short series share
	for from := 0; from < n; series++ {
		to := b.seriesEnd(at, from, n)
		if to-from >= seriesRows {
			blocks = segment.SplitBlocks(blocks, open, from)
			for size := evenly(to-from, encoding.MaxRows); from < to; from += size {
				blocks = append(blocks, encoding.Block{From: from, To: min(to, from+size)})
			}
			open = to
		} else if to-open > encoding.MaxRows {
			blocks = append(blocks, encoding.Block{From: open, To: from})
			open = from
		}
		from = to
	}
	return segment.SplitBlocks(blocks, open, n), series
}

// seriesEnd returns the row behind the last one of the series of row from.
func (b *builder) seriesEnd(at, from, n int) int {
	first := b.keys.At(at + from)
	first = first[:len(first)-b.tail]
	same := func(i int) bool {
		k := b.keys.At(at + i)
		return len(k)-b.tail == len(first) && bytes.Equal(k[:len(first)], first)
	}
	to := from + 1
	for step := 1; to < n && same(min(n, to+step)-1); step *= 2 {
		to = min(n, to+step)
	}
	for to < n && same(to) {
		to++
	}
	return to
}

// setTimes notes the bounds of the times of each block.
func (b *builder) setTimes(info *segment.Info, v *vector.Vector, blocks []encoding.Block) {
	info.HasTimes = true
	for _, blk := range blocks {
		r := table.Range{Lo: math.MaxInt64, Hi: math.MinInt64}
		for i := blk.From; i < blk.To; i++ {
			if t, null := timeOf(b.schema, v, i); !null {
				r.Lo, r.Hi = min(r.Lo, t), max(r.Hi, t)
			}
		}
		info.BlockTimes = append(info.BlockTimes, r)
	}
}

// setParts cuts the blocks into parts, narrower where texts are long.
func (b *builder) setParts(info *segment.Info, blocks []encoding.Block) {
	most := partRows
	for most > encoding.MaxRows && b.gather.text*int64(most) > partBytes {
		most /= 2
	}
	for from := 0; from < len(blocks); {
		to := from + 1
		for to < len(blocks) && to-from < segment.MaxBlocks && blocks[to].To-blocks[from].From <= most {
			to++
		}
		info.PartBlocks = append(info.PartBlocks, to-from)
		from = to
	}
}

// columnOrder returns the columns ascending by id.
func columnOrder(s *table.Schema) []int {
	order := make([]int, len(s.Columns))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int { return int(s.Columns[x].ID) - int(s.Columns[y].ID) })
	return order
}
