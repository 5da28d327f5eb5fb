package types

import (
	"encoding/binary"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
)

// Bound is one subscript of an array: [Lower:Upper], or [Upper] alone. An
// omitted bound is that of the array.
type Bound struct {
	Lower, Upper     int32
	NoLower, NoUpper bool
}

func errSubscript(text string) error { return pgerr.New(pgerr.ArraySubscriptError, "%s", text) }

// parts returns the binary forms of an array's elements, nil for NULL.
func (a Array) parts() ([][]byte, error) {
	list := make([][]byte, a.n)
	for i := range list {
		e, null, err := a.Next()
		if err != nil {
			return nil, err
		}
		if !null {
			list[i] = e[:len(e):len(e)]
			if list[i] == nil {
				list[i] = []byte{}
			}
		}
	}
	return list, nil
}

// appendParts appends the stored form of an array of such elements.
func appendParts(dst []byte, elem OID, list [][]byte, dims []ArrayDim) []byte {
	if len(list) == 0 {
		dims = nil
	}
	nulls := uint32(0)
	for _, e := range list {
		if e == nil {
			nulls = 1
		}
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(dims)))
	dst = binary.BigEndian.AppendUint32(dst, nulls)
	dst = binary.BigEndian.AppendUint32(dst, elem)
	for _, d := range dims {
		dst = binary.BigEndian.AppendUint32(dst, uint32(d.Len))
		dst = binary.BigEndian.AppendUint32(dst, uint32(d.Lower))
	}
	for _, e := range list {
		if e == nil {
			dst = binary.BigEndian.AppendUint32(dst, 0xffffffff)
			continue
		}
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(e)))
		dst = append(dst, e...)
	}
	return dst
}

// AppendElement appends the element at the subscripts, which are Upper, to out:
// NULL if the array has none there.
//
// Errors: 22P03.
func AppendElement(out *vector.Vector, array []byte, at []Bound) error {
	a, err := DecodeArray(array)
	if err != nil {
		return err
	}
	if len(a.Dims) != len(at) {
		out.AppendNull()
		return nil
	}
	pos := 0
	for d, dim := range a.Dims {
		i := int64(at[d].Upper) - int64(dim.Lower)
		if i < 0 || i >= int64(dim.Len) {
			out.AppendNull()
			return nil
		}
		pos = pos*int(dim.Len) + int(i)
	}
	for range pos {
		if _, _, err := a.Next(); err != nil {
			return err
		}
	}
	e, null, err := a.Next()
	if err != nil || null {
		out.AppendNull()
		return err
	}
	return ParseBinary(out, T(a.Elem), e)
}

// AppendSlice appends the stored form of a slice, whose indexes start at 1.
//
// Errors: 22P03.
func AppendSlice(dst, array []byte, bounds []Bound) ([]byte, error) {
	a, err := DecodeArray(array)
	if err != nil {
		return dst, err
	}
	if len(a.Dims) == 0 || len(a.Dims) < len(bounds) {
		return appendParts(dst, a.Elem, nil, nil), nil
	}
	from, dims := make([]int, len(a.Dims)), make([]ArrayDim, len(a.Dims))
	for d, dim := range a.Dims {
		lo, hi := int64(dim.Lower), int64(dim.Lower)+int64(dim.Len)-1
		if d < len(bounds) {
			if b := bounds[d]; !b.NoLower {
				lo = max(lo, int64(b.Lower))
			}
			if b := bounds[d]; !b.NoUpper {
				hi = min(hi, int64(b.Upper))
			}
		}
		if lo > hi {
			return appendParts(dst, a.Elem, nil, nil), nil
		}
		from[d], dims[d] = int(lo-int64(dim.Lower)), ArrayDim{int32(hi - lo + 1), 1}
	}
	list, err := a.parts()
	if err != nil {
		return dst, err
	}
	var cut [][]byte
	eachPosition(a.Dims, from, dims, func(pos int) { cut = append(cut, list[pos]) })
	return appendParts(dst, a.Elem, cut, dims), nil
}

// eachPosition calls f for the positions of a box, of the size of cut and at
// from, within an array of the dimensions of all.
func eachPosition(all []ArrayDim, from []int, cut []ArrayDim, f func(int)) {
	at := make([]int, len(all))
	for {
		pos := 0
		for d := range all {
			pos = pos*int(all[d].Len) + from[d] + at[d]
		}
		f(pos)
		d := len(all) - 1
		for ; d >= 0; d-- {
			if at[d]++; at[d] < int(cut[d].Len) {
				break
			}
			at[d] = 0
		}
		if d < 0 {
			return
		}
	}
}

