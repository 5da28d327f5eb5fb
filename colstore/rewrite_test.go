package colstore

import (
	"errors"
	"math/rand"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"tsdb/colstore/table"
)

// What a rewrite copies in several rounds, less what it is told was removed, is
// what the table holds at the end, whatever others did between the rounds.
func TestRewriteFollowsChanges(t *testing.T) {
	for seed := int64(1); seed <= 20; seed++ {
		rng := rand.New(rand.NewSource(seed))
		s := mustOpen(t, vfs.NewMem(), Options{})
		create(t, s, readings(100))
		at := int64(0)
		change := func() {
			for range rng.Intn(4) {
				var rows []reading
				for range 1 + rng.Intn(30) {
					at++
					rows = append(rows, reading{string(rune('a' + rng.Intn(3))), at, float64(at)})
				}
				insert(t, s, 100, readingBatch(rows...))
				if rng.Intn(3) == 0 {
					check(t, s.Flush())
				}
			}
			for range rng.Intn(3) {
				deleteSome(t, s, rng)
			}
			if rng.Intn(2) == 0 {
				check(t, s.Vacuum(ctx, []table.ID{100}, nil))
			}
		}
		change()
		change()
		rw, err := s.Follow(ctx, 100)
		check(t, err)
		if _, err := s.Follow(ctx, 100); !errors.Is(err, table.ErrBusy) {
			t.Fatalf("a second rewrite: %v", err)
		}
		req := table.ScanRequest{Columns: []int{0, 1, 2}}
		have := map[string]int{}
		for round := range 4 {
			added, removed, err := rw.Next(ctx, req)
			check(t, err)
			if round < 3 {
				change()
			}
			if removed != nil {
				for _, r := range drain(t, removed) {
					if have[r]--; have[r] == 0 {
						delete(have, r)
					}
				}
			}
			for _, r := range drain(t, added) {
				have[r]++
			}
		}
		sn := s.Snapshot()
		want := rowsOf(t, sn, 100, req)
		sn.Close()
		var got []string
		for r, n := range have {
			if n != 1 {
				t.Fatalf("seed %d: row %s %d times", seed, r, n)
			}
			got = append(got, r)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: %d rows followed, %d in the table", seed, len(got), len(want))
		}
		rw.Close()
		check(t, s.Vacuum(ctx, []table.ID{100}, nil))
		mustClose(t, s)
	}
}

func deleteSome(t *testing.T, s *Store, rng *rand.Rand) {
	t.Helper()
	sn := s.Snapshot()
	defer sn.Close()
	ids := rowNames(t, sn, 100)
	var sel []int32
	all := rng.Intn(8) == 0
	for i := range ids.N {
		if all || rng.Intn(4) == 0 {
			sel = append(sel, int32(i))
		}
	}
	if len(sel) == 0 {
		return
	}
	tx := s.Begin()
	_, err := tx.Delete(ctx, sn, 100, ids, sel)
	check(t, err)
	check(t, tx.Commit(ctx, true, nil))
}

// drain reads a scan to its end.
func drain(t *testing.T, sc table.Scan) []string {
	t.Helper()
	r := sc.NewReader()
	defer r.Close()
	var out []string
	for {
		b, err := r.Next()
		check(t, err)
		if b == nil {
			return out
		}
		b = b.Flat(nil)
		for i := range b.N {
			row := ""
			for _, c := range b.Cols {
				row += cell(c, i) + "|"
			}
			out = append(out, row)
		}
	}
}
