package colstore

import (
	"github.com/cockroachdb/pebble/v2/vfs"
)

const (
	ballastName = "BALLAST"
	// ballastBytes is what a full disk gives back so that writes under way end:
	// log blocks and a manifest, not a memtable.
	ballastBytes = 8 << 20
)

// layBallast reserves space in the data directory and arranges its release
// when the disk is full. From then on the space guard refuses writes until
// somebody makes room; the next opening lays it again.
func (s *Store) layBallast() {
	inner := s.fs
	name := inner.PathJoin(s.dir, ballastName)
	s.fs = vfs.OnDiskFull(inner, func() {
		s.log.Error("disk is full, releasing the ballast file", "file", name)
		_ = inner.Remove(name)
	})
	s.popts.FS = s.fs
	if _, err := inner.Stat(name); err == nil {
		return
	}
	if err := inner.MkdirAll(s.dir, 0o755); err != nil {
		return // Pebble reports it
	}
	if use, err := inner.GetDiskUsage(s.dir); err != nil || use.AvailBytes < 2*s.minFree {
		return
	}
	f, err := inner.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return
	}
	if err := f.Preallocate(0, ballastBytes); err != nil {
		_ = inner.Remove(name)
	}
	_ = f.Close()
}
