package colstore

import (
	"github.com/cockroachdb/pebble/v2/vfs"

	"tsdb/colstore/table"
)

const (
	ballastName = "BALLAST"
	// ballastBytes is what a full disk gives back so that writes under way end:
	// log blocks and a manifest, not a memtable.
	ballastBytes = 8 << 20
)

// Space returns a *table.DiskFullError while the space guard refuses writes, or nil.
func (s *Store) Space() error {
	use, err := s.fs.GetDiskUsage(s.dir)
	if err != nil {
		return nil // in-memory file systems have none
	}
	need := s.minFree + min(s.reserve, use.TotalBytes/20)
	if use.AvailBytes < need {
		return &table.DiskFullError{Free: use.AvailBytes, Need: need}
	}
	if s.relay.Load() && use.AvailBytes >= need+2*ballastBytes && s.relay.Swap(false) {
		s.fillBallast()
	}
	return nil
}

// layBallast reserves space in the data directory and arranges its release
// when the disk is full. From then on the space guard refuses writes until
// somebody makes room; then it is laid again.
func (s *Store) layBallast() {
	s.ballastFS = s.fs
	name := s.fs.PathJoin(s.dir, ballastName)
	s.fs = vfs.OnDiskFull(s.ballastFS, func() {
		s.log.Error("disk is full, releasing the ballast file", "file", name)
		_ = s.ballastFS.Remove(name)
		s.relay.Store(true)
	})
	s.popts.FS = s.fs
	if _, err := s.ballastFS.Stat(name); err == nil {
		return
	}
	if err := s.ballastFS.MkdirAll(s.dir, 0o755); err != nil {
		return // Pebble reports it
	}
	if use, err := s.ballastFS.GetDiskUsage(s.dir); err != nil || use.AvailBytes < s.minFree+s.reserve+2*ballastBytes {
		s.relay.Store(true)
		return
	}
	s.fillBallast()
}

func (s *Store) fillBallast() {
	name := s.ballastFS.PathJoin(s.dir, ballastName)
	f, err := s.ballastFS.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return
	}
	if err := f.Preallocate(0, ballastBytes); err != nil {
		_ = s.ballastFS.Remove(name)
	}
	_ = f.Close()
}
