package colstore

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// stopTB ends the process when something fails: the script stops where a fault
// hits it.
type stopTB struct{ testing.TB }

func (s *stopTB) Helper() {}

func (s *stopTB) Fatal(args ...any) {
	fmt.Println("stopped", args)
	os.Exit(3)
}

func (s *stopTB) Fatalf(format string, args ...any) { s.Fatal(fmt.Sprintf(format, args...)) }

var errInjected = errors.New("injected fault")

// faultEnv tells a child of the test which operation fails: "DIR K" or "DIR K forever".
const faultEnv = "TSDB_TEST_FAULT"

// TestFaultChild is the body of the processes that TestEveryFileOperationFails
// starts. A process of its own, because Pebble ends it where it cannot finish or
// make a log file.
func TestFaultChild(t *testing.T) {
	env := os.Getenv(faultEnv)
	if env == "" {
		t.Skip("runs in processes that TestEveryFileOperationFails starts")
	}
	var dir, mode string
	var k int64
	if _, err := fmt.Sscan(env, &dir, &k, &mode); err != nil {
		t.Fatal(err)
	}
	var count atomic.Int64
	o := crashOptions
	o.MinFreeBytes = 1
	o.FS = errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() != errorfs.OpIsWrite {
			return nil
		}
		if n := count.Add(1); n == k || mode == "forever" && n > k {
			return errInjected
		}
		return nil
	}))
	tb := &stopTB{TB: t}
	script := &crashScript{states: []string{""}, report: func(durable, inflight int) { fmt.Println("bounds", durable, inflight) }}
	s, err := Open(filepath.Join(dir, "db"), o)
	if err != nil {
		tb.Fatal(err)
	}
	script.run(tb, s)
	_ = s.Close()
	fmt.Println("operations", count.Load())
}

// faultRun is what a child left.
type faultRun struct {
	durable, inflight int
	ops               int64
	end               string
}

func runFaulty(t *testing.T, dir string, k int64, mode string) faultRun {
	cmd := exec.Command(os.Args[0], "-test.run=^TestFaultChild$", "-test.timeout=10s")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %s", faultEnv, dir, k, mode))
	out, err := cmd.Output()
	r := faultRun{end: "it ran to its end"}
	if err != nil {
		r.end = err.Error()
	}
	lines := bufio.NewScanner(strings.NewReader(string(out)))
	for lines.Scan() {
		line := lines.Text()
		_, _ = fmt.Sscanf(line, "bounds %d %d", &r.durable, &r.inflight)
		_, _ = fmt.Sscanf(line, "operations %d", &r.ops)
		if strings.HasPrefix(line, "stopped") {
			r.end = line
		}
	}
	return r
}

// faultDir is a directory in memory where the system has one: the script syncs
// hundreds of times.
func faultDir(t *testing.T) string {
	base := ""
	if st, err := os.Stat("/dev/shm"); err == nil && st.IsDir() {
		base = "/dev/shm"
	}
	dir, err := os.MkdirTemp(base, "tsdb-fault-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// TestEveryFileOperationFails lets write operations of the scripted load fail,
// once and for good: every one with TSDB_TEST_FAULTS=1, else every 64th from a
// random one on. Whatever was acknowledged is there after a restart, and what is
// there is the state after one of the steps.
func TestEveryFileOperationFails(t *testing.T) {
	script := &crashScript{states: []string{""}}
	s := mustOpen(t, vfs.NewMem(), crashOptions)
	script.run(t, s)
	mustClose(t, s)
	dir := faultDir(t)
	whole := runFaulty(t, dir, -1, "once")
	if whole.ops < 100 || whole.inflight != len(script.states)-1 {
		t.Fatalf("without a fault: %+v", whole)
	}
	step, seed := int64(64), time.Now().UnixNano()
	if x, err := strconv.ParseInt(os.Getenv("TSDB_TEST_FAULTS"), 10, 64); err == nil && x > 0 {
		step = x
	}
	first := 1 + rand.New(rand.NewPCG(uint64(seed), 0)).Int64N(step)
	t.Logf("of %d write operations every %d. from %d on", whole.ops, step, first)
	work := make(chan int64)
	var ended, finished atomic.Int64
	var wg sync.WaitGroup
	for w := 0; w < 2; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for k := range work {
				for _, mode := range []string{"once", "forever"} {
					dir := faultDir(t)
					r := runFaulty(t, dir, k, mode)
					if r.end == "it ran to its end" {
						finished.Add(1)
					} else {
						ended.Add(1)
					}
					name := fmt.Sprintf("operation %d of %d failed (%s): %s", k, whole.ops, mode, r.end)
					verifyFaulty(t, script, name, dir, r, k%2 == 0)
					_ = os.RemoveAll(dir)
				}
			}
		}()
	}
	for k := first; k <= whole.ops; k += step {
		work <- k
	}
	close(work)
	wg.Wait()
	t.Logf("the load stopped %d times and ran to its end %d times", ended.Load(), finished.Load())
}

// verifyFaulty opens what a child left, in a goroutine of its own, which a fatal
// failure ends.
func verifyFaulty(t *testing.T, script *crashScript, name, dir string, r faultRun, flush bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s, err := Open(filepath.Join(dir, "db"), Options{Memory: 16 << 20, MinFreeBytes: 1})
		if err != nil {
			t.Errorf("after %s: open: %v", name, err)
			return
		}
		defer s.Close()
		script.check(t, name, s, r.durable, r.inflight, flush)
	}()
	<-done
}
