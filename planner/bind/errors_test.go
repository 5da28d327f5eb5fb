package bind_test

import (
	"testing"

	"tsdb/planner/bind"
	"tsdb/sql"
	"tsdb/sql/pgerr"
)

func bindText(env *bind.Env, q string) (*bind.Bound, error) {
	sts, err := sql.Parse(q)
	if err != nil {
		return nil, err
	}
	return bind.Bind(env, sts[0], nil)
}

func wantError(t *testing.T, env *bind.Env, q, code, message string, position int) {
	t.Helper()
	_, err := bindText(env, q)
	if err == nil {
		t.Errorf("%.100s: no error", q)
		return
	}
	e := pgerr.From(err)
	if string(e.Code) != code || e.Message != message || e.Position != position {
		t.Errorf("%.100s:\n got %s %s @%d\nwant %s %s @%d", q, e.Code, e.Message, e.Position, code, message, position)
	}
}

// TestUnsupported checks that what is out of scope parses and says its name.
func TestUnsupported(t *testing.T) {
	env := testEnv()
	for _, c := range []struct {
		query    string
		feature  string
		position int
	}{
		{"merge into t using other.u on t.a = u.a when matched then do nothing", "MERGE", 12},
		{"select row_number() over () from t", "window function call", 8},
		{"select sum(a) over w from t window w as (order by a)", "WINDOW", 41},
		{"select a from t group by rollup(a)", "GROUPING SETS", 26},
		{"select grouping(a) from t group by a", "GROUPING", 8},
		{"select * from t tablesample bernoulli (10)", "TABLESAMPLE", 29},
		{"select * from t for update", "FOR UPDATE", 8},
		{"select 'é', b similar to 'x' from t", "SIMILAR TO", 15},
		{"select xmlelement(name foo)", "XML", 8},
		{"select json_object('a': 1)", "JSON_OBJECT", 8},
		{"select '1'::serial", "type serial", 13},
		{"select '1'::inet", "type inet", 13},
		{"select (select sum(t.a) from other.u) from t", "an aggregate over columns of an outer query", 16},
	} {
		wantError(t, env, c.query, string(pgerr.FeatureNotSupported), c.feature+" is not supported", c.position)
	}
}
