package crash

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// worker changes rows of its own, statement by statement, and knows what must
// be there after a crash.
type worker interface {
	// step runs the next statement; an error means that the server is gone.
	step(c *pgconn.PgConn) error
	// check compares what is there with what was sent and acknowledged.
	check(t *testing.T, c *pgconn.PgConn)
	// acknowledged is the number of statements that the server has acknowledged.
	acknowledged() int
}

// newWorkers makes the tables and those who change them.
func newWorkers(t *testing.T, c *pgconn.PgConn, round int) []worker {
	for _, table := range []string{"readings", "states", "counters"} {
		mustExec(t, c, "DROP TABLE IF EXISTS "+table)
	}
	mustExec(t, c, "CREATE TABLE readings (src text, ts timestamp, v int8, PRIMARY KEY (src, ts))")
	mustExec(t, c, "CREATE TABLE states (src text, ts timestamp, v int8, PRIMARY KEY (src, ts))")
	mustExec(t, c, "CREATE TABLE counters (id int PRIMARY KEY, n int8)")
	mustExec(t, c, "INSERT INTO counters VALUES (1, 0)")
	name := func(s string) string { return fmt.Sprintf("r%d-%s", round, s) }
	workers := []worker{
		&loader{name: name("insert"), insert: true},
		&loader{name: name("copy")},
		&loader{name: name("lazy"), insert: true, lazy: true},
		&loader{name: name("lazycopy"), lazy: true},
		&counter{},
	}
	for _, how := range []string{"update", "replace", "upsert", "split"} {
		s := &state{src: how, how: how}
		mustExec(t, c, "INSERT INTO states "+s.rows())
		workers = append(workers, s)
	}
	return append(workers, newTakers(t, c)...)
}

// loader adds rows, each statement under a name of its own.
type loader struct {
	name       string
	insert     bool // else COPY
	lazy       bool // synchronous_commit = off: what is acknowledged last may be lost
	sent, done int  // statements
}

func (l *loader) acknowledged() int { return l.done }

// size is the number of rows of statement n.
func (l *loader) size(n int) int {
	if l.insert {
		return 1 + n%90
	}
	return 1 + n*997%20000
}

func (l *loader) step(c *pgconn.PgConn) error {
	n := l.sent
	id := fmt.Sprintf("%s-%d", l.name, n)
	var b strings.Builder
	for i := range l.size(n) {
		if l.insert {
			fmt.Fprintf(&b, ", ('%s', '2024-01-01'::timestamp + interval '%d seconds', %d)", id, i, i)
			continue
		}
		b.WriteString(id + "\t2024-02-01 00:00:" + strconv.FormatFloat(float64(i)/1000, 'f', 3, 64) + "\t" + strconv.Itoa(i) + "\n")
	}
	if l.lazy {
		if err := exec(c, "SET synchronous_commit = off"); err != nil {
			return err
		}
	}
	l.sent++
	var err error
	if l.insert {
		err = exec(c, "INSERT INTO readings VALUES "+b.String()[2:])
	} else {
		_, err = c.CopyFrom(context.Background(), strings.NewReader(b.String()), "COPY readings FROM STDIN")
	}
	if err == nil {
		l.done++
	}
	return err
}

// check finds every statement whole or not at all. Those of one client are in
// the order of the log, so that the ones that survive are a prefix.
func (l *loader) check(t *testing.T, c *pgconn.PgConn) {
	rs, err := c.Exec(context.Background(), "SELECT src, count(*), sum(v) FROM readings WHERE src >= '"+l.name+"-' AND src < '"+l.name+".' GROUP BY src").ReadAll()
	if err != nil {
		t.Error(err)
		return
	}
	there := map[int]bool{}
	for _, r := range rs[0].Rows {
		n, _ := strconv.Atoi(strings.TrimPrefix(string(r[0]), l.name+"-"))
		size := l.size(n)
		if want := fmt.Sprint(size, size*(size-1)/2); fmt.Sprintf("%s %s", r[1], r[2]) != want {
			t.Errorf("%s: count and sum %s %s, want %s", r[0], r[1], r[2], want)
		}
		if n >= l.sent {
			t.Errorf("%s was not sent", r[0])
		}
		there[n] = true
	}
	last := l.sent
	for n := range l.sent {
		switch {
		case there[n] && n > last:
			t.Errorf("%s-%d is there, %d before it is not", l.name, n, last)
		case !there[n]:
			if last == l.sent {
				last = n
			}
			if n < l.done && !l.lazy {
				t.Errorf("%s-%d was acknowledged and is lost", l.name, n)
			}
		}
	}
	l.sent, l.done = last, last
}

