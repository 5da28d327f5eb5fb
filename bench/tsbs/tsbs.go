// Package tsbs makes rows like those of the Time Series Benchmark Suite's cpu
// use case: hosts that report ten metrics every ten seconds, each metric a
// walk between 0 and 100. Equal options give equal bytes.
package tsbs

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Metrics are the columns behind time and hostname.
var Metrics = []string{"usage_user", "usage_system", "usage_idle", "usage_nice", "usage_iowait", "usage_irq", "usage_softirq",
	"usage_steal", "usage_guest", "usage_guest_nice"}

const (
	// Start is the time of the first instant, 2016-01-01 UTC, in seconds.
	Start = 1451606400
	// Step is the time between two rows of a host in seconds.
	Step = 10

	metrics = 10
	// Late rows come this many steps after their time, at least and at most:
	// a minute and two hours.
	minDelay, maxDelay = 6, 720
	// slots is the length of the ring of late rows, a power of two above maxDelay.
	slots = 1024
)

// Options describe a set of rows.
type Options struct {
	Hosts int
	Rows  int
	Seed  uint64
	Late  float64 // share of rows that come minutes to hours late
	Float bool    // metrics are double precision, not bigint
}

// CreateTable returns the statement that makes the table; kind stands between
// CREATE and TABLE, tail behind the columns.
func (o Options) CreateTable(kind, name, tail string) string {
	typ := " bigint"
	if o.Float {
		typ = " double precision"
	}
	var b strings.Builder
	b.WriteString("CREATE " + kind + " TABLE " + name + " (time timestamptz NOT NULL, hostname text NOT NULL")
	for _, m := range Metrics {
		b.WriteString(", " + m + typ)
	}
	b.WriteString(tail + ")")
	return b.String()
}

// PrimaryKey is the tail of CreateTable for rows in the order of hosts.
const PrimaryKey = ", PRIMARY KEY (hostname, time)"

// LogicalBytes is the size of a row as values: 8 bytes a number and a time, and
// the average of the host's name.
func (o Options) LogicalBytes() float64 {
	n := 0
	for h := range o.Hosts {
		n += len("host_") + len(strconv.Itoa(h))
	}
	return 8*(metrics+1) + float64(n)/float64(o.Hosts)
}

// row is one row of the ring.
type row struct {
	tick, host int32
	values     [metrics]uint8
}

// Generator makes rows one after the other.
type Generator struct {
	o      Options
	rng    *rand.Rand // of the walks
	lates  *rand.Rand // of what comes late: the same rows come with and without
	walks  [][metrics]uint8
	names  []string
	tick   int // of the next rows
	host   int
	made   int
	ring   [slots][]row // late rows by the tick at which they come
	queue  []row        // late rows that come now
	waited int          // rows in the ring
}

// New returns a generator of o.Rows rows.
func New(o Options) *Generator {
	g := &Generator{o: o, rng: rand.New(rand.NewPCG(o.Seed, 77)),
		lates: rand.New(rand.NewPCG(o.Seed, 78)), walks: make([][metrics]uint8, o.Hosts), names: make([]string, o.Hosts)}
	for h := range g.walks {
		g.names[h] = "host_" + strconv.Itoa(h)
		for m := range g.walks[h] {
			g.walks[h][m] = uint8(g.rng.IntN(101))
		}
	}
	return g
}

// next sets r to the next row; false at the end.
func (g *Generator) next(r *row) bool {
	for {
		if n := len(g.queue); n > 0 {
			*r, g.queue = g.queue[0], g.queue[1:]
			g.waited--
			return true
		}
		if g.made == g.o.Rows {
			if g.waited == 0 {
				return false
			}
			g.release()
			continue
		}
		g.walk(r)
		if g.o.Late == 0 || g.lates.Float64() >= g.o.Late {
			return true
		}
		at := (g.tick + g.delay()) % slots
		g.ring[at] = append(g.ring[at], *r)
		g.waited++
	}
}

// delay is between minDelay and maxDelay, most often short.
func (g *Generator) delay() int {
	return int(minDelay * math.Pow(float64(maxDelay)/minDelay, g.lates.Float64()))
}

// release lets the late rows of the present tick come and goes to the next.
func (g *Generator) release() {
	g.queue = append(g.queue[:0:0], g.ring[g.tick%slots]...)
	g.ring[g.tick%slots] = g.ring[g.tick%slots][:0]
	g.tick++
	g.host = 0
}

// walk sets r to the next row in the order of time.
func (g *Generator) walk(r *row) {
	w := &g.walks[g.host]
	for m := range w {
		x := int(w[m]) + int(math.Round(g.rng.NormFloat64()))
		w[m] = uint8(min(max(x, 0), 100))
	}
	*r = row{tick: int32(g.tick), host: int32(g.host), values: *w}
	g.made++
	if g.host++; g.host == g.o.Hosts || g.made == g.o.Rows {
		g.release()
	}
}
