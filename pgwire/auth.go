package pgwire

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/xdg-go/scram"

	"tsdb/sql/pgerr"
)

const (
	scramName       = "SCRAM-SHA-256"
	scramIterations = 4096
)

// loopback reports whether the client is on this machine: a loopback address,
// or a connection that has no network at all.
func loopback(a net.Addr) bool {
	if t, ok := a.(*net.TCPAddr); ok {
		return t.IP.IsLoopback()
	}
	return true
}

// authenticate checks who the client is. Loopback is trusted unless the server
// was told otherwise; everybody else proves a password by SCRAM-SHA-256.
//
// Errors: FATAL 28P01, 08P01; nil with ok = false when the client went away.
func (c *conn) authenticate(user string) (ok bool, e *pgerr.Error) {
	if !c.srv.opt.RequirePassword && loopback(c.nc.RemoteAddr()) {
		return true, nil
	}
	c.out.message(&pgproto3.AuthenticationSASL{AuthMechanisms: []string{scramName}})
	if c.out.flush() != nil {
		return false, nil
	}
	body, e := c.passwordMessage()
	if body == nil {
		return false, e
	}
	var first pgproto3.SASLInitialResponse
	if err := first.Decode(body); err != nil {
		return false, fatal(pgerr.ProtocolViolation, "invalid SASL message")
	}
	if first.AuthMechanism != scramName {
		return false, fatal(pgerr.ProtocolViolation, "client selected an invalid SASL authentication mechanism")
	}
	known := true
	conv, err := c.srv.conversation(user, &known)
	if err != nil {
		return false, fatal(pgerr.InternalError, "%s", err.Error())
	}
	challenge, err := conv.Step(string(first.Data))
	if err != nil {
		return false, fatal(pgerr.ProtocolViolation, "malformed SCRAM message").WithDetail("%s.", err.Error())
	}
	c.out.message(&pgproto3.AuthenticationSASLContinue{Data: []byte(challenge)})
	if c.out.flush() != nil {
		return false, nil
	}
	if body, e = c.passwordMessage(); body == nil {
		return false, e
	}
	final, err := conv.Step(string(body))
	if err != nil || !conv.Valid() || !known {
		return false, fatal(pgerr.InvalidPassword, "password authentication failed for user \"%s\"", user)
	}
	c.out.message(&pgproto3.AuthenticationSASLFinal{Data: []byte(final)})
	return true, nil
}

// passwordMessage reads a message of type 'p'; nil without an error means that the client is gone.
func (c *conn) passwordMessage() ([]byte, *pgerr.Error) {
	typ, size, err := c.in.header()
	if err != nil && !errors.Is(err, errLength) {
		return nil, nil
	}
	if typ != 'p' {
		return nil, fatal(pgerr.ProtocolViolation, "expected SASL response, got message type %d", typ)
	}
	if err != nil || size > maxStartup {
		return nil, fatal(pgerr.ProtocolViolation, "invalid message length")
	}
	body, err := c.in.payload(size)
	if err != nil {
		return nil, nil
	}
	if body == nil {
		body = []byte{}
	}
	// The message is used while the next one is read.
	return slices.Clone(body), nil
}

// conversation starts a SCRAM exchange for a role. One that does not exist or
// has no password gets an exchange that looks real, is the same each time, and fails.
func (s *Server) conversation(user string, known *bool) (*scram.ServerConversation, error) {
	verifier, ok := s.engine.Verifier(user)
	creds, parsed := parseVerifier(verifier)
	if !ok || !parsed {
		*known = false
		creds = s.mockCredentials(user)
	}
	srv, err := scram.SHA256.NewServer(func(string) (scram.StoredCredentials, error) { return creds, nil })
	if err != nil {
		return nil, err
	}
	return srv.NewConversation(), nil
}

// parseVerifier reads SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>.
func parseVerifier(s string) (c scram.StoredCredentials, ok bool) {
	s, ok = strings.CutPrefix(s, scramName+"$")
	if !ok {
		return c, false
	}
	head, keys, ok := strings.Cut(s, "$")
	if !ok {
		return c, false
	}
	iterations, salt, ok1 := strings.Cut(head, ":")
	stored, server, ok2 := strings.Cut(keys, ":")
	n, err := strconv.Atoi(iterations)
	if !ok1 || !ok2 || err != nil || n < 1 {
		return c, false
	}
	rawSalt, err1 := base64.StdEncoding.DecodeString(salt)
	storedKey, err2 := base64.StdEncoding.DecodeString(stored)
	serverKey, err3 := base64.StdEncoding.DecodeString(server)
	if err1 != nil || err2 != nil || err3 != nil || len(storedKey) != sha256.Size || len(serverKey) != sha256.Size {
		return c, false
	}
	c.KeyFactors = scram.KeyFactors{Salt: string(rawSalt), Iters: n}
	c.StoredKey, c.ServerKey = storedKey, serverKey
	return c, true
}

func (s *Server) mockCredentials(user string) scram.StoredCredentials {
	derive := func(what string) []byte {
		m := hmac.New(sha256.New, s.mockSecret[:])
		m.Write([]byte(what))
		m.Write([]byte(user))
		return m.Sum(nil)
	}
	return scram.StoredCredentials{
		KeyFactors: scram.KeyFactors{Salt: string(derive("salt")[:16]), Iters: scramIterations},
		StoredKey:  derive("stored"), ServerKey: derive("server"),
	}
}
