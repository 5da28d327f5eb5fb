package keys

import (
	"bytes"

	"github.com/cockroachdb/pebble/v2"
)

// FormatVersion is Pebble's on-disk format for every data directory.
const FormatVersion = pebble.FormatValueSeparation

// ComparerName is the name that Pebble persists.
const ComparerName = "tsdb.keys.v1"

// Comparer orders keys as bytes and splits those of space C after the row key.
var Comparer = func() *pebble.Comparer {
	c := *pebble.DefaultComparer
	c.Name = ComparerName
	c.Split = Split
	// A shortened key of space C could end inside the terminator and move the
	// split, so such keys are kept whole.
	c.Separator = func(dst, a, b []byte) []byte {
		n := len(dst)
		dst = pebble.DefaultComparer.Separator(dst, a, b)
		if out := dst[n:]; inCells(a) || inCells(out) {
			return append(dst[:n], a...)
		}
		return dst
	}
	c.Successor = func(dst, a []byte) []byte {
		n := len(dst)
		dst = pebble.DefaultComparer.Successor(dst, a)
		if out := dst[n:]; inCells(a) || inCells(out) {
			return append(dst[:n], a...)
		}
		return dst
	}
	c.ImmediateSuccessor = func(dst, a []byte) []byte { return append(append(dst, a...), 0) }
	return &c
}()

func inCells(key []byte) bool { return len(key) > 0 && key[0] == SpaceCell }

// Split returns the length of the prefix that Pebble's bloom filters and
// prefix seeks use: see the package comment.
func Split(key []byte) int {
	if !inCells(key) || len(key) < 9 {
		return len(key)
	}
	for i := 9; i < len(key); {
		z := bytes.IndexByte(key[i:], 0)
		if z < 0 || i+z+1 >= len(key) {
			return len(key)
		}
		if key[i+z+1] == 1 {
			return i + z + 2
		}
		i += z + 2
	}
	return len(key)
}
