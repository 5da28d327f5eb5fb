// Package compaction decides which segments of a table are merged, rewritten
// or dropped. It is pure: descriptions in, picks out; it reads and writes
// nothing and knows no clock. Who carries picks out is colstore.
//
// # Rules
//
// Buckets that lie in a wider one of the same table, as data makes them whose
// extent grows, count as that one, and what is merged ends there.
//
// Within one bucket segments that overlap nobody's key range form a sorted run
// and are left alone: a query for one key reads one of them.
//
//   - A segment all of whose rows are deleted or older than the retention is
//     dropped.
//   - While a bucket is filled, runs of similar size are merged when there are
//     several: hotFanIn where they intersect in key and time (late data), the
//     larger stackedFanIn where they only lie one behind the other in time.
//   - A bucket that is quiet is cold: everything that overlaps is merged into
//     one run. How long it has to be quiet grows with the price, the rows that
//     are written again for each row that was added, so that few late rows do
//     not rewrite a large bucket every few seconds.
//   - Cold neighbours much smaller than a segment are joined.
//   - A segment with many deleted or expired rows is rewritten.
//
// # Invariants
//
// A merge takes whole connected groups of segments, or runs of them, so that
// its output overlaps nothing that its input did not. So repeated decisions
// end, and with everything regarded as quiet no two segments of a bucket
// overlap at the end, as far as Options.MaxRows and MaxRuns permit.
package compaction

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"tsdb/colstore/keys"
)

const (
	// hotFanIn is how many intersecting runs of similar size are merged before
	// the bucket is quiet: fewer write rows more often, more make lookups slow.
	hotFanIn = 4
	// stackedFanIn is the same of runs that follow each other in time. Reading
	// them is cheaper and they will be merged once more when the bucket is cold.
	stackedFanIn = 8
	// similar is the largest ratio of sizes within one such merge.
	similar = 4
	// quietStep is how long a bucket is quiet before it is cold at a price of 1.
	quietStep = 5 * time.Second
	// quietMost bounds the wait at any price, and is that of the newest bucket,
	// which more rows are expected for.
	quietMost = 10 * time.Minute
	// deletedPart is the part of deleted rows, 1 of so many, from which on a
	// segment is rewritten.
	deletedPart = 5
	// expiredPart is the same of expired rows, as their times suggest: more will
	// expire soon, and then the segment is dropped as a whole.
	expiredPart = 2
	// joinPart says which segments are small: below 1 part of so many of a full one.
	joinPart = 2
)

// Segment describes one segment of a table.
type Segment struct {
	Bucket         keys.Bucket
	Width          int64 // of the bucket; 0: a special one
	ID             uint64
	Rows, Deleted  int64
	First, Last    []byte // row keys; nil: the table has no key
	Lo, Hi         int64  // times; Lo > Hi: none
	SeqMin, SeqMax uint64
	Age            time.Duration // since it was published or found at opening
}

// Options say what the table and the machine permit. The zero value of a limit
// is no limit.
type Options struct {
	SegmentRows int64 // rows of a full segment
	MaxRows     int64 // rows of one pick, at most
	MaxRuns     int   // runs of one pick, at most
	Expired     int64 // times below are expired, if Expires
	Expires     bool
	Force       bool // every bucket is cold, any deleted row is a reason to rewrite
}

// Reason says why segments were picked.
type Reason uint8

// Reasons.
const (
	Drop    Reason = iota // nothing of them is left
	Merge                 // they overlap
	Join                  // small neighbours
	Rewrite               // many deleted rows
)

func (r Reason) String() string {
	return [...]string{"drop", "merge", "join", "rewrite"}[r]
}

// Pick is work to be done in one step: the segments are replaced by what their
// rows make, or by nothing.
type Pick struct {
	Reason   Reason
	Segments []int // positions in the list that was given, in order of keys
}

// Decide returns the picks of one table, in the order in which they should be
// done. No segment is in two of them.
func Decide(segs []Segment, o Options) []Pick {
	var drops, picks []Pick
	into := wider(segs)
	buckets := map[keys.Bucket][]int{}
	var order []keys.Bucket
	newest, any := keys.Bucket{}, false
	for i := range segs {
		if segs[i].gone(&o) {
			drops = append(drops, Pick{Drop, []int{i}})
			continue
		}
		b := into[segs[i].Bucket]
		if buckets[b] == nil {
			order = append(order, b)
		}
		buckets[b] = append(buckets[b], i)
		if !b.Special() && (!any || newest.Less(b)) {
			newest, any = b, true
		}
	}
	slices.SortFunc(order, compare)
	for _, b := range order {
		d := decision{segs: segs, o: &o, newest: any && b == newest, taken: map[int]bool{}}
		picks = append(picks, d.bucket(buckets[b])...)
	}
	return append(drops, picks...)
}

func compare(x, y keys.Bucket) int {
	switch {
	case x == y:
		return 0
	case x.Less(y):
		return -1
	}
	return 1
}

