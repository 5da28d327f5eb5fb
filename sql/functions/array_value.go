package functions

import (
	"encoding/binary"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// arrayHeader is the fixed part of an array value in PostgreSQL's binary form.
//
//	int32 dimensions, int32 has NULLs, uint32 element type,
//	per dimension: int32 length, int32 lower bound,
//	per element: int32 length (-1: NULL), bytes
type arrayHeader struct {
	dims    int
	elem    types.OID
	lengths [maxDims]int32
	lower   [maxDims]int32
	total   int    // elements in all dimensions
	body    []byte // the elements
}

// maxDims is PostgreSQL's MAXDIM.
const maxDims = 6

func errArray() error {
	return pgerr.New(pgerr.DataCorrupted, "malformed array value")
}

// readArray splits an array value.
func readArray(b []byte) (h arrayHeader, err error) {
	if len(b) < 12 {
		return h, errArray()
	}
	dims := int(int32(binary.BigEndian.Uint32(b)))
	if dims < 0 || dims > maxDims || len(b) < 12+8*dims {
		return h, errArray()
	}
	h.dims, h.elem = dims, binary.BigEndian.Uint32(b[8:])
	total := int64(0)
	for d := 0; d < dims; d++ {
		h.lengths[d] = int32(binary.BigEndian.Uint32(b[12+8*d:]))
		h.lower[d] = int32(binary.BigEndian.Uint32(b[16+8*d:]))
		if h.lengths[d] < 0 {
			return h, errArray()
		}
		if d == 0 {
			total = int64(h.lengths[d])
		} else {
			total *= int64(h.lengths[d])
		}
		if total*4 > int64(len(b)) {
			return h, errArray()
		}
	}
	h.total, h.body = int(total), b[12+8*dims:]
	return h, nil
}

// nextElem cuts the next element off body; null tells a NULL.
func nextElem(body []byte) (elem, rest []byte, null bool, err error) {
	if len(body) < 4 {
		return nil, nil, false, errArray()
	}
	n := int32(binary.BigEndian.Uint32(body))
	body = body[4:]
	if n < 0 {
		return nil, body, true, nil
	}
	if int(n) > len(body) {
		return nil, nil, false, errArray()
	}
	return body[:n], body[n:], false, nil
}

// ArrayElements appends the elements of an array value to dst, which has the
// element type's kind; all dimensions, in storage order.
func ArrayElements(dst *vector.Vector, array []byte) error {
	h, err := readArray(array)
	if err != nil {
		return err
	}
	t, body := types.T(h.elem), h.body
	for i := 0; i < h.total; i++ {
		e, rest, null, err := nextElem(body)
		if err != nil {
			return err
		}
		body = rest
		if null {
			dst.AppendNull()
		} else if err := types.ParseBinary(dst, t, e); err != nil {
			return err
		}
	}
	return nil
}

// appendArrayHeader starts a one-dimensional array of n elements.
func appendArrayHeader(dst []byte, elem types.OID, n int, hasNull bool) []byte {
	dims := uint32(1)
	if n == 0 {
		dims = 0
	}
	dst = binary.BigEndian.AppendUint32(dst, dims)
	dst = binary.BigEndian.AppendUint32(dst, uint32(b2u(hasNull)))
	dst = binary.BigEndian.AppendUint32(dst, elem)
	if n == 0 {
		return dst
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(n))
	return binary.BigEndian.AppendUint32(dst, 1)
}

// appendArrayElem appends row i of v as an element.
func appendArrayElem(dst []byte, t types.Type, v *vector.Vector, i int) []byte {
	if v.IsNull(i) {
		return binary.BigEndian.AppendUint32(dst, ^uint32(0))
	}
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = types.AppendBinary(dst, t, v, i&v.Mask())
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}

// AppendArray appends the array of rows lo..hi-1 of v to dst.
func AppendArray(dst []byte, elem types.OID, v *vector.Vector, lo, hi int) []byte {
	hasNull := false
	for i := lo; i < hi; i++ {
		hasNull = hasNull || v.IsNull(i)
	}
	dst = appendArrayHeader(dst, elem, hi-lo, hasNull)
	for i := lo; i < hi; i++ {
		dst = appendArrayElem(dst, types.T(elem), v, i)
	}
	return dst
}

// arrayOrder compares two arrays as btree does: elements first, then number of
// elements, dimensions, lengths and lower bounds. A NULL element is largest.
func arrayOrder(a, b []byte) (int, error) {
	ha, err := readArray(a)
	if err != nil {
		return 0, err
	}
	hb, err := readArray(b)
	if err != nil {
		return 0, err
	}
	t := types.T(ha.elem)
	va, vb := vector.New(t.Kind(), ha.total), vector.New(t.Kind(), hb.total)
	if err := ArrayElements(va, a); err != nil {
		return 0, err
	}
	if err := ArrayElements(vb, b); err != nil {
		return 0, err
	}
	for i := 0; i < min(va.N, vb.N); i++ {
		c := 0
		switch na, nb := va.IsNull(i), vb.IsNull(i); {
		case na || nb:
			c = int(b2u(na)) - int(b2u(nb))
		default:
			c = types.Compare(t, va, i, vb, i)
		}
		if c != 0 {
			return c, nil
		}
	}
	if c := cmp3(int64(ha.total), int64(hb.total)); c != 0 {
		return c, nil
	}
	if c := cmp3(int64(ha.dims), int64(hb.dims)); c != 0 {
		return c, nil
	}
	for d := 0; d < ha.dims; d++ {
		if c := cmp3(ha.lengths[d], hb.lengths[d]); c != 0 {
			return c, nil
		}
		if c := cmp3(ha.lower[d], hb.lower[d]); c != 0 {
			return c, nil
		}
	}
	return 0, nil
}

func putOID(dst []byte, t types.OID) { binary.BigEndian.PutUint32(dst, t) }
