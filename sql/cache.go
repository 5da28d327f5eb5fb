package sql

import "sync"

// Limits of a Cache whose zero value or NewCache(0, 0) is used. More entries
// help only clients that send very many distinct texts; more bytes are taken
// from the memory of queries.
const (
	DefaultCacheEntries = 1024
	DefaultCacheBytes   = 32 << 20

	// maxCachedText keeps texts that are data rather than statements out.
	maxCachedText = 64 << 10
	// treeFactor is the memory of a decoded tree over its encoded size.
	treeFactor = 12
)

// Cache keeps parsed query strings by their exact text and forgets the least
// recently used. It is safe for concurrent use; the statements it returns are
// shared: read only. Errors and statements with bulk VALUES are not kept.
type Cache struct {
	maxEntries int
	maxBytes   int64

	mu     sync.Mutex
	byText map[string]*cacheEntry
	bytes  int64
	head   cacheEntry // ring: head.next is the most recently used
}

type cacheEntry struct {
	text       string
	stmts      []*Statement
	size       int64
	prev, next *cacheEntry
}

// NewCache returns a cache of at most maxEntries texts and about maxBytes
// bytes of text and trees; 0 means the default.
func NewCache(maxEntries int, maxBytes int64) *Cache {
	if maxEntries <= 0 {
		maxEntries = DefaultCacheEntries
	}
	if maxBytes <= 0 {
		maxBytes = DefaultCacheBytes
	}
	c := &Cache{maxEntries: maxEntries, maxBytes: maxBytes, byText: map[string]*cacheEntry{}}
	c.head.prev, c.head.next = &c.head, &c.head
	return c
}

// Parse is the function Parse with the cache in front.
func (c *Cache) Parse(query string) ([]*Statement, error) {
	c.mu.Lock()
	if e, ok := c.byText[query]; ok {
		e.unlink()
		c.pushFront(e)
		c.mu.Unlock()
		return e.stmts, nil
	}
	c.mu.Unlock()
	stmts, size, err := parse(query)
	if err != nil {
		return nil, err
	}
	if len(query) > maxCachedText || hasBulk(stmts) {
		return stmts, nil
	}
	e := &cacheEntry{text: query, stmts: stmts, size: int64(2*len(query)+size*treeFactor) + 256}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.byText[query]; ok {
		return old.stmts, nil
	}
	c.byText[query] = e
	c.pushFront(e)
	c.bytes += e.size
	for len(c.byText) > 1 && (len(c.byText) > c.maxEntries || c.bytes > c.maxBytes) {
		c.evict(c.head.prev)
	}
	return stmts, nil
}

// Len returns the number of texts kept.
func (c *Cache) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.byText)
}

func (c *Cache) evict(e *cacheEntry) {
	e.unlink()
	delete(c.byText, e.text)
	c.bytes -= e.size
}

func (c *Cache) pushFront(e *cacheEntry) {
	e.prev, e.next = &c.head, c.head.next
	e.prev.next, e.next.prev = e, e
}

func (e *cacheEntry) unlink() { e.prev.next, e.next.prev = e.next, e.prev }

func hasBulk(stmts []*Statement) bool {
	for _, st := range stmts {
		if st.Bulk != nil {
			return true
		}
	}
	return false
}
