package sql

import (
	"strings"
	"sync"
)

// scanner is the pass over the whole query string before the grammar: it
// guards the depth, finds bulk VALUES and notes words that rivals' syntax uses.
type scanner struct {
	lexer
	guard
	tokens int          // number of tokens other than semicolons
	bulks  []BulkValues // in order
	rivals bool         // a bare word that may be rivals' syntax occurs
	params misplacedParam
}

var scannerPool = sync.Pool{New: func() any { return new(scanner) }}

func (sc *scanner) scan(query string) error {
	sc.lexer = lexer{src: query}
	sc.guard.reset()
	sc.tokens, sc.rivals, sc.bulks, sc.params = 0, false, nil, misplacedParam{}
	insert := false // in an INSERT, before its VALUES
	first := true   // at the start of a statement
	params := strings.IndexByte(query, '$') >= 0
	for {
		t := sc.next()
		if t.kind == tokEOF {
			return nil
		}
		if !sc.token(t) {
			return depthError()
		}
		if params {
			sc.params.token(query, t, len(sc.frames) == 1, first)
		}
		if t.kind == tokPunct && t.char == ';' {
			first, insert = true, false
			continue
		}
		sc.tokens++
		if first {
			first, insert = false, t.word == kwInsert
			continue
		}
		if t.kind != tokWord {
			continue
		}
		if insert && t.word == kwValues && len(sc.frames) == 1 {
			insert = false
			sc.bulk()
		}
		if t.word == kwNone && !sc.rivals && isRival(query[t.start:t.end]) {
			sc.rivals = true
		}
	}
}

// bulk reads rows of literals after VALUES. More than bulkRows of them become
// a BulkValues; otherwise nothing happens and the rows are read as any tokens.
func (sc *scanner) bulk() {
	b := BulkValues{query: sc.src, start: sc.pos}
	if !b.measure() || b.rows <= bulkRows || !sc.endsInsert(b.end) {
		return
	}
	sc.bulks = append(sc.bulks, b)
	sc.pos = b.end
	sc.prev = token{kind: tokPunct, char: ')'}
}

// endsInsert tells whether rows of VALUES that end at an offset are all the rows
// that the INSERT takes: a LIMIT, an ORDER BY or a set operation may follow.
func (sc *scanner) endsInsert(end int) bool {
	l := lexer{src: sc.src, pos: end}
	t := l.next()
	switch t.kind {
	case tokEOF:
		return true
	case tokPunct:
		return t.char == ';'
	case tokWord:
		return t.word == kwOn || t.word == kwReturning
	}
	return false
}

// reduced returns the query without the rows of bulk VALUES but the first.
func (sc *scanner) reduced() string {
	if len(sc.bulks) == 0 {
		return sc.src
	}
	var w strings.Builder
	at := 0
	for i := range sc.bulks {
		w.WriteString(sc.src[at:sc.bulks[i].firstEnd])
		at = sc.bulks[i].end
	}
	w.WriteString(sc.src[at:])
	return w.String()
}

// original turns an offset in the reduced text into one in the query.
func (sc *scanner) original(offset int) int {
	for i := range sc.bulks {
		if offset < sc.bulks[i].firstEnd {
			break
		}
		offset += sc.bulks[i].end - sc.bulks[i].firstEnd
	}
	return offset
}

func (sc *scanner) bulkWithin(from, to int) *BulkValues {
	for i := range sc.bulks {
		if b := &sc.bulks[i]; b.start >= from && b.end <= to {
			return b
		}
	}
	return nil
}
