package functions

import (
	"crypto/sha256"
	"crypto/sha512"
	"math/bits"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

func errBit(k int64, n int) error {
	return pgerr.New(pgerr.ArraySubscriptError, "index %d out of valid range, 0..%d", k, int64(n)*8-1)
}

// getBit reads one bit; bit 0 is the lowest of the first byte.
func getBit(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	for i := range out.I32[:n] {
		if !live(out, i) {
			continue
		}
		b, k := args[0].Bytes(i), args[1].I64[i&args[1].Mask()]
		if k < 0 || k >= int64(len(b))*8 {
			return errBit(k, len(b))
		}
		out.I32[i] = int32(b[k/8] >> (k % 8) & 1)
	}
	return nil
}

func setBit(out *vector.Vector, args []*vector.Vector, i int) error {
	b, k, v := args[0].Bytes(i), args[1].I64[i&args[1].Mask()], int4(args[2], i)
	if k < 0 || k >= int64(len(b))*8 {
		return errBit(k, len(b))
	}
	if v != 0 && v != 1 {
		return pgerr.New(pgerr.InvalidParameterValue, "new bit must be 0 or 1")
	}
	at := len(out.Data) + int(k/8)
	out.Data = append(out.Data, b...)
	out.Data[at] = out.Data[at]&^(1<<(k%8)) | byte(v)<<(k%8)
	return nil
}

func bitCount(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	for i := range out.I64[:n] {
		if !live(out, i) {
			continue
		}
		sum := 0
		for _, c := range args[0].Bytes(i) {
			sum += bits.OnesCount8(c)
		}
		out.I64[i] = int64(sum)
	}
	return nil
}

// overlayBytes replaces part of s, counting bytes.
func overlayBytes(out *vector.Vector, args []*vector.Vector, i int) error {
	s, by, from := args[0].Bytes(i), args[1].Bytes(i), int64(int4(args[2], i))
	count := int64(len(by))
	if len(args) > 3 {
		count = int64(int4(args[3], i))
	}
	if from <= 0 {
		return pgerr.New(pgerr.SubstringError, "negative substring length not allowed")
	}
	if err := substringBytes(out, s, 1, from-1, true); err != nil {
		return err
	}
	out.Data = append(out.Data, by...)
	return substringBytes(out, s, from+count, 0, false)
}

func init() {
	b, i4 := types.Bytea, types.Int4
	RegisterFunctions(
		fn("get_bit", i4, getBit, b, types.Int8).fails().doc("One bit, counted from 0."),
		fn("set_bit", b, textRows(setBit), b, types.Int8, i4).fails().doc("Bytes with one bit changed."),
		fn("bit_count", types.Int8, bitCount, b).doc("Number of bits that are set."),
		fn("overlay", b, textRows(overlayBytes), b, b, i4).fails().doc("Part of the bytes replaced by others."),
		fn("overlay", b, textRows(overlayBytes), b, b, i4, i4).fails().doc("Part of the bytes replaced by others."),
		fn("sha224", b, text1(func(dst, s []byte) []byte { sum := sha256.Sum224(s); return append(dst, sum[:]...) }), b).doc("SHA-224 hash."),
		fn("sha384", b, text1(func(dst, s []byte) []byte { sum := sha512.Sum384(s); return append(dst, sum[:]...) }), b).doc("SHA-384 hash."),
	)
}
