// Package metrics is the HTTP side of a server: /metrics in Prometheus' text
// form, /healthz and /readyz.
//
// Figures are read when they are asked for; nothing is gathered in between.
package metrics

import (
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"tsdb/colstore"
	"tsdb/exec/session"
)

// Source is where figures come from: the server of the moment.
type Source struct {
	Engine func() *session.Engine // nil results: none is open
	Store  func() *colstore.Store
	// Memory is the budget and its parts in bytes, by name.
	Memory  map[string]int64
	Version string
}

// readTimeout bounds a request's header; there are no bodies.
const readTimeout = 10 * time.Second

// Server returns the HTTP server; the caller makes it listen.
func Server(src Source) *http.Server {
	r := prometheus.NewRegistry()
	r.MustRegister(&collector{src}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(r, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := src.ready(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	return &http.Server{Handler: mux, ReadHeaderTimeout: readTimeout}
}

func (s *Source) ready() error {
	store := s.Store()
	if store == nil {
		return fmt.Errorf("the data directory is not open")
	}
	return store.Ready()
}

// collector turns figures into metrics. It describes nothing in advance:
// labels such as SQLSTATEs come as they occur.
type collector struct{ src Source }

// Describe implements prometheus.Collector.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	o := output{ch}
	o.gauge("tsdb_info", "Version of the program.", 1, "version", c.src.Version)
	for part, n := range c.src.Memory {
		o.gauge("tsdb_memory_budget_bytes", "Memory budget by part; all is the whole.", n, "part", part)
	}
	ready := int64(1)
	if c.src.ready() != nil {
		ready = 0
	}
	o.gauge("tsdb_ready", "Whether the store is open and takes writes.", ready)
	if e := c.src.Engine(); e != nil {
		o.engine(e.Metrics())
	}
	if s := c.src.Store(); s != nil {
		o.store(s.Metrics())
	}
}

type output struct{ ch chan<- prometheus.Metric }

// emit sends one value; labels are pairs of name and value.
func (o output) emit(kind prometheus.ValueType, name, help string, v float64, labels []string) {
	var names, values []string
	for i := 0; i+1 < len(labels); i += 2 {
		names, values = append(names, labels[i]), append(values, labels[i+1])
	}
	o.ch <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, names, nil), kind, v, values...)
}

func (o output) gauge(name, help string, v int64, labels ...string) {
	o.emit(prometheus.GaugeValue, name, help, float64(v), labels)
}

func (o output) counter(name, help string, v int64, labels ...string) {
	o.emit(prometheus.CounterValue, name, help, float64(v), labels)
}

func (o output) engine(m session.Metrics) {
	run := prometheus.NewDesc("tsdb_statement_duration_seconds", "Run times of statements that succeeded, by kind.", []string{"kind"}, nil)
	for kind, l := range m.Statements {
		o.counter("tsdb_statements_total", "Statements that succeeded, by kind.", int64(l.Count), "kind", kind)
		o.ch <- prometheus.MustNewConstHistogram(run, l.Count, l.Sum, l.Buckets, kind)
	}
	for code, n := range m.Errors {
		o.counter("tsdb_errors_total", "Errors that clients got, by SQLSTATE.", n, "sqlstate", code)
	}
	for _, state := range []string{"active", "idle", "idle in transaction", "idle in transaction (aborted)"} {
		o.gauge("tsdb_connections", "Sessions by state.", int64(m.Sessions[state]), "state", state)
	}
}

func (o output) store(m colstore.Metrics) {
	w := m.Write
	o.counter("tsdb_ingest_rows_total", "Rows appended.", w.Rows)
	o.counter("tsdb_ingest_bytes_total", "Bytes of appended values at their natural width.", w.LogicalBytes)
	o.counter("tsdb_deleted_rows_total", "Rows deleted or replaced.", w.DeletedRows)
	o.counter("tsdb_expired_rows_total", "Rows removed by retention.", w.ExpiredRows)
	const written = "Bytes written, by purpose."
	o.counter("tsdb_written_bytes_total", written, w.LogBytes, "purpose", "log")
	o.counter("tsdb_written_bytes_total", written, w.FlushBytes, "purpose", "flush")
	o.counter("tsdb_written_bytes_total", written, w.CompactBytes, "purpose", "compaction")
	o.counter("tsdb_written_bytes_total", written, w.IngestBytes, "purpose", "staging")
	o.counter("tsdb_flushes_total", "Flushes, of tables' rows and of the engine's memtables.", w.Flushes, "of", "tables")
	o.counter("tsdb_flushes_total", "Flushes, of tables' rows and of the engine's memtables.", m.EngineFlushes, "of", "engine")
	o.counter("tsdb_compactions_total", "Compactions, of segments and of the engine's files.", w.Compactions, "of", "segments")
	o.counter("tsdb_compactions_total", "Compactions, of segments and of the engine's files.", m.EngineCompacted, "of", "engine")
	o.gauge("tsdb_compactions_running", "Compactions of the engine that run now.", m.Compacting)
	o.gauge("tsdb_compaction_debt_bytes", "Bytes that wait for compaction by the engine.", m.CompactionDebt)
	o.counter("tsdb_log_syncs_total", "Syncs of the log by commits.", w.LogSyncs)
	o.counter("tsdb_cache_hits_total", "Blocks found in the cache.", m.CacheHits)
	o.counter("tsdb_cache_misses_total", "Blocks not found in the cache.", m.CacheMisses)
	const memory = "Memory in use, by part."
	o.gauge("tsdb_memory_bytes", memory, m.BlockBytes, "part", "blocks")
	o.gauge("tsdb_memory_bytes", memory, m.MemtableBytes, "part", "memtables")
	o.gauge("tsdb_memory_bytes", memory, m.CacheBytes, "part", "cache")
	o.gauge("tsdb_tables", "Tables.", int64(m.Tables))
	o.gauge("tsdb_segments", "Segments.", m.Segments)
	o.gauge("tsdb_segment_bytes", "Encoded bytes of segments.", m.SegmentBytes)
	o.gauge("tsdb_disk_bytes", "Bytes of all files, by kind.", m.LogBytes, "kind", "log")
	o.gauge("tsdb_disk_bytes", "Bytes of all files, by kind.", m.DiskBytes-m.LogBytes, "kind", "other")
	if m.DiskFree >= 0 {
		o.gauge("tsdb_disk_free_bytes", "Free bytes on the data directory's file system.", m.DiskFree)
	}
	o.gauge("tsdb_damaged_chunks", "Chunks found damaged since the start.", m.Damaged)
	if m.LogSync != nil {
		o.ch <- renamed{m.LogSync}
	}
}
