package types

import (
	"encoding/binary"
	"strconv"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
)

// Limits of arrays, PostgreSQL's own.
const (
	maxDims       = 6
	maxArrayElems = 1<<27 - 1
)

// ArrayDim is one dimension: its length and the index of its first element.
type ArrayDim struct {
	Len, Lower int32
}

// Array is a view of a stored array.
//
// Stored form (the wire's binary form), big-endian 32-bit words:
//
//	| ndims | has NULLs | element OID | (length, lower bound) * ndims |
//	then per element: | length, -1 for NULL | binary form of the element |
//
// {1,NULL} of int4 is 00000001 00000001 00000017 00000002 00000001 00000004
// 00000001 ffffffff; an empty array has no dimensions and no elements.
type Array struct {
	Elem  OID
	Dims  []ArrayDim
	elems []byte // the elements' bytes
	n     int
}

// DecodeArray reads a stored or wire array. Elements are not looked at.
//
// Errors: 22P03.
func DecodeArray(b []byte) (Array, error) {
	if len(b) < 12 {
		return Array{}, errBadBinary()
	}
	nd := int32(binary.BigEndian.Uint32(b))
	if nd < 0 || nd > maxDims || len(b) < 12+8*int(nd) {
		return Array{}, errBadBinary()
	}
	a := Array{Elem: binary.BigEndian.Uint32(b[8:])}
	n := int64(min(nd, 1))
	for i := range int(nd) {
		d := ArrayDim{int32(binary.BigEndian.Uint32(b[12+8*i:])), int32(binary.BigEndian.Uint32(b[16+8*i:]))}
		if d.Len < 0 {
			return Array{}, errBadBinary()
		}
		if n *= int64(d.Len); n > maxArrayElems {
			return Array{}, errArraySize()
		}
		a.Dims = append(a.Dims, d)
	}
	a.n, a.elems = int(n), b[12+8*nd:]
	if a.n == 0 {
		a.Dims = nil
	}
	return a, nil
}

func errArraySize() error {
	return pgerr.New(pgerr.ProgramLimitExceeded, "array size exceeds the maximum allowed (%d)", maxArrayElems)
}

// Next returns the next element's binary form; null tells NULL from empty.
// Call it once per element.
//
// Errors: 22P03.
func (a *Array) Next() (elem []byte, null bool, err error) {
	if len(a.elems) < 4 {
		return nil, false, errBadBinary()
	}
	n := int32(binary.BigEndian.Uint32(a.elems))
	a.elems = a.elems[4:]
	if n == -1 {
		return nil, true, nil
	}
	if n < 0 || int(n) > len(a.elems) {
		return nil, false, errBadBinary()
	}
	elem, a.elems = a.elems[:n], a.elems[n:]
	return elem, false, nil
}

// AppendElems appends all elements, row by row of the last dimension, to out,
// which is of the element type's kind.
//
// Errors: 22P03.
func (a Array) AppendElems(out *vector.Vector) error {
	t := T(a.Elem)
	for range a.n {
		elem, null, err := a.Next()
		if err != nil {
			return err
		}
		if null {
			out.AppendNull()
			continue
		}
		if err := ParseBinary(out, t, elem); err != nil {
			return err
		}
	}
	return nil
}

// AppendArray appends the stored form of the array of rows lo..hi-1 of v. Nil
// dims mean one dimension that starts at 1.
func AppendArray(dst []byte, elem Type, v *vector.Vector, lo, hi int, dims []ArrayDim) []byte {
	if hi <= lo {
		dims = nil
	} else if dims == nil {
		dims = []ArrayDim{{int32(hi - lo), 1}}
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(dims)))
	flag := len(dst)
	dst = binary.BigEndian.AppendUint32(dst, 0)
	dst = binary.BigEndian.AppendUint32(dst, elem.OID)
	for _, d := range dims {
		dst = binary.BigEndian.AppendUint32(dst, uint32(d.Len))
		dst = binary.BigEndian.AppendUint32(dst, uint32(d.Lower))
	}
	for i := lo; i < hi; i++ {
		if v.IsNull(i) {
			dst[flag+3] = 1
			dst = binary.BigEndian.AppendUint32(dst, 0xffffffff)
			continue
		}
		at := len(dst)
		dst = append(dst, 0, 0, 0, 0)
		dst = AppendBinary(dst, elem, v, i)
		binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	}
	return dst
}

