//go:build !(goexperiment.simd && amd64)

package kernels

import "testing"

// each runs f under every instruction set of this processor.
func each(_ *testing.T, f func()) { f() }
