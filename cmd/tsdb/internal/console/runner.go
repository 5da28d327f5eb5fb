package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"tsdb/sql/types"
)

// Runner runs statements over a connection and prints what comes back.
type Runner struct {
	Conn   *pgconn.PgConn
	Out    io.Writer
	Err    io.Writer // errors and notices
	Timing bool      // print the time of each statement
	Bare   bool      // print plans without the frame of a table, which is as wide as their longest line
}

var (
	copyFrom = regexp.MustCompile(`(?is)^(?:\s|--[^\n]*\n)*copy\b.*\bfrom\s+stdin\b`)
	copyTo   = regexp.MustCompile(`(?is)^(?:\s|--[^\n]*\n)*copy\b.*\bto\s+stdout\b`)
)

// ReadsInput reports whether a statement is a COPY that takes data from the client.
func ReadsInput(stmt string) bool { return copyFrom.MatchString(stmt) }

// ErrFailed is returned for a statement whose error was printed.
var ErrFailed = errors.New("statement failed")

// Run runs one statement, or several in one string, and prints results and
// errors. data is what COPY ... FROM STDIN reads.
//
// Errors: ErrFailed after an error of SQL, which was printed; others when the connection is of no use any more.
func (r *Runner) Run(ctx context.Context, stmt string, data io.Reader) error {
	start := time.Now()
	err := r.run(ctx, stmt, data)
	if err != nil {
		var pe *pgconn.PgError
		if !errors.As(err, &pe) {
			return err
		}
		r.Err.Write(AppendError(nil, pe, stmt))
		if r.Conn.IsClosed() {
			return errors.New("server closed the connection")
		}
		return ErrFailed
	}
	if r.Timing {
		fmt.Fprintf(r.Out, "Time: %s ms\n", Millis(time.Since(start)))
	}
	return nil
}

// Millis prints a duration in milliseconds as psql's \timing does.
func Millis(d time.Duration) string { return fmt.Sprintf("%.3f", float64(d.Nanoseconds())/1e6) }

func (r *Runner) run(ctx context.Context, stmt string, data io.Reader) error {
	switch {
	case ReadsInput(stmt):
		tag, err := r.Conn.CopyFrom(ctx, data, stmt)
		return r.tag(tag, err)
	case copyTo.MatchString(stmt):
		_, err := r.Conn.CopyTo(ctx, r.Out, stmt)
		return err
	}
	mrr := r.Conn.Exec(ctx, stmt)
	for mrr.NextResult() {
		if err := r.result(mrr.ResultReader()); err != nil {
			mrr.Close()
			return err
		}
	}
	return mrr.Close()
}

func (r *Runner) tag(tag pgconn.CommandTag, err error) error {
	if err == nil && tag.String() != "" {
		_, err = fmt.Fprintln(r.Out, tag.String())
	}
	return err
}

// result prints one statement's rows, or its command tag.
func (r *Runner) result(rr *pgconn.ResultReader) error {
	fields := rr.FieldDescriptions()
	if fields == nil {
		return r.tag(rr.Close())
	}
	cols := make([]Column, len(fields))
	for i, f := range fields {
		cols[i] = Column{Name: f.Name, Right: rightAligned(f.DataTypeOID)}
	}
	var rows [][]string
	for rr.NextRow() {
		values := rr.Values()
		row := make([]string, len(values))
		for i, v := range values {
			row[i] = string(v)
		}
		rows = append(rows, row)
	}
	if _, err := rr.Close(); err != nil {
		return err
	}
	var out []byte
	if r.Bare && len(cols) == 1 && cols[0].Name == "QUERY PLAN" {
		for _, row := range rows {
			out = append(append(out, row[0]...), '\n')
		}
		out = append(out, '\n')
	} else {
		out = AppendTable(nil, cols, rows)
	}
	_, err := r.Out.Write(out)
	return err
}

func rightAligned(oid uint32) bool {
	switch oid {
	case types.Int2, types.Int4, types.Int8, types.Float4, types.Float8, types.Numeric, types.Oid, types.Xid:
		return true
	}
	return false
}
