package slt

import (
	"fmt"
	"math/rand"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"tsdb/colstore"
	"tsdb/tests/harness"
)

// TestRandomChangesAgainstPostgreSQL runs random statements that change rows, in
// transactions and with savepoints, on tsdb and on PostgreSQL 15 and compares
// tags, rows, SQLSTATEs and the table. tsdb flushes, vacuums or restarts in between.
func TestRandomChangesAgainstPostgreSQL(t *testing.T) {
	url := postgresURL(t)
	seed := time.Now().UnixNano()
	if v, err := strconv.ParseInt(os.Getenv("TSDB_SEED"), 10, 64); err == nil {
		seed = v
	}
	t.Logf("seed %d", seed)
	for i, layout := range []string{"columnar", "row", "columnar", "row"} {
		t.Run(fmt.Sprint(layout, i), func(t *testing.T) {
			s := harness.StartTSDB(t, colstore.Options{})
			d := &duel{t: t, r: rand.New(rand.NewSource(seed + int64(i))), timed: layout == "columnar" && i > 0, table: fmt.Sprint("t", i),
				ours: &local{remote: remote{conn: connect(t, s.URL())}, server: s}, theirs: &remote{conn: database(t, url, fmt.Sprint("changes", os.Getpid(), "_", i))}}
			d.run(layout, 400)
		})
	}
}

// duel is one random run on both servers.
type duel struct {
	t            *testing.T
	r            *rand.Rand
	table        string
	timed        bool // the key has a timestamp, too
	ours, theirs target
}

func (d *duel) run(layout string, n int) {
	cols := " (k int PRIMARY KEY, g int, s text, u int UNIQUE)"
	if d.timed {
		cols = " (k int, ts timestamptz, g int, s text, u int, PRIMARY KEY (k, ts))"
	}
	both := "SET timezone = 'UTC'; SET client_min_messages = error; CREATE TABLE " + d.table + cols
	if o, p := outcome(d.ours, both+" WITH (layout = '"+layout+"')"), outcome(d.theirs, both); o != p {
		d.t.Fatalf("tsdb %s, PostgreSQL %s", o, p)
	}
	l := d.ours.(*local)
	for i := range n {
		q := strings.ReplaceAll(d.statement(), "@t", d.table)
		if !d.same(q) || i%8 == 0 && !d.same("SELECT * FROM "+d.table) {
			d.t.Fatalf("statement %d of the run", i)
		}
		l.flush, l.restart = d.r.Intn(20) == 0, d.r.Intn(40) == 0
		l.after(d.t)
		if d.r.Intn(30) == 0 && l.conn.TxStatus() == 'I' {
			if o := outcome(l, "VACUUM "+d.table); !strings.HasPrefix(o, "VACUUM") {
				d.t.Fatal(o)
			}
		}
	}
}

func (d *duel) same(q string) bool {
	o, p := outcome(d.ours, q), outcome(d.theirs, q)
	if o != p {
		d.t.Errorf("%s\n tsdb:       %.2000s\n PostgreSQL: %.2000s", q, o, p)
	}
	return o == p
}

// outcome is the tag and the sorted rows, or the SQLSTATE.
func outcome(tg target, q string) string {
	rs, err := tg.exec(q)
	if err != nil {
		if e, ok := err.(*pgconn.PgError); ok {
			return e.Code
		}
		return err.Error()
	}
	last := rs[len(rs)-1]
	var rows []string
	for _, r := range last.Rows {
		rows = append(rows, strings.ReplaceAll(fmt.Sprintf("%q", r), `""`, "NULL"))
	}
	slices.Sort(rows)
	return last.CommandTag.String() + " " + strings.Join(rows, " ")
}

func (d *duel) pick(list ...string) string { return list[d.r.Intn(len(list))] }
func (d *duel) num(n int) string           { return fmt.Sprint(d.r.Intn(n)) }

