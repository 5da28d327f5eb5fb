package harness

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Process is a tsdb server in a process of its own, which can be killed.
type Process struct {
	Addr string
	cmd  *exec.Cmd
	log  *os.File
}

// BuildTSDB builds the server's binary.
func BuildTSDB(t testing.TB) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "tsdb")
	c := exec.Command("go", "build", "-o", bin, "tsdb/cmd/tsdb")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("building the server: %v\n%s", err, out)
	}
	return bin
}

// StartProcess starts bin on a data directory; its log is dir.log. The caller
// ends it with Kill or Stop.
func StartProcess(t testing.TB, bin, dir, memory string, flags ...string) *Process {
	t.Helper()
	p := &Process{Addr: FreeAddr(t)}
	var err error
	if p.log, err = os.OpenFile(dir+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644); err != nil {
		t.Fatal(err)
	}
	p.cmd = exec.Command(bin, append([]string{"serve", "--data", dir, "--listen", p.Addr, "--memory", memory}, flags...)...)
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// URL returns the connection string of the superuser.
func (p *Process) URL() string { return "postgres://tsdb@" + p.Addr + "/tsdb?sslmode=disable" }

// Kill ends the process with SIGKILL.
func (p *Process) Kill() {
	_ = p.cmd.Process.Signal(syscall.SIGKILL)
	_ = p.cmd.Wait()
	_ = p.log.Close()
}

// Stop ends the process as an operator does.
func (p *Process) Stop(t testing.TB) {
	t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("SIGTERM: %v\n%s", err, p.Log())
	}
	_ = p.log.Close()
}

// Log returns what the server has written, from all its starts.
func (p *Process) Log() string {
	b, _ := os.ReadFile(p.log.Name())
	return string(b)
}

// Dial connects as soon as the server accepts.
func (p *Process) Dial(t testing.TB) *pgconn.PgConn {
	t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for {
		c, err := pgconn.Connect(context.Background(), p.URL())
		if err == nil {
			return c
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server did not come up: %v\n%s", err, p.Log())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// PeakMemory returns the most memory that the process has had resident, in
// bytes; 0 where the system does not tell.
func (p *Process) PeakMemory() int64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kb << 10
		}
	}
	return 0
}

// DiskUsage returns the bytes of the files below dir that name is true for, by
// name; blocks that a file has reserved and not written count as well.
func DiskUsage(t testing.TB, dir string, name func(string) bool) int64 {
	t.Helper()
	var n int64
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil // deleted meanwhile
		}
		if err != nil || d.IsDir() || !name(d.Name()) {
			return err
		}
		if i, err := d.Info(); err == nil {
			if st, ok := i.Sys().(*syscall.Stat_t); ok {
				n += st.Blocks * 512
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
