package sql

import "tsdb/sql/pgerr"

// maxDepth bounds the height of the grammar's tree, in units of two messages
// of its encoding. The C code that encodes a tree recurses once per message
// and takes about 180 bytes each time, so a thread stack of 2 MB ends at 5,800
// units; PostgreSQL itself refuses between 4,000 and 4,500 levels. A higher
// limit would let one statement kill the process.
const maxDepth = 4000

// frame is one open bracket or CASE, or the statement itself.
//
// Its height is an upper bound of the height of the tree that its tokens make:
// operators since the last separator stack up, closed brackets stand below
// them, joins and set operations stack up over all of that.
type frame struct {
	before  int32 // height of what encloses the frame
	base    int32 // units that the frame itself takes
	start   int32 // units that every segment of the present clause takes
	ops     int32 // operators of the segment, with start
	sub     int32 // highest closed bracket of the segment
	seg     int32 // highest segment of the arm
	joins   int32 // joins of the arm
	arm     int32 // highest arm
	sets    int32 // set operations
	signed  int32 // 1: the segment has a signed operand
	bools   uint8 // 1: has AND, 2: has OR
	kind    frameKind
	pending bool // an open bracket whose first token is still to come
}

type frameKind uint8

const (
	frameTop frameKind = iota
	frameBracket
	frameCase
	frameAtomic // BEGIN ATOMIC ... END
)

func (f *frame) both() int32 {
	if f.bools == 3 {
		return 1
	}
	return 0
}

// path is what the frame adds to the height of an inner bracket.
func (f *frame) path() int32 { return f.base + f.both() + f.ops + f.signed + f.joins + f.sets }

// open is the height of the segment so far.
func (f *frame) open() int32 { return f.ops + f.signed + f.sub }

// height is the height of everything read in the frame so far.
func (f *frame) height() int32 {
	return f.base + f.both() + f.sets + max(f.arm, f.joins+max(f.seg, f.open()))
}

// separate ends a segment.
func (f *frame) separate() {
	f.seg = max(f.seg, f.open())
	f.ops, f.signed, f.sub = f.start, 0, 0
}

// clause ends a segment and starts a clause whose elements take start units.
func (f *frame) clause(start int32) {
	f.start = start
	f.separate()
}

// endArm ends one operand of a set operation.
func (f *frame) endArm() {
	f.clause(0)
	f.arm = max(f.arm, f.joins+f.seg)
	f.seg, f.joins = 0, 0
}

// guard watches the tokens of a query string. Its work per token is constant.
type guard struct {
	frames []frame
	prev   token // the token before
	binary bool  // prev is an operator between two operands
	few    [32]frame
}

func (g *guard) reset() {
	g.frames = append(g.few[:0], frame{})
	g.prev, g.binary = token{}, false
}

// top is the innermost open frame.
func (g *guard) top() *frame { return &g.frames[len(g.frames)-1] }

func (g *guard) push(kind frameKind, base int32) {
	f := g.top()
	g.frames = append(g.frames, frame{before: f.before + f.path(), base: base, kind: kind, pending: kind == frameBracket})
}

func (g *guard) pop() {
	if len(g.frames) == 1 {
		return
	}
	h := g.top().height()
	g.frames = g.frames[:len(g.frames)-1]
	f := g.top()
	f.sub = max(f.sub, h)
}

// token takes the next token and reports whether the text is within the limit.
func (g *guard) token(t token) bool {
	f := g.top()
	if f.pending {
		f.pending = false
		switch t.word {
		case kwSelect, kwWith, kwValues, kwTable, kwInsert, kwUpdate, kwDelete, kwMerge:
			f.base = max(f.base, 3)
		}
	}
	binary := false
	changed := true
	switch t.kind {
	case tokWord:
		if changed = t.word != kwNone && !g.name(); changed {
			g.keyword(t.word)
		}
	case tokOperator:
		binary = g.operator(t.char)
	case tokCast, tokAssign:
		f.ops++
	case tokPunct:
		g.punct(t.char)
	default:
		changed = false
	}
	g.binary, g.prev = binary, t
	if !changed {
		return true
	}
	f = g.top()
	return f.before+f.height() <= maxDepth
}

