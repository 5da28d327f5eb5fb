package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"golang.org/x/term"
)

const promptHelp = `Statements end with a semicolon and may take several lines.
  \timing   switch the time of each statement on or off
  \q        quit (also Ctrl-D)
Arrow keys recall earlier statements. Ctrl-C cancels what runs or what is being typed.
psql works too, with \d and all the rest: tsdb speaks PostgreSQL's protocol.
`

// Prompt reads statements from a terminal and runs them until \q or Ctrl-D.
func (r *Runner) Prompt(ctx context.Context, tty *os.File, database string) error {
	fd := int(tty.Fd())
	in := &keys{in: tty}
	line := newLine(in)
	var split Splitter
	for {
		line.SetPrompt(r.promptText(database, split.Pending()))
		if w, h, err := term.GetSize(fd); err == nil && w > 0 && h > 0 {
			line.SetSize(w, h)
		}
		text, err := readLine(fd, line)
		switch {
		case errors.Is(err, term.ErrPasteIndicator):
		case errors.Is(err, io.EOF) && (in.interrupted || split.Pending()):
			split.Rest()
			fmt.Fprintln(r.Out)
			history := line.History
			in.interrupted, line = false, newLine(in) // without what was typed
			line.History = history
			continue
		case errors.Is(err, io.EOF):
			fmt.Fprintln(r.Out)
			return nil
		case err != nil:
			return err
		}
		if !split.Pending() && isCommand(text) {
			if r.command(strings.TrimSpace(text)) {
				return nil
			}
			continue
		}
		var broken error
		split.Feed(text+"\n", func(stmt, _ string) int {
			if broken == nil {
				broken = r.interactive(ctx, stmt, tty)
			}
			return 0
		})
		if broken != nil {
			return broken
		}
	}
}

func newLine(in *keys) *term.Terminal {
	return term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{in, os.Stdout}, "")
}

// keys notices Ctrl-C, which a Terminal reports as it does Ctrl-D: io.EOF.
type keys struct {
	in          io.Reader
	interrupted bool
}

func (k *keys) Read(p []byte) (int, error) {
	n, err := k.in.Read(p)
	k.interrupted = k.interrupted || bytes.IndexByte(p[:n], ctrlC) >= 0
	return n, err
}

const ctrlC = 3

// readLine reads with the terminal in raw mode and leaves it as it was, so
// that Ctrl-C is a signal while statements run.
func readLine(fd int, line *term.Terminal) (string, error) {
	old, err := term.MakeRaw(fd)
	if err != nil {
		return "", err
	}
	defer term.Restore(fd, old)
	return line.ReadLine()
}

// interactive runs one statement; Ctrl-C cancels it.
func (r *Runner) interactive(ctx context.Context, stmt string, tty *os.File) error {
	sig := make(chan os.Signal, 1)
	signal.Notify(sig, os.Interrupt)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-sig:
				fmt.Fprintln(r.Err, "Cancel request sent")
				if err := r.Conn.CancelRequest(ctx); err != nil {
					fmt.Fprintln(r.Err, "could not send cancel request:", err)
				}
			case <-done:
				return
			}
		}
	}()
	var data io.Reader
	if ReadsInput(stmt) {
		fmt.Fprintln(r.Out, `Enter data to be copied followed by a newline. End with \. on a line by itself, or Ctrl-D.`)
		data = newInline(tty)
	}
	err := r.Run(ctx, stmt, data)
	signal.Stop(sig)
	close(done)
	if errors.Is(err, ErrFailed) {
		return nil
	}
	return err
}

// promptText follows psql: = or - for a statement that goes on, * in a transaction, ! in a failed one.
func (r *Runner) promptText(database string, pending bool) string {
	mark := "="
	if pending {
		mark = "-"
	}
	switch r.Conn.TxStatus() {
	case 'T':
		mark += "*"
	case 'E':
		mark += "!"
	}
	return database + mark + "# "
}

// command runs a backslash command; true means quit.
func (r *Runner) command(text string) bool {
	switch text {
	case `\q`, `\quit`, "quit", "exit":
		return true
	case `\timing`:
		r.Timing = !r.Timing
		state := "off"
		if r.Timing {
			state = "on"
		}
		fmt.Fprintf(r.Out, "Timing is %s.\n", state)
	case `\?`, `\h`, `\help`, "help":
		fmt.Fprint(r.Out, promptHelp)
	default:
		fmt.Fprintf(r.Err, "invalid command %s\nTry \\? for help.\n", text)
	}
	return false
}
