package console

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
)

// lineWidth is how much of a long line is shown around an error's position.
const lineWidth = 60

// AppendError prints an error or notice as psql does: severity and message,
// the line with a caret, detail, hint, context.
func AppendError(dst []byte, e *pgconn.PgError, query string) []byte {
	dst = append(dst, e.Severity...)
	dst = append(dst, ":  "...)
	dst = append(dst, e.Message...)
	dst = append(dst, '\n')
	if e.Position > 0 && query != "" {
		dst = appendCaret(dst, query, int(e.Position))
	}
	for _, f := range []struct{ name, text string }{{"DETAIL:  ", e.Detail}, {"HINT:  ", e.Hint}, {"CONTEXT:  ", e.Where}} {
		if f.text != "" {
			dst = append(dst, f.name...)
			dst = append(dst, f.text...)
			dst = append(dst, '\n')
		}
	}
	return dst
}

// appendCaret prints the line that holds character pos (1-based) and points at it.
func appendCaret(dst []byte, query string, pos int) []byte {
	at := 0
	for range pos - 1 {
		if at >= len(query) {
			break
		}
		_, n := utf8.DecodeRuneInString(query[at:])
		at += n
	}
	number := strings.Count(query[:at], "\n") + 1
	start := strings.LastIndexByte(query[:at], '\n') + 1
	end := len(query)
	if i := strings.IndexByte(query[at:], '\n'); i >= 0 {
		end = at + i
	}
	before, after := []rune(query[start:at]), []rune(strings.TrimSuffix(query[at:end], "\r"))
	before, after, cutLeft, cutRight := window(before, after)
	head := "LINE " + strconv.Itoa(number) + ": "
	if cutLeft {
		head += "..."
	}
	left := strings.ReplaceAll(string(before), "\t", " ")
	dst = append(dst, head...)
	dst = append(dst, left...)
	dst = append(dst, strings.ReplaceAll(string(after), "\t", " ")...)
	if cutRight {
		dst = append(dst, "..."...)
	}
	dst = append(dst, '\n')
	dst = pad(dst, len(head)+textWidth(left))
	return append(dst, "^\n"...)
}

// window keeps about lineWidth characters around the end of before.
func window(before, after []rune) (b, a []rune, cutLeft, cutRight bool) {
	over := len(before) + len(after) - lineWidth
	if over <= 0 {
		return before, after, false, false
	}
	if keep := lineWidth - min(len(before), lineWidth*3/4); len(after) > keep {
		after, cutRight = after[:keep], true
	}
	if keep := lineWidth - len(after); len(before) > keep {
		before, cutLeft = before[len(before)-keep:], true
	}
	return before, after, cutLeft, cutRight
}
