// Package crash kills a real server process in the middle of loading and
// checks what a restarted one finds.
package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"tsdb/tests/harness"
)

// rounds is how often the server is killed; TSDB_KILL_ROUNDS overrides it.
const rounds = 3

func buildServer(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "tsdb")
	c := exec.Command("go", "build", "-o", bin, "tsdb/cmd/tsdb")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("building the server: %v\n%s", err, out)
	}
	return bin
}

type process struct {
	cmd  *exec.Cmd
	addr string
	log  *os.File
}

func start(t *testing.T, bin, dir string) *process {
	t.Helper()
	p := &process{addr: harness.FreeAddr(t)}
	var err error
	if p.log, err = os.OpenFile(dir+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644); err != nil {
		t.Fatal(err)
	}
	p.cmd = exec.Command(bin, "serve", "--data", dir, "--listen", p.addr, "--memory", "128MB")
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *process) kill() {
	p.cmd.Process.Signal(syscall.SIGKILL)
	p.cmd.Wait()
	p.log.Close()
}

// dial connects as soon as the server accepts.
func (p *process) dial(t *testing.T) *pgconn.PgConn {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		c, err := pgconn.Connect(context.Background(), "postgres://tsdb@"+p.addr+"/tsdb?sslmode=disable")
		if err == nil {
			return c
		}
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(p.log.Name())
			t.Fatalf("the server did not come up: %v\n%s", err, log)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// ledger remembers what was sent and what was acknowledged: statement number to rows.
type ledger struct {
	mu         sync.Mutex
	sent, done map[string]int
}

func (l *ledger) send(id string, rows int) { l.mu.Lock(); l.sent[id] = rows; l.mu.Unlock() }
func (l *ledger) ack(id string)            { l.mu.Lock(); l.done[id] = l.sent[id]; l.mu.Unlock() }

// insert sends INSERTs of a few rows until the connection dies.
func insert(c *pgconn.PgConn, l *ledger, worker string) {
	for n := 0; ; n++ {
		id := fmt.Sprintf("%s-i%d", worker, n)
		rows := 1 + n%90
		var b strings.Builder
		b.WriteString("INSERT INTO readings VALUES ")
		for i := 0; i < rows; i++ {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "('%s', '2024-01-01'::timestamp + interval '%d seconds', %d)", id, i, i)
		}
		l.send(id, rows)
		if _, err := c.Exec(context.Background(), b.String()).ReadAll(); err != nil {
			return
		}
		l.ack(id)
	}
}

// copyIn sends COPYs of many rows until the connection dies.
func copyIn(c *pgconn.PgConn, l *ledger, worker string) {
	for n := 0; ; n++ {
		id := fmt.Sprintf("%s-c%d", worker, n)
		const rows = 30000
		var b strings.Builder
		for i := 0; i < rows; i++ {
			b.WriteString(id)
			b.WriteString("\t2024-02-01 00:00:")
			b.WriteString(strconv.FormatFloat(float64(i)/1000, 'f', 3, 64))
			b.WriteByte('\t')
			b.WriteString(strconv.Itoa(i))
			b.WriteByte('\n')
		}
		l.send(id, rows)
		if _, err := c.CopyFrom(context.Background(), strings.NewReader(b.String()), "COPY readings FROM STDIN"); err != nil {
			return
		}
		l.ack(id)
	}
}

func verify(t *testing.T, c *pgconn.PgConn, l *ledger) {
	t.Helper()
	rs, err := c.Exec(context.Background(), "SELECT src, count(*), sum(v) FROM readings GROUP BY src").ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, r := range rs[0].Rows {
		n, _ := strconv.Atoi(string(r[1]))
		found[string(r[0])] = n
		if want := fmt.Sprint(n * (n - 1) / 2); string(r[2]) != want {
			t.Errorf("statement %s: sum %s, want %s", r[0], r[2], want)
		}
	}
	for id, n := range found {
		if n != l.sent[id] {
			t.Errorf("statement %s shows %d of its %d rows", id, n, l.sent[id])
		}
	}
	for id, n := range l.done {
		if found[id] != n {
			t.Errorf("statement %s was acknowledged with %d rows, %d are there", id, n, found[id])
		}
	}
}

func TestKillLosesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and kills server processes")
	}
	n := rounds
	if s := os.Getenv("TSDB_KILL_ROUNDS"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	bin := buildServer(t)
	dir := filepath.Join(t.TempDir(), "data")
	l := &ledger{sent: map[string]int{}, done: map[string]int{}}
	p := start(t, bin, dir)
	c := p.dial(t)
	if _, err := c.Exec(context.Background(), "CREATE TABLE readings (src text, ts timestamp, v int8, PRIMARY KEY (src, ts))").ReadAll(); err != nil {
		t.Fatal(err)
	}
	c.Close(context.Background())
	for round := 0; round < n; round++ {
		var wg sync.WaitGroup
		for w, f := range []func(*pgconn.PgConn, *ledger, string){insert, insert, copyIn} {
			conn := p.dial(t)
			wg.Add(1)
			go func() { defer wg.Done(); f(conn, l, fmt.Sprintf("r%dw%d", round, w)) }()
		}
		time.Sleep(time.Duration(200+rng.IntN(900)) * time.Millisecond)
		p.kill()
		wg.Wait()
		p = start(t, bin, dir)
		c := p.dial(t)
		verify(t, c, l)
		c.Close(context.Background())
	}
	t.Logf("%d rounds, %d statements sent, %d acknowledged", n, len(l.sent), len(l.done))
	if len(l.done) < n {
		t.Errorf("only %d statements were acknowledged", len(l.done))
	}
	p.cmd.Process.Signal(syscall.SIGTERM)
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("SIGTERM: %v", err)
	}
}
