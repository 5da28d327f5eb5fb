package colstore

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"tsdb/colstore/keys"
	"tsdb/colstore/table"
)

// arrivalRecord is an arrival block on its way from the log into memory.
type arrivalRecord struct {
	seq   uint64
	value []byte
	block *block
	keys  keyBatch
	err   error
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
		if v.schema.Unique {
			a.keys.warmed += v.active.warm(a.keys.hashes)
			for k, h := range a.keys.hashes {
				v.active.add(a.keys.keys.At(k), h)
			}
			v.shared.raise(v.active.max)
		}
	}
	return nil
}

func (a *arrivalRecord) decode(v *version) {
	a.block, a.err = decodeArrival(v.schema, a.value, fmt.Sprintf("arrival block %d of table %d", a.seq, v.schema.ID))
	if a.err == nil && v.schema.Unique {
		a.keys.fill(v.schema, a.block.cols, a.block.n, nil)
	}
}
