package colstore

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"tsdb/colstore/keys"
	"tsdb/colstore/table"
)

// arrivalRecord is an arrival block on its way from the log into memory.
type arrivalRecord struct {
	seq    uint64
	value  []byte
	block  *block
	maxKey []byte
	err    error
}

// decodeAhead is how many arrival blocks are decoded at a time, by all
// processors; their values are copied for it.
const decodeAhead = 32

// arrivals adopts the arrival blocks that no segment covers.
func (r *recovery) arrivals() error {
	var v *version
	records := make([]arrivalRecord, 0, decodeAhead)
	adopt := func() error {
		err := v.adoptArrivals(records)
		records = records[:0]
		return err
	}
	return r.eachTable(keys.SpaceArrival, "arrival blocks", func(key, value []byte) error {
		id, _, seq, err := keys.DecodeArrival(key)
		if err != nil {
			return err
		}
		if v == nil || v.schema.ID != table.ID(id) {
			v, records = r.tables[table.ID(id)], records[:0]
		}
		r.seq = max(r.seq, seq)
		if seq <= r.marks[table.ID(id)] {
			return r.batch.Delete(key, nil)
		}
		records = append(records, arrivalRecord{seq: seq, value: bytes.Clone(value)})
		if len(records) < decodeAhead {
			return nil
		}
		return adopt()
	}, func() error {
		if len(records) == 0 {
			return nil
		}
		return adopt()
	})
}

// adoptArrivals adds blocks, in the order of the log, and their keys.
func (v *version) adoptArrivals(records []arrivalRecord) error {
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < len(records); i = int(next.Add(1)) - 1 {
			records[i].decode(v)
		}
	}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(records)) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	for i := range records {
		a := &records[i]
		if a.err != nil {
			return a.err
		}
		v.addBlock(a.block, a.seq)
		v.rows, v.seq = v.rows+int64(a.block.n), a.seq
		v.data++
		v.newest = max(v.newest, newestOf(v.schema, a.block))
		if v.schema.Unique {
			v.shared.raise(a.maxKey)
		}
	}
	return nil
}

func (a *arrivalRecord) decode(v *version) {
	a.block, a.err = decodeArrival(v.schema, a.value, fmt.Sprintf("arrival block %d of table %d", a.seq, v.schema.ID))
	if a.err != nil || !v.schema.Unique {
		return
	}
	if v.schema.Time >= 0 {
		a.maxKey = aboveKeys // times prove that keys are new
		return
	}
	var key []byte
	for row := range a.block.n {
		key = appendRowKey(key[:0], v.schema.Key, a.block.cols, row)
		if bytes.Compare(key, a.maxKey) > 0 {
			a.maxKey = append(a.maxKey[:0], key...)
		}
	}
}

// aboveKeys is above the keys of any table.
var aboveKeys = bytes.Repeat([]byte{0xFF}, 64)

// newestOf returns the newest finite time of a block's rows.
func newestOf(s *table.Schema, b *block) int64 {
	if s.Time < 0 || b.hi != math.MaxInt64 {
		return b.hi
	}
	newest := int64(math.MinInt64)
	for row := range b.n {
		if t, null := timeOf(s, b.cols[s.Time], row); !null && t != math.MaxInt64 {
			newest = max(newest, t)
		}
	}
	return newest
}
