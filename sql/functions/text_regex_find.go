package functions

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// allMatches returns the matches of re in s from byte start on, as PostgreSQL
// finds them: an empty one may stand right after another. limit < 0: all.
func allMatches(re *regexp.Regexp, s []byte, start, limit int) [][]int {
	var out [][]int
	anchored := strings.ContainsAny(re.String(), "^") || strings.Contains(re.String(), `\A`)
	found := re.FindAllSubmatchIndex(s[cutAt(start, anchored):], limitOf(limit, start, anchored))
	at := -1 // end of the last match if that was not empty
	add := func(m []int) bool {
		out = append(out, m)
		return limit >= 0 && len(out) >= limit
	}
	for _, m := range found {
		if !anchored {
			for i := range m {
				if m[i] >= 0 {
					m[i] += start
				}
			}
		} else if m[0] < start {
			continue
		}
		if at >= 0 && m[0] > at && emptyAt(re, s, at) && add([]int{at, at}) {
			return out
		}
		if at = -1; m[0] < m[1] {
			at = m[1]
		}
		if add(m) {
			return out
		}
	}
	if at >= 0 && emptyAt(re, s, at) {
		add([]int{at, at})
	}
	return out
}

// cutAt is where the search begins: an anchored expression sees the whole string.
func cutAt(start int, anchored bool) int {
	if anchored {
		return 0
	}
	return start
}

func limitOf(limit, start int, anchored bool) int {
	if anchored && start > 0 {
		return -1
	}
	return limit
}

// appendGroups appends the groups of a match, or the match if there are none, to groups.
func appendGroups(groups *vector.Vector, s []byte, m []int) {
	if len(m) > 2 {
		m = m[2:]
	}
	for ; len(m) > 0; m = m[2:] {
		if m[0] < 0 {
			groups.AppendNull()
		} else {
			groups.AppendBytes(s[m[0]:m[1]])
		}
	}
}

// regexRows yields the rows of regexp_matches: arrays, or of regexp_split_to_table: strings.
type regexRows struct {
	s       []byte
	matches [][]int
	pieces  *vector.Vector // instead of matches
	next    int
}

func (r *regexRows) Next(out *vector.Batch, limit int) (bool, error) {
	from := r.next
	total := len(r.matches)
	if r.pieces != nil {
		total = r.pieces.N
	}
	groups := vector.New(vector.Bytes, 4)
	for end := min(total, from+limit); r.next < end; r.next++ {
		if r.pieces != nil {
			out.Cols[0].AppendFrom(r.pieces, r.next)
		} else {
			groups.Reset(vector.Bytes)
			appendGroups(groups, r.s, r.matches[r.next])
			out.Cols[0].AppendBytes(AppendArray(nil, types.Text, groups, 0, groups.N))
		}
		out.N++
	}
	return r.next > from, nil
}

func openRegexpMatches(_ *Ctx, args []*vector.Vector) (Rows, error) {
	if anyNull(args) {
		return noRows{}, nil
	}
	var cache regexCache
	re, f, err := cache.get(args[1].Bytes(0), lettersOf(args, 2, 0), regexFlags{})
	if err != nil {
		return nil, err
	}
	limit := 1
	if f.global {
		limit = -1
	}
	s := []byte(str(args[0], 0))
	return &regexRows{s: s, matches: allMatches(re, s, 0, limit)}, nil
}

// splitAt appends the pieces of s between the matches; empty matches at the
// ends and right after another do not split.
func splitAt(pieces *vector.Vector, re *regexp.Regexp, s []byte) {
	from, last := 0, 0
	for _, m := range allMatches(re, s, 0, -1) {
		if m[0] < len(s) && m[1] > last {
			pieces.AppendBytes(s[from:m[0]])
			from = m[1]
		}
		last = m[1]
	}
	pieces.AppendBytes(s[from:])
}

