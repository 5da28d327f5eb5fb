package bind_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"tsdb/planner/logical"
)

var update = flag.Bool("update", false, "write testdata/plans.txt anew")

// TestPlans compares bound trees with testdata/plans.txt: a statement, its
// tree indented below it, an empty line.
func TestPlans(t *testing.T) {
	const file = "testdata/plans.txt"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	env := testEnv()
	var out strings.Builder
	for _, block := range strings.Split(strings.TrimSpace(string(data)), "\n\n") {
		q, want, _ := strings.Cut(block, "\n")
		b, err := bindText(env, q)
		got := ""
		if err != nil {
			got = "  error: " + err.Error() + "\n"
		} else if b.Root != nil {
			got = "  " + strings.TrimSuffix(strings.ReplaceAll(logical.String(b.Root), "\n", "\n  "), "  ")
		}
		out.WriteString(q + "\n" + got + "\n")
		if strings.TrimRight(got, "\n") != strings.TrimRight(want, "\n") && !*update {
			t.Errorf("%s\n got\n%s\nwant\n%s", q, got, want)
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(strings.TrimRight(out.String(), "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
