package colstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"tsdb/colstore/table"
)

const (
	// backupManifest lists a backup's files; it is written last, so a directory
	// that has it is complete.
	backupManifest = "MANIFEST.tsdb"
	// backupFormat is the version of the manifest.
	backupFormat = 1
	// checkpointDir holds the files of a backup under way, as hard links on the
	// data directory's own file system.
	checkpointDir = "checkpoint"
	// copyBuffer is how much of a file is copied at a time.
	copyBuffer = 1 << 20
)

// BackupOptions say how a backup is made or restored.
type BackupOptions struct {
	// Link makes hard links of sstables instead of copies where the file system
	// allows it: at once and without space, but damage to a file is then damage
	// to both.
	Link bool
	// Version of the program, for the manifest.
	Version string
	// Progress, if not nil, is called now and then with the bytes done of all.
	Progress func(done, all int64)
}

// Manifest describes a backup: file MANIFEST.tsdb, JSON.
type Manifest struct {
	Format  int          `json:"format"`
	Program string       `json:"program"`
	Created time.Time    `json:"created"`
	Files   []BackupFile `json:"files"`
}

// BackupFile is one file of a backup.
type BackupFile struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Bytes returns the size of all files.
func (m *Manifest) Bytes() (n int64) {
	for _, f := range m.Files {
		n += f.Bytes
	}
	return n
}

// ErrNotEmpty is wrapped by the error of a backup or restore into a directory
// that has files.
var ErrNotEmpty = errors.New("is not empty")

// ErrBackupRunning is returned while another backup of the store is made.
var ErrBackupRunning = errors.New("another backup is running")

// ErrNoBackup is wrapped by the error of Restore from a directory without a
// manifest.
var ErrNoBackup = errors.New("holds no complete backup")

// Backup writes the committed state to a new or empty directory while the
// store is in use: everything acknowledged before it was called, and of later
// transactions a prefix, each whole or not at all.
func (s *Store) Backup(ctx context.Context, dir string, o BackupOptions) (*Manifest, error) {
	if s.closed.Load() {
		return nil, ErrClosed
	}
	if !s.backing.TryLock() {
		return nil, ErrBackupRunning
	}
	defer s.backing.Unlock()
	from := s.fs.PathJoin(s.dir, checkpointDir)
	if err := s.fs.RemoveAll(from); err != nil {
		return nil, fmt.Errorf("backup: %w", err)
	}
	defer func() { _ = s.fs.RemoveAll(from) }()
	if err := s.checkpoint(from); err != nil {
		return nil, fmt.Errorf("backup: %w", err)
	}
	c := &copier{fs: s.fs, ctx: ctx, o: o}
	return c.backup(from, dir)
}

// checkpoint makes a consistent set of files. Pebble takes the list of
// sstables first and copies the log some time later: a log that knows of
// deletions made because of an Ingest, without the Ingest, would lose rows.
// So none may happen in between; commits may.
func (s *Store) checkpoint(dir string) error {
	s.ingesting.Lock()
	defer s.ingesting.Unlock()
	err := s.db.Checkpoint(dir, pebble.WithFlushedWAL())
	if failed := s.failed.get(); failed != nil {
		return failed
	}
	return err
}

// BackupOffline is Backup of a data directory that no server has open.
func BackupOffline(ctx context.Context, data, dir string, o Options, b BackupOptions) (*Manifest, error) {
	fs := fileSystem(o)
	desc, err := pebble.Peek(data, fs)
	if err == nil && !desc.Exists {
		err = os.ErrNotExist
	}
	if err != nil {
		return nil, fmt.Errorf("open data directory %s: %w", data, err)
	}
	lock, err := pebble.LockDirectory(data, fs)
	if err != nil {
		return nil, fmt.Errorf("open data directory %s: %w", data, err)
	}
	defer lock.Close()
	c := &copier{fs: fs, ctx: ctx, o: b}
	return c.backup(data, dir)
}

func fileSystem(o Options) vfs.FS {
	if o.FS != nil {
		return o.FS
	}
	return vfs.Default
}

