package copyio

import (
	"bytes"

	"tsdb/sql/pgerr"
)

// eolKind is the line end of the data, set by its first line; a different one
// later is an error.
type eolKind uint8

const (
	eolUnknown eolKind = iota
	eolNL
	eolCR
	eolCRNL
)

// lines splits text or CSV data into records.
//
// A record ends at a line end that is not quoted (CSV) or behind a backslash
// (text), at the end of the data, or at \. , which ends the data too.
type lines struct {
	source
	csv    bool
	quote  byte
	escape byte // 0: the same as quote
	eol    eolKind
	lineNo int64 // 1-based, of the record's last line
	done   bool  // no more records
}

// next returns the next record without its line end; ok is false at the end.
// The slice is valid until the next call.
func (l *lines) next() (line []byte, ok bool, err error) {
	if l.done {
		return nil, false, nil
	}
	l.lineNo++
	if line, ok := l.fast(); ok {
		return line, true, nil
	}
	line, end, err := l.slow()
	if err != nil {
		return nil, false, err
	}
	if end {
		l.done = true
		if err := l.drainKeeping(&line); err != nil {
			return nil, false, err
		}
		return line, len(line) > 0, nil
	}
	return line, true, nil
}

// drainKeeping drops what follows \. while line stays valid.
func (l *lines) drainKeeping(line *[]byte) error {
	if l.eof {
		return nil
	}
	*line = bytes.Clone(*line)
	return l.drain()
}

// fast takes a line that is in the buffer, ends in a line feed and has nothing
// special in it.
func (l *lines) fast() ([]byte, bool) {
	if l.eol == eolCR {
		return nil, false
	}
	data := l.buf[l.mark:]
	n := bytes.IndexByte(data, '\n')
	if n < 0 {
		return nil, false
	}
	line := data[:n]
	if l.eol == eolCRNL {
		if n == 0 || line[n-1] != '\r' {
			return nil, false
		}
		line = line[:n-1]
	}
	if bytes.IndexByte(line, '\r') >= 0 {
		return nil, false
	}
	if l.csv {
		if len(line) > 0 && line[0] == '\\' {
			return nil, false
		}
		// Every quote opens or closes where it is its own escape: after an even
		// number the line end is outside.
		if n := bytes.Count(line, []byte{l.quote}); n%2 != 0 || n > 0 && l.escape != 0 {
			return nil, false
		}
	} else if bytes.IndexByte(line, '\\') >= 0 {
		return nil, false
	}
	if l.eol == eolUnknown {
		l.eol = eolNL
	}
	l.mark += n + 1
	return line, true
}

// at returns the byte at offset i of the record; ok is false at the end of the data.
func (l *lines) at(i int) (c byte, ok bool, err error) {
	if l.mark+i < len(l.buf) {
		return l.buf[l.mark+i], true, nil
	}
	if ok, err = l.need(i + 1); !ok {
		return 0, false, err
	}
	return l.buf[l.mark+i], true, nil
}

// take ends the record: n bytes of content, skip bytes in all.
func (l *lines) take(n, skip int) []byte {
	line := l.buf[l.mark : l.mark+n]
	l.mark += skip
	return line
}

// slow reads a record byte by byte. end reports the end of the data.
func (l *lines) slow() (line []byte, end bool, err error) {
	inQuote, lastEscape := false, false
	for i := 0; ; i++ {
		c, ok, err := l.at(i)
		if err != nil {
			return nil, false, err
		}
		if !ok {
			n := len(l.buf) - l.mark // a backslash at the very end has i beyond it
			return l.take(n, n), true, nil
		}
		if l.csv {
			if inQuote && l.escape != 0 && c == l.escape {
				lastEscape = !lastEscape
			}
			if c == l.quote && !lastEscape {
				inQuote = !inQuote
			}
			if c != l.escape {
				lastEscape = false
			}
			if inQuote && (c == '\n' && l.eol == eolNL || c == '\r' && l.eol != eolNL) {
				l.lineNo++
			}
		}
		switch {
		case c == '\r' && !inQuote:
			n, err := l.carriageReturn(i)
			if err != nil {
				return nil, false, err
			}
			return l.take(i, n), false, nil
		case c == '\n' && !inQuote:
			if l.eol == eolCR || l.eol == eolCRNL {
				return nil, false, l.literal("newline", `\n`)
			}
			l.eol = eolNL
			return l.take(i, i+1), false, nil
		case c == '\\' && (!l.csv || i == 0):
			stop, n, err := l.marker(i)
			if err != nil {
				return nil, false, err
			}
			if stop {
				return l.take(i, n), true, nil
			}
			if !l.csv {
				i++ // the byte after a backslash is data
			}
		}
	}
}

// carriageReturn decides what the carriage return at offset i is and returns
// the offset after the line end.
func (l *lines) carriageReturn(i int) (int, error) {
	switch l.eol {
	case eolNL:
		return 0, l.literal("carriage return", `\r`)
	case eolCR:
		return i + 1, nil
	}
	c, ok, err := l.at(i + 1)
	if err != nil {
		return 0, err
	}
	if ok && c == '\n' {
		l.eol = eolCRNL
		return i + 2, nil
	}
	if l.eol == eolCRNL {
		return 0, l.literal("carriage return", `\r`)
	}
	l.eol = eolCR
	return i + 1, nil
}

// literal is the error of a line end that is not that of the first line.
func (l *lines) literal(what, escaped string) error {
	if l.csv {
		return pgerr.New(pgerr.BadCopyFileFormat, "unquoted %s found in data", what).
			WithHint("Use quoted CSV field to represent %s.", what)
	}
	return pgerr.New(pgerr.BadCopyFileFormat, "literal %s found in data", what).
		WithHint("Use \"%s\" to represent %s.", escaped, what)
}

// marker looks for the end-of-copy marker \. whose backslash is at offset i;
// n is the offset after it and its line end.
func (l *lines) marker(i int) (stop bool, n int, err error) {
	c, ok, err := l.at(i + 1)
	if err != nil || !ok || c != '.' {
		return false, 0, err
	}
	corrupt := func(msg string) (bool, int, error) {
		if l.csv {
			return false, 0, nil
		}
		return false, 0, pgerr.New(pgerr.BadCopyFileFormat, "%s", msg)
	}
	const bad, mismatch = "end-of-copy marker corrupt", "end-of-copy marker does not match previous newline style"
	n = i + 2
	if l.eol == eolCRNL {
		c, _, err := l.at(n)
		if err != nil {
			return false, 0, err
		}
		n++
		if c == '\n' {
			return corrupt(mismatch)
		}
		if c != '\r' {
			return corrupt(bad)
		}
	}
	c, _, err = l.at(n)
	if err != nil {
		return false, 0, err
	}
	n++
	if c != '\r' && c != '\n' {
		return corrupt(bad)
	}
	if l.eol == eolNL && c != '\n' || l.eol == eolCRNL && c != '\n' || l.eol == eolCR && c != '\r' {
		return false, 0, pgerr.New(pgerr.BadCopyFileFormat, mismatch)
	}
	return true, n, nil
}
