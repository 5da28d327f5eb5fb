package sql

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"tsdb/sql/pgerr"
)

// nesting is a construct that can be repeated.
type nesting struct {
	name                   string
	head, open, mid, close string
}

func (n nesting) text(levels int) string {
	return n.head + strings.Repeat(n.open, levels) + n.mid + strings.Repeat(n.close, levels)
}

// chains build trees that grow with each link and have no bracket that the
// grammar would count.
var chains = []nesting{
	{"plus", "SELECT 1", "+1", "", ""},
	{"concat", "SELECT a", " || 'a'", "", ""},
	{"cast", "SELECT 1", "::int", "", ""},
	{"is null", "SELECT 1", " IS NULL", "", ""},
	{"is not null", "SELECT 1", " IS NOT NULL", "", ""},
	{"isnull", "SELECT 1", " ISNULL", "", ""},
	{"is true", "SELECT 1", " IS TRUE", "", ""},
	{"is json", "SELECT 1", " IS JSON", "", ""},
	{"is document", "SELECT 1", " IS DOCUMENT", "", ""},
	{"is normalized", "SELECT 1", " IS NORMALIZED", "", ""},
	{"collate", "SELECT a", ` COLLATE "C"`, "", ""},
	{"at time zone", "SELECT a", " AT TIME ZONE 'UTC'", "", ""},
	{"at local", "SELECT a", " AT LOCAL", "", ""},
	{"arrow", "SELECT a", "->'a'", "", ""},
	{"caret", "SELECT 1", "^1", "", ""},
	{"caret minus", "SELECT 1", "^ -a", "", ""},
	{"operator", "SELECT 1", " OPERATOR(pg_catalog.+) 1", "", ""},
	{"in", "SELECT 1", " IN (1)", "", ""},
	{"join", "SELECT * FROM a", " JOIN a ON true", "", ""},
	{"join using", "SELECT * FROM a", " LEFT JOIN a USING (b)", "", ""},
	{"cross join", "SELECT * FROM a", " CROSS JOIN a", "", ""},
	{"natural join", "SELECT * FROM a", " NATURAL JOIN a", "", ""},
	{"union", "SELECT 1", " UNION SELECT 1", "", ""},
	{"union all", "SELECT 1", " UNION ALL SELECT 1", "", ""},
	{"except", "SELECT 1", " EXCEPT SELECT 1", "", ""},
	{"intersect", "SELECT 1", " INTERSECT SELECT 1", "", ""},
	{"minus", "SELECT ", "- ", "a", ""},
	{"not", "SELECT ", "NOT ", "a", ""},
	{"prefix operator", "SELECT ", "@ ", "a", ""},
	{"parentheses", "SELECT ", "(", "1", ")"},
	{"select in parentheses", "", "(", "SELECT 1", ")"},
	{"array", "SELECT ARRAY", "[", "1", "]"},
	{"case", "SELECT ", "CASE ", "1", " WHEN 1 THEN 1 END"},
	{"function", "SELECT ", "abs(", "1", ")"},
	{"coalesce", "SELECT ", "coalesce(", "1", ")"},
	{"cast call", "SELECT ", "CAST(", "1", " AS int)"},
}