// Restore makes a data directory of a backup in a new or empty directory,
// comparing every file with the manifest.
//
// Errors: *table.CorruptionError where a file differs; the directory is empty then.
func Restore(ctx context.Context, backup, data string, o Options, b BackupOptions) (*Manifest, error) {
	fs := fileSystem(o)
	m, err := readManifest(fs, backup)
	if err != nil {
		return nil, err
	}
	existed, err := requireEmpty(fs, data)
	if err != nil {
		return nil, err
	}
	c := &copier{fs: fs, ctx: ctx, o: b, all: m.Bytes()}
	if err := c.restore(m, backup, data); err != nil {
		c.undo(data, existed)
		return nil, err
	}
	return m, nil
}

// copier copies files and remembers their checksums.
type copier struct {
	fs        vfs.FS
	ctx       context.Context
	o         BackupOptions
	done, all int64
	buf       []byte
}

// belongs reports whether a file of a data directory is part of a backup.
func belongs(name string) bool {
	return name != lockName && name != ballastName && name != backupManifest && !strings.HasPrefix(name, ".")
}

// backup copies the files of from to the new directory dir. Until all is
// there, dir has no manifest.
func (c *copier) backup(from, dir string) (*Manifest, error) {
	existed, err := requireEmpty(c.fs, dir)
	if err != nil {
		return nil, err
	}
	m := &Manifest{Format: backupFormat, Program: "tsdb " + c.o.Version, Created: time.Now().UTC()}
	names, err := c.fs.List(from)
	if err != nil {
		return nil, fmt.Errorf("backup: %w", err)
	}
	slices.Sort(names)
	for _, name := range names {
		info, err := c.fs.Stat(c.fs.PathJoin(from, name))
		if err != nil {
			return nil, fmt.Errorf("backup: %w", err)
		}
		if !info.IsDir() && belongs(name) {
			m.Files = append(m.Files, BackupFile{Name: name, Bytes: info.Size()})
			c.all += info.Size()
		}
	}
	if err = c.fs.MkdirAll(dir, 0o755); err == nil {
		err = c.fill(m, from, dir)
	}
	if err != nil {
		c.undo(dir, existed)
		return nil, fmt.Errorf("backup to %s: %w", dir, err)
	}
	return m, nil
}

