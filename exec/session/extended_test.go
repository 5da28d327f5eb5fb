package session

import (
	"context"
	"encoding/binary"
	"testing"

	"tsdb/sql/types"
)

// step runs f and appends its error to the log.
func (c *client) step(err error) {
	if err != nil {
		c.out.WriteString(errText(err))
		c.s.Fail()
	}
}

func (c *client) parse(name, q string, params ...types.OID) {
	c.step(c.s.Parse(context.Background(), name, q, params))
}

func (c *client) bind(portal, stmt string, values ...string) {
	var vs [][]byte
	for _, v := range values {
		if v == "NULL" {
			vs = append(vs, nil)
		} else {
			vs = append(vs, []byte(v))
		}
	}
	c.step(c.s.Bind(context.Background(), portal, stmt, nil, vs, nil))
}

func (c *client) exec(portal string, max int64) {
	c.step(c.s.Execute(context.Background(), portal, max, &c.log))
}

func (c *client) sync() { c.step(c.s.Sync(context.Background())) }

// took returns what was logged since the last call.
func (c *client) took() string {
	s := c.out.String()
	c.out.Reset()
	return s
}

func (c *client) expect(want string) {
	c.t.Helper()
	if got := c.took(); got != want {
		c.t.Errorf("\n got: %s\nwant: %s", got, want)
	}
}

func TestExtendedQuery(t *testing.T) {
	c := newServer(t).connect("tsdb")
	c.script("CREATE TABLE t (k int PRIMARY KEY, v text)", "[CREATE TABLE]")
	c.took()
	c.parse("ins", "INSERT INTO t VALUES ($1, $2)")
	d, err := c.s.DescribeStatement(context.Background(), "ins")
	if err != nil || len(d.Params) != 2 || d.Params[0] != types.Int4 || d.Params[1] != types.Text || d.Cols != nil {
		t.Errorf("describe: %+v, %v", d, err)
	}
	c.bind("", "ins", "1", "a")
	c.exec("", 1)
	c.bind("", "ins", "2", "NULL")
	c.exec("", 1)
	c.sync()
	c.expect("[INSERT 0 1][INSERT 0 1]")
	c.parse("", "SELECT v, k FROM t WHERE k >= $1 ORDER BY k")
	c.bind("p", "", "1")
	d, err = c.s.DescribePortal("p")
	if err != nil || len(d.Cols) != 2 || d.Cols[1].Type.OID != types.Int4 || d.Cols[0].Name != "v" || len(d.Formats) != 2 {
		t.Errorf("describe portal: %+v, %v", d, err)
	}
	c.exec("p", 0)
	c.sync()
	c.expect("a|1\nNULL|2\n[SELECT 2]")
	c.exec("p", 0)
	c.sync()
	c.expect(`ERROR 34000: portal "p" does not exist`)
}

func TestBinaryParameters(t *testing.T) {
	c := newServer(t).connect("tsdb")
	c.parse("", "SELECT $1::int8 + 1, $2::text || '!'")
	v := binary.BigEndian.AppendUint64(nil, 41)
	c.step(c.s.Bind(context.Background(), "", "", []int16{1, 0}, [][]byte{v, []byte("hi")}, []int16{1}))
	d, err := c.s.DescribePortal("")
	if err != nil || d.Formats[0] != 1 || d.Formats[1] != 1 {
		t.Errorf("formats: %+v, %v", d, err)
	}
	c.exec("", 0)
	c.sync()
	c.expect("42|hi!\n[SELECT 1]")
	c.parse("", "SELECT $1::int8")
	c.step(c.s.Bind(context.Background(), "", "", []int16{1}, [][]byte{{1, 2}}, nil))
	c.expect("ERROR 08P01: insufficient data left in message WHERE: unnamed portal parameter $1")
	c.sync()
	c.parse("", "SELECT $1::int4")
	c.bind("", "", "x")
	c.sync()
	c.expect(`ERROR 22P02: invalid input syntax for type integer: "x" WHERE: unnamed portal parameter $1 = 'x'`)
}

func TestSuspendedPortals(t *testing.T) {
	c := newServer(t).connect("tsdb")
	c.parse("", "SELECT * FROM generate_series(1, 10000) AS g")
	c.bind("", "")
	c.exec("", 2)
	c.exec("", 1)
	c.expect("1\n2\n[...]3\n[...]")
	c.exec("", 9996)
	c.took()
	c.exec("", 5)
	c.expect("10000\n[SELECT 1]")
	c.exec("", 5)
	c.expect("[SELECT 0]")
	c.sync()
	c.want("BEGIN", "[BEGIN]")
	c.took()
	c.parse("", "SELECT * FROM generate_series(1, 3) AS g")
	c.bind("c1", "")
	c.exec("c1", 1)
	c.sync()
	c.exec("c1", 2)
	c.sync()
	c.exec("c1", 2)
	c.expect("1\n[...]2\n3\n[...][SELECT 0]")
	c.s.ClosePortal("c1")
	c.exec("c1", 1)
	c.expect(`ERROR 34000: portal "c1" does not exist`)
	c.sync()
	c.want("ROLLBACK", "[ROLLBACK]")
}

