package session

import (
	_ "embed"
	"slices"
	"strings"
)

// paramType is how a parameter's value is read and printed.
type paramType uint8

const (
	boolParam paramType = iota
	intParam
	realParam
	enumParam
	stringParam
)

var paramTypeNames = [...]string{"bool", "integer", "real", "enum", "string"}

// parameter describes one setting (GUC).
type parameter struct {
	name     string
	typ      paramType
	context  string // user, superuser, internal, sighup, postmaster
	boot     string // default, in canonical form
	unit     string // of an integer or real: ms, s, min, B, kB, 8kB, MB; empty: none
	min, max float64
	enum     []string
	doc      string
	hidden   bool // not in SHOW ALL
	report   bool // sent as ParameterStatus
	// check validates a string value and returns its canonical form.
	check func(s *Session, value string) (string, error)
}

//go:embed settings.txt
var settingsText string

const noEffect = "Accepted for compatibility with PostgreSQL; has no effect."

// ownParameters are tsdb's own and those whose visibility or check differs from the table's.
var ownParameters = []parameter{
	{name: "role", typ: stringParam, context: "user", boot: "none", hidden: true, doc: "Current role.", check: checkRole},
	{name: "session_authorization", typ: stringParam, context: "user", boot: "", hidden: true, report: true,
		doc: "Session user.", check: checkSessionAuthorization},
	{name: "is_superuser", typ: boolParam, context: "internal", boot: "off", hidden: true, report: true,
		doc: "Whether the current role is a superuser."},
	{name: "seed", typ: realParam, context: "user", boot: "0", min: -1, max: 1, hidden: true,
		doc: "Seed of random()."},
	{name: "tsdb.version", typ: stringParam, context: "internal", doc: "Version of the binary."},
	{name: "tsdb.kernels", typ: stringParam, context: "internal", boot: "portable",
		doc: "Which column kernels run: portable or simd."},
	{name: "tsdb.pruning", typ: boolParam, context: "user", boot: "on",
		doc: "Skip segments and blocks by key range, time and statistics; never changes an answer."},
	{name: "tsdb.query_memory", typ: intParam, context: "user", boot: "1048576", unit: "kB", min: 64, max: 1 << 40,
		doc: "Memory that one query may use before it spills or fails."},
	{name: "tsdb.temp_file_limit", typ: intParam, context: "superuser", boot: "-1", unit: "kB", min: -1, max: 1 << 40,
		doc: "Size of the temporary files that one query may write; -1 stands for no limit."},
	{name: "tsdb.workers", typ: intParam, context: "user", boot: "0", min: 0, max: 1024,
		doc: "Goroutines of a parallel operator; 0 stands for the number of CPUs."},
}

// notes say what a parameter of PostgreSQL does here; the others have no effect.
var notes = map[string]string{
	"application_name":                    "Name of the client application.",
	"bytea_output":                        "Text form of bytea.",
	"client_encoding":                     "Encoding of the client's text; UTF8 only.",
	"client_min_messages":                 "Least severity of the messages that the client receives.",
	"DateStyle":                           "Text form of dates, and the order in which ambiguous ones are read.",
	"default_transaction_isolation":       "Isolation level of new transactions.",
	"default_transaction_read_only":       "Whether new transactions are read only.",
	"extra_float_digits":                  "Digits of floating point output; above 0: shortest exact form.",
	"in_hot_standby":                      "Whether the server is a standby: never.",
	"integer_datetimes":                   "Times are 64-bit integers.",
	"IntervalStyle":                       "Text form of intervals.",
	"log_min_duration_statement":          "Statements that run so long or longer are logged; -1 logs none.",
	"lock_timeout":                        "Longest wait for a lock; 0 waits without end.",
	"max_identifier_length":               "Longest identifier in bytes.",
	"password_encryption":                 "How passwords are kept: scram-sha-256 only.",
	"search_path":                         "Schemas in which unqualified names are looked up, in order.",
	"server_encoding":                     "Encoding of the database.",
	"server_version":                      "Version of PostgreSQL that the server behaves like.",
	"server_version_num":                  "The same as one number.",
	"standard_conforming_strings":         "Backslashes in '...' are literal: always on.",
	"statement_timeout":                   "Longest run time of a statement; 0 sets no limit.",
	"synchronous_commit":                  "off: COMMIT returns before the log is on disk.",
	"TimeZone":                            "Time zone in which timestamps are shown and read.",
	"transaction_deferrable":              "Accepted; has no effect.",
	"transaction_isolation":               "Isolation level of the current transaction.",
	"transaction_read_only":               "Whether the current transaction is read only.",
	"default_transaction_deferrable":      "Accepted; has no effect.",
	"idle_in_transaction_session_timeout": "Accepted; has no effect.",
}

var reported = []string{"application_name", "client_encoding", "DateStyle", "default_transaction_read_only",
	"in_hot_standby", "integer_datetimes", "IntervalStyle", "server_encoding",
	"server_version", "standard_conforming_strings", "TimeZone"}

var checks = map[string]func(*Session, string) (string, error){
	"application_name":              checkApplicationName,
	"client_encoding":               checkClientEncoding,
	"DateStyle":                     checkDateStyle,
	"TimeZone":                      checkTimeZone,
	"search_path":                   checkSearchPath,
	"standard_conforming_strings":   checkConformingStrings,
	"transaction_isolation":         checkTransactionIsolation,
	"default_transaction_isolation": checkIsolation,
	"transaction_read_only":         checkTransactionReadOnly,
	"password_encryption":           checkPasswordEncryption,
}

// parameters holds every known setting by lower-case name, parameterNames
// lists them in SHOW ALL's order, reportNames those that are reported. Set
// once in init, because the checks look parameters up themselves.
var (
	parameters     map[string]*parameter
	parameterNames []string
	reportNames    []string
)

func init() {
	parameters, parameterNames = loadParameters()
	for _, n := range parameterNames {
		if parameters[n].report {
			reportNames = append(reportNames, n)
		}
	}
}

func loadParameters() (map[string]*parameter, []string) {
	all := map[string]*parameter{}
	add := func(p parameter) { all[strings.ToLower(p.name)] = &p }
	for line := range strings.Lines(settingsText) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line, "|")
		p := parameter{name: f[0], typ: paramType(slices.Index(paramTypeNames[:], f[1])), context: f[2], boot: f[3],
			unit: f[4], doc: noEffect, report: slices.Contains(reported, f[0]), check: checks[f[0]]}
		p.min, p.max = parseBound(f[5]), parseBound(f[6])
		if f[7] != "" {
			p.enum = strings.Split(f[7], ",")
		}
		if d, ok := notes[p.name]; ok {
			p.doc = d
		}
		add(p)
	}
	for _, p := range ownParameters {
		add(p)
	}
	names := make([]string, 0, len(all))
	for n := range all {
		names = append(names, n)
	}
	slices.Sort(names)
	return all, names
}