// fill copies the files and writes the manifest.
func (c *copier) fill(m *Manifest, from, dir string) error {
	for i := range m.Files {
		f := &m.Files[i]
		var err error
		if f.Bytes, f.SHA256, err = c.copy(c.fs.PathJoin(from, f.Name), c.fs.PathJoin(dir, f.Name)); err != nil {
			return err
		}
	}
	if err := syncDirectory(c.fs, dir); err != nil {
		return err
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	name := c.fs.PathJoin(dir, backupManifest)
	if err := writeFile(c.fs, name+".new", append(text, '\n')); err != nil {
		return err
	}
	if err := c.fs.Rename(name+".new", name); err != nil {
		return err
	}
	return syncDirectory(c.fs, dir)
}

func (c *copier) restore(m *Manifest, backup, data string) error {
	if err := c.fs.MkdirAll(data, 0o755); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	// The markers, which make a directory a database, come last.
	files := slices.Clone(m.Files)
	slices.SortStableFunc(files, func(a, b BackupFile) int { return order(a.Name) - order(b.Name) })
	for _, f := range files {
		n, sum, err := c.copy(c.fs.PathJoin(backup, f.Name), c.fs.PathJoin(data, f.Name))
		if err != nil {
			return fmt.Errorf("restore: %w", err)
		}
		if err := f.compare(n, sum); err != nil {
			return err
		}
	}
	if err := writeFile(c.fs, c.fs.PathJoin(data, lockName), nil); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return syncDirectory(c.fs, data)
}

func order(name string) int {
	if strings.HasPrefix(name, "marker.") {
		return 1
	}
	return 0
}

// compare reports a file that is not as its manifest says.
func (f *BackupFile) compare(n int64, sum string) error {
	why := ""
	switch {
	case n != f.Bytes:
		why = fmt.Sprintf("it has %d bytes, the manifest says %d", n, f.Bytes)
	case sum != f.SHA256:
		why = "its SHA-256 differs from the manifest's"
	default:
		return nil
	}
	return &table.CorruptionError{What: "backup", File: f.Name, Why: why}
}

// copy copies or links one file, synced, and returns its size and checksum.
func (c *copier) copy(from, to string) (int64, string, error) {
	if c.o.Link && strings.HasSuffix(from, ".sst") && c.fs.Link(from, to) == nil {
		return c.sum(to)
	}
	src, err := c.fs.Open(from, vfs.SequentialReadsOption)
	if err != nil {
		return 0, "", err
	}
	defer src.Close()
	dst, err := c.fs.Create(to, vfs.WriteCategoryUnspecified)
	if err != nil {
		return 0, "", err
	}
	n, sum, err := c.drain(src, dst)
	if err == nil {
		err = dst.Sync()
	}
	if cerr := dst.Close(); err == nil {
		err = cerr
	}
	return n, sum, err
}

// sum returns size and checksum of a file.
func (c *copier) sum(name string) (int64, string, error) {
	f, err := c.fs.Open(name, vfs.SequentialReadsOption)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	return c.drain(f, io.Discard)
}

func (c *copier) drain(src io.Reader, dst io.Writer) (int64, string, error) {
	if c.buf == nil {
		c.buf = make([]byte, copyBuffer)
	}
	var h hash.Hash = sha256.New()
	total := int64(0)
	for {
		if err := context.Cause(c.ctx); err != nil {
			return total, "", err
		}
		n, err := src.Read(c.buf)
		if n > 0 {
			h.Write(c.buf[:n])
			if _, werr := dst.Write(c.buf[:n]); werr != nil {
				return total, "", werr
			}
			total += int64(n)
			c.done += int64(n)
			if c.o.Progress != nil {
				c.o.Progress(min(c.done, c.all), c.all)
			}
		}
		if err == io.EOF {
			return total, hex.EncodeToString(h.Sum(nil)), nil
		}
		if err != nil {
			return total, "", err
		}
	}
}

// undo empties a directory that was empty before, and removes it if it was not there.
func (c *copier) undo(dir string, existed bool) {
	if !existed {
		_ = c.fs.RemoveAll(dir)
		return
	}
	names, _ := c.fs.List(dir)
	for _, n := range names {
		if n != "lost+found" {
			_ = c.fs.RemoveAll(c.fs.PathJoin(dir, n))
		}
	}
}

// requireEmpty refuses a directory with files.
func requireEmpty(fs vfs.FS, dir string) (existed bool, err error) {
	names, err := fs.List(dir)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for _, n := range names {
		if n != "lost+found" {
			return true, fmt.Errorf("directory %s %w: it holds %s", dir, ErrNotEmpty, n)
		}
	}
	return true, nil
}

func isBackup(fs vfs.FS, dir string) bool {
	_, err := fs.Stat(fs.PathJoin(dir, backupManifest))
	return err == nil
}

func readManifest(fs vfs.FS, dir string) (*Manifest, error) {
	f, err := fs.Open(fs.PathJoin(dir, backupManifest))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("directory %s %w: there is no file %s in it", dir, ErrNoBackup, backupManifest)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	m := &Manifest{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, &table.CorruptionError{What: "backup manifest", File: backupManifest, Why: err.Error()}
	}
	if m.Format != backupFormat {
		return nil, fmt.Errorf("backup format %d is unknown, this program knows %d", m.Format, backupFormat)
	}
	for _, f := range m.Files {
		if f.Name != fs.PathBase(f.Name) || f.Name == ".." || !belongs(f.Name) {
			return nil, &table.CorruptionError{What: "backup manifest", File: backupManifest, Why: fmt.Sprintf("it names a file %q", f.Name)}
		}
	}
	return m, nil
}

// manifest compares the files of a backup with its manifest.
func (c *checker) manifest(ctx context.Context, fs vfs.FS, dir string) error {
	m, err := readManifest(fs, dir)
	if err != nil {
		var bad *table.CorruptionError
		if errors.As(err, &bad) {
			c.found(problem(err))
			return nil
		}
		return err
	}
	cp := &copier{fs: fs, ctx: ctx, all: m.Bytes(), o: BackupOptions{Progress: c.progress}}
	for _, f := range m.Files {
		n, sum, err := cp.sum(fs.PathJoin(dir, f.Name))
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if err != nil {
			err = &table.CorruptionError{What: "backup", File: f.Name, Why: err.Error()}
		} else {
			err = f.compare(n, sum)
		}
		if err != nil {
			c.found(problem(err))
		}
	}
	return nil
}

func writeFile(fs vfs.FS, name string, text []byte) error {
	f, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

func syncDirectory(fs vfs.FS, dir string) error {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return err
}
