package console

import (
	"reflect"
	"strings"
	"testing"
)

func TestSplitter(t *testing.T) {
	text := "SELECT 1; SELECT ';'';' , \"a;b\" -- ; no\n , 2;\n/* ; /* ; */ ; */ SELECT $$;$$, $x$ ;$$; $x$, E'\\';', a$b; ;; -- only\nSELECT $1;\nrest"
	want := []string{
		"SELECT 1",
		"SELECT ';'';' , \"a;b\" -- ; no\n , 2",
		"/* ; /* ; */ ; */ SELECT $$;$$, $x$ ;$$; $x$, E'\\';', a$b",
		"-- only\nSELECT $1",
	}
	collect := func(feed func(s *Splitter, f func(string, string) int)) ([]string, string) {
		var s Splitter
		var got []string
		feed(&s, func(stmt, _ string) int { got = append(got, stmt); return 0 })
		return got, s.Rest()
	}
	whole, rest := collect(func(s *Splitter, f func(string, string) int) { s.Feed(text, f) })
	if !reflect.DeepEqual(whole, want) || rest != "rest" {
		t.Errorf("whole text: %q, rest %q", whole, rest)
	}
	lines, rest := collect(func(s *Splitter, f func(string, string) int) {
		for _, l := range strings.SplitAfter(text, "\n") {
			s.Feed(l, f)
		}
	})
	if !reflect.DeepEqual(lines, want) || rest != "rest" {
		t.Errorf("line by line: %q, rest %q", lines, rest)
	}
}

func TestSplitterConsumes(t *testing.T) {
	var s Splitter
	var got []string
	s.Feed("COPY t FROM stdin;\n1;2\n\\.\nSELECT 1;\n", func(stmt, after string) int {
		got = append(got, stmt)
		if strings.HasPrefix(stmt, "COPY") {
			return strings.Index(after, "\\.\n") + 3
		}
		return 0
	})
	if want := []string{"COPY t FROM stdin", "SELECT 1"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
	if s.Pending() {
		t.Error("nothing is pending")
	}
	if s.Feed("SELECT 'a", nil); !s.Pending() {
		t.Error("an open quote is pending")
	}
}
