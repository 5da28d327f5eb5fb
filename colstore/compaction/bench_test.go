package compaction

import (
	"fmt"
	"testing"
	"time"

	"tsdb/colstore/keys"
)

// BenchmarkDecide looks at a table of 1,000 buckets of ten segments, the last
// one being filled.
func BenchmarkDecide(b *testing.B) {
	var segs []Segment
	for bucket := range int64(1000) {
		for i := range int64(10) {
			s := Segment{Bucket: keys.Bucket{Start: bucket * 1000}, Width: 1000, ID: uint64(bucket*10 + i), Rows: 100, Age: time.Hour,
				First: fmt.Appendf(nil, "%04d", i*10), Last: fmt.Appendf(nil, "%04d", i*10+9), Lo: bucket * 1000, Hi: bucket*1000 + 999}
			if bucket == 999 {
				s.First, s.Last, s.SeqMin, s.SeqMax, s.Age = []byte("0000"), []byte("0099"), uint64(i), uint64(i), time.Second
			}
			segs = append(segs, s)
		}
	}
	for b.Loop() {
		Decide(segs, Options{SegmentRows: 100})
	}
}
