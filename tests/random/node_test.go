// Package random compares random queries over random data with PostgreSQL 15:
// what a generator writes, both servers answer, and every difference that is
// not a documented one fails with the query cut down to what still differs.
//
//	TSDB_ORACLE=1 go test ./tests/random
//
// TSDB_SEED repeats a run, TSDB_QUERIES says how many queries it has.
package random

import "strings"

// node is a piece of a query. It prints its children between the pieces of its
// form, or as a list with a separator.
type node struct {
	typ   string   // type of an expression; empty: a clause
	form  []string // one more than children
	kids  []*node
	sep   string // a list: form is its beginning and end
	drops bool   // may be left out
	gone  bool
}

// f makes a node out of a text in which each # is a child.
func f(typ, text string, kids ...*node) *node {
	return &node{typ: typ, form: strings.SplitN(text, "#", len(kids)+1), kids: kids}
}

// list makes a node of children between two texts.
func list(before, sep, after string, kids ...*node) *node {
	return &node{form: []string{before, after}, kids: kids, sep: sep}
}

// optional marks a node that the query may do without.
func optional(n *node) *node {
	n.drops = true
	return n
}

func (n *node) write(b *strings.Builder) {
	if n.gone {
		return
	}
	if n.sep != "" {
		b.WriteString(n.form[0])
		first := true
		for _, k := range n.kids {
			if k.gone {
				continue
			}
			if !first {
				b.WriteString(n.sep)
			}
			first = false
			k.write(b)
		}
		b.WriteString(n.form[1])
		return
	}
	for i, k := range n.kids {
		b.WriteString(n.form[i])
		k.write(b)
	}
	b.WriteString(n.form[len(n.form)-1])
}

func (n *node) String() string {
	var b strings.Builder
	n.write(&b)
	return b.String()
}

// walk calls f for n and everything below it that is printed.
func (n *node) walk(f func(*node)) {
	if n.gone {
		return
	}
	f(n)
	for _, k := range n.kids {
		k.walk(f)
	}
}

// reduce makes a query smaller as long as differs says that the rest still
// shows the difference, at most tries times.
func reduce(q *node, tries int, differs func(string) bool) {
	try := func(change, undo func()) bool {
		if tries == 0 {
			return false
		}
		tries--
		change()
		if differs(q.String()) {
			return true
		}
		undo()
		return false
	}
	for smaller := true; smaller && tries > 0; {
		smaller = false
		var all []*node
		q.walk(func(n *node) { all = append(all, n) })
		for _, n := range all {
			if n.drops && !n.gone && try(func() { n.gone = true }, func() { n.gone = false }) {
				smaller = true
				continue
			}
			if n.sep != "" {
				smaller = dropKids(n, try) || smaller
			}
			if n.typ != "" {
				smaller = simplify(n, try) || smaller
			}
		}
	}
}

func dropKids(n *node, try func(change, undo func()) bool) bool {
	smaller := false
	for i := 0; i < len(n.kids) && len(n.kids) > 1; i++ {
		old := n.kids
		rest := append(append([]*node(nil), old[:i]...), old[i+1:]...)
		if try(func() { n.kids = rest }, func() { n.kids = old }) {
			smaller = true
			i--
		}
	}
	return smaller
}

// simplify puts an operand of the same type, or a literal, in an expression's place.
func simplify(n *node, try func(change, undo func()) bool) bool {
	for _, k := range n.kids {
		if k.typ != n.typ || k.gone {
			continue
		}
		old, inner := *n, *k
		if try(func() { *n = inner }, func() { *n = old }) {
			return true
		}
	}
	if plain := simplest[n.typ]; plain != "" && n.String() != plain && len(n.kids) > 0 {
		old := *n
		return try(func() { *n = *f(n.typ, plain) }, func() { *n = old })
	}
	return false
}

// simplest is a literal of each type.
var simplest = map[string]string{"int": "1", "num": "1.5", "float": "1.5::float8", "text": "'a'", "bool": "true", "date": "date '2024-01-01'",
	"ts": "timestamp '2024-01-01'", "tstz": "timestamptz '2024-01-01 00:00+00'", "interval": "interval '1 day'"}
