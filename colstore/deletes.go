package colstore

import (
	"github.com/RoaringBitmap/roaring/v2"

	"tsdb/colstore/keys"
	"tsdb/colstore/segment"
	"tsdb/colstore/table"
)

// deletes is the set of deleted rows of one container, a segment or a block in
// memory. Immutable: a commit that deletes more makes another one. The nil
// value is the empty set.
type deletes struct {
	rows *roaring.Bitmap
	n    int
	// records are the T records, by sequence, that hold the set; what they lack
	// is in the segment row.
	records []uint64
}

// maxRecords bounds the T records of one container: the next commit writes the
// whole set as one record in their place.
const maxRecords = 64

func newDeletes(rows *roaring.Bitmap, records []uint64) *deletes {
	return &deletes{rows: rows, n: int(rows.GetCardinality()), records: records}
}

// infoDeletes returns the deleted rows that a segment row brings with it.
func infoDeletes(info *segment.Info) *deletes {
	if info.Deleted == nil || info.Deleted.IsEmpty() {
		return nil
	}
	return newDeletes(info.Deleted, nil)
}

func (d *deletes) count() int {
	if d == nil {
		return 0
	}
	return d.n
}

func (d *deletes) contains(row int) bool {
	return d != nil && d.rows.Contains(uint32(row))
}

// bitmap returns the set, nil if it is empty.
func (d *deletes) bitmap() *roaring.Bitmap {
	if d == nil {
		return nil
	}
	return d.rows
}

// union returns the rows of d and more; d itself if more has none.
func (d *deletes) union(more *roaring.Bitmap) *deletes {
	if more == nil || more.IsEmpty() {
		return d
	}
	if d == nil {
		return newDeletes(more.Clone(), nil)
	}
	rows := d.rows.Clone()
	rows.Or(more)
	return newDeletes(rows, d.records)
}

// lacking returns the rows of set that are not in d.
func (d *deletes) lacking(set *roaring.Bitmap) *roaring.Bitmap {
	if d == nil {
		return set
	}
	fresh := set.Clone()
	fresh.AndNot(d.rows)
	return fresh
}

// since returns the rows that are in d and not in before.
func (d *deletes) since(before *deletes) *roaring.Bitmap {
	switch {
	case d == nil || d == before:
		return nil
	case before == nil:
		return d.rows
	}
	rows := d.rows.Clone()
	rows.AndNot(before.rows)
	return rows
}

// appendAlive appends the rows from to to that are not in the set, counted
// from from, to sel. With none deleted it returns nil, all.
func (d *deletes) appendAlive(sel []int32, from, to, shift int) (out []int32, all bool) {
	if d == nil {
		return sel, true
	}
	it := d.rows.Iterator()
	it.AdvanceIfNeeded(uint32(from))
	if !it.HasNext() || int(it.PeekNext()) >= to {
		return sel, true
	}
	next := int(it.Next())
	for row := from; row < to; row++ {
		if row == next {
			if next = to; it.HasNext() {
				next = int(it.Next())
			}
			continue
		}
		sel = append(sel, int32(row-from+shift))
	}
	return sel, false
}

// place names a container to a transaction: a segment, a committed block in
// memory or a block of the transaction.
type place struct {
	seg   uint64 // id of a segment; 0: a block
	block uint64 // ord of a block
	own   bool   // of the transaction
}

// segIndex returns the position of a segment in the version, -1 if it is gone.
func (v *version) segIndex(id uint64) int {
	for i, g := range v.segs.segs {
		if g.id.ID == id {
			return i
		}
	}
	return -1
}

// blockIndex returns the position of the block that begins at ord, -1 if it is gone.
func (v *version) blockIndex(ord uint64) int {
	lo, hi := 0, len(v.blocks)
	for lo < hi {
		mid := (lo + hi) / 2
		if v.blocks[mid].ord < ord {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(v.blocks) && v.blocks[lo].ord == ord {
		return lo
	}
	return -1
}

// blockOf returns the block that holds the row with an ordinal, nil if it is gone.
func (v *version) blockOf(ord uint64) *block {
	lo, hi := 0, len(v.blocks)
	for lo < hi {
		mid := (lo + hi) / 2
		if v.blocks[mid].end() <= ord {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(v.blocks) && v.blocks[lo].ord <= ord {
		return v.blocks[lo]
	}
	return nil
}

// deleted returns the deleted rows of segment i.
func (v *version) deleted(i int) *deletes {
	if v.dels == nil {
		return nil
	}
	return v.dels[i]
}

// setDeleted makes d the deleted rows of segment i of a version that is not
// published yet and shares dels with its predecessor until owned.
func (v *version) setDeleted(i int, d *deletes, owned bool) {
	if v.dels == nil {
		v.dels = make([]*deletes, len(v.segs.segs))
	} else if !owned {
		v.dels = append(make([]*deletes, 0, len(v.dels)), v.dels...)
	}
	v.dels[i] = d
}

// gone returns the deleted rows of a place of a version; ok is false if the
// container is not in the version.
func (v *version) gone(p place) (d *deletes, ok bool) {
	if p.seg != 0 {
		i := v.segIndex(p.seg)
		if i < 0 {
			return nil, false
		}
		return v.deleted(i), true
	}
	i := v.blockIndex(p.block)
	if i < 0 {
		return nil, false
	}
	return v.blocks[i].gone, true
}

// arrivalBucket is the bucket in the keys of T records about rows in memory.
var arrivalBucket = keys.BucketNoTime

// recordKey returns the key of a T record.
func recordKey(id table.ID, b keys.Bucket, seq uint64) []byte {
	return keys.AppendTombstone(nil, uint64(id), b, seq)
}
