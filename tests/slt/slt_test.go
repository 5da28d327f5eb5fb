// Package slt runs SQL scripts, testdata/<feature>/*.slt, on the server in
// several configurations: as it comes, over the extended protocol, flushing
// after every statement, compacting after every statement, restarting between
// statements, and with tables of layout row. Built with -tags tinybatch,
// operators work on 64 rows at a time as well. With TSDB_ORACLE set the same
// scripts run on PostgreSQL 15, which protects the expectations themselves.
//
// A script is a list of records separated by empty lines:
//
//	statement ok [command tag]
//	<SQL>
//
//	statement error SQLSTATE [part of the message]
//	<SQL>
//	[----
//	DETAIL: ... | HINT: ... | POSITION: n, all of them]
//
//	query [rowsort]
//	<SQL>
//	----
//	<one line per row, values joined by |, NULL for null>
//
// A line that starts with # is a comment. `skipif tsdb REASON` or `skipif
// postgres REASON` before a record leaves it out on that server; `only tsdb`
// and `only postgres` are the short forms. PostgreSQL does not see WITH
// (layout = ...). `# not in layout row` keeps a script out of that configuration.
//
// Nobody writes expectations: in a paragraph of SQL alone, every line that ends
// with a semicolon ends a statement, and
//
//	TSDB_UPDATE=1 go test ./tests/slt -run 'TestScriptsOnPostgreSQL/<folder>/<file>$'
//
// makes records of them with what PostgreSQL 15 answers. It also renews the
// expectations of the records that are there, unless PostgreSQL skips them.
//
// Variables: TSDB_CONFIGS=all, or names separated by commas, chooses the
// configurations (without it: plain); TSDB_POSTGRES=URL uses a running
// PostgreSQL 15 instead of starting one.
package slt

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// record is one step of a script.
type record struct {
	line      int
	lead      []string // comments and skipif lines before it
	skip      string   // server that does not run it
	bare      bool     // SQL without a head
	query     bool
	sorted    bool
	code, msg string // expected error
	tag       string // expected command tag
	sql       string
	want      []string // rows, or the fields of an error
	hasWant   bool
}

// on reports whether the server runs the record.
func (r *record) on(server string) bool { return r.skip != server }

var other = map[string]string{"tsdb": "postgres", "postgres": "tsdb"}

func parse(t *testing.T, path string) []record {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []record
	var lead []string
	skip := ""
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		head := strings.TrimSpace(lines[i])
		f := strings.Fields(head)
		switch {
		case head == "" || head[0] == '#':
			lead = append(lead, head)
			continue
		case f[0] == "only" && len(f) > 1:
			skip, lead = other[f[1]], append(lead, head)
			continue
		case f[0] == "skipif" && len(f) > 2:
			skip, lead = f[1], append(lead, head)
			continue
		}
		r := record{line: i + 1, lead: lead, skip: skip}
		lead, skip = nil, ""
		if !r.head(f) {
			r.bare = true
			i--
		}
		var sql []string
		for i++; i < len(lines) && strings.TrimSpace(lines[i]) != "" && lines[i] != "----"; i++ {
			sql = append(sql, lines[i])
		}
		if r.bare {
			out = append(out, split(r, sql)...)
			continue
		}
		r.sql = strings.Join(sql, "\n")
		if r.hasWant = i < len(lines) && lines[i] == "----"; r.hasWant {
			for i++; i < len(lines) && strings.TrimSpace(lines[i]) != ""; i++ {
				r.want = append(r.want, lines[i])
			}
		}
		out = append(out, r)
	}
	return out
}

// head reads the first line of a record; false: there is none.
func (r *record) head(f []string) bool {
	switch {
	case f[0] == "query" && (len(f) == 1 || len(f) == 2 && f[1] == "rowsort"):
		r.query, r.sorted = true, len(f) == 2
	case f[0] == "statement" && len(f) > 2 && f[1] == "error":
		r.code, r.msg = f[2], strings.Join(f[3:], " ")
	case f[0] == "statement" && len(f) > 1 && f[1] == "ok":
		r.tag = strings.Join(f[2:], " ")
	default:
		return false
	}
	return true
}

// split makes a record of every statement of a paragraph without heads.
func split(r record, lines []string) []record {
	var out []record
	var sql []string
	for i, l := range lines {
		sql = append(sql, l)
		if strings.HasSuffix(strings.TrimSpace(l), ";") || i == len(lines)-1 {
			r.sql = strings.TrimSuffix(strings.TrimSpace(strings.Join(sql, "\n")), ";")
			out = append(out, r)
			sql, r.lead, r.line = nil, nil, r.line+1
		}
	}
	return out
}

