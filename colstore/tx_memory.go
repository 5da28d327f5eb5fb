package colstore

import (
	"bytes"

	"tsdb/colstore/table"
)

// A transaction may hold half of Options.Memory, within these bounds: its
// commit writes rows and entries into a batch that is about as large, so that
// it takes the budget once, but not more.
const (
	// minTxBytes lets servers of little memory take some 100,000 rows at once.
	minTxBytes = 64 << 20
	// maxTxBytes keeps a commit below the 4 GiB of a Pebble batch, which may
	// hold other transactions, too.
	maxTxBytes = 2 << 30
)

const (
	// rowOpOverhead is the bytes of a rowOp with the slack of its slice, of its
	// slots in positions and of its places in runs.
	rowOpOverhead = 40 + 16 + 8
	// entryOverhead is the same of a uniqueEntry.
	entryOverhead = 80 + 16
	// maxArenaChunk bounds what the last chunk of a keeper wastes.
	maxArenaChunk = 256 << 10
)

// held returns the bytes that the transaction keeps in memory until its end.
func (t *Tx) held() int64 {
	n := t.locks.Bytes()
	for _, tt := range t.order {
		n += tt.held + tt.bytes
		if tt.index != nil {
			n += int64(len(tt.index.keys.Data)) + keyIndexOverhead*int64(tt.index.len())
		}
	}
	return n
}

// heldBeside returns what the transaction holds without the rows and entries of
// one table, and without locks.
func (t *Tx) heldBeside(tt *txTable) int64 { return t.held() - tt.held - t.locks.Bytes() }

// tooLarge refuses a transaction that holds n bytes, if these are too many.
func (t *Tx) tooLarge(n int64) error {
	if n <= t.s.txBytes {
		return nil
	}
	return &table.TransactionTooLargeError{Bytes: n, Limit: t.s.txBytes}
}

func (tt *txTable) opKey(i int) []byte { return tt.ops[i].key() }

func (tt *txTable) entryPrefix(i int) []byte {
	e := &tt.entries[i]
	return e.key[:e.prefix]
}

// keeper copies byte strings into chunks: one allocation for many.
type keeper struct{ chunk []byte }

// keep returns a copy of b.
func (a *keeper) keep(b []byte) []byte {
	if len(b) > cap(a.chunk)-len(a.chunk) {
		a.chunk = make([]byte, 0, max(len(b), min(max(256, 2*cap(a.chunk)), maxArenaChunk)))
	}
	from := len(a.chunk)
	a.chunk = append(a.chunk, b...)
	return a.chunk[from:len(a.chunk):len(a.chunk)]
}

// positions finds places in a list by key, the last one where keys repeat:
// open addressing, 4 bytes a slot. The list keeps the keys and hands them out.
type positions struct {
	slots []uint32 // position + 1; 0: free
	n     int      // slots taken
}

// slot returns where a key is or belongs.
func (p *positions) slot(key []byte, at func(int) []byte) int {
	mask := uint64(len(p.slots) - 1)
	for s := hashKey(key) & mask; ; s = (s + 1) & mask {
		if i := p.slots[s]; i == 0 || bytes.Equal(at(int(i-1)), key) {
			return int(s)
		}
	}
}

// find returns the position of a key, -1 if it is absent.
func (p *positions) find(key []byte, at func(int) []byte) int {
	if p.n == 0 {
		return -1
	}
	return int(p.slots[p.slot(key, at)]) - 1
}

// set makes i the position of its key.
func (p *positions) set(i int, at func(int) []byte) {
	if (p.n+1)*3 > len(p.slots)*2 {
		p.grow(at)
	}
	s := p.slot(at(i), at)
	if p.slots[s] == 0 {
		p.n++
	}
	p.slots[s] = uint32(i + 1)
}

func (p *positions) grow(at func(int) []byte) {
	old := p.slots
	p.slots = make([]uint32, max(16, 2*len(old)))
	for _, i := range old {
		if i > 0 {
			p.slots[p.slot(at(int(i-1)), at)] = i
		}
	}
}

// rebuild makes the first n positions the only ones.
func (p *positions) rebuild(n int, at func(int) []byte) {
	clear(p.slots)
	p.n = 0
	for i := range n {
		p.set(i, at)
	}
}
