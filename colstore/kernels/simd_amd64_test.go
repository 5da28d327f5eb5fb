//go:build goexperiment.simd && amd64

package kernels

import "testing"

// each runs f under every instruction set of this processor.
func each(t *testing.T, f func()) {
	t.Helper()
	best := level
	defer func() { level = best }()
	for level = levelNone; level < best; level++ {
		f()
	}
	f()
}
