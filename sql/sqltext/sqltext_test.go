package sqltext

import (
	"testing"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

func TestView(t *testing.T) {
	names := func(schema, name string) (Relation, bool) {
		switch schema + "." + name {
		case ".t":
			return Relation{Schema: "s", Name: "t2", Columns: []string{"a", "B"}, When: []string{"a", "b"}}, true
		case ".u":
			return Relation{Name: "u", Columns: []string{"x"}, When: []string{"x"}}, true
		case "s.w":
			return Relation{Schema: "s2", Name: "w", Columns: []string{"x"}, When: []string{"x"}}, true
		}
		return Relation{}, false
	}
	for _, c := range []struct {
		in, want string
		cols     []string
	}{
		{"SELECT a, t.b FROM t", "SELECT a, t.b FROM s.t2 t(a, b)", []string{"a", "b"}},
		{"SELECT a FROM t x(q)", "SELECT a FROM s.t2 x(q, b)", []string{"a"}},
		{"SELECT x FROM u WHERE x IN (SELECT w.x FROM s.w)", "SELECT x AS y FROM u WHERE x IN (SELECT w.x FROM s2.w)", []string{"y"}},
		{"WITH u AS (SELECT 1) SELECT * FROM u", "WITH u AS (SELECT 1) SELECT * FROM u", nil},
		{"SELECT 1 UNION SELECT 2", "SELECT 1 AS n UNION SELECT 2", []string{"n"}},
	} {
		got, err := View(c.in, c.cols, names)
		if err != nil || got != c.want {
			t.Errorf("%s: %v\n got %s\nwant %s", c.in, err, got, c.want)
		}
	}
}

func TestExpandStars(t *testing.T) {
	tree, err := pg_query.Parse("SELECT *, 1 FROM (SELECT t.* FROM t) s")
	if err != nil {
		t.Fatal(err)
	}
	sel := Copy(tree.Stmts[0].Stmt.GetSelectStmt())
	ExpandStars(sel, func(n *pg_query.Node) []Column {
		switch len(n.GetColumnRef().GetFields()) {
		case 1:
			return []Column{{"s", "a"}, {"", "B"}}
		case 2:
			return []Column{{"t", "a"}}
		}
		return nil
	})
	if got, _ := Select(sel); got != `SELECT s.a, "B", 1 FROM (SELECT t.a FROM t) s` {
		t.Error(got)
	}
}