// AssignSlice appends the array with the elements in the bounds replaced by
// those of source: an array, or without slice one element's stored form. A
// nil array is empty; one of one dimension grows as needed, with NULLs.
//
// Errors: 2202E, 54000, 22P03.
func AssignSlice(dst, array []byte, elem OID, bounds []Bound, slice bool, source []byte) ([]byte, error) {
	a := Array{Elem: elem}
	var err error
	if array != nil {
		if a, err = DecodeArray(array); err != nil {
			return dst, err
		}
	}
	a.Elem = elem
	list, err := a.parts()
	if err != nil {
		return dst, err
	}
	given := [][]byte{source}
	if slice {
		s, err := DecodeArray(source)
		if err != nil {
			return dst, err
		}
		if given, err = s.parts(); err != nil {
			return dst, err
		}
	}
	dims := a.Dims
	if len(dims) == 0 {
		if dims, err = emptyBox(bounds, slice); err != nil {
			return dst, err
		}
		n := boxSize(dims)
		if n < 0 {
			return dst, errArraySize()
		}
		if n > len(given) {
			return dst, errSubscript("source array too small")
		}
		return appendParts(dst, elem, given[:n], dims), nil
	}
	if len(dims) < len(bounds) || !slice && len(dims) != len(bounds) {
		return dst, errSubscript("wrong number of array subscripts")
	}
	if len(dims) == 1 {
		if dims, list, err = grow(dims[0], bounds[0], list, len(given)); err != nil {
			return dst, err
		}
	}
	from, cut, err := box(dims, bounds)
	if err != nil {
		return dst, err
	}
	if boxSize(cut) > len(given) {
		return dst, errSubscript("source array too small")
	}
	next := 0
	eachPosition(dims, from, cut, func(pos int) {
		list[pos] = given[next]
		next++
	})
	return appendParts(dst, elem, list, dims), nil
}

// emptyBox makes the dimensions of an array that an assignment to an empty one makes.
func emptyBox(bounds []Bound, slice bool) ([]ArrayDim, error) {
	dims := make([]ArrayDim, len(bounds))
	for d, b := range bounds {
		switch {
		case !slice:
			dims[d] = ArrayDim{1, b.Upper}
			continue
		case b.NoLower || b.NoUpper:
			return nil, pgerr.New(pgerr.ArraySubscriptError, "array slice subscript must provide both boundaries").
				WithDetail("When assigning to a slice of an empty array value, slice boundaries must be fully specified.")
		}
		n := int64(b.Upper) - int64(b.Lower) + 1
		if n < 0 || n > maxArrayElems {
			return nil, errArraySize()
		}
		dims[d] = ArrayDim{int32(n), b.Lower}
	}
	return dims, nil
}

// boxSize counts the elements, -1 if there are more than an array can have.
func boxSize(dims []ArrayDim) int {
	n := int64(1)
	for _, d := range dims {
		if n *= int64(d.Len); n > maxArrayElems {
			return -1
		}
	}
	return int(n)
}

// limits returns the positions that a bound means in a dimension.
func (b Bound) limits(d ArrayDim) (lo, hi int64) {
	lo, hi = int64(b.Lower), int64(b.Upper)
	if b.NoLower {
		lo = int64(d.Lower)
	}
	if b.NoUpper {
		hi = int64(d.Lower) + int64(d.Len) - 1
	}
	return lo, hi
}

// grow extends an array of one dimension to hold the bound; given is how many
// elements there are to put there.
func grow(d ArrayDim, b Bound, list [][]byte, given int) ([]ArrayDim, [][]byte, error) {
	lo, hi := b.limits(d)
	if lo > hi {
		return nil, nil, errSubscript("upper bound cannot be less than lower bound")
	}
	first, last := min(lo, int64(d.Lower)), max(hi, int64(d.Lower)+int64(d.Len)-1)
	if last-first+1 > maxArrayElems {
		return nil, nil, errArraySize()
	}
	if hi-lo+1 > int64(given) {
		return nil, nil, errSubscript("source array too small")
	}
	all := make([][]byte, last-first+1)
	copy(all[int64(d.Lower)-first:], list)
	return []ArrayDim{{int32(last - first + 1), int32(first)}}, all, nil
}

// box returns where the bounds start in an array and how far they reach.
func box(dims []ArrayDim, bounds []Bound) (from []int, cut []ArrayDim, err error) {
	from, cut = make([]int, len(dims)), append([]ArrayDim(nil), dims...)
	for i, b := range bounds {
		d := dims[i]
		lo, hi := b.limits(d)
		if lo > hi {
			return nil, nil, errSubscript("upper bound cannot be less than lower bound")
		}
		if lo < int64(d.Lower) || hi >= int64(d.Lower)+int64(d.Len) {
			return nil, nil, errSubscript("array subscript out of range")
		}
		from[i], cut[i].Len = int(lo-int64(d.Lower)), int32(hi-lo+1)
	}
	return from, cut, nil
}

// Nest appends the array of the given arrays, one dimension more than they
// have; a nil one is NULL.
//
// Errors: 2202E dimensions that differ, 54000.
func Nest(dst []byte, elem OID, arrays [][]byte) ([]byte, error) {
	var inner []ArrayDim
	var all [][]byte
	n, empty := 0, false
	for _, b := range arrays {
		if b == nil {
			empty = true
			continue
		}
		a, err := DecodeArray(b)
		if err != nil {
			return dst, err
		}
		if len(a.Dims) == 0 {
			empty = true
			continue
		}
		if n++; n == 1 {
			inner = a.Dims
		} else if !sameDims(inner, a.Dims) {
			return dst, errNesting()
		}
		list, err := a.parts()
		if err != nil {
			return dst, err
		}
		all = append(all, list...)
	}
	switch {
	case empty && n > 0:
		return dst, errNesting()
	case len(inner) >= maxDims:
		return dst, errDims(len(inner) + 1)
	}
	return appendParts(dst, elem, all, append([]ArrayDim{{int32(n), 1}}, inner...)), nil
}

func errNesting() error {
	return errSubscript("multidimensional arrays must have array expressions with matching dimensions")
}

func sameDims(a, b []ArrayDim) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
