package session

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/colstore"
	"tsdb/sql/pgerr"
)

// duplicateFile is PostgreSQL's SQLSTATE of a directory that should be empty.
const duplicateFile pgerr.Code = "58P02"

// progressPause is the time between two notices about a long command.
const progressPause = 500 * time.Millisecond

// call runs the procedures that there are: tsdb_catalog.backup('/directory'),
// which tsdb backup calls.
func (s *Session) call(ctx context.Context, n *pg_query.CallStmt) (string, error) {
	f := n.GetFunccall()
	name := nameOf(f.GetFuncname())
	if name != "tsdb_catalog.backup" {
		return "", pgerr.New(pgerr.UndefinedFunction, "procedure %s does not exist", name).
			WithHint("The one procedure is tsdb_catalog.backup(directory text, link boolean).")
	}
	if !s.superuser() {
		return "", pgerr.New(pgerr.InsufficientPrivilege, "permission denied for procedure backup")
	}
	if s.tx.block || s.tx.several {
		return "", pgerr.New(pgerr.ActiveSQLTransaction, "CALL tsdb_catalog.backup cannot run inside a transaction block")
	}
	if len(f.Args) < 1 || len(f.Args) > 2 {
		return "", pgerr.New(pgerr.UndefinedFunction, "procedure %s takes a directory and whether to link files", name)
	}
	dir := constText(f.Args[0])
	if !filepath.IsAbs(dir) {
		return "", pgerr.New(pgerr.InvalidParameterValue, `the directory of a backup must be an absolute path on the server, not "%s"`, dir)
	}
	o := colstore.BackupOptions{Version: s.e.o.Version, Progress: s.progress("backup")}
	if len(f.Args) == 2 {
		arg := f.Args[1]
		if named := arg.GetNamedArgExpr(); named != nil {
			arg = named.Arg
		}
		o.Link = strings.HasPrefix(strings.ToLower(constText(arg)), "t")
	}
	m, err := s.e.store.Backup(ctx, filepath.Clean(dir), o)
	if err != nil {
		return "", s.backupError(dir, err)
	}
	s.notice(pgerr.Notice("backup of %d files with %d bytes in %s", len(m.Files), m.Bytes(), dir))
	return "CALL", nil
}

func (s *Session) backupError(dir string, err error) error {
	var pe *pgerr.Error
	switch {
	case errors.As(err, &pe), errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, syscall.ENOSPC):
		return pgerr.New(pgerr.DiskFull, `could not write to directory "%s": no space left on device`, dir).WithCause(err)
	case errors.Is(err, colstore.ErrNotEmpty):
		return pgerr.New(duplicateFile, `directory "%s" exists but is not empty`, dir).WithCause(err)
	case errors.Is(err, colstore.ErrBackupRunning):
		return pgerr.New(pgerr.ObjectInUse, "another backup is running").WithCause(err)
	}
	return pgerr.New(pgerr.IOError, "%s", err).WithCause(err)
}

// progress returns a function that tells the client now and then how far a
// long command is.
func (s *Session) progress(what string) func(done, all int64) {
	last := s.e.now()
	return func(done, all int64) {
		now := s.e.now()
		if now.Sub(last) < progressPause {
			return
		}
		last = now
		s.notice(pgerr.Notice("%s: %d of %d bytes", what, done, all))
		if f, ok := s.client.(interface{ FlushNotices() }); ok {
			f.FlushNotices()
		}
	}
}
