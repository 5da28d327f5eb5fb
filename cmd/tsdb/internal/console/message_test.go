package console

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestAppendError(t *testing.T) {
	e := &pgconn.PgError{Severity: "ERROR", Message: `relation "foo" does not exist`, Position: 15, Hint: "Look."}
	got := string(AppendError(nil, e, "select n from foo\nwhere x = 1"))
	want := "ERROR:  relation \"foo\" does not exist\nLINE 1: select n from foo\n                      ^\nHINT:  Look.\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	e = &pgconn.PgError{Severity: "ERROR", Message: "m", Position: 11, Detail: "D.", Where: "C"}
	got = string(AppendError(nil, e, "select 'é'\n  x y"))
	if want = "ERROR:  m\nLINE 1: select 'é'\n                  ^\nDETAIL:  D.\nCONTEXT:  C\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	long := "select " + strings.Repeat("a, ", 100) + "b" + strings.Repeat(", c", 100)
	e = &pgconn.PgError{Severity: "ERROR", Message: "m", Position: 308}
	lines := strings.Split(string(AppendError(nil, e, long)), "\n")
	if len(lines[1]) > 80 || lines[1][len(lines[2])-1] != 'b' {
		t.Errorf("the caret misses b:\n%s\n%s", lines[1], lines[2])
	}
	if got := appendCaret(nil, "x", 99); string(got) != "LINE 1: x\n         ^\n" {
		t.Errorf("position behind the end: %q", got)
	}
}