func (d *duel) columns() string {
	if d.timed {
		return "k, ts, g, s, u"
	}
	return "k, g, s, u"
}

func (d *duel) key() string {
	if d.timed {
		return "(k, ts)"
	}
	return "(k)"
}

func (d *duel) values(n int) string {
	rows := make([]string, n)
	for i := range rows {
		at := ""
		if d.timed {
			at = fmt.Sprintf("'2024-%02d-%02d', ", 1+d.r.Intn(12), 1+d.r.Intn(3))
		}
		rows[i] = "(" + d.num(400) + ", " + at + d.pick("NULL", d.num(10)) + ", " + d.pick("NULL", "'s"+d.num(30)+"'") + ", " + d.pick("NULL", d.num(3000)) + ")"
	}
	return strings.Join(rows, ", ")
}

func (d *duel) where() string {
	lo := d.r.Intn(400)
	list := []string{"k = " + d.num(400), fmt.Sprintf("k BETWEEN %d AND %d", lo, lo+d.r.Intn(80)), "g = " + d.num(10), "s = 's" + d.num(30) + "'",
		"u > " + d.num(3000), "g IS NULL", "k % 7 = " + d.num(7), "g < 5 AND s IS NOT NULL", "k IN (SELECT k FROM @t WHERE g = " + d.num(10) + ")"}
	if d.timed {
		list = append(list, fmt.Sprintf("ts < '2024-%02d-02'", 1+d.r.Intn(12)))
	}
	return " WHERE " + d.pick(list...)
}

func (d *duel) returning() string { return d.pick("", "", " RETURNING *", " RETURNING k, g + 1, s") }

func (d *duel) statement() string {
	insert := "INSERT INTO @t AS t (" + d.columns() + ") VALUES "
	switch n := d.r.Intn(100); {
	case n < 20:
		return insert + d.values([]int{1, 2, 5, 50}[d.r.Intn(4)]) + d.returning()
	case n < 32:
		return insert + d.values([]int{1, 3, 50}[d.r.Intn(3)]) + " ON CONFLICT " + d.pick("", d.key()) + " DO NOTHING" + d.returning()
	case n < 45:
		return insert + d.values(1+d.r.Intn(3)) + " ON CONFLICT " + d.key() + " DO UPDATE SET " +
			d.pick("g = excluded.g, s = t.s || 'u'", "g = t.g + 1", "u = excluded.u", "s = DEFAULT") + d.pick("", " WHERE t.g < 5") + d.returning()
	case n < 60:
		return "UPDATE @t SET " + d.pick("g = coalesce(g, 0) + 1", "s = s || 'x', g = NULL", "u = u + 5000", "u = NULL", "k = k + 1000000",
			"g = (SELECT count(*) FROM @t x WHERE x.g = @t.g)", "(g, s) = (k % 10, 'row')") + d.where() + d.returning()
	case n < 64:
		return "UPDATE @t SET g = x.n FROM (VALUES (" + d.num(200) + ", 1), (2" + d.num(100) + ", 2)) x (i, n) WHERE k = x.i AND i <> 0"
	case n < 76:
		return "DELETE FROM @t" + d.where() + d.returning()
	case n < 80:
		at := ""
		if d.timed {
			at = "ts, "
		}
		return "INSERT INTO @t (k, " + at + "g, s) SELECT k + " + d.pick("1000", "2000") + ", " + at + "g, s FROM @t" + d.where()
	case n < 90:
		return d.pick("BEGIN", "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT a", "SAVEPOINT b", "ROLLBACK TO a", "ROLLBACK TO b", "RELEASE a")
	case n < 92:
		return d.pick("ALTER TABLE @t ADD c int DEFAULT 7", "ALTER TABLE @t DROP COLUMN IF EXISTS c", "TRUNCATE @t")
	}
	return "SELECT count(*), sum(k), sum(g), count(s), sum(u) FROM @t" + d.where()
}