func TestExtendedTransactions(t *testing.T) {
	c := newServer(t).connect("tsdb")
	c.want("CREATE TABLE t (k int PRIMARY KEY)", "[CREATE TABLE]")
	c.took()
	one := func(q string) {
		c.parse("", q)
		c.bind("", "")
		c.exec("", 0)
	}
	one("INSERT INTO t VALUES (1)")
	one("INSERT INTO t VALUES (1)")
	c.sync()
	c.expect(`[INSERT 0 1]ERROR 23505: duplicate key value violates unique constraint "t_pkey" DETAIL: Key (k)=(1) already exists.`)
	c.want("SELECT count(*) FROM t", "0\n[SELECT 1]")
	c.took()
	one("BEGIN")
	one("INSERT INTO t VALUES (1)")
	c.sync()
	if c.s.TxStatus() != 'T' {
		t.Error("in a block after Sync")
	}
	c.parse("", "SELECT 1/0")
	c.bind("", "")
	c.exec("", 0)
	c.sync()
	if c.s.TxStatus() != 'E' {
		t.Error("failed block after Sync")
	}
	c.parse("", "SELECT 1")
	c.sync()
	c.expect("[BEGIN][INSERT 0 1]ERROR 22012: division by zeroERROR 25P02: current transaction is aborted, commands ignored until end of transaction block")
	one("ROLLBACK")
	c.sync()
	c.expect("[ROLLBACK]")
	if c.s.TxStatus() != 'I' {
		t.Error("idle after ROLLBACK")
	}
}

func TestPreparedErrors(t *testing.T) {
	c := newServer(t).connect("tsdb")
	for _, x := range []struct {
		do   func()
		want string
	}{
		{func() { c.parse("a", "SELECT 1"); c.parse("a", "SELECT 1") }, `ERROR 42P05: prepared statement "a" already exists`},
		{func() { c.parse("", "SELECT 1; SELECT 2") }, "ERROR 42601: cannot insert multiple commands into a prepared statement"},
		{func() { c.bind("", "zz") }, `ERROR 26000: prepared statement "zz" does not exist`},
		{func() { c.bind("", "a", "1") }, `ERROR 08P01: bind message supplies 1 parameters, but prepared statement "a" requires 0`},
		{func() { c.parse("", "SELEC") }, `ERROR 42601: syntax error at or near "SELEC"`},
		{func() { c.parse("", ""); c.bind("", ""); c.exec("", 0) }, "[]"},
		{func() { c.parse("", "SET work_mem = $1") }, "ERROR 42601: syntax error at or near \"$1\""},
		{func() { c.bind("p", "a"); c.bind("p", "a") }, `ERROR 42P03: cursor "p" already exists`},
	} {
		x.do()
		c.expect(x.want)
		c.sync()
		c.took()
	}
}

func TestCachedPlan(t *testing.T) {
	srv := newServer(t)
	c, other := srv.connect("tsdb"), srv.connect("tsdb")
	c.want("CREATE TABLE t (k int); INSERT INTO t VALUES (1)", "[CREATE TABLE][INSERT 0 1]")
	c.took()
	c.parse("s", "SELECT * FROM t")
	c.sync()
	other.want("CREATE TABLE u (k int)", "[CREATE TABLE]")
	c.bind("", "s")
	c.exec("", 0)
	c.sync()
	c.expect("1\n[SELECT 1]")
	other.want("DROP TABLE t; CREATE TABLE t (k int, v text)", "[DROP TABLE][CREATE TABLE]")
	c.bind("", "s")
	c.sync()
	c.expect("ERROR 0A000: cached plan must not change result type")
	other.want("DROP TABLE t", "[DROP TABLE]")
	c.bind("", "s")
	c.sync()
	c.expect(`ERROR 42P01: relation "t" does not exist`)
}

func TestSQLPrepare(t *testing.T) {
	c := newServer(t).connect("tsdb")
	c.script(
		"PREPARE p (int, text) AS SELECT $1 + 1, $2", "[PREPARE]",
		"EXECUTE p (1, 'x')", "2|x\n[SELECT 1]",
		"EXECUTE p (1)", `ERROR 42601: wrong number of parameters for prepared statement "p" DETAIL: Expected 2 parameters but got 1.`,
		"EXECUTE q", `ERROR 26000: prepared statement "q" does not exist`,
		"PREPARE inside (int) AS SELECT g FROM generate_series(1, 5) g WHERE g IN (SELECT $1 + 0) AND g IN (SELECT i FROM generate_series(1, $1) i)", "[PREPARE]",
		"EXECUTE inside(4)", "4\n[SELECT 1]",
		"PREPARE few (int) AS SELECT g FROM generate_series(1, 5) g LIMIT $1", "[PREPARE]",
		"EXPLAIN (COSTS OFF) EXECUTE few(2)", "Limit\n  Count: 2\n  ->  Function Scan on generate_series g\n        Function Call: generate_series(1, 5)\n[EXPLAIN]",
		"EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, COSTS OFF) SELECT g FROM generate_series(1, 2) g", "Function Scan on generate_series g (actual rows=2 batches=1)\n  Function Call: generate_series(1, 2)\n[EXPLAIN]",
		"EXPLAIN EXECUTE few", `ERROR 42601: wrong number of parameters for prepared statement "few" DETAIL: Expected 1 parameters but got 0.`,
		"EXPLAIN EXECUTE nobody", `ERROR 26000: prepared statement "nobody" does not exist`,
		"PREPARE p AS SELECT 1", `ERROR 42P05: prepared statement "p" already exists`,
		"DEALLOCATE p", "[DEALLOCATE]",
		"DEALLOCATE p", `ERROR 26000: prepared statement "p" does not exist`,
		"DEALLOCATE ALL", "[DEALLOCATE ALL]",
	)
}

func TestShowThroughExtended(t *testing.T) {
	c := newServer(t).connect("tsdb")
	c.parse("", "SHOW TimeZone")
	d, err := c.s.DescribeStatement(context.Background(), "")
	if err != nil || len(d.Cols) != 1 || d.Cols[0].Name != "TimeZone" {
		t.Errorf("describe: %+v, %v", d, err)
	}
	c.bind("", "")
	c.exec("", 0)
	c.sync()
	c.expect("UTC\n[SHOW]")
}
