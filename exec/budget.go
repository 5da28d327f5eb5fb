package exec

import (
	"fmt"
	"sync/atomic"

	"tsdb/exec/spill"
	"tsdb/sql/pgerr"
)

// Budget bounds the memory of a query. Safe for concurrent use.
type Budget struct {
	limit int64
	used  atomic.Int64
}

// NewBudget returns a budget of limit bytes; operator and setting names appear in the error.
func NewBudget(limit int64) *Budget { return &Budget{limit: limit} }

// Grow takes n bytes for the named operator.
//
// Errors: *pgerr.Error 53200 naming the operator, the size, the setting (tsdb.query_memory, --memory) and the remedy.
func (b *Budget) Grow(op string, n int64) error {
	if b == nil || n <= 0 {
		return nil
	}
	used := b.used.Add(n)
	if used <= b.limit {
		return nil
	}
	b.used.Add(-n)
	return pgerr.New(pgerr.OutOfMemory, "out of memory").
		WithDetail("%s needs %s more, and the query already holds %s of its limit of %s.",
			op, sizeText(n), sizeText(used-n), sizeText(b.limit)).
		WithHint("Raise tsdb.query_memory (the server's --memory bounds it), or make the query keep fewer rows or groups.")
}

// Release gives n bytes back.
func (b *Budget) Release(n int64) {
	if b != nil && n > 0 {
		b.used.Add(-n)
	}
}

// Used returns the bytes taken and not given back.
func (b *Budget) Used() int64 {
	if b == nil {
		return 0
	}
	return b.used.Load()
}

func sizeText(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%d GB", n>>30)
	case n >= 10<<20:
		return fmt.Sprintf("%d MB", n>>20)
	case n >= 10<<10:
		return fmt.Sprintf("%d kB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// account is what one operator holds of the budget.
type account struct {
	budget *Budget
	op     string
	held   int64
	stats  *counters    // nil: not profiled
	space  *spill.Space // nil: the operator cannot spill
	share  int64        // what it may hold though others have taken much
}

// An operator writes rows to files once it holds more than its share and the
// query more than half of its budget. All shares together are a quarter of the
// budget: so whoever comes late still gets its share, and there is room for
// tables that double.
const (
	spillPart = 2
	sharePart = 4
)

// pressed reports whether an operator that needs n bytes in all ought to spill.
func (a *account) pressed(n int64) bool {
	return a.spills() && n > a.share && a.budget.Used()-a.held+n > a.budget.limit/spillPart
}

// spills reports whether there are files to write to.
func (a *account) spills() bool { return a.space != nil && a.budget != nil }

// among returns an account like a, empty, of one of n workers.
func (a *account) among(n int) account {
	w := *a
	w.held, w.share = 0, a.share/int64(n)
	return w
}

// force makes the amount held n bytes though the budget be exceeded: for what
// is needed to give memory back.
func (a *account) force(n int64) {
	if a.budget != nil {
		a.budget.used.Add(n - a.held)
	}
	a.held = n
	if a.stats != nil {
		a.stats.peak(n)
	}
}

// spilled counts what was written, for profiles.
func (a *account) spilled(bytes, files int64) {
	if a.stats != nil {
		a.stats.spilled.Add(bytes)
		a.stats.files.Add(files)
	}
}

// set makes the amount held n bytes.
func (a *account) set(n int64) error {
	if n <= a.held {
		a.budget.Release(a.held - n)
		a.held = n
		return nil
	}
	if err := a.budget.Grow(a.op, n-a.held); err != nil {
		return err
	}
	a.held = n
	if a.stats != nil {
		a.stats.peak(n)
	}
	return nil
}

// release gives back everything.
func (a *account) release() {
	a.budget.Release(a.held)
	a.held = 0
}
