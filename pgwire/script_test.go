package pgwire

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// TestScripts plays the conversations in testdata. A line "> ..." is sent, a
// line "< ..." is what must come back; "#" is a comment. With
// PGWIRE_ORACLE=host:port they are played to a PostgreSQL instead, which keeps
// the expectations honest; lines "<! ..." are what tsdb alone sends, on
// purpose, lines "<? ..." what PostgreSQL alone sends.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.script")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	oracle := os.Getenv("PGWIRE_ORACLE")
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".script"), func(t *testing.T) {
			addr := oracle
			if addr == "" {
				addr = startServer(t, Options{}).addr
			}
			playScript(t, f, addr, oracle != "")
		})
	}
}

func playScript(t *testing.T, file, addr string, oracle bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	user := "tsdb"
	if oracle {
		user = "postgres"
	}
	f := dialFrontend(t, addr, user)
	scan := bufio.NewScanner(strings.NewReader(string(text)))
	for n := 1; scan.Scan(); n++ {
		line := scan.Text()
		where := fmt.Sprintf("%s:%d", filepath.Base(file), n)
		switch {
		case strings.HasPrefix(line, "> "):
			msg, err := parseFrontend(line[2:])
			if err != nil {
				t.Fatalf("%s: %v", where, err)
			}
			f.Send(msg)
			if err := f.Flush(); err != nil {
				t.Fatalf("%s: %v", where, err)
			}
		case strings.HasPrefix(line, "<! ") && oracle, strings.HasPrefix(line, "<? ") && !oracle, line == "", strings.HasPrefix(line, "#"):
		case line[0] == '<':
			_, want, _ := strings.Cut(line, " ")
			got := f.next()
			if got != want {
				t.Fatalf("%s: got\n  %s\nwant\n  %s", where, got, want)
			}
		default:
			t.Fatalf("%s: neither sent nor expected: %s", where, line)
		}
	}
}

// frontend is a client that says exactly what a test tells it to.
type frontend struct {
	*pgproto3.Frontend
	nc net.Conn
	t  testing.TB
}

// dialFrontend connects and reads up to the first ReadyForQuery.
func dialFrontend(t testing.TB, addr, user string) *frontend {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(30 * time.Second))
	f := &frontend{pgproto3.NewFrontend(nc, nc), nc, t}
	f.Send(&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": user}})
	if err := f.Flush(); err != nil {
		t.Fatal(err)
	}
	for {
		msg, err := f.Receive()
		if err != nil {
			t.Fatal(err)
		}
		switch m := msg.(type) {
		case *pgproto3.ErrorResponse:
			t.Fatalf("start-up: %s %s", m.Code, m.Message)
		case *pgproto3.ReadyForQuery:
			return f
		}
	}
}

func (f *frontend) send(msgs ...pgproto3.FrontendMessage) {
	f.t.Helper()
	for _, m := range msgs {
		f.Send(m)
	}
	if err := f.Flush(); err != nil {
		f.t.Fatal(err)
	}
}

// next returns the next message as a script writes it.
func (f *frontend) next() string {
	msg, err := f.Receive()
	if err != nil {
		return "end"
	}
	return formatBackend(msg)
}

// expect compares the next messages.
func (f *frontend) expect(want ...string) {
	f.t.Helper()
	for _, w := range want {
		if got := f.next(); got != w {
			f.t.Fatalf("got\n  %s\nwant\n  %s", got, w)
		}
	}
}

