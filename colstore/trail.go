package colstore

import (
	"sync"
	"weak"

	"github.com/RoaringBitmap/roaring/v2"

	"tsdb/colstore/table"
)

// trail is the list of replacements of containers by flushes and compactions.
// A state holds the end of the list at its time; whoever named rows in that
// state follows the list to where they are now. What no state or transaction
// can follow any more, the garbage collector takes.
type trail struct {
	next  *trail      // nil: the end
	moved *relocation // what happened between here and next
}

// relocation says where the rows of replaced containers of a table went.
type relocation struct {
	table   table.ID
	segs    []*seg   // the new segments
	starts  []uint32 // position of the first row of each among the rows of all
	sources []relocated

	mu   sync.Mutex
	lost bool // sources were dropped to save memory
}

// relocated is one replaced container. where holds, per row, its position
// among the rows of all new segments, or noPlace if it was deleted before.
type relocated struct {
	at    place
	where []uint32
}

// noPlace marks rows that have no new place.
const noPlace = ^uint32(0)

// maxRelocations bounds the memory of the relocations that somebody may still
// follow: beyond, the oldest are lost, and who needs them repeats its statement.
const maxRelocations = 64 << 20

func (r *relocation) bytes() int64 {
	var n int64
	for i := range r.sources {
		n += 4 * int64(len(r.sources[i].where))
	}
	return n
}

func (r *relocation) drop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost, r.sources = true, nil
}

// apply moves rows named by place. ok is false if where they went is lost.
func (r *relocation) apply(rows map[place]*roaring.Bitmap) (ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost {
		return false
	}
	for i := range r.sources {
		src := &r.sources[i]
		set, found := rows[src.at]
		if !found {
			continue
		}
		delete(rows, src.at)
		r.scatter(src, set, func(g *seg, row uint32) {
			p := place{seg: g.id.ID}
			if rows[p] == nil {
				rows[p] = roaring.New()
			}
			rows[p].Add(row)
		})
	}
	return true
}

// scatter calls f for the new place of each row of set that has one.
func (r *relocation) scatter(src *relocated, set *roaring.Bitmap, f func(g *seg, row uint32)) {
	at := 0
	it := set.Iterator()
	for it.HasNext() {
		old := it.Next()
		if int(old) >= len(src.where) {
			continue
		}
		pos := src.where[old]
		if pos == noPlace {
			continue
		}
		if pos < r.starts[at] || at+1 < len(r.starts) && pos >= r.starts[at+1] {
			at = r.target(pos)
		}
		f(r.segs[at], pos-r.starts[at])
	}
}

func (r *relocation) target(pos uint32) int {
	lo, hi := 0, len(r.starts)
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		if r.starts[mid] <= pos {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// relocations remembers relocations weakly, to bound their memory.
type relocations struct {
	list []weak.Pointer[relocation]
}

// add appends a replacement to the trail of a draft. The caller holds the
// commit lock and publishes the draft.
func (x *relocations) add(draft *state, r *relocation) {
	end := draft.trail
	end.moved = r
	end.next = &trail{}
	draft.trail = end.next
	kept := x.list[:0]
	var total int64
	for _, w := range append(x.list, weak.Make(r)) {
		if p := w.Value(); p != nil {
			kept = append(kept, w)
			total += p.bytes()
		}
	}
	for len(kept) > 1 && total > maxRelocations {
		if p := kept[0].Value(); p != nil {
			total -= p.bytes()
			p.drop()
		}
		kept = kept[1:]
	}
	x.list = kept
}

// follow moves rows of a table from where they were at t to where they are at
// the end of to; ok is false if a step is lost.
func (t *trail) follow(to *trail, id table.ID, rows map[place]*roaring.Bitmap) (ok bool) {
	for ; t != to && t != nil && t.next != nil; t = t.next {
		if t.moved != nil && t.moved.table == id && !t.moved.apply(rows) {
			return false
		}
	}
	return true
}
