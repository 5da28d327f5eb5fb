// Package config reads sizes and finds defaults of tsdb's command line.
package config

import (
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

const (
	// fallbackMemory is the budget where neither cgroup nor system tell their size.
	fallbackMemory = 1 << 30
	// minMemory is the least that the store's parts work with.
	minMemory = 64 << 20
	// maxDefault bounds the default: more is for who asks for it.
	maxDefault = 64 << 30
)

// Size is a flag of a size in bytes.
type Size int64

var units = []struct {
	suffix string
	bytes  int64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40},
	{"kb", 1 << 10}, {"mb", 1 << 20}, {"gb", 1 << 30}, {"tb", 1 << 40},
	{"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {"t", 1 << 40}, {"b", 1},
}

// ParseSize reads sizes such as 512MB, 2GiB and 1.5 GB. Units are multiples of
// 1024, as in PostgreSQL's configuration, with or without the i; no unit means bytes.
func ParseSize(s string) (Size, error) {
	text := strings.ToLower(strings.TrimSpace(s))
	unit := int64(1)
	for _, u := range units {
		if head, ok := strings.CutSuffix(text, u.suffix); ok {
			text, unit = strings.TrimSpace(head), u.bytes
			break
		}
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || x < 0 || x*float64(unit) > math.MaxInt64/2 {
		return 0, fmt.Errorf("invalid size %q: write a number and a unit, such as 512MB or 2GiB", s)
	}
	return Size(x * float64(unit)), nil
}

// Set implements pflag.Value.
func (s *Size) Set(text string) error {
	v, err := ParseSize(text)
	if err == nil {
		*s = v
	}
	return err
}

// Type implements pflag.Value.
func (s *Size) Type() string { return "size" }

// String prints the size in the largest unit that shows it whole, else with one decimal.
func (s *Size) String() string {
	v := int64(*s)
	for i := 3; i >= 0; i-- {
		u := units[i]
		if v < u.bytes {
			continue
		}
		name := []string{"KiB", "MiB", "GiB", "TiB"}[i]
		if v%u.bytes == 0 {
			return strconv.FormatInt(v/u.bytes, 10) + name
		}
		return strconv.FormatFloat(float64(v)/float64(u.bytes), 'f', 1, 64) + name
	}
	return strconv.FormatInt(v, 10) + "B"
}

// CheckMemory refuses budgets that are too small to work.
func CheckMemory(s Size) error {
	if s < minMemory {
		return fmt.Errorf("--memory %s is too small: at least 64MiB are needed", s.String())
	}
	return nil
}

// Overhead is what a server uses beside its budget: the program itself, the
// grammar's tables, connections' buffers and what Go's collector has not freed yet.
const Overhead = 64 << 20

// Parts is the memory budget cut into parts, in bytes.
type Parts struct {
	Store int64 // memtables, rows in memory, block cache: a quarter of it each, and a quarter of headroom
	Query int64 // what one query may use before it spills or fails
	Rest  int64 // further queries at the same time, caches of plans, connections
}

// Split cuts a budget: half for the store, a quarter for one query, the rest
// for the others.
func Split(s Size) Parts {
	p := Parts{Store: int64(s) / 2, Query: int64(s) / 4}
	p.Rest = int64(s) - p.Store - p.Query
	return p
}

// DefaultMemory returns half of what the cgroup, or else the machine, has; at most 64 GiB.
func DefaultMemory() Size {
	limit, err := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)()
	if err != nil || limit == 0 {
		return fallbackMemory
	}
	return Size(min(max(limit/2, minMemory), maxDefault))
}

// Password reads a password file: its first line.
func Password(path string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(string(b), "\n")
	line = strings.TrimSuffix(line, "\r")
	if line == "" {
		return "", errors.New("password file " + path + " is empty: its first line is the password")
	}
	return line, nil
}

// IsLoopback reports whether a listen address is reachable from this machine only.
func IsLoopback(addr string) (bool, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false, fmt.Errorf("invalid listen address %q: write HOST:PORT, such as 127.0.0.1:5433", addr)
	}
	if host == "localhost" {
		return true, nil
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback(), nil
}
