package config

import (
	"os"
	"path/filepath"
	"testing"
)

func TestParseSize(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int64
		out  string
	}{
		{"512MB", 512 << 20, "512MiB"}, {"2GiB", 2 << 30, "2GiB"}, {"1.5gb", 3 << 29, "1.5GiB"},
		{"64k", 64 << 10, "64KiB"}, {"17", 17, "17B"}, {" 3 TB ", 3 << 40, "3TiB"},
	} {
		got, err := ParseSize(c.in)
		if err != nil || int64(got) != c.want || got.String() != c.out {
			t.Errorf("ParseSize(%q) = %d (%s), %v; want %d (%s)", c.in, got, got.String(), err, c.want, c.out)
		}
	}
	for _, bad := range []string{"", "MB", "-1MB", "1.2.3", "9e30GB", "NaN", "12 furlongs"} {
		if got, err := ParseSize(bad); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", bad, got)
		}
	}
}

func TestIsLoopback(t *testing.T) {
	for addr, want := range map[string]bool{
		"127.0.0.1:5433": true, "[::1]:1": true, "localhost:0": true, "127.8.8.8:1": true,
		"0.0.0.0:5433": false, ":5433": false, "10.0.0.1:1": false, "example.com:1": false,
	} {
		if got, err := IsLoopback(addr); err != nil || got != want {
			t.Errorf("IsLoopback(%q) = %v, %v; want %v", addr, got, err, want)
		}
	}
	if _, err := IsLoopback("127.0.0.1"); err == nil {
		t.Error("an address without a port is accepted")
	}
}

func TestPassword(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pw")
	if err := os.WriteFile(path, []byte("s3cret \r\nsecond line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := Password(path); err != nil || got != "s3cret " {
		t.Errorf("Password = %q, %v", got, err)
	}
	if err := os.WriteFile(path, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Password(path); err == nil {
		t.Error("an empty password is accepted")
	}
}