// wider finds the widest bucket that contains each bucket. Buckets of a table
// are nested or disjoint.
func wider(segs []Segment) map[keys.Bucket]keys.Bucket {
	width := map[keys.Bucket]int64{}
	var all []keys.Bucket
	for i := range segs {
		if _, ok := width[segs[i].Bucket]; !ok {
			all = append(all, segs[i].Bucket)
		}
		width[segs[i].Bucket] = segs[i].Width
	}
	slices.SortFunc(all, func(x, y keys.Bucket) int {
		return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(y.Class, x.Class))
	})
	into := map[keys.Bucket]keys.Bucket{}
	var outer keys.Bucket
	any := false
	for _, b := range all {
		switch {
		case b.Special():
			into[b] = b
			continue
		case !any || uint64(b.Start)-uint64(outer.Start) >= uint64(width[outer]):
			outer, any = b, true
		}
		into[b] = outer
	}
	return into
}

// gone reports whether no row of the segment is live.
func (s *Segment) gone(o *Options) bool {
	return s.Deleted >= s.Rows || o.Expires && !s.Bucket.Special() && s.Lo <= s.Hi && s.Hi < o.Expired
}

// expired reports whether the part of a segment's time that is expired is large
// enough to write it again.
func (s *Segment) expired(o *Options) bool {
	if !o.Expires || s.Bucket.Special() || s.Lo >= s.Hi || s.Lo >= o.Expired {
		return false
	}
	part := float64(expiredPart)
	if o.Force {
		part = deletedPart
	}
	return (float64(o.Expired)-float64(s.Lo))*part >= float64(s.Hi)-float64(s.Lo)
}

// overlaps reports whether rows of the two segments interleave in key order.
// Touching does not count: neighbours of one merge may share a key.
func (s *Segment) overlaps(t *Segment) bool {
	if s.First == nil || t.First == nil {
		return s.Lo <= s.Hi && t.Lo <= t.Hi && s.Lo < t.Hi && t.Lo < s.Hi
	}
	a, b := bytes.Compare(s.First, t.Last), bytes.Compare(t.First, s.Last)
	if a == 0 && b == 0 { // one and the same key
		return s.Lo < t.Hi && t.Lo < s.Hi
	}
	return a < 0 && b < 0
}

// intersects reports whether they overlap in key and time.
func (s *Segment) intersects(t *Segment) bool {
	return s.overlaps(t) && (s.Lo > s.Hi || t.Lo > t.Hi || s.Lo <= t.Hi && t.Lo <= s.Hi)
}

// before orders segments by key, then time.
func (s *Segment) before(t *Segment) int {
	if c := bytes.Compare(s.First, t.First); c != 0 {
		return c
	}
	if c := bytes.Compare(s.Last, t.Last); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(s.Lo, t.Lo), cmp.Compare(s.Hi, t.Hi), cmp.Compare(s.ID, t.ID))
}

// decision is the work on one bucket.
type decision struct {
	segs   []Segment
	o      *Options
	newest bool
	taken  map[int]bool
	picks  []Pick
}

func (d *decision) bucket(list []int) []Pick {
	d.sort(list)
	for _, g := range d.groups(list) {
		if len(g) == 1 {
			continue
		}
		if runs := d.runs(g); d.quiet(g, runs[len(runs)-1].rows) {
			d.merge(g, runs)
		} else {
			d.tier(runs)
		}
	}
	d.rewrite(list)
	d.join(list)
	return d.picks
}

func (d *decision) sort(list []int) {
	slices.SortFunc(list, func(x, y int) int { return d.segs[x].before(&d.segs[y]) })
}

func (d *decision) pick(r Reason, list []int) {
	for _, i := range list {
		d.taken[i] = true
	}
	d.picks = append(d.picks, Pick{r, list})
}

// groups cuts a sorted list into connected groups: segments of different ones
// do not overlap.
func (d *decision) groups(list []int) [][]int {
	var out [][]int
	var hull Segment
	for _, i := range list {
		s := &d.segs[i]
		if n := len(out); n > 0 && hull.overlaps(s) {
			out[n-1] = append(out[n-1], i)
			if bytes.Compare(s.Last, hull.Last) > 0 {
				hull.Last = s.Last
			}
			if s.Lo <= s.Hi {
				hull.Lo, hull.Hi = min(hull.Lo, s.Lo), max(hull.Hi, s.Hi)
			}
			continue
		}
		out = append(out, []int{i})
		hull = *s
	}
	return out
}

// quiet reports whether a list has been left alone for long enough to be
// written again: the price is its rows over those that are not in its largest
// part.
func (d *decision) quiet(list []int, largest int64) bool {
	if d.o.Force {
		return true
	}
	age := quietMost
	var rows int64
	for _, i := range list {
		rows += d.segs[i].Rows
		age = min(age, d.segs[i].Age)
	}
	wait := quietMost
	if !d.newest {
		wait = min(wait, time.Duration(float64(quietStep)*float64(rows)/float64(max(rows-largest, 1))))
	}
	return age >= wait
}

