package bind_test

import (
	"strconv"
	"strings"
	"testing"

	"tsdb/planner/bind"
	"tsdb/sql"
)

// TestLongStatements binds statements as long as the guard lets them through:
// none may overflow, and none may take time that grows with the square of the length
// (the test would take minutes).
func TestLongStatements(t *testing.T) {
	env := testEnv()
	rep := strings.Repeat
	for name, q := range map[string]string{
		"sum":          "select 1" + rep("+1", 3900),
		"cast":         "select '1'" + rep("::int", 3900),
		"text cast":    "select 1" + rep("::text", 3900),
		"is null":      "select 1" + rep(" is null", 3900),
		"collate":      "select 'x'" + rep(` collate "C"`, 3900),
		"not":          "select " + rep("not ", 3000) + "true",
		"minus":        "select " + rep("- ", 3000) + "a from t",
		"brackets":     "select " + rep("(", 3900) + "1" + rep(")", 3900),
		"or":           "select 1 from t where a = 1" + rep(" or a = 2", 20000),
		"nested or":    "select 1 from t where " + rep("(a = 1 or ", 1900) + "a = 2" + rep(")", 1900),
		"and or":       "select 1 from t where " + rep("(a = 1 and (a = 2 or ", 900) + "a = 2" + rep("))", 900),
		"in":           "select 1 from t where a in (1" + rep(",2", 100000) + ")",
		"in text":      "select 1 from t where b in ('x'" + rep(",'y'", 100000) + ")",
		"in exprs":     "select 1 from t where a in (1+1" + rep(",2+2", 20000) + ")",
		"case":         "select case a" + rep(" when 1 then 2", 20000) + " end from t",
		"searched":     "select case" + rep(" when a = 1 then 'x'", 20000) + " end from t",
		"nested case":  "select " + rep("case when true then ", 1900) + "1" + rep(" end", 1900),
		"union":        "select 1" + rep(" union all select 1", 3900),
		"joins":        "select 1 from t t0" + joins(1500),
		"values":       "values (1, 'a')" + rep(", (2, 'b')", 20000),
		"group by":     "select a" + rep("+1", 1900) + " from t group by a" + rep("+1", 1900),
		"subqueries":   "select " + rep("(select ", 1300) + "1" + rep(")", 1300),
		"from":         "select * from " + rep("(select * from ", 800) + "t" + rep(") s", 800),
		"correlated":   "select 1 from t where " + rep("exists (select 1 from t where a = t.a and ", 60) + "true" + rep(")", 60),
		"coalesce":     "select " + rep("coalesce(a, ", 1900) + "1" + rep(")", 1900) + " from t",
		"many params":  "select $1::int" + rep(" + $1", 2000),
		"many targets": "select 1" + rep(", a", 1600) + " from t order by 1" + rep(", a", 500),
	} {
		sts, err := sql.Parse(q)
		if err != nil {
			t.Errorf("%s: parse: %v", name, err)
			continue
		}
		if _, err = bind.Bind(env, sts[0], nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func joins(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(" join other.u u" + strconv.Itoa(i) + " on true")
	}
	return b.String()
}

// TestNestedCopies refuses what would double with each level.
func TestNestedCopies(t *testing.T) {
	for _, q := range []string{
		"select " + strings.Repeat("(", 40) + "1" + strings.Repeat(" between 0 and 2)::int", 40),
		"select " + strings.Repeat("nullif(", 40) + "1" + strings.Repeat(", 2)", 40),
		"select " + strings.Repeat("case ", 40) + "1" + strings.Repeat(" when 1 then 1 when 2 then 2 end", 40),
	} {
		wantError(t, testEnv(), q, "54001", "stack depth limit exceeded", 0)
	}
}
