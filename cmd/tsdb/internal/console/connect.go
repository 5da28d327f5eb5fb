package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/term"
)

// Target says where to connect: a URL, an address, or a dialler of an engine in this process.
type Target struct {
	URL      string
	Host     string
	Port     int
	User     string
	Database string
	Dial     func(ctx context.Context) (net.Conn, error) // nil: the network
}

const connectTimeout = 10 * time.Second

// Connect opens a connection and prints its notices to w. A password that is
// missing is asked for on a terminal.
func Connect(ctx context.Context, t Target, w io.Writer) (*pgconn.PgConn, error) {
	return ConnectNotices(ctx, t, w, func(*pgconn.Notice) bool { return false })
}

// ConnectNotices is Connect with a function that may take notices for itself:
// then it returns true.
func ConnectNotices(ctx context.Context, t Target, w io.Writer, take func(*pgconn.Notice) bool) (*pgconn.PgConn, error) {
	cfg, err := t.config()
	if err != nil {
		return nil, err
	}
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if !take(n) {
			w.Write(AppendError(nil, (*pgconn.PgError)(n), ""))
		}
	}
	conn, err := pgconn.ConnectConfig(ctx, cfg)
	var pe *pgconn.PgError
	if err != nil && errors.As(err, &pe) && pe.Code == "28P01" && cfg.Password == "" && term.IsTerminal(int(os.Stdin.Fd())) {
		fmt.Fprintf(w, "Password for user %s: ", cfg.User)
		password, readErr := term.ReadPassword(int(os.Stdin.Fd()))
		fmt.Fprintln(w)
		if readErr != nil {
			return nil, readErr
		}
		cfg.Password = string(password)
		conn, err = pgconn.ConnectConfig(ctx, cfg)
	}
	if err == nil {
		return conn, nil
	}
	if errors.As(err, &pe) {
		return nil, fmt.Errorf("%s:  %s", pe.Severity, pe.Message)
	}
	addr := net.JoinHostPort(cfg.Host, strconv.Itoa(int(cfg.Port)))
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil, fmt.Errorf("cannot connect to %s: connection refused; is a server running there? (tsdb serve, tsdb demo)", addr)
	}
	return nil, fmt.Errorf("cannot connect to %s: %w", addr, err)
}

func (t Target) config() (*pgconn.Config, error) {
	cfg, err := pgconn.ParseConfig(t.URL)
	if err != nil {
		return nil, err
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = connectTimeout
	}
	if t.URL != "" {
		return cfg, nil
	}
	cfg.Host, cfg.Port, cfg.User, cfg.Database = t.Host, uint16(t.Port), t.User, t.Database
	cfg.TLSConfig, cfg.Fallbacks = nil, nil
	cfg.RuntimeParams["application_name"] = "tsdb sql"
	if t.Dial != nil {
		cfg.Host = "in-process"
		cfg.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil }
		cfg.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) { return t.Dial(ctx) }
	}
	return cfg, nil
}