// appendArrayText appends the text form of a stored array.
func appendArrayText(dst []byte, t Type, b []byte, c *Context) []byte {
	a, err := DecodeArray(b)
	if err != nil {
		return append(dst, "{}"...)
	}
	elem := Type{a.Elem, t.Mod}
	v := vector.New(elem.Kind(), a.n)
	if a.AppendElems(v) != nil {
		return append(dst, "{}"...)
	}
	if t.OID == Int2Vector || t.OID == OidVector {
		for i := range a.n {
			if i > 0 {
				dst = append(dst, ' ')
			}
			dst = AppendText(dst, elem, v, i, c)
		}
		return dst
	}
	if a.n == 0 {
		return append(dst, "{}"...)
	}
	for _, d := range a.Dims {
		if d.Lower != 1 {
			dst = appendBounds(dst, a.Dims)
			break
		}
	}
	row := 0
	return appendLevel(dst, elem, v, a.Dims, &row, c)
}

func appendBounds(dst []byte, dims []ArrayDim) []byte {
	for _, d := range dims {
		dst = append(dst, '[')
		dst = strconv.AppendInt(dst, int64(d.Lower), 10)
		dst = append(dst, ':')
		dst = strconv.AppendInt(dst, int64(d.Lower)+int64(d.Len)-1, 10)
		dst = append(dst, ']')
	}
	return append(dst, '=')
}

func appendLevel(dst []byte, elem Type, v *vector.Vector, dims []ArrayDim, row *int, c *Context) []byte {
	dst = append(dst, '{')
	for i := range int(dims[0].Len) {
		if i > 0 {
			dst = append(dst, ',')
		}
		if len(dims) > 1 {
			dst = appendLevel(dst, elem, v, dims[1:], row, c)
			continue
		}
		if v.IsNull(*row) {
			dst = append(dst, "NULL"...)
		} else {
			start := len(dst)
			dst = quoteElem(AppendText(dst, elem, v, *row, c), start)
		}
		*row++
	}
	return append(dst, '}')
}

// quoteElem quotes the element text in dst[start:] where it must be.
func quoteElem(dst []byte, start int) []byte {
	s := dst[start:]
	need := len(s) == 0 || foldEqual(s, "null")
	extra := 0
	for _, ch := range s {
		switch {
		case ch == '"' || ch == '\\':
			extra++
			need = true
		case ch == '{' || ch == '}' || ch == ',' || isSpace(ch):
			need = true
		}
	}
	if !need {
		return dst
	}
	raw := string(s)
	dst = append(dst[:start], '"')
	for i := 0; i < len(raw); i++ {
		if raw[i] == '"' || raw[i] == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, raw[i])
	}
	return append(dst, '"')
}

// arrayReader reads the text form of an array.
type arrayReader struct {
	text, s []byte
	elem    Type
	out     *vector.Vector
	ctx     *Context
	lens    [maxDims]int32
	depth   int // of the elements, 0 until the first one is seen
	buf     []byte
}

func (r *arrayReader) malformed(format string, args ...any) error {
	e := pgerr.New(pgerr.InvalidTextRepresentation, "malformed array literal: \"%s\"", r.text)
	return e.WithDetail(format, args...)
}

func (r *arrayReader) space() {
	for len(r.s) > 0 && isSpace(r.s[0]) {
		r.s = r.s[1:]
	}
}

// parseArray appends the stored form of the array that s spells to dst.
func parseArray(dst []byte, elem Type, s []byte, c *Context) ([]byte, error) {
	r := arrayReader{text: s, s: s, elem: elem, out: vector.New(elem.Kind(), 0), ctx: c}
	r.space()
	var given []ArrayDim
	for len(r.s) > 0 && r.s[0] == '[' {
		d, err := r.bound()
		if err != nil {
			return dst, err
		}
		if given = append(given, d); len(given) > maxDims {
			return dst, errDims(len(given))
		}
		r.space()
	}
	if given != nil {
		if len(r.s) == 0 || r.s[0] != '=' {
			return dst, r.malformed("Missing \"=\" after array dimensions.")
		}
		r.s = r.s[1:]
		r.space()
		if len(r.s) == 0 || r.s[0] != '{' {
			return dst, r.malformed("Array contents must start with \"{\".")
		}
	}
	if len(r.s) == 0 || r.s[0] != '{' {
		return dst, r.malformed("Array value must start with \"{\" or dimension information.")
	}
	if _, err := r.level(1); err != nil {
		return dst, err
	}
	if r.space(); len(r.s) > 0 {
		return dst, r.malformed("Junk after closing right brace.")
	}
	dims, err := r.finalDims(given)
	if err != nil {
		return dst, err
	}
	return AppendArray(dst, elem, r.out, 0, r.out.N, dims), nil
}

