package functions

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// likePattern is a LIKE pattern prepared for many strings.
//
// Without _ it is a list of literal segments between the % signs: the first is
// anchored at the start unless the pattern begins with %, the last at the end
// likewise, those between are searched one after the other.
type likePattern struct {
	segments [][]byte
	exact    bool // no % at all
	general  []byte
	byteWise bool // _ is one byte: bytea
}

func newLike(p []byte, byteWise bool) *likePattern {
	l := &likePattern{exact: true, byteWise: byteWise}
	var seg []byte
	for i := 0; i < len(p); i++ {
		switch {
		case p[i] == '_' || p[i] == '\\' && i+1 == len(p):
			l.general = p
			return l
		case p[i] == '%':
			l.segments, seg, l.exact = append(l.segments, seg), nil, false
			continue
		case p[i] == '\\':
			i++
		}
		seg = append(seg, p[i])
	}
	l.segments = append(l.segments, seg)
	return l
}

func (l *likePattern) match(c *Ctx, s []byte) (bool, error) {
	if l.general != nil {
		return matchLike(c, s, l.general, l.byteWise)
	}
	first, last := l.segments[0], l.segments[len(l.segments)-1]
	if l.exact {
		return bytes.Equal(s, first), nil
	}
	if len(s) < len(first)+len(last) || !bytes.HasPrefix(s, first) || !bytes.HasSuffix(s, last) {
		return false, nil
	}
	s = s[len(first) : len(s)-len(last)]
	for _, seg := range l.segments[1 : len(l.segments)-1] {
		k := bytes.Index(s, seg)
		if k < 0 {
			return false, nil
		}
		s = s[k+len(seg):]
	}
	return true, nil
}

func errLikeEnd() error {
	return pgerr.New(pgerr.InvalidEscapeSequence, "LIKE pattern must not end with escape character")
}

// matchLike matches any pattern, going back to the last % at a mismatch.
func matchLike(c *Ctx, s, p []byte, byteWise bool) (bool, error) {
	width := func(i int) int {
		if byteWise || s[i] < utf8.RuneSelf {
			return 1
		}
		_, w := utf8.DecodeRune(s[i:])
		return w
	}
	i, j, retry, from := 0, 0, -1, 0
	for tries := 1; i < len(s); {
		if j < len(p) {
			switch {
			case p[j] == '%':
				j++
				retry, from = j, i
				continue
			case p[j] == '_':
				i += width(i)
				j++
				continue
			case p[j] == '\\':
				if j+1 == len(p) {
					return false, errLikeEnd()
				}
				if p[j+1] == s[i] {
					i, j = i+1, j+2
					continue
				}
			case p[j] == s[i]:
				i, j = i+1, j+1
				continue
			}
		}
		if retry < 0 {
			return false, nil
		}
		// A try takes as many steps as the pattern is long.
		if tries++; tries%lookEvery == 0 {
			if err := c.Canceled(); err != nil {
				return false, err
			}
		}
		from += width(from)
		i, j = from, retry
	}
	for j < len(p) && p[j] == '%' {
		j++
	}
	return j == len(p), nil
}

var foldCase = mapCase(lowerASCII, unicode.ToLower)

// like makes the kernel of LIKE, ILIKE and their negations.
func like(negate, fold, byteWise bool) Kernel {
	return func(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		var pattern *likePattern
		var last, buf []byte
		for i := 0; i < n; i++ {
			if !live(out, i) {
				continue
			}
			if p := args[1].Bytes(i); pattern == nil || !args[1].Const && !bytes.Equal(p, last) {
				last = append(last[:0], p...)
				if fold {
					p = foldCase(nil, p)
				} else {
					p = bytes.Clone(p)
				}
				pattern = newLike(p, byteWise)
			}
			s := args[0].Bytes(i)
			if fold {
				buf = foldCase(buf[:0], s)
				s = buf
			}
			ok, err := pattern.match(c, s)
			if err != nil {
				return err
			}
			out.Bits.Put(i, ok != negate)
		}
		return nil
	}
}

// likeEscape rewrites a pattern with another escape character to one with backslash.
func likeEscape(out *vector.Vector, args []*vector.Vector, i int) error {
	p, esc := args[0].Bytes(i), args[1].Bytes(i)
	if utf8.RuneCount(esc) > 1 {
		return pgerr.New(pgerr.InvalidEscapeSequence, "invalid escape string").WithHint("Escape string must be empty or one character.")
	}
	if len(esc) == 1 && esc[0] == '\\' {
		out.Data = append(out.Data, p...)
		return nil
	}
	escaped := false
	for len(p) > 0 {
		_, w := utf8.DecodeRune(p)
		c := p[:w]
		p = p[w:]
		switch {
		case !escaped && len(esc) > 0 && bytes.Equal(c, esc):
			out.Data = append(out.Data, '\\')
			escaped = true
			continue
		case c[0] == '\\' && !escaped:
			out.Data = append(out.Data, '\\')
		}
		out.Data = append(out.Data, c...)
		escaped = false
	}
	return nil
}

func init() {
	for _, o := range []struct {
		symbol       string
		negate, fold bool
	}{{"~~", false, false}, {"!~~", true, false}, {"~~*", false, true}, {"!~~*", true, true}} {
		k := like(o.negate, o.fold, false)
		for _, t := range []types.OID{types.Text, types.BPChar, types.Name} {
			RegisterFunctions(op(o.symbol, types.Bool, k, t, types.Text).fails())
		}
		if !o.fold {
			RegisterFunctions(op(o.symbol, types.Bool, like(o.negate, false, true), types.Bytea, types.Bytea).fails())
		}
	}
	RegisterFunctions(
		fn("like", types.Bool, like(false, false, false), types.Text, types.Text).fails().doc("Whether a string matches a LIKE pattern."),
		fn("notlike", types.Bool, like(true, false, false), types.Text, types.Text).fails().doc("Whether a string does not match a LIKE pattern."),
		fn("like", types.Bool, like(false, false, true), types.Bytea, types.Bytea).fails().doc("Whether a byte string matches a LIKE pattern."),
		fn("notlike", types.Bool, like(true, false, true), types.Bytea, types.Bytea).fails().doc("Whether a byte string does not match a LIKE pattern."),
		fn("like_escape", types.Text, textRows(likeEscape), types.Text, types.Text).fails().doc("A LIKE pattern rewritten to escape with backslash."),
		fn("like_escape", types.Bytea, textRows(likeEscape), types.Bytea, types.Bytea).fails().doc("A LIKE pattern rewritten to escape with backslash."),
		fn("similar_to_escape", types.Text, unsupported("SIMILAR TO"), types.Text).fails().doc("Not supported."),
		fn("similar_to_escape", types.Text, unsupported("SIMILAR TO"), types.Text, types.Text).fails().doc("Not supported."),
	)
}

// unsupported makes a kernel that names the missing feature.
func unsupported(feature string) Kernel {
	return func(*Ctx, *vector.Vector, []*vector.Vector, int) error { return pgerr.Unsupported("%s", feature) }
}
