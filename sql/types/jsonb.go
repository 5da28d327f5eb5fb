package types

import (
	"bytes"
	"encoding/binary"
	"slices"

	"tsdb/sql/pgerr"
)

// untranslatable is the SQLSTATE of an escape that text cannot hold.
const untranslatable pgerr.Code = "22P05"

// AppendJSONB appends the canonical text of a JSON text: keys ordered by
// length, then bytes, the last of equal keys kept; numbers in numeric's form;
// a space after each colon and comma.
//
// Errors: 22P02, 22P05, 22003.
func AppendJSONB(dst, s []byte) ([]byte, error) {
	r := jsonReader{text: s, unescape: true}
	if err := r.next(); err != nil {
		return dst, err
	}
	out, err := r.value(dst)
	if err != nil {
		return dst, err
	}
	if err := r.expectEnd(); err != nil {
		return dst, err
	}
	return out, nil
}

// value appends the canonical form of the value at the current token.
func (r *jsonReader) value(dst []byte) ([]byte, error) {
	switch c := r.kind(); {
	case c == '{':
		return r.object(dst)
	case c == '[':
		return r.array(dst)
	case c == '"':
		dst = AppendJSONString(dst, r.str)
	case c == '-' || isDigit(c):
		var n Decimal
		if err := n.Parse(r.text[r.start:r.end]); err != nil {
			return dst, err
		}
		dst = n.AppendText(dst)
	case c == 't' || c == 'f' || c == 'n':
		dst = append(dst, r.text[r.start:r.end]...)
	default:
		return dst, r.unexpected("JSON value")
	}
	return dst, r.next()
}

func (r *jsonReader) array(dst []byte) ([]byte, error) {
	if err := r.enter(); err != nil {
		return dst, err
	}
	dst = append(dst, '[')
	if r.kind() != ']' {
		for {
			var err error
			if dst, err = r.value(dst); err != nil {
				return dst, err
			}
			if r.kind() != ',' {
				break
			}
			dst = append(dst, ", "...)
			if err := r.next(); err != nil {
				return dst, err
			}
		}
	}
	if r.kind() != ']' {
		return dst, r.unexpected(`"," or "]"`)
	}
	r.depth--
	return append(dst, ']'), r.next()
}

type jsonPair struct{ key, value []byte }

func (r *jsonReader) object(dst []byte) ([]byte, error) {
	if err := r.enter(); err != nil {
		return dst, err
	}
	var pairs []jsonPair
	if r.kind() != '}' {
		for first := true; ; first = false {
			key := bytes.Clone(r.str)
			if err := r.key(first); err != nil {
				return dst, err
			}
			value, err := r.value(nil)
			if err != nil {
				return dst, err
			}
			pairs = append(pairs, jsonPair{key, value})
			if r.kind() != ',' {
				break
			}
			if err := r.next(); err != nil {
				return dst, err
			}
		}
	}
	if r.kind() != '}' {
		return dst, r.unexpected(`"," or "}"`)
	}
	r.depth--
	return appendPairs(dst, pairs), r.next()
}

func compareKeys(a, b []byte) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return bytes.Compare(a, b)
}

func appendPairs(dst []byte, pairs []jsonPair) []byte {
	slices.SortStableFunc(pairs, func(a, b jsonPair) int { return compareKeys(a.key, b.key) })
	dst = append(dst, '{')
	first := true
	for i, p := range pairs {
		if i+1 < len(pairs) && bytes.Equal(p.key, pairs[i+1].key) {
			continue
		}
		if !first {
			dst = append(dst, ", "...)
		}
		first = false
		dst = AppendJSONString(dst, p.key)
		dst = append(dst, ": "...)
		dst = append(dst, p.value...)
	}
	return append(dst, '}')
}

