package sql

import "strings"

// keyword identifies the words that the guard, the splitter and the hints look
// at; every other word is 0.
type keyword uint8

const (
	kwNone keyword = iota
	kwAll
	kwAnd
	kwArray
	kwAs
	kwAt
	kwAtomic
	kwBegin
	kwBetween
	kwCase
	kwCollate
	kwConflict
	kwDelete
	kwDistinct
	kwElse
	kwEnd
	kwExcept
	kwFalse
	kwFetch
	kwFor
	kwFrom
	kwGroup
	kwHaving
	kwIlike
	kwIn
	kwInsert
	kwIntersect
	kwInto
	kwIs
	kwIsnull
	kwJoin
	kwLike
	kwLimit
	kwMerge
	kwNot
	kwNotnull
	kwNull
	kwOffset
	kwOn
	kwOperator
	kwOr
	kwOrder
	kwOverlaps
	kwReturning
	kwSelect
	kwSimilar
	kwTable
	kwThen
	kwTrue
	kwUnion
	kwUpdate
	kwUsing
	kwValues
	kwWhen
	kwWhere
	kwWindow
	kwWith
	kwJSON // json and any word that starts with json_ or xml: deep trees per level
)

const maxKeyword = 9

// lookupKeyword finds w in any case.
func lookupKeyword(w string) keyword {
	if len(w) > maxKeyword || len(w) < 2 {
		return treeHeavy(w)
	}
	if keywordLengths[w[0]]&(1<<len(w)) == 0 {
		return treeHeavy(w)
	}
	var buf [maxKeyword]byte
	for i := 0; i < len(w); i++ {
		c := w[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		buf[i] = c
	}
	if k := findKeyword(buf[:len(w)]); k != kwNone {
		return k
	}
	return treeHeavy(w)
}

// keywordLengths gives the lengths of the keywords that start with a letter,
// as bits: most names are no keyword and end here.
var keywordLengths = func() (t [256]uint16) {
	for _, w := range strings.Fields(keywordList) {
		t[w[0]] |= 1 << len(w)
		t[w[0]-0x20] |= 1 << len(w)
	}
	return t
}()

// keywordList names the words of findKeyword.
const keywordList = "all and array as at atomic begin between case collate conflict delete distinct else end except false fetch for from group " +
	"having ilike in insert intersect into is isnull join json like limit merge not notnull null offset on operator or order overlaps " +
	"returning select similar table then true union update using values when where window with"

// treeHeavy recognises the constructors whose calls nest three messages deep.
func treeHeavy(w string) keyword {
	if len(w) < 6 {
		return kwNone
	}
	switch w[0] | 0x20 {
	case 'j':
		if w[1]|0x20 == 's' && w[2]|0x20 == 'o' && w[3]|0x20 == 'n' && w[4] == '_' {
			return kwJSON
		}
	case 'x':
		if w[1]|0x20 == 'm' && w[2]|0x20 == 'l' {
			return kwJSON
		}
	}
	return kwNone
}

func findKeyword(b []byte) keyword {
	switch string(b) {
	case "all":
		return kwAll
	case "and":
		return kwAnd
	case "array":
		return kwArray
	case "as":
		return kwAs
	case "at":
		return kwAt
	case "atomic":
		return kwAtomic
	case "begin":
		return kwBegin
	case "between":
		return kwBetween
	case "case":
		return kwCase
	case "collate":
		return kwCollate
	case "conflict":
		return kwConflict
	case "delete":
		return kwDelete
	case "distinct":
		return kwDistinct
	case "else":
		return kwElse
	case "end":
		return kwEnd
	case "except":
		return kwExcept
	case "false":
		return kwFalse
	case "fetch":
		return kwFetch
	case "for":
		return kwFor
	case "from":
		return kwFrom
	case "group":
		return kwGroup
	case "having":
		return kwHaving
	case "ilike":
		return kwIlike
	case "in":
		return kwIn
	case "insert":
		return kwInsert
	case "intersect":
		return kwIntersect
	case "into":
		return kwInto
	case "is":
		return kwIs
	case "isnull":
		return kwIsnull
	case "join":
		return kwJoin
	case "json":
		return kwJSON
	case "like":
		return kwLike
	case "limit":
		return kwLimit
	case "merge":
		return kwMerge
	case "not":
		return kwNot
	case "notnull":
		return kwNotnull
	case "null":
		return kwNull
	case "offset":
		return kwOffset
	case "on":
		return kwOn
	case "operator":
		return kwOperator
	case "or":
		return kwOr
	case "order":
		return kwOrder
	case "overlaps":
		return kwOverlaps
	case "returning":
		return kwReturning
	case "select":
		return kwSelect
	case "similar":
		return kwSimilar
	case "table":
		return kwTable
	case "then":
		return kwThen
	case "true":
		return kwTrue
	case "union":
		return kwUnion
	case "update":
		return kwUpdate
	case "using":
		return kwUsing
	case "values":
		return kwValues
	case "when":
		return kwWhen
	case "where":
		return kwWhere
	case "window":
		return kwWindow
	case "with":
		return kwWith
	}
	return kwNone
}
