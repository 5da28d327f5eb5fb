package crash

import (
	"context"
	"strconv"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// given are the values that a sequence has given to all who ask it.
type given struct {
	mu    sync.Mutex
	seen  map[int64]bool
	twice []int64
	last  int64
}

func (g *given) note(v int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.seen[v] {
		g.twice = append(g.twice, v)
	}
	g.seen[v] = true
	g.last = max(g.last, v)
}

// taker takes values of a sequence that others take from, too: by itself, by
// the default of a column, and many at once.
type taker struct {
	*given
	done int
	rows []int64 // acknowledged
}

func newTakers(t *testing.T, c *pgconn.PgConn) []worker {
	mustExec(t, c, "DROP TABLE IF EXISTS numbered")
	mustExec(t, c, "CREATE TABLE numbered (id bigserial PRIMARY KEY, v text)")
	g := &given{seen: map[int64]bool{}}
	return []worker{&taker{given: g}, &taker{given: g}, &taker{given: g}}
}

func (k *taker) acknowledged() int { return k.done }

var takes = []string{
	"SELECT nextval('numbered_id_seq')",
	"INSERT INTO numbered (v) VALUES ('one') RETURNING id",
	"SELECT nextval('numbered_id_seq') FROM generate_series(1, 50)",
	"INSERT INTO numbered (v) VALUES ('one'), ('two') RETURNING id",
}

func (k *taker) step(c *pgconn.PgConn) error {
	how := k.done % len(takes)
	rs, err := c.Exec(context.Background(), takes[how]).ReadAll()
	if err != nil {
		return err
	}
	k.done++
	for _, r := range rs[0].Rows {
		v, err := strconv.ParseInt(string(r[0]), 10, 64)
		if err != nil {
			return err
		}
		k.note(v)
		if how%2 == 1 {
			k.rows = append(k.rows, v)
		}
	}
	return nil
}

// check finds no value given twice, not even the next one, and every row.
func (k *taker) check(t *testing.T, c *pgconn.PgConn) {
	last := k.last
	if err := k.step(c); err != nil {
		t.Error(err)
	}
	if len(k.twice) > 0 {
		t.Errorf("the sequence gave twice: %v; last before the crash %d", k.twice, last)
	}
	rs, err := c.Exec(context.Background(), "SELECT id FROM numbered").ReadAll()
	if err != nil {
		t.Error(err)
		return
	}
	there := map[string]bool{}
	for _, r := range rs[0].Rows {
		there[string(r[0])] = true
	}
	for _, id := range k.rows {
		if !there[strconv.FormatInt(id, 10)] {
			t.Errorf("row %d was acknowledged and is lost", id)
		}
	}
}