// name reports whether a word is a name whatever it spells: after a point and
// after AS.
func (g *guard) name() bool {
	return g.prev.kind == tokPunct && g.prev.char == '.' || g.prev.word == kwAs
}

// operator counts an operator and reports whether it is a binary one. A sign
// right of a binary operator belongs to that operand alone, below which only
// casts and brackets stand: a path through the tree meets at most one of a
// segment's signs.
func (g *guard) operator(char byte) bool {
	if g.binary && (char == '-' || char == '+') {
		g.top().signed = 1
		return false
	}
	g.top().ops++
	return g.operand()
}

// operand reports whether the previous token ends an operand.
func (g *guard) operand() bool {
	switch g.prev.kind {
	case tokWord:
		switch g.prev.word {
		case kwNone, kwEnd, kwNull, kwTrue, kwFalse, kwJSON:
			return true
		}
	case tokPunct:
		return g.prev.char == ')' || g.prev.char == ']'
	case tokQuoted, tokString, tokEscape, tokUnicode, tokDollar, tokBits, tokInt, tokNumeric, tokRadix, tokParam:
		return true
	}
	return false
}

func (g *guard) punct(c byte) {
	switch c {
	case '(':
		base := int32(1)
		if g.prev.word == kwJSON {
			base = 3
		}
		g.push(frameBracket, base)
	case '[':
		base := int32(1)
		if g.subscripted() {
			base = 2
		}
		g.push(frameBracket, base)
	case ')', ']':
		g.pop()
	case ',':
		g.top().separate()
	case ';':
		g.top().endArm()
		if len(g.frames) == 1 {
			g.frames[0] = frame{}
		}
	}
}

// subscripted reports whether a [ after the previous token is a subscript and
// not the start of an array.
func (g *guard) subscripted() bool {
	switch g.prev.kind {
	case tokWord:
		return g.prev.word == kwNone
	case tokQuoted, tokParam:
		return true
	case tokPunct:
		return g.prev.char == ')' || g.prev.char == ']'
	}
	return false
}

func (g *guard) keyword(w keyword) {
	f := g.top()
	switch w {
	case kwIs, kwIsnull, kwNotnull, kwCollate, kwAt, kwOperator, kwOverlaps:
		f.ops++
	case kwNot:
		if g.prev.word != kwIs {
			f.ops++
		}
	case kwLike, kwIlike, kwSimilar, kwIn:
		if g.prev.word != kwNot {
			f.ops++
		}
	case kwBetween:
		// Its AND starts a segment, below the node of BETWEEN.
		f.ops++
		f.start = min(f.start+1, 2)
	case kwAnd:
		f.bools |= 1
		f.separate()
	case kwOr:
		f.bools |= 2
		f.separate()
	case kwJoin:
		f.joins++
		f.separate()
	case kwUnion, kwIntersect, kwExcept:
		f.endArm()
		f.sets++
	case kwCase:
		g.push(frameCase, 1)
	case kwWhen, kwThen:
		f.clause(1)
	case kwElse:
		f.clause(0)
	case kwEnd:
		if f.kind == frameCase || f.kind == frameAtomic {
			g.pop()
		}
	case kwAtomic:
		if g.prev.word == kwBegin {
			g.push(frameAtomic, 4)
		}
	case kwFrom:
		if g.prev.word != kwDistinct {
			f.clause(1)
		}
	case kwOrder, kwGroup:
		f.clause(1)
	case kwSelect, kwWhere, kwHaving, kwLimit, kwOffset, kwWindow, kwFetch, kwOn, kwUsing, kwReturning, kwFor, kwInto:
		f.clause(0)
	}
}

// depthError is PostgreSQL's answer to a statement that nests too deep.
func depthError() *pgerr.Error {
	return pgerr.New(pgerr.StatementTooComplex, "stack depth limit exceeded").
		WithHint("Increase the configuration parameter \"max_stack_depth\" (currently 2048kB), after ensuring the platform's stack depth limit is adequate.")
}
