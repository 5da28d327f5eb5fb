// Package spill keeps rows that a query's memory has no room for in temporary
// files: sequences of batches, written once and read from the front.
//
// It is not where is decided what spills: that is each operator's (package
// exec). It stands beside exec and knows nothing of plans and types.
//
// A file is a sequence of frames, one per batch, in the byte order of the
// machine, for no other process reads it:
//
//	+-----------+-----------+----------+---------------+
//	| packed u32 | plain u32 | crc u32  | packed bytes  |
//	+-----------+-----------+----------+---------------+
//
// The packed bytes, compressed by S2 (as they are where packed = plain), hold
//
//	rows u32 | columns u32 | per column: kind u8, nulls u8, padding u16, [validity words], values
//
// where values are the vector's slices as they lie in memory, byte strings as
// length u32, offsets, bytes. The checksum is CRC-32C of the packed bytes.
//
// Invariants: a Space's files are gone after Close; the directory is emptied
// when the server starts (Clear), so that a crash leaves nothing for good.
package spill

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"tsdb/sql/pgerr"
)

// prefix begins the name of every temporary file.
const prefix = "query"

// names numbers the files of this process.
var names atomic.Int64

// Space is the temporary files of one query. Safe for concurrent use; each
// File is for one goroutine at a time.
type Space struct {
	dir   string
	limit int64 // bytes; negative: none
	used  atomic.Int64

	mu    sync.Mutex // guards files
	files map[*File]struct{}
}

// New returns a space of up to limit bytes (negative: unlimited) in dir, which
// is made with the first file.
func New(dir string, limit int64) *Space {
	return &Space{dir: dir, limit: limit, files: map[*File]struct{}{}}
}

// Clear removes what an earlier process has left in dir.
func Clear(dir string) error {
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("temporary files: %w", err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && !e.IsDir() {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return fmt.Errorf("temporary files: %w", err)
			}
		}
	}
	return nil
}

// Create returns a new empty file.
func (s *Space) Create() (*File, error) {
	name := filepath.Join(s.dir, prefix+strconv.FormatInt(names.Add(1), 10))
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, failure(err)
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, failure(err)
	}
	out := &File{space: s, f: f, name: name}
	s.mu.Lock()
	s.files[out] = struct{}{}
	s.mu.Unlock()
	return out, nil
}

// Used returns the bytes that the files hold.
func (s *Space) Used() int64 { return s.used.Load() }

// Files returns how many files there are.
func (s *Space) Files() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.files)
}

// Close removes all files.
func (s *Space) Close() error {
	s.mu.Lock()
	files := s.files
	s.files = map[*File]struct{}{}
	s.mu.Unlock()
	var first error
	for f := range files {
		if err := f.remove(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

func (s *Space) forget(f *File) {
	s.mu.Lock()
	delete(s.files, f)
	s.mu.Unlock()
}

// take counts n bytes more.
func (s *Space) take(n int64) error {
	if used := s.used.Add(n); s.limit >= 0 && used > s.limit {
		s.used.Add(-n)
		return pgerr.New(pgerr.ConfigurationLimitExceeded, "temporary file size exceeds temp_file_limit (%dkB)", s.limit>>10).
			WithHint("Raise tsdb.temp_file_limit, or raise tsdb.query_memory so that the query writes less.")
	}
	return nil
}

func failure(err error) error {
	return pgerr.New(pgerr.IOError, "could not use a temporary file: %v", err)
}
