package bench

import (
	"fmt"
	"os"
	"sync"
)

// tolerance is how much worse than its limit a time may be without failing the
// test: other programs may run at the same time.
const tolerance = 2

// full tells that the sizes of bench/RESULTS.md are asked for, which take
// long; else they are scaled down.
var full = os.Getenv("TSDB_BENCH_FULL") != ""

var sayScale = sync.OnceFunc(func() {
	if !full {
		fmt.Println("sizes are scaled down: make bench-full runs the full ones")
	}
})

// scaled returns the size for this run.
func scaled(small, large int) int {
	sayScale()
	if full {
		return large
	}
	return small
}
