package compaction

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tsdb/colstore/keys"
)

var update = flag.Bool("update", false, "rewrite the picks in testdata")

// parse reads a situation: one line of options, then a line per segment.
//
//	options segment=100 rows=0 runs=0 expired=- force=false
//
// A bucket is its start, or start/class: classes are 1000 << class wide.
//
//	bucket id rows deleted first last lo hi seqmin seqmax age
func parse(t *testing.T, text string) (segs []Segment, o Options) {
	t.Helper()
	for _, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if f[0] == "options" {
			for _, x := range f[1:] {
				k, v, _ := strings.Cut(x, "=")
				switch k {
				case "segment":
					fmt.Sscan(v, &o.SegmentRows)
				case "rows":
					fmt.Sscan(v, &o.MaxRows)
				case "runs":
					fmt.Sscan(v, &o.MaxRuns)
				case "expired":
					fmt.Sscan(v, &o.Expired)
					o.Expires = true
				case "force":
					o.Force = v == "true"
				default:
					t.Fatalf("unknown option %s", k)
				}
			}
			continue
		}
		var s Segment
		var bucket, first, last, age string
		if n, err := fmt.Sscan(line, &bucket, &s.ID, &s.Rows, &s.Deleted, &first, &last, &s.Lo, &s.Hi, &s.SeqMin, &s.SeqMax, &age); n != 11 {
			t.Fatalf("line %q: %v", line, err)
		}
		switch bucket {
		case "null":
			s.Bucket = keys.BucketNull
		case "notime":
			s.Bucket = keys.BucketNoTime
		default:
			start, class, _ := strings.Cut(bucket, "/")
			fmt.Sscan(start, &s.Bucket.Start)
			fmt.Sscan(class, &s.Bucket.Class)
			s.Width = 1000 << s.Bucket.Class
		}
		if first != "-" {
			s.First, s.Last = []byte(first), []byte(last)
		}
		d, err := time.ParseDuration(age)
		if err != nil {
			t.Fatal(err)
		}
		s.Age = d
		segs = append(segs, s)
	}
	return segs, o
}