func (r *arrayReader) finalDims(given []ArrayDim) ([]ArrayDim, error) {
	var dims []ArrayDim
	for i := range r.depth {
		dims = append(dims, ArrayDim{r.lens[i], 1})
	}
	if given == nil || r.out.N == 0 {
		return dims, nil
	}
	if len(given) != len(dims) {
		return nil, r.malformed("Specified array dimensions do not match array contents.")
	}
	for i := range given {
		if given[i].Len != dims[i].Len {
			return nil, r.malformed("Specified array dimensions do not match array contents.")
		}
	}
	return given, nil
}

func errDims(n int) error {
	return pgerr.New(pgerr.ProgramLimitExceeded, "number of array dimensions (%d) exceeds the maximum allowed (%d)", n, maxDims)
}

// bound reads [lower:upper] or [length].
func (r *arrayReader) bound() (ArrayDim, error) {
	end := indexByte(r.s, ']')
	if end < 0 {
		return ArrayDim{}, r.malformed("Missing \"]\" after array dimensions.")
	}
	body := r.s[1:end]
	r.s = r.s[end+1:]
	lower, rest, over := atoi(body)
	if over || len(rest) == len(body) {
		return ArrayDim{}, r.malformed("\"[\" must introduce explicitly-specified array dimensions.")
	}
	upper := lower
	if len(rest) == 0 {
		lower = 1
	} else {
		var tail []byte
		if upper, tail, over = atoi(rest[1:]); over || rest[0] != ':' || len(tail) > 0 {
			return ArrayDim{}, r.malformed("Missing array dimension value.")
		}
	}
	if upper < lower {
		return ArrayDim{}, pgerr.New("2202E", "upper bound cannot be less than lower bound")
	}
	return ArrayDim{int32(upper - lower + 1), int32(lower)}, nil
}

func (r *arrayReader) endOfInput() error { return r.malformed("Unexpected end of input.") }

// level reads one pair of braces at a depth of 1 or more.
func (r *arrayReader) level(depth int) (int32, error) {
	if depth > maxDims {
		return 0, errDims(depth)
	}
	r.s = r.s[1:]
	r.space()
	n := int32(0)
	if len(r.s) > 0 && r.s[0] == '}' && depth == 1 {
		r.s = r.s[1:]
		return 0, nil
	}
	for {
		r.space()
		if len(r.s) == 0 {
			return 0, r.endOfInput()
		}
		if r.s[0] == '{' {
			if r.depth == depth {
				return 0, r.malformed("Unexpected \"{\" character.")
			}
			if _, err := r.level(depth + 1); err != nil {
				return 0, err
			}
		} else if err := r.element(depth); err != nil {
			return 0, err
		}
		n++
		r.space()
		if len(r.s) == 0 {
			return 0, r.endOfInput()
		}
		c := r.s[0]
		r.s = r.s[1:]
		if c == '}' {
			break
		}
		if c != ',' {
			return 0, r.malformed("Unexpected array element.")
		}
	}
	if r.lens[depth-1] == 0 {
		r.lens[depth-1] = n
	} else if r.lens[depth-1] != n {
		return 0, r.mismatch()
	}
	return n, nil
}

func (r *arrayReader) mismatch() error {
	return r.malformed("Multidimensional arrays must have sub-arrays with matching dimensions.")
}

func (r *arrayReader) element(depth int) error {
	if r.depth == 0 {
		r.depth = depth
	} else if r.depth != depth {
		return r.mismatch()
	}
	text, null, err := r.token()
	if err != nil {
		return err
	}
	if null {
		r.out.AppendNull()
		return nil
	}
	return ParseText(r.out, r.elem, text, r.ctx)
}

