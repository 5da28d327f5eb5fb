package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ours are names of which a data directory holds at least one from its first
// moment on.
var ours = map[string]bool{"LOCK": true, "BALLAST": true, "DEMO.txt": true}

// backupManifest is the file that makes a directory a backup.
const backupManifest = "MANIFEST.tsdb"

// checkDirectory refuses a backup, a directory that holds somebody else's files, and,
// with mustExist, one without a database.
func checkDirectory(dir string, mustExist bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("data directory: %w", err)
	}
	// A server would change the backup's files, which its manifest lists.
	if _, err := os.Stat(filepath.Join(dir, backupManifest)); err == nil {
		return fmt.Errorf("%s is a backup; make a data directory of it with tsdb restore %s --data DIR", dir, dir)
	}
	foreign := ""
	for _, e := range entries {
		if ours[e.Name()] {
			return nil
		}
		if e.Name() != "lost+found" {
			foreign = e.Name()
		}
	}
	if foreign != "" {
		return fmt.Errorf("%s holds other files (%s) and no tsdb database; choose an empty or a new directory with --data", dir, foreign)
	}
	if mustExist {
		return fmt.Errorf("there is no database in %s; tsdb serve --data %s makes one", dir, dir)
	}
	return nil
}
