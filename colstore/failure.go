package colstore

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"tsdb/colstore/table"
)

// failure is the error after which the store takes no more writes.
type failure struct {
	mu   sync.Mutex
	err  error
	done chan struct{} // closed at the first error; made when first asked for
}

func (f *failure) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return
	}
	f.err = &table.FailedError{Cause: err}
	if f.done == nil {
		f.done = make(chan struct{})
	}
	close(f.done)
}

func (f *failure) get() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (f *failure) wait() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.done == nil {
		f.done = make(chan struct{})
	}
	return f.done
}

// Failed returns the error after which the store takes no more writes, or nil.
func (s *Store) Failed() error { return s.failed.get() }

// Failing returns a channel that is closed when Failed is no longer nil: the
// owner should close the store and open it again.
func (s *Store) Failing() <-chan struct{} { return s.failed.wait() }

// pebbleLogger marks the store failed before anything else when Pebble reports
// a fatal error: Pebble goes on after Fatalf returns, and the write that failed
// would be acknowledged.
type pebbleLogger struct {
	failed *failure
	log    *slog.Logger
}

func (l *pebbleLogger) Infof(string, ...any) {}

func (l *pebbleLogger) Errorf(format string, args ...any) {
	l.log.Error("storage engine", "message", fmt.Sprintf(format, args...))
}

func (l *pebbleLogger) Fatalf(format string, args ...any) {
	l.failed.set(&fatalError{fmt.Sprintf(format, args...), causeOf(args)})
	l.log.Error("storage engine failed, no more writes", "message", fmt.Sprintf(format, args...))
}

// fatalError is what Pebble passed to Fatalf: its text, and its cause for
// errors.Is.
type fatalError struct {
	text  string
	cause error
}

func (e *fatalError) Error() string { return e.text }

func (e *fatalError) Unwrap() error { return e.cause }

func causeOf(args []any) error {
	for _, a := range args {
		if err, ok := a.(error); ok {
			return err
		}
	}
	return nil
}

// pebbleEvents says what Pebble reports beside errors of calls. Without
// DataCorruption it would call Fatalf for one damaged block, which would stop
// the writes of all tables.
func pebbleEvents(s *Store) *pebble.EventListener {
	return &pebble.EventListener{
		BackgroundError: func(err error) {
			s.log.Error("storage engine, will retry", "error", err)
		},
		DataCorruption: func(info pebble.DataCorruptionInfo) {
			s.log.Error("damaged file, the rest stays readable", "file", info.Path, "error", info.Details)
		},
	}
}

// damaged turns Pebble's report of damaged bytes that were read for what into
// a *table.CorruptionError that names the file; other errors come back wrapped.
func (s *Store) damaged(what string, err error) error {
	var known *table.CorruptionError
	if errors.As(err, &known) {
		return err
	}
	if !pebble.IsCorruptionError(err) {
		return fmt.Errorf("read %s: %w", what, err)
	}
	c := &table.CorruptionError{What: what, Why: rootText(err)}
	if info := pebble.ExtractDataCorruptionInfo(err); info != nil {
		c.File = s.fs.PathBase(info.Path)
	}
	return c
}

// quarantine remembers chunks that were found damaged: reading them again would
// cost seconds, which Pebble spends on looking for the flipped bit.
type quarantine struct {
	n atomic.Int64
	m sync.Map // key of a chunk → *table.CorruptionError
}

func (q *quarantine) add(key []byte, c *table.CorruptionError) {
	if _, known := q.m.LoadOrStore(string(key), c); !known {
		q.n.Add(1)
	}
}

func (q *quarantine) find(key []byte) error {
	if q.n.Load() == 0 {
		return nil
	}
	if c, ok := q.m.Load(string(key)); ok {
		return c.(*table.CorruptionError)
	}
	return nil
}

// rootText is the innermost message without the file, which CorruptionError names.
func rootText(err error) string {
	if info := pebble.ExtractDataCorruptionInfo(err); info != nil {
		err = info.Details
	}
	text := strings.TrimPrefix(err.Error(), "pebble: ")
	if file, rest, ok := strings.Cut(text, ": "); ok && strings.HasPrefix(file, "file ") {
		return rest
	}
	return text
}

// locate fills in which file holds the damaged value of a key.
func (s *Store) locate(c *table.CorruptionError, key []byte) {
	if c.File != "" {
		return
	}
	levels, err := s.db.SSTables(pebble.WithKeyRangeFilter(key, append(key[:len(key):len(key)], 0)))
	if err != nil {
		return
	}
	for _, l := range levels { // the newest level that has the key
		for _, t := range l {
			c.File = tableFile(t)
			return
		}
	}
}

func tableFile(t pebble.SSTableInfo) string { return fmt.Sprintf("%06d.sst", uint64(t.BackingSSTNum)) }
