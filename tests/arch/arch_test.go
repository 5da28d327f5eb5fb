// Package arch holds the architecture as tests: which folder may import which,
// and the rules of style that a machine can check.
//
// Imports are read with go/parser, never through the go command: its answers
// would come from the test cache and miss a violation.
package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const module = "tsdb/"

// layer says what the packages under a folder may import from this module. The
// longest matching folder decides. Entries ending in /... include subfolders.
type layer struct {
	folder string
	allow  []string
}

var layers = []layer{
	{"colstore/vector", nil},
	{"rowkey", []string{"colstore/vector"}},
	{"colstore/table", []string{"colstore/vector", "rowkey"}},
	{"colstore", []string{"colstore/...", "rowkey"}},
	{"protobufcol", []string{"colstore/vector"}},
	{"sql/pgerr", nil},
	{"sql/types", []string{"colstore/vector", "sql/pgerr"}},
	{"sql/functions", []string{"colstore/vector", "sql/pgerr", "sql/types"}},
	{"sql/catalog", []string{"colstore/vector", "colstore/table", "rowkey", "sql/pgerr", "sql/types", "sql/functions"}},
	{"sql/sqltext", []string{"sql/pgerr"}},
	{"sql/pgcatalog", []string{"colstore/vector", "colstore/table", "sql/sqltext", "sql/pgerr", "sql/types", "sql/functions", "sql/catalog"}},
	{"sql", []string{"colstore/vector", "sql/pgerr", "sql/types"}},
	// Folding a constant is evaluating it, so the planner may call the evaluator,
	// which itself knows bound expressions only.
	{"planner/scalar", []string{"colstore/vector", "sql/types", "sql/functions"}},
	{"planner", []string{"planner/...", "exec/eval", "sql/...", "rowkey", "colstore/table", "colstore/vector"}},
	{"exec/eval", []string{"colstore/vector", "planner/scalar", "sql/pgerr", "sql/types", "sql/functions"}},
	{"exec/copyio", []string{"colstore/vector", "sql/pgerr", "sql/types"}},
	{"exec/session", []string{"colstore/...", "rowkey", "sql/...", "planner/...", "exec/..."}},
	{"exec/spill", []string{"colstore/vector", "sql/pgerr"}},
	{"exec", []string{"colstore/table", "colstore/vector", "planner/...", "sql/...", "exec/eval", "exec/spill"}},
	{"pgwire", []string{"colstore/vector", "sql/pgerr", "sql/types", "planner/logical", "exec/session"}},
	{"cmd/tsdb", []string{"cmd/tsdb/...", "colstore", "colstore/kernels", "exec/session", "pgwire", "sql/...", "colstore/vector"}},
	{"tests", []string{"..."}},
	{"bench", []string{"..."}},
}

// outside lists external modules that only some folders may import.
var outside = []struct {
	module string
	allow  []string
}{
	{"github.com/cockroachdb/pebble", []string{"colstore", "tests"}},
	{"github.com/pganalyze/pg_query_go", []string{"sql", "planner", "exec/session", "cmd/tsdb", "tests"}},
	{"github.com/jackc/pgx/v5/pgproto3", []string{"pgwire", "cmd/tsdb", "tests"}},
	{"github.com/spf13/cobra", []string{"cmd/tsdb"}},
}

func layerOf(pkg string) (layer, bool) {
	var best layer
	found := false
	for _, l := range layers {
		if (pkg == l.folder || strings.HasPrefix(pkg, l.folder+"/")) && len(l.folder) >= len(best.folder) {
			best, found = l, true
		}
	}
	return best, found
}

func allowed(l layer, imp string) bool {
	for _, a := range l.allow {
		if a == "..." || a == imp {
			return true
		}
		if base, ok := strings.CutSuffix(a, "/..."); ok && (imp == base || strings.HasPrefix(imp, base+"/")) {
			return true
		}
	}
	return false
}

// source is one parsed file.
type source struct {
	path string // slash-separated, from the root of the repository
	ast  *ast.File
	text []byte
}

var root = filepath.Join("..", "..")

