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
		default:
			for _, n := range plans(b) {
				if s := logical.String(n); strings.Contains(s, "<*bind.") {
					t.Errorf("%s: a node that only the binder knows:\n%s", q, s)
				}
			}
		}
	}
}

// plans returns all trees of a bound statement.
func plans(b *bind.Bound) []logical.Node {
	var out []logical.Node
	if b.Root != nil {
		out = append(out, b.Root)
	}
	if b.Returning != nil {
		out = append(out, b.Returning)
	}
	if b.Conflict != nil && b.Conflict.Update != nil {
		out = append(out, b.Conflict.Update)
	}
	return out
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
	return append(out, changes...)
}

// changes are statements that write.
var changes = []string{
	"update t set a = a + 1 where a > 3",
	"update t x set (a, b) = (select a, b from t y where y.a = x.a), a = default from other.u where u.a = x.a returning *, x.b",
	"update t set a = 1, b = default where a in (select a from other.u) returning a, (select count(*) from t)",
	"delete from t using other.u where t.a = u.a returning t.*, u.a",
	"delete from t where exists (select 1 from other.u where u.a = t.a)",
	"insert into t (a, b) values (1, 'x') on conflict do nothing returning *",
	"insert into t as x select * from t on conflict (a) do update set a = excluded.a, b = x.b where x.a < excluded.a returning x.a",
	"insert into t values (1) on conflict on constraint t_pkey do update set (a, b) = (excluded.a, default)",
	"explain update t set b = 'y' returning b",
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
