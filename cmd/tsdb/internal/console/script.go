package console

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
)

// Script runs the statements that in holds, goes on after errors as psql does,
// and takes the data of COPY ... FROM STDIN from the lines behind it, up to
// one that is \. alone.
//
// Errors: ErrFailed if any statement failed.
func (r *Runner) Script(ctx context.Context, in io.Reader) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	var split Splitter
	failed := false
	var broken error
	run := func(stmt, after string) int {
		if broken != nil || ctx.Err() != nil {
			return 0
		}
		consumed := 0
		data := &inline{lines: lines, done: true}
		if ReadsInput(stmt) {
			// The data begin on the next line: what follows the semicolon is dropped.
			consumed, data.done = len(after), false
		}
		err := r.Run(ctx, stmt, data)
		data.skip()
		if errors.Is(err, ErrFailed) {
			failed = true
		} else if err != nil {
			broken = err
		}
		return consumed
	}
	for broken == nil {
		line, err := lines.ReadString('\n')
		split.Feed(line, run)
		if err == io.EOF {
			if rest := split.Rest(); rest != "" {
				run(rest, "")
			}
			break
		}
		if err != nil {
			return err
		}
	}
	switch {
	case broken != nil:
		return broken
	case ctx.Err() != nil:
		return ctx.Err()
	case failed:
		return ErrFailed
	}
	return nil
}

// inline reads the lines of a script up to one that is \. alone.
type inline struct {
	lines *bufio.Reader
	left  []byte
	done  bool
}

func (d *inline) Read(p []byte) (int, error) {
	for len(d.left) == 0 {
		if d.done {
			return 0, io.EOF
		}
		line, err := d.lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return 0, err
		}
		if err == io.EOF || string(bytes.TrimRight(line, "\r\n")) == `\.` {
			d.done = true
		}
		if string(bytes.TrimRight(line, "\r\n")) != `\.` {
			d.left = line
		}
	}
	n := copy(p, d.left)
	d.left = d.left[n:]
	return n, nil
}

// skip drops what the COPY did not read, after an error.
func (d *inline) skip() {
	for !d.done {
		d.left = nil
		if _, err := d.Read(make([]byte, 1)); err != nil {
			return
		}
	}
}

// isCommand reports whether a line is a command of the prompt.
func isCommand(line string) bool {
	switch line = strings.TrimSpace(line); line {
	case "help", "quit", "exit": // psql takes these words too
		return true
	}
	return strings.HasPrefix(line, `\`)
}

func newInline(in io.Reader) *inline { return &inline{lines: bufio.NewReader(in)} }