// run is segments that do not overlap.
type run struct {
	list []int
	rows int64
}

// runs splits segments into runs, the smallest first. Segments that one flush
// or merge wrote have the same sequences and stay together; then whole sets
// that do not overlap are folded, large ones first.
func (d *decision) runs(list []int) []run {
	sets := map[[2]uint64]*run{}
	var all []*run
	for _, i := range list {
		s := &d.segs[i]
		key := [2]uint64{s.SeqMin, s.SeqMax}
		r := sets[key]
		if r == nil || d.segs[r.list[len(r.list)-1]].overlaps(s) {
			r = &run{}
			sets[key] = r
			all = append(all, r)
		}
		r.list = append(r.list, i)
		r.rows += s.Rows
	}
	slices.SortStableFunc(all, func(x, y *run) int { return cmp.Compare(y.rows, x.rows) })
	var out []run
next:
	for _, r := range all {
		for k := range out {
			if d.disjoint(out[k].list, r.list) {
				out[k].list = append(out[k].list, r.list...)
				out[k].rows += r.rows
				d.sort(out[k].list)
				continue next
			}
		}
		out = append(out, *r)
	}
	slices.SortStableFunc(out, func(x, y run) int { return cmp.Compare(x.rows, y.rows) })
	return out
}

// disjoint walks two sorted runs at once.
func (d *decision) disjoint(a, b []int) bool {
	for i, k := 0, 0; i < len(a) && k < len(b); {
		x, y := &d.segs[a[i]], &d.segs[b[k]]
		if x.overlaps(y) {
			return false
		}
		if x.before(y) < 0 {
			i++
		} else {
			k++
		}
	}
	return true
}

// merge picks a whole group, or its smallest runs where it is too large.
func (d *decision) merge(group []int, runs []run) {
	var rows int64
	n := 0
	for n < len(runs) && (d.o.MaxRuns <= 0 || n < max(2, d.o.MaxRuns)) &&
		(d.o.MaxRows <= 0 || rows+runs[n].rows <= d.o.MaxRows) {
		rows += runs[n].rows
		n++
	}
	if n == len(runs) {
		d.pick(Merge, group)
		return
	}
	if n >= 2 {
		d.mergeRuns(runs[:n])
	}
}

// mergeRuns picks the connected groups of some runs.
func (d *decision) mergeRuns(runs []run) {
	var list []int
	for _, r := range runs {
		list = append(list, r.list...)
	}
	d.sort(list)
	for _, g := range d.groups(list) {
		if len(g) > 1 {
			d.pick(Merge, g)
		}
	}
}

// tier picks runs of similar size in a bucket that is being filled.
func (d *decision) tier(runs []run) {
	for from := range runs {
		to, rows := from, int64(0)
		for to < len(runs) && runs[to].rows <= similar*runs[from].rows &&
			(d.o.MaxRuns <= 0 || to-from < d.o.MaxRuns) && (d.o.MaxRows <= 0 || rows+runs[to].rows <= d.o.MaxRows) {
			rows += runs[to].rows
			to++
		}
		if to-from < hotFanIn || to-from < stackedFanIn && !d.crossing(runs[from:to]) {
			continue
		}
		d.mergeRuns(runs[from:to])
		return
	}
}

// crossing reports whether hotFanIn of the runs intersect in key and time.
func (d *decision) crossing(runs []run) bool {
	n := 1
	for k := 1; k < len(runs); k++ {
		if d.crosses(runs[k-1].list, runs[k].list) {
			n++
		}
	}
	return n >= hotFanIn
}

func (d *decision) crosses(a, b []int) bool {
	for _, i := range a {
		for _, k := range b {
			if d.segs[i].intersects(&d.segs[k]) {
				return true
			}
		}
	}
	return false
}

// rewrite picks segments with many deleted rows.
func (d *decision) rewrite(list []int) {
	for _, i := range list {
		s := &d.segs[i]
		if !d.taken[i] && (s.Deleted > 0 && (d.o.Force || s.Deleted*deletedPart >= s.Rows) || s.expired(d.o)) {
			d.pick(Rewrite, []int{i})
		}
	}
}

// join picks neighbours that fill one segment together, the smaller ones of
// which are small. Whoever overlaps another waits until they are merged.
func (d *decision) join(list []int) {
	var part []int
	var rows, largest int64
	end := func() {
		if len(part) > 1 && d.quiet(part, largest) {
			d.pick(Join, part)
		}
		part, rows, largest = nil, 0, 0
	}
	for _, g := range d.groups(list) {
		i := g[0]
		s := &d.segs[i]
		live := s.Rows - s.Deleted
		if len(g) > 1 || d.taken[i] || live*joinPart > d.o.SegmentRows {
			end()
			continue
		}
		if rows+live > d.o.SegmentRows {
			end()
		}
		part, rows, largest = append(part, i), rows+live, max(largest, s.Rows)
	}
	end()
}
