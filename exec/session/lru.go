package session

import (
	"container/list"
	"sync"
)

// lru is a bounded map that forgets what was used longest ago. Safe for
// concurrent use.
type lru[V any] struct {
	mu    sync.Mutex
	limit int
	order *list.List // front: used last; values are lruEntry[V]
	byKey map[string]*list.Element
}

type lruEntry[V any] struct {
	key   string
	value V
}

func newLRU[V any](limit int) *lru[V] {
	return &lru[V]{limit: limit, order: list.New(), byKey: map[string]*list.Element{}}
}

func (c *lru[V]) get(key string) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	el, ok := c.byKey[key]
	if !ok {
		return v, false
	}
	c.order.MoveToFront(el)
	return el.Value.(lruEntry[V]).value, true
}

func (c *lru[V]) put(key string, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if el, ok := c.byKey[key]; ok {
		el.Value = lruEntry[V]{key, v}
		c.order.MoveToFront(el)
		return
	}
	c.byKey[key] = c.order.PushFront(lruEntry[V]{key, v})
	for len(c.byKey) > c.limit {
		last := c.order.Back()
		delete(c.byKey, last.Value.(lruEntry[V]).key)
		c.order.Remove(last)
	}
}
