package session

import (
	"context"
	"errors"
	"strings"
	"syscall"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// wrap turns any error of a statement into the *pgerr.Error that its client
// sees; storage's errors get their SQLSTATE here and nowhere else.
func (s *Session) wrap(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var pe *pgerr.Error
	if errors.As(err, &pe) {
		return s.nameEnums(pe)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		if cause := context.Cause(ctx); errors.As(cause, &pe) {
			return pe
		}
		return userCancel()
	}
	var (
		dup  *table.DuplicateKeyError
		full *table.DiskFullError
		size *table.TransactionTooLargeError
		fail *table.FailedError
		bad  *table.CorruptionError
	)
	switch {
	case errors.As(err, &dup):
		return s.uniqueError(dup)
	case errors.As(err, &full):
		return pgerr.New(pgerr.DiskFull, "could not write: no space left for the data directory").
			WithDetail("%d bytes are free, the server keeps %d.", full.Free, full.Need).
			WithHint("Check free disk space.").WithCause(err)
	case errors.As(err, &size):
		return pgerr.New(pgerr.OutOfMemory, "out of memory: the transaction is too large").
			WithDetail("The rows and unique-index entries that it keeps in memory until its commit would take %d MB, the limit is %d MB.",
				(size.Bytes+1<<20-1)>>20, size.Limit>>20).
			WithHint("Load the rows in several statements, each a transaction of its own, into a table WITH (layout = 'columnar'), " +
				"or raise the server's --memory.").WithCause(err)
	case errors.As(err, &fail) && errors.Is(fail, syscall.ENOSPC):
		return pgerr.New(pgerr.DiskFull, "could not write: no space left for the data directory").
			WithHint("Check free disk space; writes go on when there is room again.").WithCause(err)
	case errors.As(err, &fail):
		return pgerr.New(pgerr.IOError, "the store has stopped taking writes after an I/O error: %s", fail.Cause).
			WithHint("Nothing is acknowledged until the server has reopened the data directory; check the disk.").WithCause(err)
	case errors.As(err, &bad):
		return s.corruption(bad)
	case errors.Is(err, table.ErrUnknownTable):
		return pgerr.New(pgerr.UndefinedTable, "relation was dropped or truncated by a concurrent transaction").WithCause(err)
	}
	s.e.o.Logger.Error("statement failed unexpectedly", "error", err)
	return pgerr.From(err)
}

// nameEnums puts the names of enums into a message.
func (s *Session) nameEnums(e *pgerr.Error) *pgerr.Error {
	message, detail, hint := types.NameEnums(e.Message, s.tctx.Enums), types.NameEnums(e.Detail, s.tctx.Enums), types.NameEnums(e.Hint, s.tctx.Enums)
	if message == e.Message && detail == e.Detail && hint == e.Hint {
		return e
	}
	n := *e
	n.Message, n.Detail, n.Hint = message, detail, hint
	return &n
}

// corruption names what is damaged as people know it, then as storage does.
func (s *Session) corruption(bad *table.CorruptionError) *pgerr.Error {
	what := ""
	t := s.tableByStorage(bad.Table)
	if t != nil {
		what = `table "` + t.Name + `", `
		for _, c := range t.Columns {
			if bad.Column != 0 && c.ID == bad.Column {
				what += `column "` + c.Name + `", `
			}
		}
	}
	if what += bad.What; bad.File != "" {
		what += ", file " + bad.File
	}
	e := pgerr.New(pgerr.DataCorrupted, "corrupted data in %s: %s", what, bad.Why).WithCause(bad).
		WithHint("The rest of the database stays readable; tsdb check lists all that is damaged, tsdb restore brings a backup back.")
	if t != nil {
		e.Schema, e.Table = s.schemaName(t.Schema), t.Name
	}
	return e
}

func (s *Session) tableByStorage(id table.ID) *catalog.Table {
	for _, t := range s.catalog().Tables() {
		if t.Storage.ID == id {
			return t
		}
	}
	return nil
}

// uniqueError words a duplicate key as PostgreSQL does.
func (s *Session) uniqueError(d *table.DuplicateKeyError) *pgerr.Error {
	t := s.tableByStorage(d.Table)
	if t == nil {
		return pgerr.New(pgerr.UniqueViolation, "duplicate key value violates a unique constraint").WithCause(d)
	}
	var con *catalog.Constraint
	for i := range t.Constraints {
		if c := &t.Constraints[i]; c.Primary && d.Index == 0 || !c.Primary && c.StoreID == d.Index {
			con = c
		}
	}
	if con == nil {
		return pgerr.New(pgerr.UniqueViolation, "duplicate key value violates a unique constraint").WithCause(d)
	}
	e := pgerr.New(pgerr.UniqueViolation, `duplicate key value violates unique constraint "%s"`, con.Name).WithCause(d)
	e.Schema, e.Table, e.Constraint = s.schemaName(t.Schema), t.Name, con.Name
	if d.Batch != nil {
		e.Detail = s.keyText(t, con, d.Batch, d.Row) + " already exists."
	}
	return e
}

func (s *Session) schemaName(oid types.OID) string {
	if sc, ok := s.catalog().SchemaByOID(oid); ok {
		return sc.Name
	}
	return ""
}

func (s *Session) valueText(t types.Type, v *vector.Vector, i int) string {
	if v.IsNull(i) {
		return "null"
	}
	return string(types.AppendText(nil, t, v, i&v.Mask(), &s.tctx))
}

// maxFieldText is the bytes of a value that `Failing row contains` shows.
const maxFieldText = 64

// nullViolation reports row i of b, whose column col must not be NULL.
func (s *Session) nullViolation(t *catalog.Table, b *vector.Batch, i, col int) *pgerr.Error {
	e := pgerr.New(pgerr.NotNullViolation, `null value in column "%s" of relation "%s" violates not-null constraint`,
		t.Columns[col].Name, t.Name)
	e.Schema, e.Table, e.Column = s.schemaName(t.Schema), t.Name, t.Columns[col].Name
	return e.WithDetail("Failing row contains (%s).", s.failingRow(t, b, i))
}

// failingRow prints row i of b for errors.
func (s *Session) failingRow(t *catalog.Table, b *vector.Batch, i int) string {
	vals := make([]string, len(b.Cols))
	for c, v := range b.Cols {
		vals[c] = s.valueText(t.Columns[c].Type, v, i)
		if len(vals[c]) > maxFieldText {
			vals[c] = cutText(vals[c], maxFieldText) + "..."
		}
	}
	return strings.Join(vals, ", ")
}

// cutText cuts s to at most n bytes without splitting a character.
func cutText(s string, n int) string {
	for n > 0 && n < len(s) && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}
