package locks

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"tsdb/colstore/table"
)

var ctx = context.Background()

func key(i int) Name { return Name{Object: 1, Hash: uint64(i)} }

func acquire(t testing.TB, m *Manager, o *Owner, n Name) {
	t.Helper()
	if err := m.Acquire(ctx, o, n); err != nil {
		t.Fatal(err)
	}
}

// want asks for a lock that is taken and returns when the asker stands in the queue.
func want(m *Manager, ctx context.Context, o *Owner, n Name) chan error {
	got := make(chan error, 1)
	go func() { got <- m.Acquire(ctx, o, n) }()
	for waiting := false; !waiting; {
		m.graph.Lock()
		waiting = o.waits != nil
		m.graph.Unlock()
	}
	return got
}

// empty checks that nothing is left behind.
func empty(t *testing.T, m *Manager) {
	t.Helper()
	for i := range m.shards {
		if n := len(m.shards[i].held); n > 0 {
			t.Errorf("shard %d still has %d locks", i, n)
		}
	}
}

func TestQueueIsFair(t *testing.T) {
	var m Manager
	owners := make([]Owner, 5)
	var got []chan error
	acquire(t, &m, &owners[0], key(7))
	acquire(t, &m, &owners[0], key(7))
	if n := owners[0].Held(); n != 1 {
		t.Errorf("%d locks for one name", n)
	}
	for i := range owners[1:] {
		got = append(got, want(&m, ctx, &owners[1+i], key(7)))
	}
	for i := range got {
		m.ReleaseAll(&owners[i])
		if err := <-got[i]; err != nil {
			t.Fatal(err)
		}
		for _, later := range got[i+1:] {
			select {
			case <-later:
				t.Fatalf("one behind waiter %d got the lock", i)
			default:
			}
		}
		if o := &owners[i+1]; o.Held() != 1 || o.Bytes() != Bytes {
			t.Errorf("waiter %d holds %d locks", i, o.Held())
		}
	}
	m.ReleaseAll(&owners[4])
	empty(t, &m)
}

func TestDeadlock(t *testing.T) {
	for n := 2; n <= 4; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var m Manager
			owners := make([]Owner, n)
			got := make([]chan error, n)
			for i := range owners {
				acquire(t, &m, &owners[i], key(i))
			}
			for i := range n - 1 {
				got[i] = want(&m, ctx, &owners[i], key(i+1))
			}
			last := &owners[n-1]
			if err := m.Acquire(ctx, last, key(0)); !errors.Is(err, table.ErrDeadlock) {
				t.Fatalf("the wait that closes the cycle: %v", err)
			}
			// The victim's end lets the others through, one after the other.
			m.ReleaseAll(last)
			for i := n - 2; i >= 0; i-- {
				if err := <-got[i]; err != nil {
					t.Fatal(err)
				}
				m.ReleaseAll(&owners[i])
			}
			empty(t, &m)
		})
	}
}

// A waiter who becomes the owner of a lock is what those behind it wait for.
func TestDeadlockBehindQueue(t *testing.T) {
	var m Manager
	var a, b, c Owner
	acquire(t, &m, &a, key(1))
	acquire(t, &m, &c, key(2))
	gotB := want(&m, ctx, &b, key(1))
	gotC := want(&m, ctx, &c, key(1))
	m.ReleaseAll(&a)
	if err := <-gotB; err != nil {
		t.Fatal(err)
	}
	if err := m.Acquire(ctx, &b, key(2)); !errors.Is(err, table.ErrDeadlock) {
		t.Fatalf("b waits for c, which waits for b: %v", err)
	}
	m.ReleaseAll(&b)
	if err := <-gotC; err != nil {
		t.Fatal(err)
	}
	m.ReleaseAll(&c)
	empty(t, &m)
}

func TestCancelledWait(t *testing.T) {
	var m Manager
	var a, b, c Owner
	stop := errors.New("statement timeout")
	short, cancel := context.WithCancelCause(ctx)
	acquire(t, &m, &a, key(1))
	acquire(t, &m, &b, key(2))
	gotB := want(&m, short, &b, key(1))
	gotC := want(&m, ctx, &c, key(1))
	cancel(stop)
	if err := <-gotB; !errors.Is(err, stop) {
		t.Fatalf("cancelled wait: %v", err)
	}
	// b waits no more: no cycle.
	gotA := want(&m, ctx, &a, key(2))
	m.ReleaseAll(&b)
	if err := <-gotA; err != nil {
		t.Fatal(err)
	}
	m.ReleaseAll(&a)
	if err := <-gotC; err != nil {
		t.Fatal(err)
	}
	// The only waiter leaves.
	short, cancel = context.WithCancelCause(ctx)
	gotA = want(&m, short, &a, key(1))
	cancel(stop)
	if err := <-gotA; !errors.Is(err, stop) {
		t.Fatalf("cancelled wait: %v", err)
	}
	m.ReleaseAll(&c)
	empty(t, &m)
}

func TestReleaseTo(t *testing.T) {
	var m Manager
	var a, b Owner
	acquire(t, &m, &a, key(1))
	held := a.Held()
	acquire(t, &m, &a, key(2))
	acquire(t, &m, &a, Table(1))
	m.ReleaseTo(&a, held)
	acquire(t, &m, &b, key(2))
	acquire(t, &m, &b, Table(1))
	got := want(&m, ctx, &b, key(1))
	m.ReleaseAll(&a)
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	m.ReleaseAll(&b)
	empty(t, &m)
}

// Many owners take locks in any order; nobody hangs, each lock has one owner
// at a time, and every deadlock has a victim.
func TestManyOwners(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	var m Manager
	const names = 6
	var inside [names]int // guarded by the locks
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rng := rand.New(rand.NewPCG(seed, uint64(g)))
			var o Owner
			for range 2000 {
				var have []int
				for range 1 + rng.IntN(3) {
					c, cancel := ctx, context.CancelFunc(func() {})
					if rng.IntN(8) == 0 {
						c, cancel = context.WithTimeout(ctx, time.Duration(rng.IntN(50))*time.Microsecond)
					}
					n := rng.IntN(names)
					err := m.Acquire(c, &o, key(n))
					cancel()
					if err != nil {
						break
					}
					if !slices.Contains(have, n) {
						have = append(have, n)
						if inside[n]++; inside[n] != 1 {
							t.Errorf("lock %d has %d owners", n, inside[n])
						}
					}
				}
				for _, n := range have {
					inside[n]--
				}
				m.ReleaseAll(&o)
			}
		}()
	}
	wg.Wait()
	empty(t, &m)
}

func BenchmarkAcquireRelease(b *testing.B) {
	var m Manager
	var o Owner
	b.ReportAllocs()
	for i := 0; i < b.N; i += 100 {
		for k := range 100 {
			_ = m.Acquire(ctx, &o, key(i+k))
		}
		m.ReleaseTo(&o, 0)
	}
}

// BenchmarkAcquire keeps all locks: growing included.
func BenchmarkAcquire(b *testing.B) {
	var m Manager
	var o Owner
	b.ReportAllocs()
	for i := range b.N {
		_ = m.Acquire(ctx, &o, Name{Object: 1, Hash: uint64(i) * 0x9E3779B97F4A7C15})
	}
}
