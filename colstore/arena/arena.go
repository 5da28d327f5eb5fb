// Package arena keeps large byte buffers outside of Go's heap for code that
// needs many of them one after another: flush, compaction, ingest.
//
// A fresh page of the operating system costs its first touch, on virtual
// machines tens of microseconds a page, and a heap that grows and shrinks pays
// it again and again. Buffers of an arena are powers of two, mapped with huge
// pages where the system has them (Linux), and reused.
//
// It is not an allocator of objects: a buffer holds bytes without pointers, and
// whoever got it puts it back.
//
// # Invariants
//
// Kept buffers together are at most Limit bytes; what is put back beyond goes
// back to the system. A buffer's content is arbitrary. After Put nobody may
// touch it.
package arena

import (
	"math/bits"
	"sync"
)

const (
	// minClass is the smallest class, 2 MiB: one huge page. Smaller buffers come
	// from Go's heap.
	minClass = 21
	// maxClass is the largest, 1 GiB.
	maxClass = 30
)

// Pool hands out buffers. Safe for concurrent use.
type Pool struct {
	limit int64

	mu    sync.Mutex
	free  [maxClass + 1][][]byte
	stats Stats
}

// Stats counts what a pool does.
type Stats struct {
	Kept   int64 // bytes of buffers that wait for reuse
	Used   int64 // bytes of buffers that are out
	Mapped int64 // buffers got from the system
	Reused int64 // buffers got from the pool
}

// New returns a pool that keeps at most limit bytes.
func New(limit int64) *Pool { return &Pool{limit: limit} }

func class(n int) int {
	if n <= 1<<minClass {
		return minClass
	}
	return bits.Len(uint(n - 1))
}

// Get returns a buffer of length 0 with room for at least n bytes, of arbitrary
// content. Put it back.
func (p *Pool) Get(n int) []byte {
	c := class(n)
	if n < 1<<(minClass-1) || c > maxClass {
		return make([]byte, 0, n)
	}
	size := int64(1) << c
	p.mu.Lock()
	p.stats.Used += size
	if k := len(p.free[c]); k > 0 {
		b := p.free[c][k-1]
		p.free[c] = p.free[c][:k-1]
		p.stats.Kept -= size
		p.stats.Reused++
		p.mu.Unlock()
		return b[:0]
	}
	p.stats.Mapped++
	p.mu.Unlock()
	return mapped(int(size))[:0]
}

// Put gives a buffer of Get back. Buffers that have grown elsewhere are left to
// the collector.
func (p *Pool) Put(b []byte) {
	size := int64(cap(b))
	c := bits.Len(uint(size)) - 1
	if size == 0 || c < minClass || c > maxClass || size != 1<<c {
		return
	}
	p.mu.Lock()
	p.stats.Used -= size
	if p.stats.Kept+size <= p.limit {
		p.free[c] = append(p.free[c], b[:0])
		p.stats.Kept += size
		p.mu.Unlock()
		return
	}
	p.mu.Unlock()
	unmap(b[:cap(b)])
}

// Stats returns the counts of now.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats
}

// Close gives the kept buffers back to the system. Buffers that are out stay valid.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.free {
		for _, b := range p.free[c] {
			unmap(b[:cap(b)])
		}
		p.free[c] = nil
	}
	p.stats.Kept, p.limit = 0, 0
}
