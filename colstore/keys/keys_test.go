package keys

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

func TestSpellings(t *testing.T) {
	id := SegmentID{Table: 7, Shard: 0, Bucket: Bucket{0, 3}, ID: 9}
	for _, c := range []struct {
		key  []byte
		want string
	}{
		{AppendSegment(nil, id), "58000000000000000700000000800000000000000003" + "0000000000000009"},
		{AppendData(nil, id, 2, 1), "44000000000000000700000000800000000000000003" + "0000000000000009" + "00000002" + "00000001"},
		{AppendArrival(nil, 7, 1, 258), "410000000000000007000000010000000000000102"},
		{AppendPending(nil, 5), "500000000000000005"},
		{AppendMeta(nil, MetaUser, []byte("k")), "4d106b"},
		{AppendMetaID(nil, MetaTable, 7), "4d030000000000000007"},
		{AppendCell(nil, 7, []byte("a\x00b"), 1, []byte("q"), 0), "4300000000000000076100ff6200010000000171000" + "17fffffffffffffff"},
		{AppendTombstone(nil, 7, BucketNull, 3), "540000000000000007ffffffffffffffff" + "f3" + "0000000000000003"},
		{AppendTable(nil, SpaceRow, 7), "520000000000000007"},
	} {
		if got := fmt.Sprintf("%x", c.key); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	got, col, part, err := DecodeData(AppendData(nil, id, 2, 1))
	if err != nil || got != id || col != 2 || part != 1 {
		t.Errorf("decoded %+v %d %d %v", got, col, part, err)
	}
	if ComparerName != "tsdb.keys.v1" || FormatVersion != pebble.FormatMajorVersion(24) {
		t.Errorf("persisted names changed: %s, %d", ComparerName, FormatVersion)
	}
}

func TestMalformedKeys(t *testing.T) {
	for _, k := range [][]byte{nil, {}, {'X'}, {'D', 1}, bytes.Repeat([]byte{'A'}, 20), bytes.Repeat([]byte{'P'}, 8), bytes.Repeat([]byte{'Z'}, 38)} {
		_, e1 := DecodeSegment(k)
		_, _, _, e2 := DecodeData(k)
		_, _, _, e3 := DecodeArrival(k)
		_, e4 := DecodePending(k)
		_, e5 := DecodeMetaID(k)
		if e1 == nil || e2 == nil || e3 == nil || e4 == nil || e5 == nil {
			t.Errorf("key %x is accepted: %v %v %v %v %v", k, e1, e2, e3, e4, e5)
		}
	}
}

func TestBucketsSortByTime(t *testing.T) {
	in := []Bucket{BucketMinusInfinity, {-7200, 0}, {-1, 2}, {0, 0}, {0, 5}, BucketNoTime, {1, 0}, BucketInfinity, BucketNull}
	for i := 1; i < len(in); i++ {
		if !in[i-1].Less(in[i]) || bytes.Compare(appendBucket(nil, in[i-1]), appendBucket(nil, in[i])) >= 0 {
			t.Errorf("%v is not below %v", in[i-1], in[i])
		}
		if decodeBucket(appendBucket(nil, in[i])) != in[i] {
			t.Errorf("%v does not round-trip", in[i])
		}
	}
}

func TestSplit(t *testing.T) {
	cell := AppendCell(nil, 1, []byte("r\x00\x01w"), 2, []byte("q"), math.MaxInt64)
	end := len(AppendEscaped(AppendTable(nil, SpaceCell, 1), []byte("r\x00\x01w")))
	for _, c := range []struct {
		key  []byte
		want int
	}{
		{cell, end}, {cell[:end], end}, {cell[:end-1], end - 1}, {cell[:5], 5}, {cell[:9], 9}, {[]byte{SpaceCell}, 1},
		{nil, 0}, {AppendPending(nil, 1), 9}, {append(AppendTable(nil, SpaceRow, 1), 0, 1, 5), 12},
	} {
		if got := Split(c.key); got != c.want {
			t.Errorf("Split(%x) is %d, want %d", c.key, got, c.want)
		}
	}
}

// TestComparer checks what Pebble relies on: separators lie between and keep
// the split, comparing prefixes first gives the order of whole keys.
func TestComparer(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	random := func() []byte {
		row := make([]byte, rng.IntN(4))
		for i := range row {
			row[i] = byte(rng.IntN(3))
		}
		switch rng.IntN(4) {
		case 0:
			return append(AppendTable(nil, SpaceRow, uint64(rng.IntN(3))), row...)
		case 1:
			return AppendArrival(nil, uint64(rng.IntN(2)), 0, rng.Uint64N(500))
		}
		return AppendCell(nil, uint64(rng.IntN(2)), row, 1, row, int64(rng.IntN(3)))
	}
	for i := 0; i < 20000; i++ {
		a, b := random(), random()
		c := Comparer.Compare(a, b)
		if p := bytes.Compare(a[:Split(a)], b[:Split(b)]); p != 0 && p != c {
			t.Fatalf("prefixes of %x and %x compare as %d, keys as %d", a, b, p, c)
		}
		if c >= 0 {
			continue
		}
		sep := Comparer.Separator(nil, a, b)
		if Comparer.Compare(a, sep) > 0 || Comparer.Compare(sep, b) >= 0 {
			t.Fatalf("separator %x is not between %x and %x", sep, a, b)
		}
		if suc := Comparer.Successor(nil, a); Comparer.Compare(a, suc) > 0 {
			t.Fatalf("successor %x is below %x", suc, a)
		}
	}
	if err := func() (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("%v", r)
			}
		}()
		Comparer.EnsureDefaults()
		return nil
	}(); err != nil {
		t.Fatal(err)
	}
}
