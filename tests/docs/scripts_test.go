package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// firstOwnOID is where the OIDs of functions begin that PostgreSQL does not have.
const firstOwnOID types.OID = 70000

// refused are registered so that they fail by name; no script calls them.
var refused = []string{"#-", "?", "?&", "?|", "similar_to_escape"}

// bare are functions that SQL spells without brackets.
var bare = []string{"current_user", "session_user"}

// allScripts is the text of every script, in lower case.
func allScripts(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir("../slt/testdata", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".slt" {
			return err
		}
		text, err := os.ReadFile(path)
		b.Write(text)
		b.WriteByte('\n')
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.ToLower(b.String())
}

// TestEveryNameIsInAScript finds the functions, aggregates and operators that
// PostgreSQL has too and that no script in tests/slt calls.
func TestEveryNameIsInAScript(t *testing.T) {
	text := allScripts(t)
	missing := map[string]bool{}
	look := func(oid types.OID, name string, operator bool) {
		called := strings.Contains(text, name+"(") || slices.Contains(bare, name) && strings.Contains(text, name)
		if operator {
			called = strings.Contains(text, " "+name+" ")
		}
		if !called && oid < firstOwnOID && !slices.Contains(refused, name) {
			missing[name] = true
		}
	}
	for o := range functions.AllFunctions {
		look(o.OID, o.Name, false)
	}
	for o := range functions.AllOperators {
		look(o.OID, o.Name, true)
	}
	for a := range functions.AllAggregates {
		look(a.OID, a.Name, false)
	}
	for f := range functions.AllSetReturning {
		look(f.OID, f.Name, false)
	}
	names := make([]string, 0, len(missing))
	for n := range missing {
		names = append(names, n)
	}
	slices.Sort(names)
	if len(names) > 0 {
		t.Errorf("no script calls %s", strings.Join(names, ", "))
	}
}
