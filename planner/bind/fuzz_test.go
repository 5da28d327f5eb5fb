package bind_test

import (
	"math/rand"
	"os"
	"strings"
	"testing"

	"tsdb/planner/bind"
	"tsdb/planner/logical"
	"tsdb/sql"
	"tsdb/sql/pgerr"
)

// bindAny binds whatever parses and walks the result; any answer is fine but
// XX000 and a panic.
func bindAny(t *testing.T, env *bind.Env, q string) {
	sts, err := sql.Parse(q)
	if err != nil {
		return
	}
	for _, st := range sts {
		b, err := bind.Bind(env, st, nil)
		switch {
		case err != nil:
			if e := pgerr.From(err); e.Code == pgerr.InternalError {
				t.Errorf("%s: %v", q, err)
			}
		case b.Root != nil:
			if s := logical.String(b.Root); strings.Contains(s, "<*bind.") {
				t.Errorf("%s: a node that only the binder knows:\n%s", q, s)
			}
		}
	}
}

func corpus(t testing.TB) []string {
	data, err := os.ReadFile("testdata/postgres15.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, block := range strings.Split(string(data), "\n\n") {
		q, _, _ := strings.Cut(block, "\n")
		if q != "" {
			out = append(out, q)
		}
	}
	return out
}

// TestMixedStatements binds statements made of the pieces of others.
func TestMixedStatements(t *testing.T) {
	const seed = 1
	r := rand.New(rand.NewSource(seed))
	env := testEnv()
	list := corpus(t)
	var words []string
	for _, q := range list {
		words = append(words, strings.Fields(q)...)
	}
	for range 20000 {
		w := strings.Fields(list[r.Intn(len(list))])
		for range 1 + r.Intn(3) {
			if len(w) == 0 {
				break
			}
			i := r.Intn(len(w))
			switch r.Intn(4) {
			case 0:
				w[i] = words[r.Intn(len(words))]
			case 1:
				w = append(w[:i:i], w[i+1:]...)
			case 2:
				other := strings.Fields(list[r.Intn(len(list))])
				w = append(w[:i:i], other[r.Intn(len(other)):]...)
			default:
				w[i] = "(" + strings.TrimRight(list[r.Intn(len(list))], ";") + ")"
			}
		}
		bindAny(t, env, strings.Join(w, " "))
	}
}

func FuzzBind(f *testing.F) {
	for _, q := range corpus(f) {
		f.Add(q)
	}
	env := testEnv()
	f.Fuzz(func(t *testing.T, q string) { bindAny(t, env, q) })
}
