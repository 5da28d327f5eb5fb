package random

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// outcome is what a statement does.
type outcome struct {
	code, message string
	tag           string
	oids          []uint32
	rows          [][]string
}

// exec runs a statement over the simple protocol.
func exec(c *pgconn.PgConn, sql string) outcome {
	rs, err := c.Exec(context.Background(), sql).ReadAll()
	if err != nil || len(rs) == 0 {
		return failed(err)
	}
	return done(rs[len(rs)-1])
}

// extended runs a statement over the extended protocol.
func extended(c *pgconn.PgConn, sql string) outcome {
	r := c.ExecParams(context.Background(), sql, nil, nil, nil, nil).Read()
	if r.Err != nil {
		return failed(r.Err)
	}
	return done(r)
}

func failed(err error) outcome {
	if e, ok := err.(*pgconn.PgError); ok {
		return outcome{code: e.Code, message: e.Message}
	}
	return outcome{code: "lost", message: fmt.Sprint(err)}
}

func done(r *pgconn.Result) outcome {
	o := outcome{tag: r.CommandTag.String()}
	for _, f := range r.FieldDescriptions {
		o.oids = append(o.oids, f.DataTypeOID)
	}
	for _, row := range r.Rows {
		vs := make([]string, len(row))
		for i, v := range row {
			if vs[i] = "NULL"; v != nil {
				vs[i] = "'" + string(v) + "'"
			}
		}
		o.rows = append(o.rows, vs)
	}
	return o
}

// lines are the rows as text, sorted unless the order counts. Trimmed, numeric
// values lose the zeros at their end and float values digits.
func (o *outcome) lines(ordered, trimmed bool) []string {
	out := make([]string, len(o.rows))
	for i, row := range o.rows {
		vs := slices.Clone(row)
		for j := range vs {
			if trimmed {
				vs[j] = trim(vs[j], o.oids[j])
			}
		}
		out[i] = strings.Join(vs, " | ")
	}
	if !ordered {
		slices.Sort(out)
	}
	return out
}

const (
	oidFloat8  = 701
	oidNumeric = 1700
)

func trim(v string, oid uint32) string {
	switch {
	case oid == oidNumeric && strings.Contains(v, "."):
		return strings.TrimRight(strings.TrimRight(strings.Trim(v, "'"), "0"), ".")
	case oid == oidNumeric:
		return strings.Trim(v, "'")
	case oid == oidFloat8 && v != "NULL":
		f, err := strconv.ParseFloat(strings.Trim(v, "'"), 64)
		if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			return v
		}
		return strconv.FormatFloat(f+0, 'g', 9, 64) // -0 is 0
	}
	return v
}

// data reports whether an error depends on which rows and operands are computed.
func data(code string) bool { return strings.HasPrefix(code, "22") || code == "21000" }

// compare returns the class of the difference between tsdb's outcome and
// PostgreSQL's: none, one that is masked, or "different" and how.
func compare(o, p outcome, ordered bool) (class, why string) {
	if o.code != p.code {
		switch {
		case p.code == "57014":
			return "time", ""
		case (o.code == "" || data(o.code)) && (p.code == "" || data(p.code)):
			return "evaluation", ""
		}
		return "different", fmt.Sprintf("tsdb %s, PostgreSQL %s\ntsdb: %s %s\nPostgreSQL: %s %s", o.code, p.code, o.code, o.message, p.code, p.message)
	}
	if o.code != "" {
		return "", ""
	}
	if !slices.Equal(o.oids, p.oids) {
		return "different", fmt.Sprintf("types\ntsdb: %v\nPostgreSQL: %v", o.oids, p.oids)
	}
	if o.tag != p.tag {
		return "different", fmt.Sprintf("tags\ntsdb: %s %.600s\nPostgreSQL: %s %.600s", o.tag, o.rows, p.tag, p.rows)
	}
	if slices.Equal(o.lines(ordered, false), p.lines(ordered, false)) {
		return "", ""
	}
	if slices.Equal(o.lines(false, true), p.lines(false, true)) {
		if slices.Contains(p.oids, oidNumeric) {
			return "representative", ""
		}
		if slices.Contains(p.oids, oidFloat8) {
			return "digits", ""
		}
		return "different", "order\n" + show(o.lines(true, false), p.lines(true, false))
	}
	return "different", "rows\n" + show(o.lines(ordered, false), p.lines(ordered, false))
}

func show(o, p []string) string {
	return fmt.Sprintf("tsdb (%d):\n  %.800s\nPostgreSQL (%d):\n  %.800s", len(o), strings.Join(o, "\n  "), len(p), strings.Join(p, "\n  "))
}