// token reads one element's text without quotes and escapes.
func (r *arrayReader) token() (text []byte, null bool, err error) {
	r.buf = r.buf[:0]
	quoted, keep := false, 0 // keep: bytes that trailing spaces do not touch
	if r.s[0] == '"' {
		quoted = true
		r.s = r.s[1:]
		for {
			if len(r.s) == 0 {
				return nil, false, r.endOfInput()
			}
			c := r.s[0]
			r.s = r.s[1:]
			if c == '"' {
				break
			}
			if c == '\\' {
				if len(r.s) == 0 {
					return nil, false, r.endOfInput()
				}
				c = r.s[0]
				r.s = r.s[1:]
			}
			r.buf = append(r.buf, c)
		}
		return r.buf, false, nil
	}
	for len(r.s) > 0 {
		c := r.s[0]
		switch c {
		case ',', '}':
			if keep == 0 {
				return nil, false, r.malformed("Unexpected \"%c\" character.", c)
			}
			text = r.buf[:keep]
			return text, !quoted && foldEqual(text, "null"), nil
		case '{':
			return nil, false, r.malformed("Unexpected \"%c\" character.", c)
		case '"':
			return nil, false, r.malformed("Unexpected array element.")
		case '\\':
			if r.s = r.s[1:]; len(r.s) == 0 {
				return nil, false, r.endOfInput()
			}
			c = r.s[0]
			quoted = true
			r.buf = append(r.buf, c)
			keep = len(r.buf)
		default:
			r.buf = append(r.buf, c)
			if !isSpace(c) {
				keep = len(r.buf)
			}
		}
		r.s = r.s[1:]
	}
	return nil, false, r.endOfInput()
}

// parseVector reads int2vector and oidvector: numbers with spaces between.
func parseVector(dst []byte, t Type, s []byte) ([]byte, error) {
	elem := T(ElemOf(t.OID))
	v := vector.New(elem.Kind(), 8)
	for s = trimSpace(s); len(s) > 0; s = trimSpace(s) {
		n := 0
		for n < len(s) && !isSpace(s[n]) {
			n++
		}
		if err := ParseText(v, elem, s[:n], nil); err != nil {
			return dst, err
		}
		s = s[n:]
	}
	return AppendArray(dst, elem, v, 0, v.N, []ArrayDim{{int32(v.N), 0}}), nil
}

// checkArray validates a binary array from the wire for element type elem.
func checkArray(b []byte, elem Type) error {
	a, err := DecodeArray(b)
	if err != nil {
		return err
	}
	if a.Elem != elem.OID && a.n > 0 {
		return pgerr.New(pgerr.DatatypeMismatch, "binary data has array element type %d (%s) instead of expected %d (%s)",
			a.Elem, FormatType(T(a.Elem)), elem.OID, FormatType(T(elem.OID)))
	}
	v := vector.New(elem.Kind(), 0)
	for range a.n {
		e, null, err := a.Next()
		if err != nil {
			return err
		}
		if null {
			continue
		}
		v.Reset(elem.Kind())
		if err := ParseBinary(v, elem, e); err != nil {
			return err
		}
	}
	if len(a.elems) > 0 {
		return errBadBinary()
	}
	return nil
}

// compareArrays orders two stored arrays element by element, then by length
// and dimensions.
func compareArrays(x, y []byte) int {
	a, err1 := DecodeArray(x)
	b, err2 := DecodeArray(y)
	if err1 != nil || err2 != nil {
		return 0
	}
	t := T(a.Elem)
	va, vb := vector.New(t.Kind(), a.n), vector.New(t.Kind(), b.n)
	if a.AppendElems(va) != nil || b.AppendElems(vb) != nil {
		return 0
	}
	for i := 0; i < va.N && i < vb.N; i++ {
		switch na, nb := va.IsNull(i), vb.IsNull(i); {
		case na && nb:
			continue
		case na:
			return 1
		case nb:
			return -1
		}
		if c := Compare(t, va, i, vb, i); c != 0 {
			return c
		}
	}
	if a.n != b.n {
		return a.n - b.n
	}
	if len(a.Dims) != len(b.Dims) {
		return len(a.Dims) - len(b.Dims)
	}
	for i := range a.Dims {
		if c := a.Dims[i].Len - b.Dims[i].Len; c != 0 {
			return int(c)
		}
	}
	for i := range a.Dims {
		if c := a.Dims[i].Lower - b.Dims[i].Lower; c != 0 {
			return int(c)
		}
	}
	return 0
}
