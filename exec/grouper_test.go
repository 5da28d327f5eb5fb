package exec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// column makes a random vector of few distinct values, with NULLs; width grows
// the number of values.
func column(r *rand.Rand, typ types.Type, n, width int) *vector.Vector {
	v := vector.New(typ.Kind(), n)
	for range n {
		x := r.IntN(width)
		if r.IntN(10) == 0 {
			v.AppendNull()
			continue
		}
		switch typ.OID {
		case types.Bool:
			v.AppendBool(x%2 == 0)
		case types.Int2:
			v.AppendInt16(int16(x) - 5)
		case types.Int4:
			v.AppendInt32(int32(x) * -7)
		case types.Timestamp:
			v.AppendInt64(int64(x) * 86_400_000_000)
		case types.Float8:
			v.AppendFloat64([]float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), float64(x)}[r.IntN(5)])
		case types.Text:
			v.AppendString(fmt.Sprintf("text %d", x))
		case types.UUID:
			v.AppendFixed16([16]byte{byte(x), byte(x >> 8)})
		case types.Interval:
			v.AppendFixed16([][16]byte{{12: 1}, {8: 30}, {byte(x)}, {0: 0, 4: byte(x)}}[r.IntN(4)])
		case types.Numeric:
			s := []string{"1", "1.0", "1.00", "0", "0.00", "-2.5", "NaN", "10000", "1e4"}[r.IntN(9)]
			if x > 9 {
				s = fmt.Sprint(x)
			}
			if err := types.ParseText(v, typ, []byte(s), &types.Context{}); err != nil {
				panic(err)
			}
		}
	}
	return v
}

var keyTypes = []types.OID{types.Bool, types.Int2, types.Int4, types.Timestamp, types.Float8, types.Text, types.UUID,
	types.Interval, types.Numeric}

// same compares rows as SQL's IS NOT DISTINCT FROM.
func same(typ types.Type, a *vector.Vector, i int, b *vector.Vector, j int) bool {
	if a.IsNull(i) || b.IsNull(j) {
		return a.IsNull(i) && b.IsNull(j)
	}
	return types.Compare(typ, a, i, b, j) == 0
}

func TestGrouper(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 60 {
		var cols []columnType
		for range 1 + r.IntN(4) {
			typ := types.T(keyTypes[r.IntN(len(keyTypes))])
			cols = append(cols, columnType{typ, typ.Kind()})
		}
		width := []int{3, 40, 3000}[r.IntN(3)]
		g := newGrouper(cols)
		first := make([]*vector.Vector, len(cols)) // representative rows by number
		for i, c := range cols {
			first[i] = vector.New(c.kind, 0)
		}
		count := 0
		for range 3 {
			n := 1 + r.IntN(700)
			vecs := make([]*vector.Vector, len(cols))
			for i, c := range cols {
				vecs[i] = column(r, c.typ, n, width)
			}
			got := make([]uint32, n)
			g.find(vecs, n, got)
			known := slices.Clone(got)
			g.assign(vecs, n, got)
			for row, x := range got {
				if known[row] != missing && known[row] != x {
					t.Fatalf("find says %d, assign %d", known[row], x)
				}
				if int(x) > count {
					t.Fatalf("number %d after %d", x, count)
				}
				if int(x) == count {
					count++
					for i := range cols {
						first[i].AppendFrom(vecs[i], row)
					}
				}
				for i, c := range cols {
					if !same(c.typ, vecs[i], row, first[i], int(x)) {
						t.Fatalf("row %d is not equal to group %d in column %d (%v)", row, x, i, cols)
					}
				}
			}
			if g.count() != count {
				t.Fatalf("count %d, want %d", g.count(), count)
			}
		}
		for i, c := range cols {
			v := vector.New(c.kind, 0)
			g.appendKey(i, v, 0, count)
			for row := range count {
				if !same(c.typ, v, row, first[i], row) {
					t.Fatalf("key %d of group %d differs", i, row)
				}
			}
		}
		seen := map[string]bool{}
		for row := range count { // groups differ
			var id string
			for i := range cols {
				for j := range count {
					if same(cols[i].typ, first[i], row, first[i], j) {
						id += fmt.Sprint(j, "/")
						break
					}
				}
			}
			if seen[id] {
				t.Fatalf("group %d occurs twice", row)
			}
			seen[id] = true
		}
	}
}

func TestSortOrder(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 60 {
		n := []int{1, 50, 3000}[r.IntN(3)]
		var specs []sortSpec
		var vecs []*vector.Vector
		for range 1 + r.IntN(3) {
			typ := types.T(append(keyTypes, types.Bytea)[r.IntN(len(keyTypes)+1)])
			specs = append(specs, sortSpec{typ, r.IntN(2) == 0, r.IntN(2) == 0})
			if typ.OID == types.Bytea {
				v := vector.New(vector.Bytes, n)
				for range n {
					v.AppendBytes([]byte("12345678\x00\x00abc\x00")[:r.IntN(15)])
				}
				vecs = append(vecs, v)
				continue
			}
			vecs = append(vecs, column(r, typ, n, []int{2, 30, 5000}[r.IntN(3)]))
		}
		keys := newSortKeys(specs)
		for lo := 0; lo < n; lo += 700 {
			m := min(700, n-lo)
			part := make([]*vector.Vector, len(vecs))
			for i, v := range vecs {
				part[i] = vector.New(v.Kind, m)
				appendRange(part[i], v, lo, lo+m)
			}
			keys.add(part, m, nil)
		}
		want := make([]uint32, n)
		for i := range want {
			want[i] = uint32(i)
		}
		slices.SortStableFunc(want, func(a, b uint32) int {
			for i, s := range specs {
				an, bn := vecs[i].IsNull(int(a)), vecs[i].IsNull(int(b))
				switch {
				case an && bn:
					continue
				case an || bn:
					if an == s.nullsFirst {
						return -1
					}
					return 1
				}
				c := types.Compare(s.typ, vecs[i], int(a), vecs[i], int(b))
				if s.desc {
					c = -c
				}
				if c != 0 {
					return c
				}
			}
			return 0
		})
		got, err := keys.order(t.Context(), n)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("wrong order of %d rows by %+v", n, specs)
		}
	}
}
