package pgwire

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"tsdb/sql/types"
)

// Where the fast path answers it prints what the shortest exact form is.
func TestAppendDecimal(t *testing.T) {
	const seed = 11
	rng := rand.New(rand.NewPCG(seed, 0))
	fast := 0
	check := func(x float64, must bool) {
		t.Helper()
		got, ok := appendDecimal(nil, x)
		if !ok {
			if must {
				t.Errorf("%v takes the slow path", x)
			}
			return
		}
		fast++
		if want := strconv.FormatFloat(x, 'f', -1, 64); string(got) != want {
			t.Errorf("%v prints as %s, want %s", x, got, want)
		}
	}
	for _, x := range []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 1016.6, -3.8, 0.0001, 123456.789012, 999999999999999, 0.1, 2.5e14, 100, 1e14} {
		check(x, true)
	}
	for _, x := range []float64{1e15, 1e300, math.NaN(), math.Inf(1), math.Inf(-1), 0.00001, 5e-324, 1.0 / 3} {
		if _, ok := appendDecimal(nil, x); ok {
			t.Errorf("%v takes the fast path", x)
		}
	}
	for range 200_000 {
		m, k := rng.Int64N(1_000_000_000_000_000), rng.IntN(9)
		check(float64(m)/math.Pow10(k), false)
		check(-float64(m>>uint(rng.IntN(50)))/math.Pow10(k), false)
		check(math.Float64frombits(rng.Uint64()), false)
		check(math.Nextafter(float64(m)/math.Pow10(k), 0), false)
	}
	if fast < 300_000 {
		t.Errorf("only %d values took the fast path", fast)
	}
}

func TestCivil(t *testing.T) {
	for day := int64(minFastDay); day <= maxFastDay; day += 13 {
		at := time.Unix(day*86400, 0).UTC()
		y, m, d := civil(day)
		if y != at.Year() || m != int(at.Month()) || d != at.Day() {
			t.Fatalf("day %d is %d-%d-%d, want %s", day, y, m, d, at.Format(time.DateOnly))
		}
	}
}

func TestTimeText(t *testing.T) {
	const seed = 13
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, name := range []string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "Africa/Monrovia"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		ctx := &types.Context{Zone: zone}
		var plain, zoned timeText
		base := int64(0)
		for i := range 20_000 {
			if i%7 == 0 {
				base = rng.Int64N(4_000_000_000) - 3_000_000_000
			}
			us := (base + int64(i%7)*3600) * secondMicros
			if i%3 == 0 {
				us += rng.Int64N(secondMicros)
			}
			at := time.UnixMicro(us)
			got, ok := zoned.appendZoned(nil, us, ctx)
			if want := zonedText(at.In(zone)); !ok || string(got) != want {
				t.Fatalf("%s: %d prints as %s, want %s", name, us, got, want)
			}
			got, ok = plain.appendTimestamp(nil, us)
			if want := at.UTC().Format("2006-01-02 15:04:05.999999"); !ok || string(got) != want {
				t.Fatalf("%d prints as %s, want %s", us, got, want)
			}
		}
	}
	var x timeText
	for _, us := range []int64{math.MaxInt64, math.MinInt64, (minFastDay - 1) * dayMicros, (maxFastDay + 1) * dayMicros} {
		if out, ok := x.appendTimestamp(nil, us); ok || len(out) > 0 {
			t.Errorf("%d takes the fast path: %s", us, out)
		}
		if out, ok := x.appendZoned(nil, us, nil); ok || len(out) > 0 {
			t.Errorf("%d takes the fast path with a zone: %s", us, out)
		}
	}
}

// zonedText prints as PostgreSQL does: minutes and seconds of the offset only where there are some.
func zonedText(at time.Time) string {
	_, offset := at.Zone()
	layout := "2006-01-02 15:04:05.999999-07"
	switch {
	case offset%60 != 0:
		layout += ":00:00"
	case offset%3600 != 0:
		layout += ":00"
	}
	return at.Format(layout)
}
