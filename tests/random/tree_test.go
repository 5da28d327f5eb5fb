package random

import "strings"

// node is a part of a statement, kept as a tree so that a failing statement can
// be made smaller. Its text is its format with each % replaced by a child's.
type node struct {
	typ    string // of an expression
	format string
	kids   []*node
	list   bool   // kids joined by format; any but the first may go
	option bool   // may go as a whole
	plain  string // the simplest text that can stand for it
}

func expr(typ, format string, kids ...*node) *node {
	return &node{typ: typ, format: format, kids: kids, plain: "NULL::" + typ}
}

func text(s string) *node { return &node{format: s} }

func seq(format string, kids ...*node) *node { return &node{format: format, kids: kids} }

func optional(format string, kids ...*node) *node {
	return &node{format: format, kids: kids, option: true}
}

func listOf(sep string, kids ...*node) *node { return &node{format: sep, kids: kids, list: true} }

func (n *node) String() string {
	var b strings.Builder
	n.write(&b)
	return b.String()
}

func (n *node) write(b *strings.Builder) {
	if n.list {
		for i, k := range n.kids {
			if i > 0 {
				b.WriteString(n.format)
			}
			k.write(b)
		}
		return
	}
	rest := n.format
	for _, k := range n.kids {
		before, after, ok := strings.Cut(rest, "%")
		b.WriteString(before)
		if !ok {
			return
		}
		k.write(b)
		rest = after
	}
	b.WriteString(rest)
}

// nodes lists n and what is below it, the largest parts first.
func (n *node) nodes() []*node {
	out := []*node{n}
	for i := 0; i < len(out); i++ {
		out = append(out, out[i].kids...)
	}
	return out
}

// reduce makes the tree smaller as long as fails holds, trying at most tries times.
func reduce(root *node, tries int, fails func(sql string) bool) {
	attempt := func(n *node, to node) bool {
		if tries <= 0 {
			return false
		}
		old, size := *n, len(root.String())
		*n = to
		if s := root.String(); len(s) < size {
			tries--
			if fails(s) {
				return true
			}
		}
		*n = old
		return false
	}
	for again := true; again && tries > 0; {
		again = false
		for _, n := range root.nodes() {
			again = shrink(n, attempt) || again
		}
	}
}

// shrink tries all ways to make one node smaller.
func shrink(n *node, attempt func(*node, node) bool) (done bool) {
	if n.option && n.format != "" && attempt(n, node{}) {
		return true
	}
	if n.typ != "" {
		if attempt(n, node{format: n.plain}) {
			return true
		}
		for _, k := range n.nodes()[1:] {
			if k.typ == n.typ && attempt(n, *k) {
				return true
			}
		}
	}
	if n.list {
		for i := len(n.kids) - 1; i >= 0 && len(n.kids) > 1; i-- {
			less := *n
			less.kids = append(append([]*node{}, n.kids[:i]...), n.kids[i+1:]...)
			done = attempt(n, less) || done
		}
	}
	return done
}
