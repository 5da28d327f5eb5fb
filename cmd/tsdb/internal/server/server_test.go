package server

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

func open(t *testing.T, cfg Config) *Server {
	t.Helper()
	cfg.Memory, cfg.Grace = 128<<20, time.Second
	if cfg.Data == "" {
		cfg.Data = filepath.Join(t.TempDir(), "db")
	}
	s, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

func TestDirectoryInUse(t *testing.T) {
	s := open(t, Config{})
	_, err := Open(Config{Data: s.cfg.Data, Memory: 128 << 20})
	if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), s.cfg.Data) || !strings.Contains(err.Error(), "--data") {
		t.Errorf("second Open: %v", err)
	}
}

func TestAddressInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := l.Addr().String()
	s := open(t, Config{Listen: taken})
	if err := s.Listen(); err == nil || !strings.Contains(err.Error(), "address is in use") || !strings.Contains(err.Error(), "--listen") {
		t.Errorf("Listen on a taken address: %v", err)
	}
	s = open(t, Config{Listen: taken, AnyPort: true})
	if err := s.Listen(); err != nil || s.Addr() == taken {
		t.Fatalf("with any port: %v", err)
	}
	s.Start()
}

func TestPasswordNeeded(t *testing.T) {
	s := open(t, Config{Listen: "0.0.0.0:0"})
	err := s.Listen()
	if err == nil || !strings.Contains(err.Error(), "--password-file") || !strings.Contains(err.Error(), "ALTER ROLE tsdb PASSWORD") {
		t.Errorf("Listen beyond loopback without a password: %v", err)
	}
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, Config{Listen: "127.0.0.1:0", PasswordFile: file, RequirePassword: true})
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	s.Start()
	ctx := context.Background()
	c, err := pgconn.Connect(ctx, "postgres://tsdb:s3cret@"+s.Addr()+"/tsdb?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	c.Close(ctx)
	var pe *pgconn.PgError
	if _, err := pgconn.Connect(ctx, "postgres://tsdb:wrong@"+s.Addr()+"/tsdb?sslmode=disable"); !errors.As(err, &pe) || pe.Code != "28P01" {
		t.Errorf("wrong password: %v", err)
	}
}

func TestWait(t *testing.T) {
	s := open(t, Config{Listen: "127.0.0.1:0"})
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	s.Start()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Wait(ctx); err != nil {
		t.Errorf("Wait after the signal: %v", err)
	}
}