// brackets run out of the grammar's own stack (42601) or of the guard's depth.
var brackets = []nesting{
	{"plus", "SELECT ", "(1+", "1", ")"},
	{"plus behind", "SELECT ", "(", "1", "+1)"},
	{"subselect", "SELECT ", "(SELECT ", "1", ")"},
	{"exists", "SELECT ", "EXISTS (SELECT ", "1", ")"},
	{"in select", "SELECT ", "1 IN (SELECT ", "1", ")"},
	{"not in", "SELECT ", "NOT 1 IN (", "1", ")"},
	{"values", "SELECT ", "(VALUES (", "1", "))"},
	{"from", "", "SELECT * FROM (", "SELECT 1", ") t"},
	{"lateral", "", "SELECT * FROM LATERAL (", "SELECT 1", ") t"},
	{"function in from", "", "SELECT * FROM f((", "SELECT 1", "))"},
	{"with", "", "WITH a AS (", "SELECT 1", ") SELECT 1"},
	{"limit", "SELECT 1", " LIMIT (SELECT 1", "", ")"},
	{"case when", "SELECT ", "CASE WHEN true THEN ", "1", " END"},
	{"case else", "SELECT ", "CASE WHEN true THEN 1 ELSE ", "1", " END"},
	{"subscript", "SELECT ", "a[", "1", "]"},
	{"row", "SELECT ", "ROW(1,", "1", ")"},
	{"implicit row", "SELECT ", "(1,", "1", ")"},
	{"any", "SELECT ", "a = ANY(", "1", ")"},
	{"between", "SELECT ", "a BETWEEN 1 AND (", "1", ")"},
	{"and or", "SELECT ", "(", "x", " AND a OR b)"},
	{"window", "SELECT ", "sum(1) OVER (ORDER BY ", "1", ")"},
	{"filter", "SELECT ", "sum(1) FILTER (WHERE ", "1", ")"},
	{"within group", "SELECT ", "sum(1) WITHIN GROUP (ORDER BY ", "1", ")"},
	{"named argument", "SELECT ", "f(a => ", "1", ")"},
	{"json_object", "SELECT ", "json_object('a':", "1", ")"},
	{"json_array", "SELECT ", "json_array(", "1", ")"},
	{"json_query", "SELECT ", "json_query(", "a", ", '$')"},
	{"json", "SELECT ", "JSON(", "a", ")"},
	{"xmlconcat", "SELECT ", "xmlconcat(", "1", ")"},
	{"xmlforest", "SELECT ", "xmlforest(", "1", " AS a)"},
	{"xmlelement", "SELECT ", "xmlelement(name a, xmlattributes(1 AS b), ", "1", ")"},
	{"join in parentheses", "SELECT * FROM ", "(a JOIN ", "a", " ON true)"},
	{"nested join", "SELECT * FROM a", " JOIN a", "", " ON true"},
	{"set operation", "", "(", "SELECT 1", " UNION SELECT 1)"},
	{"grouping sets", "SELECT 1 GROUP BY ", "GROUPING SETS (", "a", ")"},
	{"overlaps", "SELECT ", "(1,", "1", ") OVERLAPS (1,2)"},
	{"extract", "SELECT ", "extract(day FROM ", "1", ")"},
	{"typmod", "SELECT ", "1::numeric(", "1", ")"},
	{"atomic", "", "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC ", "SELECT 1", "; END"},
	{"left-deep sums", "SELECT ", "(", "1", "+1+1+1)"},
}

// flat texts are long but make trees of constant height.
var flat = []nesting{
	{"or", "SELECT a", " OR a = 1", "", ""},
	{"and", "SELECT a", " AND a = 1", "", ""},
	{"and not", "SELECT a", " AND NOT a", "", ""},
	{"between", "SELECT true", " AND a BETWEEN 1 AND 2", "", ""},
	{"list", "SELECT 1", ", 1 + 1", "", ""},
	{"in list", "SELECT 1 IN (1", ", -1", ")", ""},
	{"values", "VALUES (1)", ", (-1)", "", ""},
	{"arms", "SELECT CASE", " WHEN a = 1 THEN -1", " END", ""},
	{"statements", "", "SELECT -1;", "", ""},
	{"from", "SELECT * FROM a", ", a", "", ""},
	{"with", "WITH a AS (SELECT 1)", ", b AS (SELECT 1)", " SELECT 1", ""},
	{"columns", "CREATE TABLE t (a int NOT NULL", ", a int NOT NULL DEFAULT -1", ")", ""},
	{"labels", "SELECT 1 AS case", ", a.case", "", ""},
}

// TestThreadStack runs TestDepth again in a process whose threads have the
// smallest stacks that CheckThreadStack accepts.
func TestThreadStack(t *testing.T) {
	if os.Getenv("TSDB_SMALL_STACK") != "" {
		t.Skip("already there")
	}
	cmd := exec.Command("sh", "-c", `ulimit -s 2048 && exec "$0" -test.run='^(TestDepth|TestCheckThreadStack)' -test.count=1`, os.Args[0])
	cmd.Env = append(os.Environ(), "TSDB_SMALL_STACK=2048")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%.4000s", err, out)
	}
	if testing.Verbose() {
		t.Logf("%s", out)
	}
}