// run runs the script on a target and returns how many statements passed.
func run(t *testing.T, path, server string, tg target) (passed int) {
	for _, r := range parse(t, path) {
		if !r.on(server) {
			continue
		}
		if r.bare {
			t.Errorf("%s:%d: no expectation: fill it in with TSDB_UPDATE=1\n%s", filepath.Base(path), r.line, r.sql)
			continue
		}
		rs, err := tg.exec(r.sql)
		if e := check(&r, rs, err); e != nil {
			t.Errorf("%s:%d: %v\n%s", filepath.Base(path), r.line, e, r.sql)
		} else {
			passed++
		}
		tg.after(t)
	}
	return passed
}

func check(r *record, rs []*pgconn.Result, err error) error {
	if r.code != "" {
		e, ok := err.(*pgconn.PgError)
		if !ok {
			return fmt.Errorf("no error (%v), want %s %s", err, r.code, r.msg)
		}
		if e.Code != r.code || !strings.Contains(strings.Join(strings.Fields(e.Message), " "), r.msg) {
			return fmt.Errorf("error %s %s, want %s %s", e.Code, e.Message, r.code, r.msg)
		}
		if got := errorFields(e); r.hasWant && !slices.Equal(got, r.want) {
			return fmt.Errorf("error with\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(r.want, "\n"))
		}
		return nil
	}
	if err != nil {
		if e, ok := err.(*pgconn.PgError); ok {
			return fmt.Errorf("%s: %s", e.Code, e.Message)
		}
		return err
	}
	if len(rs) == 0 {
		return nil
	}
	last := rs[len(rs)-1]
	if !r.query {
		if r.tag != "" && last.CommandTag.String() != r.tag {
			return fmt.Errorf("got %s, want %s", last.CommandTag, r.tag)
		}
		return nil
	}
	got, want := rows(last), r.want
	if r.sorted {
		want = slices.Sorted(slices.Values(want))
		slices.Sort(got)
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return nil
}

// rows are the lines of a result.
func rows(r *pgconn.Result) []string {
	var got []string
	for _, row := range r.Rows {
		parts := make([]string, len(row))
		for i, v := range row {
			if v == nil {
				parts[i] = "NULL"
			} else {
				parts[i] = string(v)
			}
		}
		got = append(got, lines(strings.Join(parts, "|"))...)
	}
	return got
}

// lines are those that a row takes in a script: an empty one would end the record.
func lines(row string) []string {
	out := strings.Split(row, "\n")
	for i, l := range out {
		if strings.TrimSpace(l) == "" {
			out[i] = "(empty)"
		}
	}
	return out
}

// errorFields are the lines that describe what an error has beside its message.
func errorFields(e *pgconn.PgError) []string {
	var out []string
	for _, f := range []struct{ name, text string }{{"DETAIL", e.Detail}, {"HINT", e.Hint}} {
		if f.text != "" {
			out = append(out, f.name+": "+strings.Join(strings.Fields(f.text), " "))
		}
	}
	if e.Position > 0 {
		out = append(out, fmt.Sprintf("POSITION: %d", e.Position))
	}
	return out
}

// scripts lists the scripts as paths below testdata.
func scripts(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, p := range []string{"testdata/*.slt", "testdata/*/*.slt"} {
		fs, err := filepath.Glob(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range fs {
			files = append(files, strings.TrimPrefix(f, "testdata/"))
		}
	}
	if len(files) == 0 {
		t.Fatal("no scripts")
	}
	return files
}

var (
	layout   = regexp.MustCompile(`(?i)\s+WITH \(layout = '\w+'\)`)
	stateful = regexp.MustCompile(`(?i)\b(temp|temporary|pg_temp|prepare|declare|listen|setseed|currval|lastval)\b`)
	setting  = regexp.MustCompile(`(?i)^\s*(set|reset)\s+(session\s+)?(\w+\s*(=|to\b)|time zone|all|\w+$)`)
	// placeholder finds a parameter without a value: the two protocols differ.
	placeholder = regexp.MustCompile(`\$\d`)
	keyed       = regexp.MustCompile(`(?is)^\s*CREATE TABLE [^;]*PRIMARY KEY[^;]*\)\s*$`)
)
