package colstore

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// stagingDir holds sstables until they are ingested; opening empties it.
const stagingDir = "staging"

// Levels of Pebble that an sstable is written for. In one for the lowest level
// deletions are marked as obsolete and hide nothing.
const (
	anyLevel    = 0
	lowestLevel = 6
)

// newTable starts an sstable to be ingested.
func (s *Store) newTable(level int) (*sstable.Writer, string, error) {
	name := s.fs.PathJoin(s.dir, stagingDir, fmt.Sprintf("%08d.sst", s.fileNum.Add(1)))
	f, err := s.fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, "", fmt.Errorf("create sstable: %w", err)
	}
	o := s.popts.MakeWriterOptions(level, s.db.TableFormat())
	return sstable.NewWriter(objstorageprovider.NewFileWritable(f), o), name, nil
}

// closeTable ends an sstable and returns its size.
func closeTable(w *sstable.Writer) (int64, error) {
	if err := w.Close(); err != nil {
		return 0, err
	}
	m, err := w.Metadata()
	if err != nil {
		return 0, err
	}
	return int64(m.Size), nil
}
