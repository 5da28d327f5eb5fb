package arena

import (
	"sync"
	"testing"
)

func TestPool(t *testing.T) {
	p := New(6 << 20)
	small := p.Get(1000)
	p.Put(small)
	if s := p.Stats(); s != (Stats{}) {
		t.Errorf("small buffers are counted: %+v", s)
	}
	a, b := p.Get(3<<20), p.Get(2<<20)
	if cap(a) != 4<<20 || cap(b) != 2<<20 || len(a) != 0 {
		t.Fatalf("buffers of %d and %d bytes", cap(a), cap(b))
	}
	a = a[:cap(a)]
	a[0], a[len(a)-1] = 1, 2
	c := p.Get(2<<20 + 1)
	p.Put(a)
	p.Put(b)
	p.Put(c) // beyond the limit
	if s := p.Stats(); s != (Stats{Kept: 6 << 20, Mapped: 3}) {
		t.Errorf("%+v", s)
	}
	d := p.Get(4 << 20)
	if s := p.Stats(); s.Reused != 1 || s.Used != 4<<20 || s.Kept != 2<<20 {
		t.Errorf("%+v", s)
	}
	p.Put(append(d[:cap(d)], 1)) // has grown: not ours any more
	p.Close()
	p.Put(d)
	if s := p.Stats(); s.Kept != 0 {
		t.Errorf("kept after Close: %+v", s)
	}
}

func TestConcurrentUse(t *testing.T) {
	p := New(16 << 20)
	defer p.Close()
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 50 {
				b := p.Get((1 + i%3) << 20)
				b = b[:cap(b)]
				b[0], b[len(b)-1] = byte(w), byte(w)
				if b[0] != byte(w) || b[len(b)-1] != byte(w) {
					t.Error("two have the same buffer")
				}
				p.Put(b)
			}
		}()
	}
	wg.Wait()
}

var sink byte

// touch writes one byte of each page.
func touch(b []byte) {
	b = b[:cap(b)]
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	sink = b[0]
}

// BenchmarkFirstTouch writes all pages of 64 MiB: of a reused buffer of a pool,
// of one fresh from the system with huge pages, and of Go's heap.
func BenchmarkFirstTouch(b *testing.B) {
	const size = 64 << 20
	b.Run("pool", func(b *testing.B) {
		p := New(size)
		defer p.Close()
		b.SetBytes(size)
		for b.Loop() {
			x := p.Get(size)
			touch(x)
			p.Put(x)
		}
	})
	b.Run("mapped", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			x := mapped(size)
			touch(x)
			unmap(x)
		}
	})
	b.Run("heap", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			touch(make([]byte, size))
		}
	})
}
