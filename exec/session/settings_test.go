package session

import (
	"context"
	"strings"
	"testing"
)

func TestSettings(t *testing.T) {
	c := newServer(t).connect("tsdb")
	c.script(
		"SHOW timezone", "UTC\n[SHOW]",
		"SET timezone = 'europe/berlin'; SHOW TimeZone", "[SET]Europe/Berlin\n[SHOW]",
		"SET TIME ZONE 2; SHOW timezone", "[SET]<+02>-02\n[SHOW]",
		"SET TIME ZONE INTERVAL '-05:30' HOUR TO MINUTE; SHOW timezone", "[SET]<-05:30>+05:30\n[SHOW]",
		"SET TIME ZONE INTERVAL '2' HOUR; SHOW timezone", "[SET]<+02>-02\n[SHOW]",
		"SET TIME ZONE 'Mars/Base'", `ERROR 22023: invalid value for parameter "TimeZone": "Mars/Base"`,
		"SET TIME ZONE LOCAL; SHOW timezone", "[SET]UTC\n[SHOW]",
		"SET statement_timeout = '5s'; SHOW statement_timeout", "[SET]5s\n[SHOW]",
		"SET statement_timeout = 90000; SHOW statement_timeout", "[SET]90s\n[SHOW]",
		"SET statement_timeout = 120000; SHOW statement_timeout", "[SET]2min\n[SHOW]",
		"SET statement_timeout = -1", `ERROR 22023: -1 ms is outside the valid range for parameter "statement_timeout" (0 .. 2147483647)`,
		"SET statement_timeout = 'soon'", `ERROR 22023: invalid value for parameter "statement_timeout": "soon"`,
		"SET work_mem = '64MB'; SHOW work_mem", "[SET]64MB\n[SHOW]",
		"RESET work_mem; SHOW work_mem", "[RESET]4MB\n[SHOW]",
		"SET DateStyle = 'German'; SHOW datestyle", "[SET]German, DMY\n[SHOW]",
		"SET DateStyle = iso, ymd; SHOW datestyle", "[SET]ISO, YMD\n[SHOW]",
		"SET DateStyle = 'klingon'", `ERROR 22023: invalid value for parameter "DateStyle": "klingon" DETAIL: Unrecognized key word: "klingon".`,
		"SET IntervalStyle = 'iso_8601'; SHOW intervalstyle", "[SET]iso_8601\n[SHOW]",
		"SET client_encoding = 'utf-8'; SHOW client_encoding", "[SET]UTF8\n[SHOW]",
		"SET NAMES 'latin1'", "ERROR 0A000: conversion between LATIN1 and UTF8 is not supported",
		"SET jit = maybe", `ERROR 22023: parameter "jit" requires a Boolean value`,
		"SET client_min_messages = 'loud'", `ERROR 22023: invalid value for parameter "client_min_messages": "loud"`,
		"SET nonsense = 1", `ERROR 42704: unrecognized configuration parameter "nonsense"`,
		"SHOW nonsense", `ERROR 42704: unrecognized configuration parameter "nonsense"`,
		"SET my.own = 'x'; SHOW my.own", "[SET]x\n[SHOW]",
		"SET tsdb.own = 'x'", `ERROR 42602: invalid configuration parameter name "tsdb.own" DETAIL: "tsdb" is a reserved prefix.`,
		"SET server_version = '9'", `ERROR 55P02: parameter "server_version" cannot be changed`,
		"SET max_connections = 9", `ERROR 55P02: parameter "max_connections" cannot be changed without restarting the server`,
		`SET search_path = a, "B c"; SHOW search_path`, "[SET]a, \"B c\"\n[SHOW]",
		"SET search_path TO DEFAULT; SHOW search_path", "[SET]\"$user\", public\n[SHOW]",
		"SET standard_conforming_strings = off", "ERROR 0A000: standard_conforming_strings = off is not supported",
		"SET extra_float_digits = -15; SHOW extra_float_digits", "[SET]-15\n[SHOW]",
		"RESET ALL; SHOW extra_float_digits", "[RESET]1\n[SHOW]",
		"SHOW server_version_num", "150008\n[SHOW]",
		"SHOW is_superuser", "on\n[SHOW]",
		"SHOW session_authorization", "tsdb\n[SHOW]",
		"SHOW transaction isolation level", "read committed\n[SHOW]",
		"SHOW tsdb.version", "test\n[SHOW]",
	)
	if all := c.run("SHOW ALL"); !strings.Contains(all, "\ntsdb.pruning|on|Skip segments") || strings.Contains(all, "is_superuser") {
		t.Error("SHOW ALL lists tsdb.pruning with a description and hides is_superuser")
	}
}

