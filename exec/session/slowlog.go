package session

import (
	"strconv"
	"time"
)

// maxLoggedText is the longest statement text that a log line shows.
const maxLoggedText = 8 << 10

// logSlow logs a query string, or an Execute of a prepared statement, that ran
// for log_min_duration_statement milliseconds or more: PostgreSQL's meaning,
// where 0 logs all and -1 none.
func (s *Session) logSlow(start time.Time, protocol, text string) {
	limit := s.intValue("log_min_duration_statement")
	if limit < 0 {
		return
	}
	d := time.Since(start)
	if d < time.Duration(limit)*time.Millisecond {
		return
	}
	if len(text) > maxLoggedText {
		text = cutText(text, maxLoggedText) + "..."
	}
	s.e.o.Logger.Info("duration", "ms", strconv.FormatFloat(float64(d)/1e6, 'f', 3, 64), "protocol", protocol, "statement", text,
		"user", s.user, "database", s.database, "application", s.application, "pid", s.pid)
}
