package colstore

import "github.com/cockroachdb/pebble/v2/vfs"

// maxPreallocate bounds how much space a file reserves ahead of what is
// written. Pebble reserves a whole memtable for each log file, hundreds of
// megabytes with a large memory budget, which an almost empty database would
// then occupy; a few megabytes are enough to keep the file's size from
// changing at every sync.
const maxPreallocate = 8 << 20

// sparing is a file system whose files reserve little space ahead.
type sparing struct{ vfs.FS }

// Unwrap returns the file system below.
func (s sparing) Unwrap() vfs.FS { return s.FS }

// Create implements vfs.FS.
func (s sparing) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := s.FS.Create(name, c)
	if err != nil {
		return nil, err
	}
	return sparingFile{f}, nil
}

// ReuseForWrite implements vfs.FS.
func (s sparing) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := s.FS.ReuseForWrite(from, to, c)
	if err != nil {
		return nil, err
	}
	return sparingFile{f}, nil
}

type sparingFile struct{ vfs.File }

// Preallocate implements vfs.File.
func (f sparingFile) Preallocate(offset, length int64) error {
	return f.File.Preallocate(offset, min(length, maxPreallocate))
}
