package tsbs

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	o := Options{Hosts: 3, Rows: 7, Seed: 1}
	lines := strings.Split(strings.TrimSuffix(string(New(o).Text()), "\n"), "\n")
	if len(lines) != 7 {
		t.Fatalf("%d lines", len(lines))
	}
	for i, want := range []string{"2016-01-01 00:00:00+00\thost_0\t", "2016-01-01 00:00:00+00\thost_1\t", "2016-01-01 00:00:00+00\thost_2\t",
		"2016-01-01 00:00:10+00\thost_0\t"} {
		if !strings.HasPrefix(lines[i], want) || strings.Count(lines[i], "\t") != 11 {
			t.Errorf("line %d: %q", i, lines[i])
		}
	}
	if again := New(o).Text(); crc32.ChecksumIEEE(again) != crc32.ChecksumIEEE(New(o).Text()) {
		t.Error("equal options gave different rows")
	}
}

func TestBinary(t *testing.T) {
	b := New(Options{Hosts: 2, Rows: 2, Seed: 1, Float: true}).Binary()
	if len(b) != 19+2*(2+4+8+4+6+10*12)+2 {
		t.Fatalf("%d bytes", len(b))
	}
	if us := int64(binary.BigEndian.Uint64(b[19+6:])); us != 504921600000000 {
		t.Errorf("time %d", us)
	}
}

// TestLate checks that the same rows come, a good part of them later.
func TestLate(t *testing.T) {
	o := Options{Hosts: 10, Rows: 20000, Seed: 5}
	sorted := func(o Options) (map[string]int, int) {
		m, back, last := map[string]int{}, 0, ""
		for line := range bytes.Lines(New(o).Text()) {
			key := string(line[:len("2016-01-01 00:00:00")])
			if key < last {
				back++
			}
			last = max(last, key)
			m[string(line)]++
		}
		return m, back
	}
	a, none := sorted(o)
	o.Late = 0.3
	b, late := sorted(o)
	if none != 0 || late < 5500 || late > 6500 {
		t.Errorf("%d and %d late rows", none, late)
	}
	if len(a) != 20000 || len(b) != 20000 {
		t.Fatalf("%d and %d different rows", len(a), len(b))
	}
	for k := range a {
		if b[k] != 1 {
			t.Fatalf("%q comes %d times", k, b[k])
		}
	}
}
