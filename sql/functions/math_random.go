package functions

import (
	"crypto/rand"
	"encoding/binary"
	"math"
	"math/bits"
	"sync"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// Random is a session's source of random(): xoroshiro128**, so that setseed()
// is followed by the numbers that PostgreSQL gives. The zero value seeds itself.
type Random struct {
	mu     sync.Mutex // a statement's workers share the session
	s0, s1 uint64
}

// randomSource is a Session that owns a Random.
type randomSource interface{ Random() *Random }

// seed takes a number from -1 to 1.
func (r *Random) seed(f float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	state := uint64(int64(float64(uint64(1)<<52-1) * f))
	r.s0, r.s1 = splitMix(&state), splitMix(&state)
}

func splitMix(state *uint64) uint64 {
	*state += 0x9E3779B97F4A7C15
	v := *state
	v = (v ^ v>>30) * 0xBF58476D1CE4E5B9
	v = (v ^ v>>27) * 0x94D049BB133111EB
	return v ^ v>>31
}

// fill puts numbers from 0 up to 1 into dst.
func (r *Random) fill(dst []float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.s0 == 0 && r.s1 == 0 {
		var b [16]byte
		if _, err := rand.Read(b[:]); err == nil {
			r.s0, r.s1 = binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])|1
		}
	}
	for i := range dst {
		a, x := r.s0, r.s0^r.s1
		r.s0 = bits.RotateLeft64(a, 24) ^ x ^ x<<16
		r.s1 = bits.RotateLeft64(x, 37)
		dst[i] = math.Ldexp(float64(bits.RotateLeft64(a*5, 7)*9>>12), -52)
	}
}

// shared serves where there is no session.
var shared Random

func randomOf(c *Ctx) *Random {
	if s, ok := c.Session.(randomSource); ok {
		return s.Random()
	}
	return &shared
}

func random(c *Ctx, out *vector.Vector, _ []*vector.Vector, n int) error {
	randomOf(c).fill(out.F64[:n])
	return nil
}

func setSeed(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	for i := 0; i < n; i++ {
		if live(out, i) {
			f := args[0].F64[i&args[0].Mask()]
			if !(f >= -1 && f <= 1) {
				text := "NaN"
				if f == f {
					text = string(types.AppendFloat(nil, f, 64, 0))
				}
				return pgerr.New(pgerr.InvalidParameterValue, "setseed parameter %s is out of allowed range [-1,1]", text)
			}
			randomOf(c).seed(f)
		}
		endRow(out)
	}
	return nil
}

func init() {
	RegisterFunctions(
		fn("random", types.Float8, random).volatile().doc("Random number from 0 up to 1."),
		fn("setseed", types.Void, setSeed, types.Float8).volatile().fails().doc("Makes the numbers of random() follow from a seed."),
	)
}
