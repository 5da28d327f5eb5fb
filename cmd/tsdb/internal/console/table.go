package console

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Column is one column of a printed result.
type Column struct {
	Name  string
	Right bool // numbers align to the right
}

// AppendTable prints a result as psql's aligned format does: names centred,
// numbers right, a + after each line of a value that goes on in the next, and
// the row count. NULL is an empty string. It changes control characters within rows.
func AppendTable(dst []byte, cols []Column, rows [][]string) []byte {
	widths := make([]int, len(cols))
	for i, c := range cols {
		widths[i] = textWidth(c.Name)
	}
	for _, row := range rows {
		for i := range row {
			row[i] = printable(row[i])
			widths[i] = max(widths[i], textWidth(row[i]))
		}
	}
	for i, c := range cols {
		if i > 0 {
			dst = append(dst, '|')
		}
		free := widths[i] - textWidth(c.Name)
		dst = pad(dst, 1+free/2)
		dst = append(dst, c.Name...)
		dst = pad(dst, 1+free-free/2)
	}
	if len(cols) > 0 {
		dst = append(dst, '\n')
	}
	for i := range cols {
		if i > 0 {
			dst = append(dst, '+')
		}
		for range widths[i] + 2 {
			dst = append(dst, '-')
		}
	}
	if len(cols) == 0 {
		dst = append(dst, "--"...)
	}
	dst = append(dst, '\n')
	if len(cols) > 0 {
		for _, row := range rows {
			dst = appendRow(dst, cols, widths, row)
		}
	}
	return appendCount(dst, len(rows))
}

func appendCount(dst []byte, n int) []byte {
	if n == 1 {
		return append(dst, "(1 row)\n\n"...)
	}
	return append(strconv.AppendInt(append(dst, '('), int64(n), 10), " rows)\n\n"...)
}

// appendRow prints one row, as many lines as its tallest value has.
func appendRow(dst []byte, cols []Column, widths []int, row []string) []byte {
	lines := make([][]string, len(row))
	height := 1
	for i, cell := range row {
		lines[i] = strings.Split(cell, "\n")
		height = max(height, len(lines[i]))
	}
	for at := range height {
		for i := range row {
			text, more := "", false
			if at < len(lines[i]) {
				text, more = lines[i][at], at+1 < len(lines[i])
			}
			last := i+1 == len(row)
			if i > 0 {
				dst = append(dst, '|')
			}
			dst = append(dst, ' ')
			free := widths[i] - textWidth(text)
			if cols[i].Right {
				dst = append(pad(dst, free), text...)
			} else {
				dst = append(dst, text...)
				if !last || more {
					dst = pad(dst, free)
				}
			}
			if more {
				dst = append(dst, '+')
			} else if !last {
				dst = append(dst, ' ')
			}
		}
		dst = append(dst, '\n')
	}
	return dst
}

func pad(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, ' ')
	}
	return dst
}

// textWidth returns the columns that the widest line of s takes on a terminal.
func textWidth(s string) int {
	widest, w := 0, 0
	for _, r := range s {
		if r == '\n' {
			widest, w = max(widest, w), 0
			continue
		}
		w += runeWidth(r)
	}
	return max(widest, w)
}

func runeWidth(r rune) int {
	switch {
	case r < 0x7f:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
		return 2
	}
	return 1
}

// printable fills tabs up to the next multiple of 8 and writes other control
// characters as \x.., so that data cannot drive the terminal.
func printable(s string) string {
	if strings.IndexFunc(s, isControl) < 0 {
		return s
	}
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	col := 0
	for _, r := range s {
		switch {
		case r == '\n':
			col = 0
			b.WriteByte('\n')
		case r == '\t':
			for ok := true; ok; ok = col%8 != 0 {
				b.WriteByte(' ')
				col++
			}
		case isControl(r):
			b.WriteString(`\x`)
			b.WriteByte(hex[r>>4&15])
			b.WriteByte(hex[r&15])
			col += 4
		default:
			b.WriteRune(r)
			col += runeWidth(r)
		}
	}
	return b.String()
}

func isControl(r rune) bool { return r < 0x20 && r != '\n' || r == 0x7f }
