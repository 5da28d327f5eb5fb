package pgwire

import (
	"encoding/binary"
	"reflect"
	"strings"
	"testing"
)

func startupBody(version uint32, fields ...string) []byte {
	b := binary.BigEndian.AppendUint32(nil, version)
	for _, f := range fields {
		b = append(append(b, f...), 0)
	}
	return append(b, 0)
}

func TestParseStartup(t *testing.T) {
	p, err := parseStartup(startupBody(3<<16, "user", "u", "options", `-c a.b=1\ 2 --work-mem=3  -cx=`, "TimeZone", "UTC", "replication", "false"))
	if err != nil {
		t.Fatal(err)
	}
	want := &startupPacket{user: "u", database: "u", settings: map[string]string{"a.b": "1 2", "work_mem": "3", "x": "", "timezone": "UTC"}}
	if !reflect.DeepEqual(p, want) {
		t.Errorf("got %+v, want %+v", p, want)
	}
	p, err = parseStartup(startupBody(3<<16|9, "user", "u", "database", "d", "_pq_.x", "1"))
	if err != nil || !p.negotiate || p.minor != newestMinor || !reflect.DeepEqual(p.unknown, []string{"_pq_.x"}) || p.database != "d" {
		t.Errorf("newer minor version: %+v, %v", p, err)
	}
	if p, err = parseStartup(startupBody(3<<16|2, "user", "u")); err != nil || p.negotiate || p.minor != 2 {
		t.Errorf("3.2: %+v, %v", p, err)
	}
	if p, err = parseStartup(startupBody(3<<16|1, "user", "u")); err != nil || !p.negotiate || p.minor != 0 {
		t.Errorf("3.1: %+v, %v", p, err)
	}
}

func TestParseStartupErrors(t *testing.T) {
	whole := startupBody(3<<16, "user", "u")
	for _, c := range []struct {
		name, code, message string
		body                []byte
	}{
		{"version 2", "0A000", "unsupported frontend protocol 2.0", startupBody(2 << 16)},
		{"no user", "28000", "no PostgreSQL user name specified", startupBody(3<<16, "database", "d")},
		{"no terminator", "08P01", "invalid startup packet layout", whole[:len(whole)-1]},
		{"value cut", "08P01", "invalid startup packet layout", whole[:len(whole)-2]},
		{"name alone", "08P01", "invalid startup packet layout", append(startupBody(3 << 16)[:4], "user\x00"...)},
		{"trailing bytes", "08P01", "invalid startup packet layout", append(whole, 'x')},
		{"replication", "0A000", "replication", startupBody(3<<16, "user", "u", "replication", "database")},
		{"switch", "42601", "invalid command-line argument for server process: -z", startupBody(3<<16, "user", "u", "options", "-z")},
		{"no value", "42601", "invalid command-line argument", startupBody(3<<16, "user", "u", "options", "-c a")},
		{"-c alone", "42601", "invalid command-line argument", startupBody(3<<16, "user", "u", "options", "-c")},
	} {
		p, err := parseStartup(c.body)
		if err == nil {
			t.Errorf("%s: accepted as %+v", c.name, p)
			continue
		}
		if string(err.Code) != c.code || !strings.Contains(err.Message, c.message) {
			t.Errorf("%s: %s %s, want %s %s", c.name, err.Code, err.Message, c.code, c.message)
		}
	}
}

func TestParseVerifier(t *testing.T) {
	good := "SCRAM-SHA-256$4096:c2FsdHNhbHQ=$" + strings.Repeat("A", 43) + "=:" + strings.Repeat("B", 42) + "A="
	c, ok := parseVerifier(good)
	if !ok || c.Iters != 4096 || c.Salt != "saltsalt" || len(c.StoredKey) != 32 || len(c.ServerKey) != 32 {
		t.Errorf("verifier is read as %+v, %v", c, ok)
	}
	for _, bad := range []string{"", "md5abc", "SCRAM-SHA-256$", "SCRAM-SHA-256$0:c2E=$AA==:AA==", strings.Replace(good, ":", ";", 1),
		strings.Replace(good, "4096", "-1", 1), good[:len(good)-8], strings.Replace(good, "c2FsdHNhbHQ=", "***", 1)} {
		if _, ok := parseVerifier(bad); ok {
			t.Errorf("%q is accepted", bad)
		}
	}
}
