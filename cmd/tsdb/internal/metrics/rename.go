package metrics

import "github.com/prometheus/client_golang/prometheus"

var logSync = prometheus.NewDesc("tsdb_log_sync_duration_nanoseconds", "Durations of the log's syncs.", nil, nil)

// renamed is the engine's histogram of log syncs under a name of ours.
type renamed struct{ prometheus.Metric }

// Desc implements prometheus.Metric.
func (renamed) Desc() *prometheus.Desc { return logSync }
