package rowkey

import (
	"bytes"
	"slices"

	"tsdb/colstore/vector"
)

// Bound is one end of an interval: a one-row vector of the part's kind.
type Bound struct {
	Value     *vector.Vector
	Inclusive bool
}

// Constraint is what a query says about one key part: a set of points, or an
// interval with optional ends, or a prefix of a byte string. The zero value
// says nothing.
type Constraint struct {
	Points []*vector.Vector // one-row vectors; Empty when there is none left
	Empty  bool             // no value satisfies the query
	Lo, Hi *Bound
	Prefix []byte // of a CodecBytes part; nil: none
}

func (c *Constraint) isPoints() bool { return len(c.Points) > 0 }

func (c *Constraint) isNothing() bool {
	return !c.isPoints() && c.Lo == nil && c.Hi == nil && c.Prefix == nil && !c.Empty
}

// MaxSpans bounds how many spans one request has: beyond it the seeks cost more
// than reading what lies between.
const MaxSpans = 10000

// Spans derives the spans of the keys whose parts satisfy the constraints, one
// per part in key order (missing ones say nothing). Parts are consumed from
// the left: points multiply, the first interval or prefix ends the walk.
//
// The result is sorted, disjoint, never nil, and empty if no key qualifies. exact reports
// that every key inside satisfies all the constraints.
func Spans(parts []Part, cons []Constraint) (spans []Span, exact bool) {
	prefixes := [][]byte{nil}
	for i := range cons {
		if cons[i].Empty {
			return []Span{}, true
		}
	}
	for i := range parts {
		if i >= len(cons) || cons[i].isNothing() {
			return wholePrefixes(prefixes), nothingAfter(cons, i)
		}
		c := &cons[i]
		if !c.isPoints() {
			return intervals(prefixes, parts[i].Codec, c), nothingAfter(cons, i+1) && (c.Prefix == nil || c.Lo == nil && c.Hi == nil)
		}
		if len(prefixes)*len(c.Points) > MaxSpans {
			return covering(prefixes, parts[i].Codec, c), false
		}
		next := make([][]byte, 0, len(prefixes)*len(c.Points))
		for _, p := range prefixes {
			for _, v := range c.Points {
				next = append(next, AppendKey(slices.Clone(p), parts[i].Codec, v, 0))
			}
		}
		prefixes = next
	}
	return wholePrefixes(prefixes), true
}

func nothingAfter(cons []Constraint, i int) bool {
	for ; i < len(cons); i++ {
		if !cons[i].isNothing() {
			return false
		}
	}
	return true
}

func wholePrefixes(prefixes [][]byte) []Span {
	out := make([]Span, len(prefixes))
	for i, p := range prefixes {
		out[i] = Span{p, Successor(p)}
	}
	return Normalize(out)
}

func intervals(prefixes [][]byte, codec Codec, c *Constraint) []Span {
	out := make([]Span, 0, len(prefixes))
	for _, p := range prefixes {
		s := Span{p, Successor(p)}
		if c.Prefix != nil {
			q := appendEscaped(slices.Clone(p), c.Prefix)
			s = Span{q, Successor(q)}
		}
		if c.Lo != nil {
			lo := AppendKey(slices.Clone(p), codec, c.Lo.Value, 0)
			if !c.Lo.Inclusive {
				if lo = Successor(lo); lo == nil {
					continue // nothing sorts above the greatest key
				}
			}
			if bytes.Compare(lo, s.Start) > 0 {
				s.Start = lo
			}
		}
		if c.Hi != nil {
			hi := AppendKey(slices.Clone(p), codec, c.Hi.Value, 0)
			if c.Hi.Inclusive {
				hi = Successor(hi)
			}
			if s.End == nil || hi != nil && bytes.Compare(hi, s.End) < 0 {
				s.End = hi
			}
		}
		out = append(out, s)
	}
	return Normalize(out)
}

// covering replaces too many points by one span per prefix from the least to the greatest.
func covering(prefixes [][]byte, codec Codec, c *Constraint) []Span {
	var lo, hi []byte
	for _, v := range c.Points {
		k := AppendKey(nil, codec, v, 0)
		if lo == nil || bytes.Compare(k, lo) < 0 {
			lo = k
		}
		if hi == nil || bytes.Compare(k, hi) > 0 {
			hi = k
		}
	}
	out := make([]Span, len(prefixes))
	for i, p := range prefixes {
		out[i] = Span{append(slices.Clone(p), lo...), Successor(append(slices.Clone(p), hi...))}
	}
	return Normalize(out)
}

// Successor returns the least byte string above every string that starts with p: p with its last
// byte incremented, trailing FF dropped. Nil means that there is none (p is empty or all FF).
func Successor(p []byte) []byte {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i] != 0xff {
			out := slices.Clone(p[:i+1])
			out[i]++
			return out
		}
	}
	return nil
}

// Normalize sorts the spans, drops empty ones and merges those that touch or overlap. It reuses s.
func Normalize(s []Span) []Span {
	s = slices.DeleteFunc(s, func(x Span) bool { return x.End != nil && bytes.Compare(x.Start, x.End) >= 0 })
	slices.SortFunc(s, func(a, b Span) int { return bytes.Compare(a.Start, b.Start) })
	out := s[:0]
	for _, x := range s {
		if n := len(out); n > 0 && (out[n-1].End == nil || bytes.Compare(x.Start, out[n-1].End) <= 0) {
			if last := &out[n-1]; last.End != nil && (x.End == nil || bytes.Compare(x.End, last.End) > 0) {
				last.End = x.End
			}
			continue
		}
		out = append(out, x)
	}
	return out
}

// Contains reports whether key lies in the span.
func (s Span) Contains(key []byte) bool {
	return bytes.Compare(key, s.Start) >= 0 && (s.End == nil || bytes.Compare(key, s.End) < 0)
}

// Overlaps reports whether the span holds a key of the closed range [lo, hi].
func (s Span) Overlaps(lo, hi []byte) bool {
	return bytes.Compare(hi, s.Start) >= 0 && (s.End == nil || bytes.Compare(lo, s.End) < 0)
}