func TestCheckThreadStack(t *testing.T) {
	if err := CheckThreadStack(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", `ulimit -s 1024 && exec "$0" -test.run='^TestSmallThreadStack$' -test.v`, os.Args[0])
	cmd.Env = append(os.Environ(), "TSDB_SMALL_STACK=1024")
	out, err := cmd.CombinedOutput()
	want := `the stack limit of 1024 kB is below the 2048 kB that the SQL grammar needs; raise it with "ulimit -s 2048"`
	if err != nil || !strings.Contains(string(out), want) {
		t.Errorf("%v: %s", err, out)
	}
}

func TestSmallThreadStack(t *testing.T) {
	if os.Getenv("TSDB_SMALL_STACK") == "1024" {
		t.Log(CheckThreadStack())
	}
}

// guardOf runs the guard without the grammar.
func guardOf(query string) error {
	sc := scannerPool.Get().(*scanner)
	defer scannerPool.Put(sc)
	return sc.scan(query)
}

func TestDepth(t *testing.T) {
	if os.Getenv("TSDB_SMALL_STACK") == "" {
		t.Skip("TestThreadStack runs it")
	}
	for _, n := range chains {
		if _, err := Parse(n.text(3900)); err != nil && n.name != "function" {
			t.Errorf("%s: 3900 levels: %v", n.name, err)
		}
		_, err := Parse(n.text(30000))
		e := pgerr.From(err)
		if err == nil || e.Code != pgerr.StatementTooComplex || e.Message != "stack depth limit exceeded" || !strings.HasPrefix(e.Hint, "Increase the configuration parameter \"max_stack_depth\"") {
			t.Errorf("%s: 30000 levels: %v", n.name, err)
		}
		// The deepest that the guard lets pass does not overflow.
		deepest(t, n)
	}
	for _, n := range brackets {
		for _, levels := range []int{100, 500} {
			if _, err := Parse(n.text(levels)); err != nil {
				t.Errorf("%s: %d levels: %v", n.name, levels, err)
			}
		}
		for _, levels := range []int{3900, 30000} {
			_, err := Parse(n.text(levels))
			if err == nil {
				continue
			}
			if c := pgerr.From(err).Code; c != pgerr.StatementTooComplex && c != pgerr.SyntaxError {
				t.Errorf("%s: %d levels: %v", n.name, levels, err)
			}
		}
		deepest(t, n)
	}
	for _, n := range flat {
		levels := 5000
		if n.name == "arms" {
			levels = 20_000
		}
		if _, err := Parse(n.text(levels)); err != nil {
			t.Errorf("%s: %d: %v", n.name, levels, err)
		}
	}
	if _, err := Parse(flat[5].text(100_000)); err != nil {
		t.Error(err)
	}
	if _, err := Parse(flat[6].text(100_000)); err != nil {
		t.Error(err)
	}
}

// deepest parses the construct at the guard's limit.
func deepest(t *testing.T, n nesting) {
	lo, hi := 1, 2*maxDepth
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		if guardOf(n.text(mid)) == nil {
			lo = mid
		} else {
			hi = mid
		}
	}
	if _, err := Parse(n.text(lo)); err != nil && pgerr.From(err).Code != pgerr.SyntaxError {
		t.Errorf("%s: %d levels: %v", n.name, lo, err)
	}
}

// TestDepthMixed nests random constructs in one another up to the guard's
// limit: no mixture may get past it and overflow the stack.
func TestDepthMixed(t *testing.T) {
	if os.Getenv("TSDB_SMALL_STACK") == "" {
		t.Skip("TestThreadStack runs it")
	}
	seed := rand.Uint64()
	if os.Getenv("TSDB_SEED") != "" {
		fmt.Sscan(os.Getenv("TSDB_SEED"), &seed)
	}
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	wraps := [][2]string{
		{"(", ")"}, {"(SELECT ", ")"}, {"(", "+1+1)"}, {"(1+", ")"}, {"CASE WHEN ", " THEN 1 END"}, {"CASE WHEN a AND b OR ", " THEN 1 END"},
		{"a[", "]"}, {"ARRAY[", "]"}, {"f(", ")"}, {"(SELECT 1 FROM f((", ")))"}, {"(SELECT 1 FROM a JOIN b ON ", ")"},
		{"(", " AND a OR b)"}, {"(", ")::int::text"}, {"(", ") IS NULL"}, {"NOT (", ")"}, {"- (", ")"}, {"(", ") COLLATE \"C\""},
		{"json_object('a': ", ")"}, {"sum(1) OVER (ORDER BY ", ")"}, {"(SELECT 1 UNION SELECT ", ")"}, {"(", ") BETWEEN 1 AND 2"},
		{"a BETWEEN (", ") AND 2"}, {"(SELECT 1 LIMIT ", ")"}, {"ROW(1, ", ")"}, {"x = ANY(", ")"}, {"(VALUES (", "))"},
		{"(SELECT 1 WINDOW w AS (ORDER BY ", "))"}, {"(WITH a AS (SELECT ", ") SELECT 1)"}, {"xmlforest(", " AS a)"}, {"f(a => ", ")"},
	}
	for range 20 {
		few := make([][2]string, 1+rng.IntN(3))
		for i := range few {
			few[i] = wraps[rng.IntN(len(wraps))]
		}
		picks := make([]int, maxDepth+1)
		for i := range picks {
			picks[i] = rng.IntN(len(few))
		}
		build := func(levels int) string {
			var b strings.Builder
			b.WriteString("SELECT ")
			for _, p := range picks[:levels] {
				b.WriteString(few[p][0])
			}
			b.WriteString("1")
			for i := levels - 1; i >= 0; i-- {
				b.WriteString(few[picks[i]][1])
			}
			return b.String()
		}
		lo, hi := 1, len(picks)
		for hi-lo > 1 {
			mid := (lo + hi) / 2
			if guardOf(build(mid)) == nil {
				lo = mid
			} else {
				hi = mid
			}
		}
		for _, levels := range []int{lo, min(lo, 2400), min(lo, 1200)} {
			if _, err := Parse(build(levels)); err != nil && pgerr.From(err).Code != pgerr.SyntaxError {
				t.Errorf("%v: %d levels: %v", few, levels, err)
			}
		}
	}
}
