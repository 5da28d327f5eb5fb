package functions

import (
	"encoding/binary"
	"math"
	"math/bits"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// The hash functions that PostgreSQL exposes, with its values: Jenkins' lookup3
// over little-endian words.

const hashStart = 0x9e3779b9 + 3923095

type hashWords struct{ a, b, c uint32 }

func newHash(n int, seed uint64) hashWords {
	h := hashWords{hashStart + uint32(n), hashStart + uint32(n), hashStart + uint32(n)}
	if seed != 0 {
		h.a += uint32(seed >> 32)
		h.b += uint32(seed)
		h.mix()
	}
	return h
}

func (h *hashWords) mix() {
	a, b, c := h.a, h.b, h.c
	for _, r := range [2][3]int{{4, 6, 8}, {16, 19, 4}} {
		a = a - c ^ bits.RotateLeft32(c, r[0])
		c += b
		b = b - a ^ bits.RotateLeft32(a, r[1])
		a += c
		c = c - b ^ bits.RotateLeft32(b, r[2])
		b += a
	}
	h.a, h.b, h.c = a, b, c
}

func (h *hashWords) final() uint64 {
	a, b, c := h.a, h.b, h.c
	c = (c ^ b) - bits.RotateLeft32(b, 14)
	a = (a ^ c) - bits.RotateLeft32(c, 11)
	b = (b ^ a) - bits.RotateLeft32(a, 25)
	c = (c ^ b) - bits.RotateLeft32(b, 16)
	a = (a ^ c) - bits.RotateLeft32(c, 4)
	b = (b ^ a) - bits.RotateLeft32(a, 14)
	c = (c ^ b) - bits.RotateLeft32(b, 24)
	return uint64(b)<<32 | uint64(c)
}

// hashBytes is the 64-bit hash; its low half with seed 0 is the 32-bit one.
func hashBytes(s []byte, seed uint64) uint64 {
	h := newHash(len(s), seed)
	for ; len(s) >= 12; s = s[12:] {
		h.a += binary.LittleEndian.Uint32(s)
		h.b += binary.LittleEndian.Uint32(s[4:])
		h.c += binary.LittleEndian.Uint32(s[8:])
		h.mix()
	}
	var tail [12]byte // the lowest byte of c stands for the length
	copy(tail[:8], s)
	if len(s) > 8 {
		copy(tail[9:], s[8:])
	}
	h.a += binary.LittleEndian.Uint32(tail[:])
	h.b += binary.LittleEndian.Uint32(tail[4:])
	h.c += binary.LittleEndian.Uint32(tail[8:])
	return h.final()
}

func hashWord(k uint32, seed uint64) uint64 {
	h := newHash(4, seed)
	h.a += k
	return h.final()
}

func hashInt64(v int64, seed uint64) uint64 {
	lo, hi := uint32(v), uint32(v>>32)
	if v < 0 {
		hi = ^hi
	}
	return hashWord(lo^hi, seed)
}

func hashFloat(f float64, seed uint64) uint64 {
	switch {
	case f == 0:
		return seed
	case f != f:
		f = math.Float64frombits(0x7ff8000000000000)
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], math.Float64bits(f))
	return hashBytes(b[:], seed)
}

// hashNumeric reads the stored form: number of digits, weight, sign, scale, then
// the digits without zeros at either end.
func hashNumeric(stored []byte, seed uint64) uint64 {
	weight, sign := int16(binary.BigEndian.Uint16(stored[2:])), binary.BigEndian.Uint16(stored[4:])
	digits := stored[8:]
	switch {
	case sign != 0 && sign != 0x4000: // NaN and infinity
		return seed
	case len(digits) == 0:
		return seed - 1
	}
	var few [64]byte // enough for nearly all
	little := append(few[:0], digits...)
	for i := 0; i < len(little); i += 2 {
		little[i], little[i+1] = little[i+1], little[i]
	}
	return hashBytes(little, seed) ^ uint64(int64(weight))
}

// rowHash is the hash of row i of a value.
type rowHash func(v *vector.Vector, i int, seed uint64) uint64

// postgresEpoch is 2000-01-01 in microseconds since 1970.
const postgresEpoch = 946684800 * microsPerSecond

// hashOf returns the hash of a type, nil if it has none here.
func hashOf(t types.Type) rowHash {
	switch t.OID {
	case types.Bool:
		return func(v *vector.Vector, i int, seed uint64) uint64 { return hashWord(uint32(b2u(v.Bool(i))), seed) }
	case types.Char:
		return func(v *vector.Vector, i int, seed uint64) uint64 {
			c := int8(0)
			if b := v.Bytes(i); len(b) > 0 {
				c = int8(b[0])
			}
			return hashWord(uint32(int32(c)), seed)
		}
	case types.Int2:
		return func(v *vector.Vector, i int, seed uint64) uint64 {
			return hashWord(uint32(int32(v.I16[i&v.Mask()])), seed)
		}
	case types.Int4:
		return func(v *vector.Vector, i int, seed uint64) uint64 { return hashWord(uint32(v.I32[i&v.Mask()]), seed) }
	case types.Date:
		return func(v *vector.Vector, i int, seed uint64) uint64 {
			d := v.I32[i&v.Mask()]
			if finiteDate(d) {
				d -= postgresEpoch / microsPerDay
			}
			return hashWord(uint32(d), seed)
		}
	case types.Int8, types.Time:
		return func(v *vector.Vector, i int, seed uint64) uint64 { return hashInt64(v.I64[i&v.Mask()], seed) }
	case types.Timestamp, types.TimestampTZ:
		return func(v *vector.Vector, i int, seed uint64) uint64 {
			us := v.I64[i&v.Mask()]
			if finiteTS(us) {
				us -= postgresEpoch
			}
			return hashInt64(us, seed)
		}
	case types.Oid:
		return func(v *vector.Vector, i int, seed uint64) uint64 { return hashWord(v.U32[i&v.Mask()], seed) }
	case types.Float4:
		return func(v *vector.Vector, i int, seed uint64) uint64 { return hashFloat(float64(v.F32[i&v.Mask()]), seed) }
	case types.Float8:
		return func(v *vector.Vector, i int, seed uint64) uint64 { return hashFloat(v.F64[i&v.Mask()], seed) }
	}
	return hashOfBytes(t)
}

