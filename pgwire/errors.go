package pgwire

import (
	"context"
	"errors"
	"strconv"

	"tsdb/sql/pgerr"
)

// fatal returns an error that ends the connection.
func fatal(code pgerr.Code, format string, args ...any) *pgerr.Error {
	e := pgerr.New(code, format, args...)
	e.Severity = pgerr.SevFatal
	return e
}

func errShutdown() *pgerr.Error {
	return fatal(pgerr.AdminShutdown, "terminating connection due to administrator command")
}

// asError returns what the client is told about err.
func asError(err error) *pgerr.Error {
	var e *pgerr.Error
	if errors.As(err, &e) {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return pgerr.New(pgerr.QueryCanceled, "canceling statement due to user request")
	}
	return pgerr.From(err)
}

// report writes an ErrorResponse or NoticeResponse.
func (w *writer) report(typ byte, e *pgerr.Error) {
	sev := e.Severity
	if sev == "" {
		sev = pgerr.Sev
	}
	start := w.begin(typ)
	w.field('S', string(sev))
	w.field('V', string(sev))
	code := e.Code
	if len(code) != 5 {
		code = pgerr.InternalError
	}
	w.field('C', string(code))
	w.field('M', e.Message)
	w.optional('D', e.Detail)
	w.optional('H', e.Hint)
	if e.Position > 0 {
		w.field('P', strconv.Itoa(e.Position))
	}
	w.optional('W', e.Where)
	w.optional('s', e.Schema)
	w.optional('t', e.Table)
	w.optional('c', e.Column)
	w.optional('d', e.DataType)
	w.optional('n', e.Constraint)
	w.buf = append(w.buf, 0)
	w.end(start)
}

// field writes one field; a NUL inside it would end it early and is left out.
func (w *writer) field(code byte, s string) {
	w.buf = append(w.buf, code)
	for i := 0; i < len(s); i++ {
		if s[i] != 0 {
			w.buf = append(w.buf, s[i])
		}
	}
	w.buf = append(w.buf, 0)
}

func (w *writer) optional(code byte, s string) {
	if s != "" {
		w.field(code, s)
	}
}