func formatBackend(msg pgproto3.BackendMessage) string {
	switch m := msg.(type) {
	case *pgproto3.RowDescription:
		out := "RowDescription"
		for _, c := range m.Fields {
			out += fmt.Sprintf(" %s:%d/%d/%d/%d", c.Name, c.DataTypeOID, c.DataTypeSize, c.TypeModifier, c.Format)
		}
		return out
	case *pgproto3.DataRow:
		out := "DataRow"
		for _, v := range m.Values {
			if v == nil {
				out += " NULL"
			} else {
				out += " " + strconv.Quote(string(v))
			}
		}
		return out
	case *pgproto3.ErrorResponse:
		return formatError("Error", m)
	case *pgproto3.NoticeResponse:
		return formatError("Notice", (*pgproto3.ErrorResponse)(m))
	case *pgproto3.CommandComplete:
		return "Complete " + string(m.CommandTag)
	case *pgproto3.ReadyForQuery:
		return "Ready " + string(m.TxStatus)
	case *pgproto3.ParameterDescription:
		return strings.TrimSpace(fmt.Sprintln("Parameters", strings.Trim(fmt.Sprint(m.ParameterOIDs), "[]")))
	case *pgproto3.ParameterStatus:
		return "Status " + m.Name + " " + m.Value
	case *pgproto3.CopyData:
		return "CopyData " + strconv.Quote(string(m.Data))
	case *pgproto3.CopyInResponse:
		return fmt.Sprintf("CopyIn %d %d", m.OverallFormat, m.ColumnFormatCodes)
	case *pgproto3.CopyOutResponse:
		return fmt.Sprintf("CopyOut %d %d", m.OverallFormat, m.ColumnFormatCodes)
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", msg), "*pgproto3.")
}

func formatError(kind string, m *pgproto3.ErrorResponse) string {
	out := fmt.Sprintf("%s %s %s %s", kind, m.Severity, m.Code, m.Message)
	for _, f := range []struct{ name, text string }{{"detail", m.Detail}, {"hint", m.Hint}, {"where", m.Where}} {
		if f.text != "" {
			out += " | " + f.name + ": " + f.text
		}
	}
	if m.Position != 0 {
		out += fmt.Sprintf(" | at %d", m.Position)
	}
	return out
}

// parseFrontend reads a line such as "bind p s bin 1 NULL": words, where - is the empty name.
func parseFrontend(line string) (pgproto3.FrontendMessage, error) {
	verb, rest, _ := strings.Cut(line, " ")
	name := func() string {
		word, tail, _ := strings.Cut(rest, " ")
		rest = tail
		if word == "-" {
			return ""
		}
		return word
	}
	switch verb {
	case "query":
		return &pgproto3.Query{String: rest}, nil
	case "parse":
		m := &pgproto3.Parse{}
		m.Name = name()
		if head, oids, ok := strings.Cut(m.Name, ":"); ok {
			m.Name = strings.TrimPrefix(head, "-")
			for _, o := range strings.Split(oids, ",") {
				oid, err := strconv.ParseUint(o, 10, 32)
				if err != nil {
					return nil, err
				}
				m.ParameterOIDs = append(m.ParameterOIDs, uint32(oid))
			}
		}
		m.Query = rest
		return m, nil
	case "bind":
		m := &pgproto3.Bind{}
		m.DestinationPortal, m.PreparedStatement = name(), name()
		if name() == "bin" {
			m.ResultFormatCodes = []int16{1}
		}
		for _, v := range strings.Fields(rest) {
			if v == "NULL" {
				m.Parameters = append(m.Parameters, nil)
			} else {
				m.Parameters = append(m.Parameters, []byte(v))
			}
		}
		return m, nil
	case "describe":
		kind := name()
		return &pgproto3.Describe{ObjectType: kind[0], Name: name()}, nil
	case "close":
		kind := name()
		return &pgproto3.Close{ObjectType: kind[0], Name: name()}, nil
	case "execute":
		m := &pgproto3.Execute{}
		m.Portal = name()
		n, err := strconv.ParseUint(rest, 10, 32)
		m.MaxRows = uint32(n)
		return m, err
	case "copydata":
		data, err := strconv.Unquote(rest)
		return &pgproto3.CopyData{Data: []byte(data)}, err
	case "copydone":
		return &pgproto3.CopyDone{}, nil
	case "copyfail":
		return &pgproto3.CopyFail{Message: rest}, nil
	case "sync":
		return &pgproto3.Sync{}, nil
	case "flush":
		return &pgproto3.Flush{}, nil
	case "terminate":
		return &pgproto3.Terminate{}, nil
	case "call":
		return &pgproto3.FunctionCall{Function: 1}, nil
	}
	return nil, fmt.Errorf("unknown message %q", line)
}
