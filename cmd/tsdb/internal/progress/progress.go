// Package progress shows how far a long command is: a bar on a terminal,
// nothing elsewhere.
package progress

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Bytes is a bar over bytes. The zero value, and nil, show nothing.
type Bytes struct {
	what string
	out  *os.File
	bar  *progressbar.ProgressBar
	all  int64
}

// NewBytes returns a bar on out if that is a terminal.
func NewBytes(out *os.File, what string) *Bytes {
	if !term.IsTerminal(int(out.Fd())) {
		return nil
	}
	return &Bytes{what: what, out: out}
}

// Set shows that so many bytes of all are done; all may change.
func (b *Bytes) Set(done, all int64) {
	if b == nil || b.out == nil || all <= 0 {
		return
	}
	if b.bar == nil || all != b.all {
		b.all = all
		b.bar = progressbar.NewOptions64(all, progressbar.OptionSetWriter(b.out), progressbar.OptionSetDescription(b.what),
			progressbar.OptionShowBytes(true), progressbar.OptionSetWidth(30), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish())
	}
	b.bar.Set64(done)
}

// Clear removes the bar, so that a line can be printed.
func (b *Bytes) Clear() {
	if b != nil && b.bar != nil {
		b.bar.Clear()
	}
}

// Done ends the bar.
func (b *Bytes) Done() {
	if b != nil && b.bar != nil {
		b.bar.Finish()
	}
}
