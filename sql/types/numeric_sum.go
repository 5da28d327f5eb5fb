package types

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Int128 is a signed 128-bit sum of integers: exact for any number of int64.
type Int128 struct {
	hi int64
	lo uint64
}

// Add adds v.
func (s *Int128) Add(v int64) {
	lo, carry := bits.Add64(s.lo, uint64(v), 0)
	s.lo = lo
	s.hi += v>>63 + int64(carry)
}

// AddSum adds another sum.
func (s *Int128) AddSum(o Int128) {
	lo, carry := bits.Add64(s.lo, o.lo, 0)
	s.lo = lo
	s.hi += o.hi + int64(carry)
}

// AddProduct adds a*b.
func (s *Int128) AddProduct(a, b int64) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	h := int64(hi)
	if a < 0 {
		h -= b
	}
	if b < 0 {
		h -= a
	}
	s.AddSum(Int128{h, lo})
}

// Int64 returns the sum; ok is false when it does not fit.
func (s Int128) Int64() (v int64, ok bool) {
	return int64(s.lo), s.hi == int64(s.lo)>>63
}

// Float64 returns the sum as a float8.
func (s Int128) Float64() float64 {
	return math.Ldexp(float64(s.hi), 64) + float64(s.lo)
}

// Decimal sets n to the sum.
func (s Int128) Decimal(n *Decimal) {
	hi, lo := uint64(s.hi), s.lo
	sign := uint16(signPos)
	if s.hi < 0 {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
		sign = signNeg
	}
	n.sign, n.scale = sign, 0
	n.setUint128(hi, lo, 0)
}

// NumericSum adds numerics exactly. The zero value is an empty sum.
//
// It keeps one signed 64-bit total per base-10,000 position and carries only
// at the end: a digit is below 2^14, so 2^49 values fit.
type NumericSum struct {
	Count            int64
	totals           []int64 // totals[i] belongs to position low+i
	low              int
	scale            int
	nans, pinf, ninf int64
}

// AddStored adds a stored value.
func (s *NumericSum) AddStored(b []byte) {
	sign := binary.BigEndian.Uint16(b[4:])
	if !s.header(sign, int(binary.BigEndian.Uint16(b[6:]))) || len(b) == 8 {
		return
	}
	weight := int(int16(binary.BigEndian.Uint16(b[2:])))
	nd := (len(b) - 8) / 2
	s.reach(weight, weight-nd+1)
	t := s.totals[weight-nd+1-s.low : weight+1-s.low]
	for i, p := nd-1, 8; i >= 0; i, p = i-1, p+2 {
		d := int64(b[p])<<8 | int64(b[p+1])
		if sign == signNeg {
			d = -d
		}
		t[i] += d
	}
}

// Add adds n.
func (s *NumericSum) Add(n *Decimal) {
	if !s.header(n.sign, n.scale) || len(n.digits) == 0 {
		return
	}
	nd := len(n.digits)
	s.reach(n.weight, n.weight-nd+1)
	for i, d := range n.digits {
		v := int64(d)
		if n.sign == signNeg {
			v = -v
		}
		s.totals[n.weight-i-s.low] += v
	}
}

// header counts a value; false means that it has no digits to add.
func (s *NumericSum) header(sign uint16, scale int) bool {
	s.Count++
	switch sign {
	case signNaN:
		s.nans++
		return false
	case signPInf:
		s.pinf++
		return false
	case signNInf:
		s.ninf++
		return false
	}
	s.scale = max(s.scale, scale)
	return true
}

// reach makes the totals cover positions lo..hi.
func (s *NumericSum) reach(hi, lo int) {
	if len(s.totals) == 0 {
		s.low = lo
		s.totals = append(s.totals, make([]int64, hi-lo+1)...)
		return
	}
	if lo < s.low {
		t := make([]int64, len(s.totals)+s.low-lo)
		copy(t[s.low-lo:], s.totals)
		s.totals, s.low = t, lo
	}
	for top := s.low + len(s.totals) - 1; top < hi; top++ {
		s.totals = append(s.totals, 0)
	}
}

// Merge adds another sum.
func (s *NumericSum) Merge(o *NumericSum) {
	s.Count += o.Count
	s.nans += o.nans
	s.pinf += o.pinf
	s.ninf += o.ninf
	s.scale = max(s.scale, o.scale)
	if len(o.totals) == 0 {
		return
	}
	s.reach(o.low+len(o.totals)-1, o.low)
	for i, t := range o.totals {
		s.totals[o.low-s.low+i] += t
	}
}

// Size is the memory held beyond the struct, in bytes.
func (s *NumericSum) Size() int64 { return int64(cap(s.totals)) * 8 }

// Sum sets n to the sum; its scale is the largest scale added.
//
// Errors: 22003.
func (s *NumericSum) Sum(n *Decimal) error {
	switch {
	case s.nans > 0 || (s.pinf > 0 && s.ninf > 0):
		n.SetNaN()
		return nil
	case s.pinf > 0:
		n.SetInf(1)
		return nil
	case s.ninf > 0:
		n.SetInf(-1)
		return nil
	}
	// Balanced carries first, so that the top total has the sum's sign.
	t := append(make([]int64, 0, len(s.totals)+6), s.totals...)
	carry := int64(0)
	for i := 0; i < len(t) || carry != 0 && carry != -1; i++ {
		if i == len(t) {
			t = append(t, 0)
		}
		v := t[i] + carry
		carry = floorDiv(v, numBase)
		t[i] = v - carry*numBase
	}
	sign := uint16(signPos)
	if carry == -1 {
		// The number is negative: negate the digits in ten-thousands' complement.
		sign, carry = signNeg, 1
		for i := range t {
			v := numBase - 1 - t[i] + carry
			carry = v / numBase
			t[i] = v % numBase
		}
		if carry > 0 {
			t = append(t, carry)
		}
	}
	out := n.room(len(t))
	for i, d := range t {
		out[len(t)-1-i] = int16(d)
	}
	n.result(out, s.low+len(t)-1, s.scale, sign)
	return n.check()
}

// Avg sets n to the mean of Count values, with the scale of a division.
//
// Errors: 22012 for an empty sum, 22003.
func (s *NumericSum) Avg(n *Decimal) error {
	if err := s.Sum(n); err != nil {
		return err
	}
	var count Decimal
	count.SetInt64(s.Count)
	return n.Div(n, &count)
}