// TestDecisions compares the picks of scripted situations with those that
// testdata records; -update writes them anew.
func TestDecisions(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no situations: %v", err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text, want, _ := strings.Cut(string(raw), "---\n")
		segs, o := parse(t, text)
		got := ""
		for _, p := range Decide(segs, o) {
			got += p.Reason.String()
			for _, i := range p.Segments {
				got += fmt.Sprint(" ", segs[i].ID)
			}
			got += "\n"
		}
		if *update {
			if err := os.WriteFile(name, []byte(text+"---\n"+got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got != want {
			t.Errorf("%s: picks\n%swant\n%s", name, got, want)
		}
	}
}

// carry does what a store would: it replaces the picked segments.
func carry(rng *rand.Rand, segs []Segment, picks []Pick, o Options, id *uint64) []Segment {
	gone := map[int]bool{}
	var out []Segment
	for _, p := range picks {
		var all Segment
		for k, i := range p.Segments {
			if gone[i] {
				panic("a segment is picked twice")
			}
			gone[i] = true
			s := segs[i]
			if k == 0 {
				all = s
				all.Rows = 0
			}
			all.Rows += s.Rows - s.Deleted
			all.SeqMin, all.SeqMax = min(all.SeqMin, s.SeqMin), max(all.SeqMax, s.SeqMax)
			if bytes.Compare(s.First, all.First) < 0 {
				all.First = s.First
			}
			if bytes.Compare(s.Last, all.Last) > 0 {
				all.Last = s.Last
			}
			all.Lo, all.Hi = min(all.Lo, s.Lo), max(all.Hi, s.Hi)
			if s.Width > all.Width {
				all.Bucket, all.Width = s.Bucket, s.Width
			}
		}
		if p.Reason != Drop {
			all.Deleted, all.Age = 0, time.Hour
			out = append(out, split(rng, all, o.SegmentRows, id)...)
		}
	}
	for i, s := range segs {
		if !gone[i] {
			s.Age = time.Hour
			out = append(out, s)
		}
	}
	return out
}

// split cuts the output of a merge into full segments at random keys, or times
// where there is no key.
func split(rng *rand.Rand, all Segment, rows int64, id *uint64) []Segment {
	n := (all.Rows + rows - 1) / rows
	var out []Segment
	for k := int64(0); k < n; k++ {
		*id++
		s := all
		s.ID, s.Rows = *id, all.Rows/n
		if k > 0 {
			s.First, s.Lo = out[k-1].Last, out[k-1].Hi
		}
		if k < n-1 {
			if all.First != nil {
				s.Last = randomKey(rng, s.First, all.Last)
			} else {
				s.Hi = s.Lo + rng.Int64N(all.Hi-s.Lo+1)
			}
		}
		if all.First != nil {
			s.Lo = all.Lo
		}
		out = append(out, s)
	}
	// Rows of one key are in order of time.
	for k := 1; k < len(out); k++ {
		if p := &out[k-1]; all.First != nil && bytes.Equal(p.First, out[k].Last) {
			p.Hi = p.Lo + (p.Hi-p.Lo)/2
			out[k].Lo = p.Hi
		}
	}
	if all.Rows%n > 0 {
		out[n-1].Rows += all.Rows % n
	}
	return out
}

func randomKey(rng *rand.Rand, from, to []byte) []byte {
	a, _ := strconv.Atoi(string(from))
	b, _ := strconv.Atoi(string(to))
	return fmt.Appendf(nil, "%04d", a+rng.IntN(b-a+1))
}

// TestDecisionsEnd repeats decisions over random tables until nothing is
// picked: that must happen soon, and then nothing in quiet buckets overlaps.
func TestDecisionsEnd(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for round := uint64(0); round < 300; round++ {
		rng := rand.New(rand.NewPCG(seed, round))
		o := Options{SegmentRows: 100, Force: rng.IntN(2) == 0}
		keyed, nested := rng.IntN(3) > 0, rng.IntN(2) == 0
		var segs []Segment
		id := uint64(0)
		for n := rng.IntN(60); n > 0; n-- {
			id++
			s := Segment{Bucket: keys.Bucket{Start: rng.Int64N(3) * 1000}, Width: 1000, ID: id, Rows: 1 + rng.Int64N(100)}
			if nested && rng.IntN(6) == 0 {
				s.Bucket, s.Width = keys.Bucket{Class: 2}, 4000
			}
			s.SeqMin = rng.Uint64N(20)
			s.SeqMax = s.SeqMin
			s.Age = time.Duration(rng.IntN(700)) * time.Second
			s.Lo = s.Bucket.Start + rng.Int64N(s.Width)
			s.Hi = s.Lo + rng.Int64N(s.Bucket.Start+s.Width-s.Lo)
			if rng.IntN(5) == 0 {
				s.Deleted = rng.Int64N(s.Rows + 1)
			}
			if keyed {
				s.First = randomKey(rng, []byte("0"), []byte("999"))
				s.Last = randomKey(rng, s.First, []byte("999"))
			}
			segs = append(segs, s)
		}
		rounds, aged := 0, false
		for ; ; rounds++ {
			picks := Decide(segs, o)
			if len(picks) == 0 {
				if aged {
					break
				}
				aged = true
				for i := range segs {
					segs[i].Age = time.Hour
				}
			}
			segs = carry(rng, segs, picks, o, &id)
			if rounds > 20 {
				t.Fatalf("round %d: %d decisions and no end", round, rounds)
			}
		}
		into := wider(segs)
		for i := range segs {
			if o.Force && segs[i].Deleted > 0 {
				t.Fatalf("round %d: deleted rows are left", round)
			}
			for k := range segs[:i] {
				if into[segs[i].Bucket] == into[segs[k].Bucket] && segs[i].overlaps(&segs[k]) {
					t.Fatalf("round %d: after %d decisions %+v and %+v overlap", round, rounds, segs[k], segs[i])
				}
			}
		}
	}
}
