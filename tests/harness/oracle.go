package harness

import (
	"os"
	"strconv"
	"testing"
)

// OracleURL returns the connection string of the PostgreSQL 15 to compare with:
// TSDB_POSTGRES, or a server of the test's own. Without TSDB_ORACLE it skips the
// test, unless the server is wanted for something else.
func OracleURL(t testing.TB, wanted bool) string {
	t.Helper()
	if os.Getenv("TSDB_ORACLE") == "" && !wanted {
		t.Skip("needs PostgreSQL 15: set TSDB_ORACLE=1, or run make oracle")
	}
	if url := os.Getenv("TSDB_POSTGRES"); url != "" {
		return url
	}
	return StartPostgres(t, "fsync = off", "jit = off").URL()
}

// Number returns the number in an environment variable, or another one.
func Number(name string, or int64) int64 {
	if v, err := strconv.ParseInt(os.Getenv(name), 10, 64); err == nil {
		return v
	}
	return or
}
