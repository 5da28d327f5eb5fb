// Package locks keeps exclusive locks on names of keys and tables until their
// owners, transactions, end.
//
// It is a table of names in memory: it knows neither rows nor versions, and a
// crash forgets it, as it does the transactions. Whoever waits stands in a queue
// behind the lock's owner and gets the lock in order of arrival. An owner waits
// for one lock at a time, so the graph of waiting is a set of chains
//
//	owner -> lock that it waits for -> owner of that lock -> ...
//
// and a wait closes a cycle only at its beginning: then the chain that starts at
// the wanted lock ends at the asker, who gets table.ErrDeadlock instead.
//
// Invariants
//
//   - A lock without waiters is one entry of a map; only a queue is allocated.
//   - Queues and what owners wait for change under both the mutex of the shard
//     and that of the graph, in this order.
//   - A lock whose owner lets go while others wait goes over to the first of
//     them; nobody overtakes the queue.
//
// Names are hashed: two keys with one hash are one lock, which makes somebody
// wait for nothing and never lets anybody through.
package locks

import (
	"context"
	"math"
	"sync"

	"tsdb/colstore/table"
)

// Name is what can be locked: a key of a table or a unique index by its hash.
type Name struct {
	Object uint64 // id of the table or index
	Hash   uint64
}

// Table names the right to modify a table as a whole.
func Table(id uint64) Name { return Name{Object: id, Hash: math.MaxUint64} }

// Bytes is the memory of one lock: its entry in the map and in its owner's list,
// both with the slack that growing leaves.
const Bytes = 112

const (
	// shardBits: more shards than a machine's processors, so that they seldom meet.
	shardBits = 6
	// shrinkAbove is the locks of a shard above which an emptied map is given
	// back: maps do not shrink.
	shrinkAbove = 1024
)

// Manager is a set of locks. The zero value is ready. Safe for concurrent use.
type Manager struct {
	shards [1 << shardBits]shard
	graph  sync.Mutex // guards queue and Owner.waits, together with the shard's mutex
}

type shard struct {
	mu   sync.Mutex
	held map[Name]lock
	peak int      // largest len(held) since the map was made
	_    [40]byte // to a cache line: neighbours do not slow each other down
}

type lock struct {
	owner *Owner
	queue *queue // nil: nobody waits
}

// queue is who waits for a lock, in order of arrival.
type queue struct {
	owner   *Owner // of the lock
	waiting []*waiter
}

type waiter struct {
	owner *Owner
	ready chan struct{} // closed when the lock is the waiter's
}

// Owner is who holds locks: a transaction. The zero value holds none. Not for
// concurrent use, and not to be copied.
type Owner struct {
	names []Name
	waits *queue
}

// Held returns the number of locks.
func (o *Owner) Held() int { return len(o.names) }

// Bytes returns the memory of the owner's locks.
func (o *Owner) Bytes() int64 { return int64(len(o.names)) * Bytes }

func (m *Manager) shard(n Name) *shard {
	h := (n.Hash ^ n.Object*0x9E3779B97F4A7C15) * 0xD6E8FEB86659FD93
	return &m.shards[h>>(64-shardBits)]
}

// Acquire makes o the owner of a lock. It waits while another one is, until ctx
// ends. To ask for an owned lock is allowed and changes nothing.
//
// Errors: table.ErrDeadlock if the owner waits for o in turn; the cause of ctx.
func (m *Manager) Acquire(ctx context.Context, o *Owner, n Name) error {
	s := m.shard(n)
	s.mu.Lock()
	l, taken := s.held[n]
	if !taken {
		if s.held == nil {
			s.held = map[Name]lock{}
		}
		s.held[n] = lock{owner: o}
		s.peak = max(s.peak, len(s.held))
		s.mu.Unlock()
		o.names = append(o.names, n)
		return nil
	}
	if l.owner == o {
		s.mu.Unlock()
		return nil
	}
	w, err := m.enqueue(s, l, o, n)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	return m.wait(ctx, s, w, n)
}

// enqueue puts o behind the others who wait for a lock. The caller holds the
// shard.
func (m *Manager) enqueue(s *shard, l lock, o *Owner, n Name) (*waiter, error) {
	m.graph.Lock()
	defer m.graph.Unlock()
	for at := l.owner; ; at = at.waits.owner {
		if at == o {
			return nil, table.ErrDeadlock
		}
		if at.waits == nil {
			break
		}
	}
	if l.queue == nil {
		l.queue = &queue{owner: l.owner}
		s.held[n] = l
	}
	w := &waiter{owner: o, ready: make(chan struct{})}
	l.queue.waiting = append(l.queue.waiting, w)
	o.waits = l.queue
	return w, nil
}

func (m *Manager) wait(ctx context.Context, s *shard, w *waiter, n Name) error {
	select {
	case <-w.ready:
		w.owner.names = append(w.owner.names, n)
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m.graph.Lock()
	defer m.graph.Unlock()
	q := w.owner.waits
	if q == nil { // the lock came at the same time: it is kept until the owner's end
		w.owner.names = append(w.owner.names, n)
		return context.Cause(ctx)
	}
	w.owner.waits = nil
	for i := range q.waiting {
		if q.waiting[i] == w {
			q.waiting = append(q.waiting[:i], q.waiting[i+1:]...)
			break
		}
	}
	if len(q.waiting) == 0 {
		s.held[n] = lock{owner: q.owner}
	}
	return context.Cause(ctx)
}

// WaitsFor reports whether a waits for b, or for one that waits for b.
func (m *Manager) WaitsFor(a, b *Owner) bool {
	m.graph.Lock()
	defer m.graph.Unlock()
	for a.waits != nil {
		if a = a.waits.owner; a == b {
			return true
		}
	}
	return false
}

// ReleaseAll lets go of every lock of o.
func (m *Manager) ReleaseAll(o *Owner) {
	m.ReleaseTo(o, 0)
	o.names = nil
}

// ReleaseTo lets go of the locks that o acquired after it held so many.
func (m *Manager) ReleaseTo(o *Owner, held int) {
	for _, n := range o.names[held:] {
		s := m.shard(n)
		s.mu.Lock()
		if l := s.held[n]; l.queue == nil {
			delete(s.held, n)
			s.shrink()
		} else {
			m.handOver(s, l, n)
		}
		s.mu.Unlock()
	}
	o.names = o.names[:held]
}

// shrink gives the memory of a map back that was large.
func (s *shard) shrink() {
	if len(s.held) == 0 && s.peak > shrinkAbove {
		s.held, s.peak = nil, 0
	}
}

// handOver makes the first who waits the owner. The caller holds the shard.
func (m *Manager) handOver(s *shard, l lock, n Name) {
	m.graph.Lock()
	defer m.graph.Unlock()
	q := l.queue
	w := q.waiting[0]
	q.waiting[0] = nil
	q.waiting = q.waiting[1:]
	q.owner, w.owner.waits = w.owner, nil
	l.owner = w.owner
	if len(q.waiting) == 0 {
		l.queue = nil
	}
	s.held[n] = l
	close(w.ready)
}