func sources(t *testing.T) []source {
	t.Helper()
	var out []source
	fset := token.NewFileSet()
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == ".ci" || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(p, ".go") {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(fset, p, text, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, p)
		if rel = filepath.ToSlash(rel); strings.Contains(rel, "/") {
			out = append(out, source{rel, f, text})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 50 {
		t.Fatalf("found %d files only: wrong folder?", len(out))
	}
	return out
}

func TestLayers(t *testing.T) {
	for _, s := range sources(t) {
		pkg := path.Dir(s.path)
		l, ok := layerOf(pkg)
		if !ok {
			t.Errorf("%s: the folder is in no layer", s.path)
			continue
		}
		if strings.HasSuffix(s.path, "_test.go") {
			continue
		}
		for _, spec := range s.ast.Imports {
			imp, _ := strconv.Unquote(spec.Path.Value)
			if in, ok := strings.CutPrefix(imp, module); ok {
				if in != pkg && !allowed(l, in) {
					t.Errorf("%s imports %s, which the layer %s may not", s.path, in, l.folder)
				}
				continue
			}
			checkOutside(t, s.path, pkg, imp)
		}
	}
}

func checkOutside(t *testing.T, file, pkg, imp string) {
	for _, o := range outside {
		if imp != o.module && !strings.HasPrefix(imp, o.module+"/") {
			continue
		}
		ok := false
		for _, a := range o.allow {
			ok = ok || pkg == a || strings.HasPrefix(pkg, a+"/")
		}
		if !ok {
			t.Errorf("%s imports %s, which only %v may", file, imp, o.allow)
		}
	}
}

func TestBinaryHasNoTestCode(t *testing.T) {
	for _, s := range sources(t) {
		if strings.HasSuffix(s.path, "_test.go") || strings.HasPrefix(s.path, "tests/") || strings.HasPrefix(s.path, "bench/") {
			continue
		}
		for _, spec := range s.ast.Imports {
			imp, _ := strconv.Unquote(spec.Path.Value)
			if imp == "testing" || strings.HasPrefix(imp, "testing/") || strings.HasPrefix(imp, module+"tests") || strings.HasPrefix(imp, module+"bench") {
				t.Errorf("%s imports %s", s.path, imp)
			}
		}
	}
}

func TestPackagesHavePages(t *testing.T) {
	has, seen := map[string]bool{}, map[string]bool{}
	for _, s := range sources(t) {
		dir := path.Dir(s.path)
		if strings.HasSuffix(s.ast.Name.Name, "_test") {
			continue
		}
		seen[dir] = true
		has[dir] = has[dir] || s.ast.Doc != nil
	}
	for dir := range seen {
		if !has[dir] {
			t.Errorf("package %s has no page comment", dir)
		}
		switch path.Base(dir) {
		case "util", "utils", "common", "base", "helpers", "manager", "misc":
			t.Errorf("package %s: the name says nothing", dir)
		}
	}
}

func TestExportedNamesAreDocumented(t *testing.T) {
	for _, s := range sources(t) {
		if strings.HasSuffix(s.path, "_test.go") {
			continue
		}
		for _, d := range s.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) && !wellKnown[d.Name.Name] {
					t.Errorf("%s: %s has no comment", s.path, d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if ts, ok := spec.(*ast.TypeSpec); ok && ts.Name.IsExported() && d.Doc == nil && ts.Doc == nil {
						t.Errorf("%s: %s has no comment", s.path, ts.Name.Name)
					}
				}
			}
		}
	}
}

// wellKnown are methods whose meaning the standard library gives.
var wellKnown = map[string]bool{"Error": true, "String": true, "Unwrap": true, "Len": true, "Less": true, "Swap": true,
	"Write": true, "Read": true, "Close": true}

// exportedReceiver reports whether d is a function or a method of an exported type.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
			continue
		case *ast.IndexExpr:
			t = x.X
			continue
		case *ast.Ident:
			return x.IsExported()
		}
		return false
	}
}

// maxLines bounds a file: beyond it nobody sees one concern any more.
const maxLines = 1000

var openEnds = regexp.MustCompile(`\b(TODO|FIXME|XXX)\b`)

func TestFilesAreShortAndFinished(t *testing.T) {
	for _, s := range sources(t) {
		if n := strings.Count(string(s.text), "\n"); n > maxLines {
			t.Errorf("%s has %d lines, more than %d", s.path, n, maxLines)
		}
		if s.path == "tests/arch/arch_test.go" {
			continue
		}
		for i, line := range strings.Split(string(s.text), "\n") {
			if openEnds.MatchString(line) && !strings.Contains(line, `"XX`) {
				t.Errorf("%s:%d: open end: %s", s.path, i+1, strings.TrimSpace(line))
			}
		}
	}
}

// top is what may stand in the root of the repository.
var top = map[string]bool{"go.mod": true, "go.sum": true, "README.md": true, "cmd": true, "sql": true, "planner": true,
	"exec": true, "colstore": true, "rowkey": true, "protobufcol": true, "pgwire": true, "tests": true, "bench": true,
	"LICENSE": true, "Makefile": true, "ARCHITECTURE.md": true, "docs": true, ".ci": true, ".gitignore": true, ".git": true}

func TestTopOfTheTree(t *testing.T) {
	ignored, err := os.ReadFile(filepath.Join(root, ".gitignore"))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		built := strings.Contains(string(ignored), "/"+e.Name()+"\n") || strings.Contains(string(ignored), "/"+e.Name()+"/\n")
		if !top[e.Name()] && !built {
			t.Errorf("%s does not belong at the top", e.Name())
		}
	}
}