func openRegexpSplit(_ *Ctx, args []*vector.Vector) (Rows, error) {
	if anyNull(args) {
		return noRows{}, nil
	}
	var cache regexCache
	re, f, err := cache.get(args[1].Bytes(0), lettersOf(args, 2, 0), regexFlags{})
	if err != nil {
		return nil, err
	}
	if f.global {
		return nil, noGlobal("regexp_split_to_table()")
	}
	pieces := vector.New(vector.Bytes, 8)
	splitAt(pieces, re, args[0].Bytes(0))
	return &regexRows{pieces: pieces}, nil
}

func regexpSplitToArray(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	var cache regexCache
	pieces := vector.New(vector.Bytes, 8)
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
			return noGlobal("regexp_split_to_array()")
		}
		pieces.Reset(vector.Bytes)
		splitAt(pieces, re, args[0].Bytes(i))
		out.Data = AppendArray(out.Data, types.Text, pieces, 0, pieces.N)
		endRow(out)
	}
	return nil
}

// regexPlaces says at which arguments a function has its numbers; 0: it has none there.
type regexPlaces struct {
	name                        string
	start, nth, end, flags, sub int
}

// regexQuery is one row's question.
type regexQuery struct {
	re                   *regexp.Regexp
	start, nth, end, sub int
}

func (p *regexPlaces) read(args []*vector.Vector, i int, cache *regexCache) (q regexQuery, err error) {
	q = regexQuery{start: 1, nth: 1}
	for _, a := range []struct {
		at      int
		name    string
		to      *int
		lo, top int
	}{{p.start, "start", &q.start, 1, 1 << 31}, {p.nth, "n", &q.nth, 1, 1 << 31}, {p.end, "endoption", &q.end, 0, 1}, {p.sub, "subexpr", &q.sub, 0, 1 << 31}} {
		if a.at == 0 || a.at >= len(args) {
			continue
		}
		k := int4(args[a.at], i)
		if k < a.lo || k > a.top {
			return q, errRegexParameter(a.name, k)
		}
		*a.to = k
	}
	var letters []byte
	if p.flags > 0 {
		letters = lettersOf(args, p.flags, i)
	}
	re, f, err := cache.get(args[1].Bytes(i), letters, regexFlags{})
	if err == nil && f.global {
		err = noGlobal(p.name + "()")
	}
	q.re = re
	return q, err
}

func errRegexParameter(name string, k int) error {
	return pgerr.New(pgerr.InvalidParameterValue, "invalid value for parameter \"%s\": %d", name, k)
}

// find returns the nth match's group, from to; ok is false if there is none.
func (q *regexQuery) find(s []byte) (from, to int, ok bool) {
	start := runeOffset(s, q.start-1)
	if q.start-1 > len(s) || q.start-1 > utf8.RuneCount(s) {
		return 0, 0, false
	}
	all := allMatches(q.re, s, start, q.nth)
	if len(all) < q.nth || 2*q.sub+1 >= len(all[q.nth-1]) {
		return 0, 0, false
	}
	m := all[q.nth-1]
	return m[2*q.sub], m[2*q.sub+1], m[2*q.sub] >= 0
}

func (p regexPlaces) count(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	var cache regexCache
	for i := range out.I32[:n] {
		if !live(out, i) {
			continue
		}
		q, err := p.read(args, i, &cache)
		if err != nil {
			return err
		}
		s := args[0].Bytes(i)
		if out.I32[i] = 0; q.start-1 <= utf8.RuneCount(s) {
			out.I32[i] = int32(len(allMatches(q.re, s, runeOffset(s, q.start-1), -1)))
		}
	}
	return nil
}

func (p regexPlaces) instr(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	var cache regexCache
	for i := range out.I32[:n] {
		if !live(out, i) {
			continue
		}
		q, err := p.read(args, i, &cache)
		if err != nil {
			return err
		}
		s := args[0].Bytes(i)
		out.I32[i] = 0
		if from, to, ok := q.find(s); ok {
			if q.end == 1 {
				from = to
			}
			out.I32[i] = runes(s[:from]) + 1
		}
	}
	return nil
}