// AppendJSONString appends s quoted and escaped as PostgreSQL writes JSON strings.
func AppendJSONString(dst, s []byte) []byte {
	dst = append(dst, '"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\b':
			dst = append(dst, '\\', 'b')
		case c == '\f':
			dst = append(dst, '\\', 'f')
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// jsonNode is a parsed jsonb value.
type jsonNode struct {
	kind  byte // first byte of its text: n " 0 t f [ {
	str   []byte
	num   Decimal
	elems []jsonNode
	keys  [][]byte // of an object, beside elems
}

func parseNode(s []byte) (jsonNode, bool) {
	r := jsonReader{text: s, unescape: true}
	if r.next() != nil {
		return jsonNode{}, false
	}
	n, err := r.node()
	return n, err == nil
}

func (r *jsonReader) node() (n jsonNode, err error) {
	n.kind = r.kind()
	closing := byte(']')
	switch {
	case n.kind == '{':
		closing = '}'
	case n.kind == '[':
	case n.kind == '-' || isDigit(n.kind):
		n.kind = '0'
		if err := n.num.Parse(r.text[r.start:r.end]); err != nil {
			return n, err
		}
		return n, r.next()
	default:
		n.str = bytes.Clone(r.str)
		return n, r.next()
	}
	if err := r.enter(); err != nil {
		return n, err
	}
	for r.kind() != closing {
		if closing == '}' {
			n.keys = append(n.keys, bytes.Clone(r.str))
			if err := r.key(true); err != nil {
				return n, err
			}
		}
		e, err := r.node()
		if err != nil {
			return n, err
		}
		n.elems = append(n.elems, e)
		if r.kind() == ',' {
			if err := r.next(); err != nil {
				return n, err
			}
		}
	}
	r.depth--
	return n, r.next()
}

func nodeRank(kind byte) int {
	switch kind {
	case 'n':
		return 0
	case '"':
		return 1
	case '0':
		return 2
	case 't', 'f':
		return 3
	case '[':
		return 4
	}
	return 5
}

// CompareJSONB orders two canonical texts as jsonb's btree operators do.
func CompareJSONB(a, b []byte) int {
	if bytes.Equal(a, b) {
		return 0
	}
	x, ok1 := parseNode(a)
	y, ok2 := parseNode(b)
	if !ok1 || !ok2 {
		return bytes.Compare(a, b)
	}
	return compareTop(&x, &y)
}

// compareTop compares whole documents. A lone scalar counts as an array of one
// element that sorts below real arrays of one element; as in PostgreSQL, the
// number of elements decides first, so the empty array sorts below scalars.
func compareTop(x, y *jsonNode) int {
	xs, ys := x.kind != '[' && x.kind != '{', y.kind != '[' && y.kind != '{'
	switch {
	case xs && ys:
		return compareNodes(x, y)
	case xs && y.kind == '[':
		if len(y.elems) == 0 {
			return 1
		}
		return -1
	case ys && x.kind == '[':
		if len(x.elems) == 0 {
			return -1
		}
		return 1
	case xs:
		return -1
	case ys:
		return 1
	}
	return compareNodes(x, y)
}

func compareNodes(x, y *jsonNode) int {
	if c := nodeRank(x.kind) - nodeRank(y.kind); c != 0 {
		return c
	}
	switch x.kind {
	case '"':
		return bytes.Compare(x.str, y.str)
	case '0':
		return x.num.Cmp(&y.num)
	case 't', 'f':
		return int(x.kind) - int(y.kind)
	case '[', '{':
		if c := len(x.elems) - len(y.elems); c != 0 {
			return c
		}
		for i := range x.elems {
			if x.keys != nil {
				if c := bytes.Compare(x.keys[i], y.keys[i]); c != 0 {
					return c
				}
			}
			if c := compareNodes(&x.elems[i], &y.elems[i]); c != 0 {
				return c
			}
		}
	}
	return 0
}

// appendEqualKey appends the value without its numbers' display scales.
func (n *jsonNode) appendEqualKey(dst []byte) []byte {
	dst = append(dst, n.kind)
	switch n.kind {
	case '"':
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(n.str)))
		return append(dst, n.str...)
	case '0':
		n.num.scale = 0
		return n.num.AppendStored(dst)
	case '[', '{':
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(n.elems)))
		for i := range n.elems {
			if n.keys != nil {
				dst = binary.LittleEndian.AppendUint32(dst, uint32(len(n.keys[i])))
				dst = append(dst, n.keys[i]...)
			}
			dst = n.elems[i].appendEqualKey(dst)
		}
	}
	return dst
}
