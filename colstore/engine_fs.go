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
type engineFS struct{ vfs.FS }

// Unwrap returns the file system below.
func (s engineFS) Unwrap() vfs.FS { return s.FS }

// Create implements vfs.FS.
func (s engineFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if strings.HasPrefix(s.PathBase(name), "marker.") {
		if err := s.syncDir(s.PathDir(name)); err != nil {
			return nil, err
		}
	}
	f, err := s.FS.Create(name, c)
	if err != nil {
		return nil, err
	}
	return engineFile{f}, nil
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
	f, err := s.FS.ReuseForWrite(from, to, c)
	if err != nil {
		return nil, err
	}
	return engineFile{f}, nil
}

type engineFile struct{ vfs.File }

// Preallocate implements vfs.File.
func (f engineFile) Preallocate(offset, length int64) error {
	return f.File.Preallocate(offset, min(length, maxPreallocate))
}