func (p regexPlaces) substr(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	var cache regexCache
	for i := 0; i < n; i++ {
		if live(out, i) {
			q, err := p.read(args, i, &cache)
			if err != nil {
				return err
			}
			s := args[0].Bytes(i)
			if from, to, ok := q.find(s); ok {
				out.Data = append(out.Data, s[from:to]...)
			} else {
				setNull(out, i, n)
			}
		}
		endRow(out)
	}
	return nil
}

// regexpReplaceFrom is regexp_replace with a start, and perhaps which match (0: all) and options.
func regexpReplaceFrom(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	var cache regexCache
	for i := 0; i < n; i++ {
		if !live(out, i) {
			endRow(out)
			continue
		}
		start, nth := int4(args[3], i), 1
		if len(args) > 4 {
			nth = int4(args[4], i)
		}
		switch {
		case start < 1:
			return errRegexParameter("start", start)
		case nth < 0:
			return errRegexParameter("n", nth)
		}
		re, _, err := cache.get(args[1].Bytes(i), lettersOf(args, 5, i), regexFlags{})
		if err != nil {
			return err
		}
		if err := replaceNth(out, re, args[0].Bytes(i), args[2].Bytes(i), start, nth); err != nil {
			return err
		}
		endRow(out)
	}
	return nil
}

func replaceNth(out *vector.Vector, re *regexp.Regexp, s, with []byte, start, nth int) error {
	at := 0
	if start-1 <= utf8.RuneCount(s) {
		limit := nth
		if nth == 0 {
			limit = -1
		}
		for k, m := range allMatches(re, s, runeOffset(s, start-1), limit) {
			if nth > 0 && k != nth-1 {
				continue
			}
			out.Data = append(out.Data, s[at:m[0]]...)
			out.Data = expandMatch(out.Data, s, with, m)
			if err := checkRoom(out, len(s)); err != nil {
				return err
			}
			at = m[1]
		}
	}
	out.Data = append(out.Data, s[at:]...)
	return nil
}

func init() {
	t, i4 := types.Text, types.Int4
	for _, name := range []string{"regexp_matches", "regexp_split_to_table"} {
		ret, open, doc := types.TextArray, openRegexpMatches, "The groups of the first match, or with option g of all."
		if name != "regexp_matches" {
			ret, open, doc = t, openRegexpSplit, "The parts of a string between matches."
		}
		for _, args := range [][]types.OID{{t, t}, {t, t, t}} {
			RegisterSetReturning(SetReturning{Name: name, Args: args, Columns: []string{name}, Types: []types.OID{ret}, Open: open, Doc: doc})
		}
	}
	count := regexPlaces{name: "regexp_count", start: 2, flags: 3}
	instr := regexPlaces{name: "regexp_instr", start: 2, nth: 3, end: 4, flags: 5, sub: 6}
	substr := regexPlaces{name: "regexp_substr", start: 2, nth: 3, flags: 4, sub: 5}
	family := func(name string, ret types.OID, k Kernel, least int, doc string, args ...types.OID) {
		for n := least; n <= len(args); n++ {
			RegisterFunctions(fn(name, ret, k, args[:n]...).fails().doc(doc))
		}
	}
	family("regexp_count", i4, count.count, 2, "Number of matches.", t, t, i4, t)
	family("regexp_instr", i4, instr.instr, 2, "Where a match starts or ends, 0 if there is none.", t, t, i4, i4, i4, t, i4)
	family("regexp_substr", t, substr.substr, 2, "The text of a match.", t, t, i4, i4, t, i4)
	family("regexp_split_to_array", types.TextArray, regexpSplitToArray, 2, "The parts of a string between matches.", t, t, t)
	family("regexp_replace", t, regexpReplaceFrom, 4, "A match from a position on replaced.", t, t, t, i4, i4, t)
}