func hashOfBytes(t types.Type) rowHash {
	switch t.OID {
	case types.Text, types.Varchar, types.Name, types.Bytea:
		return func(v *vector.Vector, i int, seed uint64) uint64 { return hashBytes(v.Bytes(i), seed) }
	case types.BPChar:
		return func(v *vector.Vector, i int, seed uint64) uint64 { return hashBytes(trimBlanks(v.Bytes(i)), seed) }
	case types.UUID:
		return func(v *vector.Vector, i int, seed uint64) uint64 { return hashBytes(v.F16[i&v.Mask()][:], seed) }
	case types.Numeric:
		return func(v *vector.Vector, i int, seed uint64) uint64 {
			return hashNumeric(v.Bytes(i), seed)
		}
	case types.Interval:
		return func(v *vector.Vector, i int, seed uint64) uint64 {
			_, lo := types.DecodeInterval(v.F16[i&v.Mask()]).Span()
			return hashInt64(int64(lo), seed)
		}
	case types.TimeTZ:
		return func(v *vector.Vector, i int, seed uint64) uint64 {
			us, west := timeTZParts(v.Bytes(i))
			return hashInt64(us, seed) ^ hashWord(uint32(west), seed)
		}
	}
	return nil
}

// hashKernel makes the function; wide ones take a seed and give 64 bits.
func hashKernel(get rowHash, wide bool) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		for i := 0; i < n; i++ {
			switch {
			case !live(out, i):
			case wide:
				out.I64[i] = int64(get(args[0], i, uint64(args[1].I64[i&args[1].Mask()])))
			default:
				out.I32[i] = int32(get(args[0], i, 0))
			}
		}
		return nil
	}
}

// hashArray combines the hashes of the elements.
func hashArray(wide bool) func([]types.Type) Kernel {
	return func(in []types.Type) Kernel {
		elem := types.T(types.ElemOf(in[0].OID))
		get := hashOf(elem)
		return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
			if get == nil {
				return pgerr.New(pgerr.UndefinedFunction, "could not identify a hash function for type %s", typeName(elem.OID))
			}
			for i := 0; i < n; i++ {
				if !live(out, i) {
					continue
				}
				list, _, err := items(args[0], i, elem)
				if err != nil {
					return err
				}
				seed := uint64(0)
				if wide {
					seed = uint64(args[1].I64[i&args[1].Mask()])
				}
				sum := uint64(1)
				for k := 0; k < list.N; k++ {
					h := uint64(0)
					if !list.IsNull(k) {
						h = get(list, k, seed)
					}
					sum = sum*31 + h
				}
				if wide {
					out.I64[i] = int64(sum)
				} else {
					out.I32[i] = int32(sum)
				}
			}
			return nil
		}
	}
}

func init() {
	const doc, wideDoc = "Hash of a value, 32 bits.", "Hash of a value with a seed, 64 bits."
	for _, h := range []struct {
		name, wide string
		t          types.OID
	}{
		{"hashchar", "hashcharextended", types.Char}, {"hashint2", "hashint2extended", types.Int2}, {"hashint4", "hashint4extended", types.Int4},
		{"hashint8", "hashint8extended", types.Int8}, {"hashoid", "hashoidextended", types.Oid}, {"hashfloat4", "hashfloat4extended", types.Float4},
		{"hashfloat8", "hashfloat8extended", types.Float8}, {"hashtext", "hashtextextended", types.Text}, {"hashname", "hashnameextended", types.Name},
		{"hashbpchar", "hashbpcharextended", types.BPChar}, {"hash_numeric", "hash_numeric_extended", types.Numeric},
		{"time_hash", "time_hash_extended", types.Time}, {"timetz_hash", "timetz_hash_extended", types.TimeTZ},
		{"timestamp_hash", "timestamp_hash_extended", types.Timestamp}, {"interval_hash", "interval_hash_extended", types.Interval},
		{"uuid_hash", "uuid_hash_extended", types.UUID},
	} {
		get := hashOf(types.T(h.t))
		RegisterFunctions(
			fn(h.name, types.Int4, hashKernel(get, false), h.t).doc(doc),
			fn(h.wide, types.Int8, hashKernel(get, true), h.t, types.Int8).doc(wideDoc),
		)
	}
	RegisterFunctions(
		boundFn("hash_array", types.Int4, hashArray(false), types.AnyArray).fails().doc(doc),
		boundFn("hash_array_extended", types.Int8, hashArray(true), types.AnyArray, types.Int8).fails().doc(wideDoc),
	)
}