func TestSettingsFollowTheTransaction(t *testing.T) {
	c := newServer(t).connect("tsdb")
	c.script(
		"BEGIN; SET work_mem = 128; ROLLBACK; SHOW work_mem", "[BEGIN][SET][ROLLBACK]4MB\n[SHOW]",
		"BEGIN; SET LOCAL work_mem = 128; SHOW work_mem; COMMIT; SHOW work_mem", "[BEGIN][SET]128kB\n[SHOW][COMMIT]4MB\n[SHOW]",
		"BEGIN; SET work_mem = 256; SET LOCAL work_mem = 128; COMMIT; SHOW work_mem", "[BEGIN][SET][SET][COMMIT]256kB\n[SHOW]",
		"BEGIN; SAVEPOINT a; SET work_mem = 512; ROLLBACK TO a; SHOW work_mem; COMMIT", "[BEGIN][SAVEPOINT][SET][ROLLBACK]256kB\n[SHOW][COMMIT]",
	)
	c.run("SET LOCAL work_mem = 128")
	if got := c.noticeText(); got != "WARNING 25P01: SET LOCAL can only be used in transaction blocks" {
		t.Errorf("notice: %q", got)
	}
	c.run("SET timezone = 'Asia/Tokyo'")
	if got := strings.Join(c.status, " "); got != "TimeZone=Asia/Tokyo" {
		t.Errorf("ParameterStatus after SET: %q", got)
	}
	c.run("BEGIN; SET timezone = 'UTC'; ROLLBACK")
	if len(c.status) != 0 {
		t.Errorf("ParameterStatus after a rolled back SET: %q", c.status)
	}
}

