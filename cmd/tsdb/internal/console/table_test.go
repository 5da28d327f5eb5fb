package console

import "testing"

// The expected text was printed by psql 15.
func TestAppendTable(t *testing.T) {
	cases := []struct {
		name string
		cols []Column
		rows [][]string
		want string
	}{
		{"numbers", []Column{{"n", true}, {"name", false}},
			[][]string{{"1", "a"}, {"-200", ""}},
			"  n   | name \n------+------\n    1 | a\n -200 | \n(2 rows)\n\n"},
		{"one", []Column{{"?column?", true}}, [][]string{{"1"}},
			" ?column? \n----------\n        1\n(1 row)\n\n"},
		{"lines", []Column{{"a", false}, {"b", false}}, [][]string{{"x\nyy", "1\n22\n333"}},
			" a  |  b  \n----+-----\n x +| 1  +\n yy | 22 +\n    | 333\n(1 row)\n\n"},
		{"none", []Column{{"abc", false}}, nil, " abc \n-----\n(0 rows)\n\n"},
		{"wide", []Column{{"k", false}, {"v", false}}, [][]string{{"日本", "é"}},
			"  k   | v \n------+---\n 日本 | é\n(1 row)\n\n"},
		{"control", []Column{{"t", false}}, [][]string{{"a\x01b\tc"}}, "     t     \n-----------\n a\\x01b  c\n(1 row)\n\n"},
		{"no columns", nil, [][]string{{}, {}}, "--\n(2 rows)\n\n"},
	}
	for _, c := range cases {
		if got := string(AppendTable(nil, c.cols, c.rows)); got != c.want {
			t.Errorf("%s:\n%q\nwant\n%q", c.name, got, c.want)
		}
	}
}
