package colstore

import (
	"bytes"
	"slices"
	"sort"

	"tsdb/rowkey"
)

// rowOverlay is the rows of a transaction as one of its snapshots sees them.
type rowOverlay struct {
	ops  []rowOp
	runs []opRun // oldest first: a newer one's rows hide an older one's
}

// opRun is the newest op of each key among some ops, by key. Runs grow
// geometrically, so that a transaction of many statements sorts each row few times.
type opRun struct {
	from, to int // of ops
	order    []uint32
	added    int64 // rows more than without these ops
}

// seen returns how many ops the overlay has.
func (o *rowOverlay) seen() int {
	if n := len(o.runs); n > 0 {
		return o.runs[n-1].to
	}
	return 0
}

// most returns a bound of the rows that the overlay puts.
func (o *rowOverlay) most() (n int64) {
	for _, r := range o.runs {
		n += int64(len(r.order))
	}
	return n
}

// within returns the ops of a span, the newest of each key, by key.
func (o *rowOverlay) within(sp rowkey.Span) []uint32 {
	var found []uint32
	for _, r := range o.runs {
		at := func(key []byte) int {
			return sort.Search(len(r.order), func(i int) bool { return bytes.Compare(o.ops[r.order[i]].key(), key) >= 0 })
		}
		from, to := at(sp.Start), len(r.order)
		if sp.End != nil {
			to = at(sp.End)
		}
		if from < to {
			found = mergeOps(o.ops, found, r.order[from:to])
		}
	}
	return found
}

// mergeOps merges two lists of ops by key; where both have a key, the newer
// list's op stays.
func mergeOps(ops []rowOp, older, newer []uint32) []uint32 {
	if len(older) == 0 {
		return newer[:len(newer):len(newer)]
	}
	out := make([]uint32, 0, len(older)+len(newer))
	for len(older) > 0 && len(newer) > 0 {
		c := bytes.Compare(ops[older[0]].key(), ops[newer[0]].key())
		if c < 0 {
			out = append(out, older[0])
		} else {
			out = append(out, newer[0])
			newer = newer[1:]
		}
		if c <= 0 {
			older = older[1:]
		}
	}
	return append(append(out, older...), newer...)
}

// overlayRows returns the transaction's rows for a snapshot.
func (tt *txTable) overlayRows() rowOverlay {
	w := &tt.own
	from := 0
	if n := len(w.runs); n > 0 {
		from = w.runs[n-1].to
	}
	if from < len(tt.ops) {
		run := newOpRun(tt.ops, from)
		k := len(w.runs)
		for ; k > 0 && len(w.runs[k-1].order) <= 2*len(run.order); k-- {
			before := w.runs[k-1]
			run = opRun{from: before.from, to: run.to, added: before.added + run.added,
				order: mergeOps(tt.ops, before.order, run.order)}
		}
		w.runs = append(w.runs[:k:k], run)
	}
	return rowOverlay{ops: tt.ops[:len(tt.ops):len(tt.ops)], runs: w.runs}
}

func newOpRun(ops []rowOp, from int) opRun {
	run := opRun{from: from, to: len(ops), order: make([]uint32, 0, len(ops)-from)}
	again := false
	for i := from; i < len(ops); i++ {
		op := &ops[i]
		if op.existed {
			run.added--
		}
		if !op.deleted() {
			run.added++
		}
		again = again || op.again
		run.order = append(run.order, uint32(i))
	}
	slices.SortStableFunc(run.order, func(a, b uint32) int { return bytes.Compare(ops[a].key(), ops[b].key()) })
	if !again {
		return run
	}
	kept := run.order[:0]
	for i, at := range run.order {
		if i+1 == len(run.order) || !bytes.Equal(ops[at].key(), ops[run.order[i+1]].key()) {
			kept = append(kept, at)
		}
	}
	run.order = kept
	return run
}

// addedRows returns how many rows more there are with the transaction's ops.
func (o *rowOverlay) addedRows() (n int64) {
	for _, r := range o.runs {
		n += r.added
	}
	return n
}

// truncate forgets the runs that have ops behind the first n.
func (w *rowState) truncate(n int) {
	k := len(w.runs)
	for k > 0 && w.runs[k-1].to > n {
		k--
	}
	w.runs = w.runs[:k:k]
}
