package pgwire

import (
	"context"
	"fmt"
	"log/slog"
)

// panicCounter keeps what a session logs when it panicked.
type panicCounter struct{ message string }

func (p *panicCounter) logger() *slog.Logger { return slog.New(p) }

func (p *panicCounter) Enabled(context.Context, slog.Level) bool { return true }

func (p *panicCounter) Handle(_ context.Context, r slog.Record) error {
	if r.Level >= slog.LevelError {
		p.message = r.Message
		r.Attrs(func(a slog.Attr) bool {
			p.message += fmt.Sprintf("\n%s: %v", a.Key, a.Value)
			return true
		})
	}
	return nil
}

func (p *panicCounter) WithAttrs([]slog.Attr) slog.Handler { return p }

func (p *panicCounter) WithGroup(string) slog.Handler { return p }