// counter adds to one row of layout row.
type counter struct{ sent, done int }

func (w *counter) acknowledged() int { return w.done }

func (w *counter) step(c *pgconn.PgConn) error {
	w.sent++
	sql := "INSERT INTO counters VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET n = counters.n + 1"
	if w.sent%2 == 0 {
		sql = "UPDATE counters SET n = n + 1 WHERE id = 1"
	}
	err := exec(c, sql)
	if err == nil {
		w.done++
	}
	return err
}

func (w *counter) check(t *testing.T, c *pgconn.PgConn) {
	rs, err := c.Exec(context.Background(), "SELECT n FROM counters").ReadAll()
	if err != nil || len(rs[0].Rows) != 1 {
		t.Errorf("counter: %d rows, %v", len(rs[0].Rows), err)
		return
	}
	n, _ := strconv.Atoi(string(rs[0].Rows[0][0]))
	if n < w.done || n > w.sent {
		t.Errorf("counter is %d, %d acknowledged of %d", n, w.done, w.sent)
	}
	w.sent, w.done = n, n
}

// stateRows is the number of rows that a state changes together.
const stateRows = 50

// state gives all its rows the same new number, in one statement or transaction.
type state struct {
	src, how   string
	sent, done int
}

func (s *state) acknowledged() int { return s.done }

func (s *state) rows() string {
	return fmt.Sprintf("SELECT '%s', '2024-01-01'::timestamp + i * interval '1 hour', %d FROM generate_series(1, %d) i", s.src, s.sent, stateRows)
}

func (s *state) step(c *pgconn.PgConn) error {
	s.sent++
	where := " WHERE src = '" + s.src + "'"
	var sql string
	switch s.how {
	case "update":
		sql = fmt.Sprintf("UPDATE states SET v = %d%s", s.sent, where)
	case "replace":
		sql = "BEGIN; DELETE FROM states" + where + "; INSERT INTO states " + s.rows() + "; COMMIT"
	case "upsert":
		sql = "INSERT INTO states " + s.rows() + " ON CONFLICT (src, ts) DO UPDATE SET v = excluded.v"
	case "split":
		sql = fmt.Sprintf("BEGIN; UPDATE states SET v = %d%s AND ts < '2024-01-02'; SAVEPOINT a; DELETE FROM states%s; ROLLBACK TO a; "+
			"UPDATE states SET v = %d%s AND ts >= '2024-01-02'; COMMIT", s.sent, where, where, s.sent, where)
	}
	err := exec(c, sql)
	if err == nil {
		s.done++
	}
	return err
}

func (s *state) check(t *testing.T, c *pgconn.PgConn) {
	rs, err := c.Exec(context.Background(), "SELECT count(*), count(DISTINCT ts), min(v), max(v) FROM states WHERE src = '"+s.src+"'").ReadAll()
	if err != nil {
		t.Error(err)
		return
	}
	r := rs[0].Rows[0]
	low, _ := strconv.Atoi(string(r[2]))
	high, _ := strconv.Atoi(string(r[3]))
	if string(r[0]) != strconv.Itoa(stateRows) || string(r[1]) != strconv.Itoa(stateRows) || low != high || low < s.done || low > s.sent {
		t.Errorf("%s: %s rows, %s keys, values %d to %d; %d acknowledged of %d", s.how, r[0], r[1], low, high, s.done, s.sent)
	}
	s.sent, s.done = low, low
}
