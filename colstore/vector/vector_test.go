package vector

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var kinds = []Kind{Bool, Int16, Int32, Int64, Uint32, Float32, Float64, Bytes, Fixed16}

// put appends the value numbered x, or NULL for a negative x.
func put(v *Vector, x int) {
	if x < 0 {
		v.AppendNull()
		return
	}
	switch v.Kind {
	case Bool:
		v.AppendBool(x%2 == 1)
	case Int16:
		v.AppendInt16(int16(x))
	case Int32:
		v.AppendInt32(int32(x))
	case Int64:
		v.AppendInt64(int64(x))
	case Uint32:
		v.AppendUint32(uint32(x))
	case Float32:
		v.AppendFloat32(float32(x))
	case Float64:
		v.AppendFloat64(float64(x))
	case Fixed16:
		v.AppendFixed16([16]byte{byte(x)})
	case Bytes:
		v.AppendString(fmt.Sprint(x))
	}
}

// show prints row i, so that vectors of any kind compare as text.
func show(v *Vector, i int) string {
	if v.IsNull(i) {
		return "NULL"
	}
	p := i & v.Mask()
	switch v.Kind {
	case Bool:
		return fmt.Sprint(v.Bool(i))
	case Int16:
		return fmt.Sprint(v.I16[p])
	case Int32:
		return fmt.Sprint(v.I32[p])
	case Int64:
		return fmt.Sprint(v.I64[p])
	case Uint32:
		return fmt.Sprint(v.U32[p])
	case Float32:
		return fmt.Sprint(v.F32[p])
	case Float64:
		return fmt.Sprint(v.F64[p])
	case Fixed16:
		return fmt.Sprint(v.F16[p][0])
	}
	return string(v.Bytes(i))
}

func rows(v *Vector) []string {
	out := make([]string, v.N)
	for i := range out {
		out[i] = show(v, i)
	}
	return out
}

func TestGatherAndAppendAgreeWithRows(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 3))
	for round := 0; round < 200; round++ {
		for _, k := range kinds {
			n := 1 + rng.IntN(200)
			v := New(k, 0)
			withNulls := rng.IntN(2) == 0
			for i := 0; i < n; i++ {
				x := rng.IntN(100)
				if withNulls && x < 20 {
					x = -1
				}
				put(v, x)
			}
			want := rows(v)
			sel := []int32{} // nil would mean all rows
			for i := 0; i < n; i++ {
				if rng.IntN(3) == 0 {
					sel = append(sel, int32(i))
				}
			}
			picked := make([]string, len(sel))
			for i, s := range sel {
				picked[i] = want[s]
			}
			dst := New(Int64, 3)
			v.GatherInto(dst, sel)
			if got := rows(dst); !slices.Equal(got, picked) {
				t.Fatalf("%v gathered: %v, want %v", k, got, picked)
			}
			out := New(k, 0)
			out.AppendVector(v, nil)
			out.AppendVector(v, sel)
			out.AppendVector(dst, nil)
			if got, all := rows(out), slices.Concat(want, picked, picked); !slices.Equal(got, all) {
				t.Fatalf("%v appended: %v, want %v", k, got, all)
			}
		}
	}
}

func TestConstantAndDictionaryReadAsRows(t *testing.T) {
	for _, k := range kinds {
		v := New(k, 1)
		put(v, 1)
		v.Const, v.N = true, 3
		flat := v.Flat(&Vector{})
		if got := rows(flat); len(got) != 3 || got[0] != got[2] || flat.Const {
			t.Errorf("%v: constant became %v", k, got)
		}
	}
	d := New(Bytes, 2)
	d.AppendString("a")
	d.AppendString("b")
	v := &Vector{Kind: Bytes, Dict: d, I32: []int32{1, 0, 1}, N: 3}
	v.SetNull(1)
	if got := rows(v.Flat(&Vector{})); !slices.Equal(got, []string{"b", "NULL", "b"}) {
		t.Errorf("dictionary became %v", got)
	}
}

func TestBatchFlatKeepsTheSelection(t *testing.T) {
	v := New(Int32, 4)
	for i := 0; i < 4; i++ {
		v.AppendInt32(int32(i * 10))
	}
	b := &Batch{Cols: []*Vector{v}, N: 4, Sel: []int32{1, 3}}
	f := b.Flat(nil)
	if f.N != 2 || f.Sel != nil || !slices.Equal(rows(f.Cols[0]), []string{"10", "30"}) {
		t.Errorf("flat: %v", rows(f.Cols[0]))
	}
	if c := b.Clone(); c.N != 2 || c.Cols[0].I32[1] != 30 {
		t.Errorf("clone: %v", c.Cols[0].I32)
	}
}

func TestBitmap(t *testing.T) {
	b := NewBitmap(130, false)
	for _, i := range []int{0, 63, 64, 129} {
		b.Set(i)
	}
	if b.Count(130) != 4 || b.Count(129) != 3 || b.Count(64) != 2 {
		t.Errorf("counts %d %d %d", b.Count(130), b.Count(129), b.Count(64))
	}
	if got := b.AppendIndexes(nil, 129); !slices.Equal(got, []int32{0, 63, 64}) {
		t.Errorf("indexes %v", got)
	}
}
