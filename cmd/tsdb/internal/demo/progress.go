package demo

import (
	"fmt"
	"io"

	"github.com/schollz/progressbar/v3"
)

// Bar returns a progress bar on a terminal.
func Bar(w io.Writer) func(total int) Progress {
	return func(total int) Progress {
		return bar{progressbar.NewOptions(total,
			progressbar.OptionSetWriter(w),
			progressbar.OptionSetDescription("loading"),
			progressbar.OptionShowBytes(true),
			progressbar.OptionSetWidth(30),
			progressbar.OptionClearOnFinish(),
		)}
	}
}

type bar struct{ b *progressbar.ProgressBar }

func (b bar) Add(n int) { b.b.Add(n) }

func (b bar) Done() { b.b.Finish() }

// Line returns a progress of one plain line, for output that is no terminal.
func Line(w io.Writer) func(total int) Progress {
	return func(total int) Progress {
		fmt.Fprintf(w, "loading %d KB\n", (total+500)/1000)
		return line{}
	}
}

type line struct{}

func (line) Add(int) {}

func (line) Done() {}
