package functions

import (
	"bytes"
	"regexp"
	"strings"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// regexCache keeps the last expression of one kernel call: patterns are mostly constant.
type regexCache struct {
	pattern, flags []byte
	re             *regexp.Regexp
	f              regexFlags
}

// get compiles a pattern with base options and option letters.
func (c *regexCache) get(pattern, letters []byte, base regexFlags) (*regexp.Regexp, regexFlags, error) {
	if c.re != nil && bytes.Equal(pattern, c.pattern) && bytes.Equal(letters, c.flags) {
		return c.re, c.f, nil
	}
	f := base
	if err := parseRegexFlags(letters, &f); err != nil {
		return nil, f, err
	}
	re, err := compileRegex(pattern, f)
	if err != nil {
		return nil, f, err
	}
	c.re, c.f = re, f
	c.pattern, c.flags = append(c.pattern[:0], pattern...), append(c.flags[:0], letters...)
	return re, f, nil
}

// matches makes the kernel of ~ and its variants; a third argument holds option letters.
func matches(negate, fold bool) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		var cache regexCache
		for i := 0; i < n; i++ {
			if !live(out, i) {
				continue
			}
			re, f, err := cache.get(args[1].Bytes(i), lettersOf(args, 2, i), regexFlags{fold: fold})
			if err != nil {
				return err
			}
			if f.global {
				return noGlobal("regexp_like()")
			}
			out.Bits.Put(i, re.Match(args[0].Bytes(i)) != negate)
		}
		return nil
	}
}

func lettersOf(args []*vector.Vector, k, i int) []byte {
	if k >= len(args) {
		return nil
	}
	return args[k].Bytes(i)
}

func noGlobal(function string) error {
	return pgerr.New(pgerr.InvalidParameterValue, "%s does not support the \"global\" option", function)
}

// regexpReplace replaces the first match, or all with option g.
func regexpReplace(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	var cache regexCache
	for i := 0; i < n; i++ {
		if !live(out, i) {
			endRow(out)
			continue
		}
		letters := lettersOf(args, 3, i)
		re, f, err := cache.get(args[1].Bytes(i), letters, regexFlags{})
		if err != nil {
			return startHint(err, letters)
		}
		if err := replaceMatches(out, re, args[0].Bytes(i), args[2].Bytes(i), f.global); err != nil {
			return err
		}
		endRow(out)
	}
	return nil
}

// startHint explains the error of a number where option letters are expected.
func startHint(err error, letters []byte) error {
	if e, ok := err.(*pgerr.Error); ok && e.Code == pgerr.InvalidParameterValue && len(letters) > 0 && '0' <= letters[0] && letters[0] <= '9' {
		return e.WithHint("If you meant to use regexp_replace() with a start parameter, cast the fourth argument to integer explicitly.")
	}
	return err
}

func replaceMatches(out *vector.Vector, re *regexp.Regexp, s, with []byte, global bool) error {
	limit := 1
	if global {
		limit = -1
	}
	at, abut := 0, false // abut: the last match was not empty, another may follow at its end
	for _, m := range re.FindAllSubmatchIndex(s, limit) {
		if abut && m[0] > at && emptyAt(re, s, at) {
			out.Data = expandMatch(out.Data, s, with, []int{at, at})
		}
		out.Data = append(out.Data, s[at:m[0]]...)
		out.Data = expandMatch(out.Data, s, with, m)
		if err := checkRoom(out, len(s)); err != nil {
			return err
		}
		at, abut = m[1], m[0] < m[1]
	}
	if global && abut && emptyAt(re, s, at) {
		out.Data = expandMatch(out.Data, s, with, []int{at, at})
	}
	out.Data = append(out.Data, s[at:]...)
	return nil
}

// emptyAt reports whether an empty match stands right after another match, which
// package regexp leaves out and PostgreSQL does not.
func emptyAt(re *regexp.Regexp, s []byte, at int) bool {
	if strings.ContainsAny(re.String(), "^") || strings.Contains(re.String(), `\A`) {
		return false
	}
	m := re.FindIndex(s[at:])
	return m != nil && m[0] == 0 && m[1] == 0
}

