package pgwire

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"tsdb/sql/pgerr"
)

// Request codes that stand where a protocol version would.
const (
	codeCancel = 80877102
	codeSSL    = 80877103
	codeGSS    = 80877104
)

// newestMinor is the newest minor version of protocol 3 that is spoken.
const newestMinor = 2

// startupPacket is a decoded StartupMessage.
type startupPacket struct {
	user, database string
	settings       map[string]string // lower-case names
	minor          int               // the protocol's, as agreed
	negotiate      bool              // the client asked for more than is there
	unknown        []string          // _pq_. options
}

// parseStartup decodes the body of a StartupMessage.
//
// Errors: FATAL, as PostgreSQL words them.
func parseStartup(body []byte) (*startupPacket, *pgerr.Error) {
	version := binary.BigEndian.Uint32(body)
	major, minor := version>>16, version&0xffff
	if major != 3 {
		return nil, fatal(pgerr.FeatureNotSupported, "unsupported frontend protocol %d.%d: server supports 3.0 to 3.%d",
			major, minor, newestMinor)
	}
	p := &startupPacket{settings: map[string]string{}, minor: int(minor)}
	switch {
	case minor > newestMinor:
		p.minor, p.negotiate = newestMinor, true
	case minor == 1: // never published
		p.minor, p.negotiate = 0, true
	}
	rest := body[4:]
	var options []string
	params := map[string]string{}
	for {
		name, tail, ok := cut(rest)
		if !ok {
			return nil, badLayout()
		}
		if name == "" {
			rest = tail
			break
		}
		value, tail, ok := cut(tail)
		if !ok {
			return nil, badLayout()
		}
		rest = tail
		switch {
		case name == "user":
			p.user = value
		case name == "database":
			p.database = value
		case name == "options":
			options = append(options, value)
		case name == "replication":
			if replicates(value) {
				return nil, fatal(pgerr.FeatureNotSupported, "replication connections are not supported")
			}
		case strings.HasPrefix(name, "_pq_."):
			p.negotiate = true
			p.unknown = append(p.unknown, name)
		default:
			params[strings.ToLower(name)] = value
		}
	}
	if len(rest) != 0 {
		return nil, badLayout()
	}
	if p.user == "" {
		return nil, fatal(pgerr.InvalidAuthorization, "no PostgreSQL user name specified in startup packet")
	}
	if p.database == "" {
		p.database = p.user
	}
	for _, o := range options {
		if err := parseOptions(o, p.settings); err != nil {
			return nil, err
		}
	}
	for k, v := range params {
		p.settings[k] = v
	}
	return p, nil
}

func badLayout() *pgerr.Error {
	return fatal(pgerr.ProtocolViolation, "invalid startup packet layout: expected terminator as last byte")
}

// cut splits a NUL-terminated string off b.
func cut(b []byte) (s string, rest []byte, ok bool) {
	i := bytes.IndexByte(b, 0)
	if i < 0 {
		return "", nil, false
	}
	return string(b[:i]), b[i+1:], true
}

func replicates(value string) bool {
	switch strings.ToLower(value) {
	case "", "false", "off", "no", "0":
		return false
	}
	return true
}

// parseOptions reads the start-up parameter options: a server command line of
// -c name=value and --name=value.
func parseOptions(s string, into map[string]string) *pgerr.Error {
	args := splitOptions(s)
	for i := 0; i < len(args); i++ {
		arg := args[i]
		var setting string
		switch {
		case arg == "-c" && i+1 < len(args):
			i++
			setting = args[i]
		case strings.HasPrefix(arg, "-c"):
			setting = arg[2:]
		case strings.HasPrefix(arg, "--"):
			setting = arg[2:]
		}
		name, value, ok := strings.Cut(setting, "=")
		if !ok || name == "" {
			return fatal(pgerr.SyntaxError, "invalid command-line argument for server process: %s", arg).
				WithHint("Options are given as -c name=value or --name=value.")
		}
		into[strings.ToLower(strings.ReplaceAll(name, "-", "_"))] = value
	}
	return nil
}

// splitOptions splits at white space; a backslash makes the next character literal.
func splitOptions(s string) []string {
	var out []string
	var cur strings.Builder
	inside := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f':
			if inside {
				out = append(out, cur.String())
				cur.Reset()
				inside = false
			}
		default:
			if c == '\\' && i+1 < len(s) {
				i++
				c = s[i]
			}
			cur.WriteByte(c)
			inside = true
		}
	}
	if inside {
		out = append(out, cur.String())
	}
	return out
}

// startup serves start-up packets up to a StartupMessage. It returns nil when
// the connection is over: a cancel request, a malformed packet, a client gone.
func (c *conn) startup() *startupPacket {
	// A client asks for TLS and GSS at most once each; more is an attack on patience.
	for range 4 {
		body, err := c.in.startup()
		if err != nil {
			c.log.Debug("invalid start-up packet", "error", err)
			return nil
		}
		switch code := binary.BigEndian.Uint32(body); code {
		case codeSSL, codeGSS:
			if c.in.buffered() > 0 {
				// What follows was sent before the answer; with TLS it could be an injection.
				c.fail(fatal(pgerr.ProtocolViolation, "received unencrypted data after SSL request"))
				return nil
			}
			c.out.open()
			c.out.buf = append(c.out.buf, 'N')
			if c.out.flush() != nil {
				return nil
			}
		case codeCancel:
			if len(body) == 12 {
				c.srv.engine.Cancel(int32(binary.BigEndian.Uint32(body[4:])), [4]byte(body[8:12]))
			}
			return nil
		default:
			p, e := parseStartup(body)
			if e != nil {
				c.fail(e)
				return nil
			}
			if p.negotiate {
				c.out.message(&pgproto3.NegotiateProtocolVersion{
					NewestMinorProtocol: 3<<16 | uint32(p.minor), UnrecognizedOptions: p.unknown})
			}
			return p
		}
	}
	return nil
}
