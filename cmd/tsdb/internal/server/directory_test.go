package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDirectories(t *testing.T) {
	empty, foreign, used := t.TempDir(), t.TempDir(), t.TempDir()
	os.WriteFile(filepath.Join(foreign, "thesis.doc"), nil, 0o600)
	os.WriteFile(filepath.Join(used, "LOCK"), nil, 0o600)
	os.WriteFile(filepath.Join(used, "notes"), nil, 0o600)
	for _, c := range []struct {
		dir       string
		mustExist bool
		want      string
	}{
		{empty, false, ""}, {empty, true, "there is no database in"}, {filepath.Join(empty, "new"), false, ""},
		{filepath.Join(empty, "new"), true, "there is no database in"}, {foreign, false, "holds other files (thesis.doc)"},
		{foreign, true, "holds other files"}, {used, true, ""}, {used, false, ""},
	} {
		err := checkDirectory(c.dir, c.mustExist)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s, must exist %v: %v, want %q", filepath.Base(c.dir), c.mustExist, err, c.want)
		}
	}
}
