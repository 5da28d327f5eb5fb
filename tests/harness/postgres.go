// Package harness starts the servers that tests and benchmarks talk to: a
// PostgreSQL 15 of their own as the oracle, and tsdb in this process.
package harness

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"testing"
)

// postgresBin is where Debian's package puts the server's programs.
const postgresBin = "/usr/lib/postgresql/15/bin"

// Postgres is a PostgreSQL server on loopback with a data directory of its own.
type Postgres struct {
	Addr string // host:port
	dir  string
}

// URL returns the connection string of the superuser.
func (p *Postgres) URL() string { return "postgres://postgres@" + p.Addr + "/postgres?sslmode=disable" }

// StartPostgres starts a PostgreSQL 15 as the oracle needs it (C.UTF-8, UTC)
// with the lines of conf added to its configuration. It skips the test, saying
// why, where PostgreSQL 15 is not installed. The server stops with the test.
func StartPostgres(t testing.TB, conf ...string) *Postgres {
	t.Helper()
	if _, err := os.Stat(filepath.Join(postgresBin, "initdb")); err != nil {
		t.Skipf("PostgreSQL 15 is not installed (no %s/initdb): nothing to compare with", postgresBin)
	}
	dir, err := os.MkdirTemp("", "tsdb-oracle-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := &Postgres{Addr: FreeAddr(t), dir: filepath.Join(dir, "data")}
	if os.Geteuid() == 0 {
		if _, err := user.Lookup("postgres"); err != nil {
			t.Skip("PostgreSQL does not run as root and there is no user postgres")
		}
		p.must(t, "", "chown", "postgres", dir)
		os.Chmod(dir, 0o755)
	}
	p.must(t, "postgres", filepath.Join(postgresBin, "initdb"), "-D", p.dir, "-U", "postgres", "-A", "trust", "--locale=C.UTF-8", "-E", "UTF8")
	_, port, _ := net.SplitHostPort(p.Addr)
	text := fmt.Sprintf("listen_addresses = '127.0.0.1'\nport = %s\nunix_socket_directories = ''\ntimezone = 'UTC'\nlog_timezone = 'UTC'\n", port)
	for _, c := range conf {
		text += c + "\n"
	}
	f, err := os.OpenFile(filepath.Join(p.dir, "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	f.Close()
	p.must(t, "postgres", filepath.Join(postgresBin, "pg_ctl"), "-D", p.dir, "-l", filepath.Join(dir, "log"), "-w", "-t", "60", "start")
	t.Cleanup(func() {
		p.command("postgres", filepath.Join(postgresBin, "pg_ctl"), "-D", p.dir, "-m", "immediate", "stop").Run()
	})
	return p
}

// command runs a program as the named user when this process is root.
func (p *Postgres) command(as, name string, args ...string) *exec.Cmd {
	if as == "" || os.Geteuid() != 0 {
		return exec.Command(name, args...)
	}
	return exec.Command("runuser", append([]string{"-u", as, "--", name}, args...)...)
}

func (p *Postgres) must(t testing.TB, as, name string, args ...string) {
	t.Helper()
	c := p.command(as, name, args...)
	c.Dir = "/"
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", filepath.Base(name), err, out.String())
	}
}

// FreeAddr returns a loopback address that nobody listens on.
func FreeAddr(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// DataDir returns the folder of the real data sets: TSDB_DATA, or shared/data
// beside the checkout. It skips the test where there is none.
func DataDir(t testing.TB) string {
	t.Helper()
	if d := os.Getenv("TSDB_DATA"); d != "" {
		return d
	}
	for _, up := range []string{"../shared/data", "../../shared/data", "../../../shared/data"} {
		if abs, err := filepath.Abs(up); err == nil {
			if _, err := os.Stat(filepath.Join(abs, "stocks.csv")); err == nil {
				return abs
			}
		}
	}
	t.Skip("no real data sets found: set TSDB_DATA to a folder that holds stocks.csv and its kin")
	return ""
}
