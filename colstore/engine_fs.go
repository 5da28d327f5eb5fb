package colstore

import (
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// maxPreallocate bounds how much space a file reserves ahead of what is
// written. Pebble reserves a whole memtable for each log file, hundreds of
// megabytes with a large memory budget, which an almost empty database would
// then occupy; a few megabytes are enough to keep the file's size from
// changing at every sync.
const maxPreallocate = 8 << 20

// engineFS is the file system as Pebble sees it. Files reserve little space
// ahead, and a marker file becomes visible only after the directory is synced:
// the marker names the MANIFEST, whose entry in the directory a crash may lose
// while it keeps the marker's, and then the database does not open.
//
// Once the store has failed, nothing changes any more. Pebble takes for granted
// that the process ended with the first write of the log or the MANIFEST that
// failed, as we do not let it; it would go on to remove tables that the MANIFEST
// may name already.
type engineFS struct {
	vfs.FS
	failed *failure // nil: never
}

// Unwrap returns the file system below.
func (s engineFS) Unwrap() vfs.FS { return s.FS }

// frozen returns the error after which nothing may change, or nil.
func (s engineFS) frozen() error {
	if s.failed == nil {
		return nil
	}
	return s.failed.get()
}

// Create implements vfs.FS.
func (s engineFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := s.frozen(); err != nil {
		return nil, err
	}
	if strings.HasPrefix(s.PathBase(name), "marker.") {
		if err := s.syncDir(s.PathDir(name)); err != nil {
			return nil, err
		}
	}
	f, err := s.FS.Create(name, c)
	if err != nil {
		return nil, err
	}
	return engineFile{f, s}, nil
}

func (s engineFS) syncDir(dir string) error {
	d, err := s.OpenDir(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return err
}

// ReuseForWrite implements vfs.FS.
func (s engineFS) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := s.frozen(); err != nil {
		return nil, err
	}
	f, err := s.FS.ReuseForWrite(from, to, c)
	if err != nil {
		return nil, err
	}
	return engineFile{f, s}, nil
}

// Link implements vfs.FS.
func (s engineFS) Link(from, to string) error {
	if err := s.frozen(); err != nil {
		return err
	}
	return s.FS.Link(from, to)
}

// Rename implements vfs.FS.
func (s engineFS) Rename(from, to string) error {
	if err := s.frozen(); err != nil {
		return err
	}
	return s.FS.Rename(from, to)
}

// Remove implements vfs.FS.
func (s engineFS) Remove(name string) error {
	if err := s.frozen(); err != nil {
		return err
	}
	return s.FS.Remove(name)
}

// RemoveAll implements vfs.FS.
func (s engineFS) RemoveAll(name string) error {
	if err := s.frozen(); err != nil {
		return err
	}
	return s.FS.RemoveAll(name)
}

type engineFile struct {
	vfs.File
	fs engineFS
}

// Write implements vfs.File.
func (f engineFile) Write(p []byte) (int, error) {
	if err := f.fs.frozen(); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

// Preallocate implements vfs.File.
func (f engineFile) Preallocate(offset, length int64) error {
	return f.File.Preallocate(offset, min(length, maxPreallocate))
}