// expandMatch appends a replacement: \1 to \9 are groups, \& the match, \\ a backslash.
func expandMatch(dst, s, with []byte, m []int) []byte {
	for k := 0; k < len(with); k++ {
		if with[k] != '\\' || k+1 == len(with) {
			dst = append(dst, with[k])
			continue
		}
		k++
		g := -1
		switch c := with[k]; {
		case c == '&':
			g = 0
		case '1' <= c && c <= '9':
			g = int(c - '0')
		case c == '\\':
			dst = append(dst, '\\')
			continue
		default:
			dst = append(dst, '\\', c)
			continue
		}
		if 2*g+1 < len(m) && m[2*g] >= 0 {
			dst = append(dst, s[m[2*g]:m[2*g+1]]...)
		}
	}
	return dst
}

// regexpMatch returns the groups of the first match, or the match if there are none.
func regexpMatch(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	var cache regexCache
	groups := vector.New(vector.Bytes, 4)
	for i := 0; i < n; i++ {
		if !live(out, i) {
			endRow(out)
			continue
		}
		re, f, err := cache.get(args[1].Bytes(i), lettersOf(args, 2, i), regexFlags{})
		if err != nil {
			return err
		}
		if f.global {
			return pgerr.New(pgerr.InvalidParameterValue, "regexp_match() does not support the \"global\" option").
				WithHint("Use the regexp_matches function instead.")
		}
		s := args[0].Bytes(i)
		m := re.FindSubmatchIndex(s)
		if m == nil {
			setNull(out, i, n)
			endRow(out)
			continue
		}
		groups.Reset(vector.Bytes)
		appendGroups(groups, s, m)
		out.Data = AppendArray(out.Data, types.Text, groups, 0, groups.N)
		endRow(out)
	}
	return nil
}

// substringRegex returns the first group of the first match, or the match.
func substringRegex(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	var cache regexCache
	for i := 0; i < n; i++ {
		if !live(out, i) {
			endRow(out)
			continue
		}
		re, _, err := cache.get(args[1].Bytes(i), nil, regexFlags{})
		if err != nil {
			return err
		}
		m := re.FindSubmatchIndex(args[0].Bytes(i))
		if len(m) > 2 {
			m = m[2:]
		}
		if m == nil || m[0] < 0 {
			setNull(out, i, n)
		} else {
			out.Data = append(out.Data, args[0].Bytes(i)[m[0]:m[1]]...)
		}
		endRow(out)
	}
	return nil
}

func init() {
	for _, o := range []struct {
		symbol       string
		negate, fold bool
	}{{"~", false, false}, {"!~", true, false}, {"~*", false, true}, {"!~*", true, true}} {
		for _, t := range []types.OID{types.Text, types.BPChar, types.Name} {
			RegisterFunctions(op(o.symbol, types.Bool, matches(o.negate, o.fold), t, types.Text).fails())
		}
	}
	t := types.Text
	RegisterFunctions(
		fn("regexp_like", types.Bool, matches(false, false), t, t).fails().doc("Whether a string matches a regular expression."),
		fn("regexp_like", types.Bool, matches(false, false), t, t, t).fails().doc("Whether a string matches a regular expression."),
		fn("regexp_replace", t, regexpReplace, t, t, t).fails().doc("The first match of a regular expression replaced."),
		fn("regexp_replace", t, regexpReplace, t, t, t, t).fails().doc("Matches of a regular expression replaced."),
		fn("regexp_match", types.TextArray, regexpMatch, t, t).fails().doc("The groups of the first match."),
		fn("regexp_match", types.TextArray, regexpMatch, t, t, t).fails().doc("The groups of the first match."),
		fn("substring", t, unsupported("substring with a SIMILAR TO pattern"), t, t, t).fails().doc("The part that matches a SIMILAR TO pattern: not supported."),
		fn("substring", t, substringRegex, t, t).fails().doc("The part that matches a regular expression."),
	)
}
