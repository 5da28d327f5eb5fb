package bind_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"tsdb/planner/bind"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// describeBound is what a client learns of a statement: column names and types
// (with the number of the base column), and parameter types.
func describeBound(b *bind.Bound) string {
	var cols, params []string
	for _, c := range b.Cols {
		s := c.Name + " " + types.FormatType(c.Type)
		if c.AttNum != 0 {
			s += fmt.Sprintf("@%d", c.AttNum)
		}
		cols = append(cols, s)
	}
	for _, p := range b.Params {
		params = append(params, types.FormatType(p))
	}
	s := "= " + strings.Join(cols, ", ")
	if len(params) > 0 {
		s += " <- " + strings.Join(params, ", ")
	}
	return s
}

func describeError(e *pgerr.Error) string {
	s := fmt.Sprintf("! %s %s", e.Code, e.Message)
	if e.Position > 0 {
		s += fmt.Sprintf(" @%d", e.Position)
	}
	if e.Detail != "" {
		s += " DETAIL " + e.Detail
	}
	if e.Hint != "" {
		s += " HINT " + e.Hint
	}
	return s
}

// TestOracle compares with what PostgreSQL 15 said of each statement over the
// same tables: testdata/postgres15.txt holds pairs of lines, recorded from it.
func TestOracle(t *testing.T) {
	data, err := os.ReadFile("testdata/postgres15.txt")
	if err != nil {
		t.Fatal(err)
	}
	env := testEnv()
	n := 0
	for _, block := range strings.Split(strings.TrimSpace(string(data)), "\n\n") {
		q, want, ok := strings.Cut(block, "\n")
		if !ok {
			t.Fatalf("statement without answer: %s", block)
		}
		n++
		got := ""
		if b, err := bindText(env, q); err != nil {
			got = describeError(pgerr.From(err))
		} else {
			got = describeBound(b)
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", q, got, want)
		}
	}
	if n < 300 {
		t.Errorf("only %d statements", n)
	}
}