func TestStartSettings(t *testing.T) {
	srv := newServer(t)
	c := srv.connect("tsdb", "TimeZone", "Asia/Tokyo", "client_encoding", "'utf-8'", "extra_float_digits", "2")
	c.script("SHOW timezone", "Asia/Tokyo\n[SHOW]", "SET timezone = 'UTC'", "[SET]", "RESET timezone", "[RESET]",
		"SHOW timezone", "Asia/Tokyo\n[SHOW]", "DISCARD ALL", "[DISCARD ALL]", "SHOW extra_float_digits", "2\n[SHOW]")
	for want, st := range map[string]Start{
		`ERROR 28000: role "nobody" does not exist`:                      {User: "nobody"},
		`ERROR 3D000: database "nowhere" does not exist`:                 {User: "tsdb", Database: "nowhere"},
		`ERROR 42704: unrecognized configuration parameter "x"`:          {User: "tsdb", Settings: map[string]string{"x": "1"}},
		`ERROR 22023: invalid value for parameter "TimeZone": "nowhere"`: {User: "tsdb", Settings: map[string]string{"timezone": "nowhere"}},
	} {
		if _, err := srv.e.NewSession(st); err == nil || errText(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	var names []string
	for _, kv := range c.s.Status() {
		names = append(names, kv[0])
	}
	const order = "application_name client_encoding DateStyle default_transaction_read_only in_hot_standby integer_datetimes IntervalStyle " +
		"is_superuser server_encoding server_version session_authorization standard_conforming_strings TimeZone"
	if got := strings.Join(names, " "); got != order {
		t.Errorf("reported: %s", got)
	}
}

func TestSetConfig(t *testing.T) {
	c := newServer(t).connect("tsdb")
	c.script(
		"SELECT set_config('work_mem', '1MB', false); SELECT current_setting('work_mem')", "1MB\n[SELECT 1]1MB\n[SELECT 1]",
		"BEGIN; SELECT set_config('work_mem', '2MB', true); COMMIT; SHOW work_mem", "[BEGIN]2MB\n[SELECT 1][COMMIT]1MB\n[SHOW]",
		"SELECT current_setting('my.own', true) IS NULL", "t\n[SELECT 1]",
		"SELECT current_user, session_user, current_database()", "tsdb|tsdb|tsdb\n[SELECT 1]",
	)
}

func TestCanonicalValues(t *testing.T) {
	for _, c := range [][3]string{
		{"work_mem", "1GB", "1048576"}, {"work_mem", "0.5MB", "512"}, {"statement_timeout", "1.5s", "1500"},
		{"enable_sort", "of", "off"}, {"enable_sort", "y", "on"}, {"random_page_cost", "1.10", "1.1"},
		{"client_min_messages", "WARNING", "warning"}, {"synchronous_commit", "yes", "on"}, {"shared_buffers", "128MB", "16384"},
	} {
		p, err := lookup(c[0])
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.canonical(nil, c[1]); err != nil || got != c[2] {
			t.Errorf("%s = %s: %q, %v; want %q", c[0], c[1], got, err, c[2])
		}
	}
}

func TestIdentifierLists(t *testing.T) {
	for in, want := range map[string]string{`"$user", public`: "$user/public", `A , "b""C"`: `a/b"C`, ``: ""} {
		got, ok := parseIdentifiers(in)
		if !ok || strings.Join(got, "/") != want {
			t.Errorf("%q: %q, %v", in, got, ok)
		}
	}
	for _, bad := range []string{`a,,b`, `"a`, `a b`, `,a`} {
		if _, ok := parseIdentifiers(bad); ok {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestStatementTimeout(t *testing.T) {
	c := newServer(t).connect("tsdb")
	c.script("SET statement_timeout = '20ms'", "[SET]",
		"SELECT count(*) FROM generate_series(1, 100000000000) AS g", "ERROR 57014: canceling statement due to statement timeout",
		"SELECT pg_sleep(600)", "ERROR 57014: canceling statement due to statement timeout",
		"SET statement_timeout = 0", "[SET]")
}

func TestCancel(t *testing.T) {
	srv := newServer(t)
	c := srv.connect("tsdb")
	pid, secret := c.s.Key()
	done := make(chan string)
	go func() { done <- c.run("SELECT count(*) FROM generate_series(1, 100000000000) AS g") }()
	for {
		c.s.mu.Lock()
		running := c.s.cancel != nil
		c.s.mu.Unlock()
		if running {
			break
		}
	}
	srv.e.Cancel(pid, [4]byte{secret[0] + 1})
	srv.e.Cancel(pid+1, secret)
	srv.e.Cancel(pid, secret)
	if got := <-done; got != "ERROR 57014: canceling statement due to user request" {
		t.Error(got)
	}
	c.want("SHOW work_mem", "4MB\n[SHOW]")
}

func TestEngineCloseEndsSessions(t *testing.T) {
	srv := newServer(t)
	c := srv.connect("tsdb")
	c.run("BEGIN")
	srv.e.Close()
	err := c.s.Simple(context.Background(), "SELECT 1", &c.log)
	if errText(err) != "ERROR 57P01: terminating connection due to administrator command" {
		t.Error(err)
	}
	select {
	case <-c.s.Done():
	default:
		t.Error("Done is not closed")
	}
	c.s.Close()
}
