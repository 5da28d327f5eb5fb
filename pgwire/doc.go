// Package pgwire speaks PostgreSQL's protocol 3 (minor versions 0 and 2) to a
// client and drives a session with what it asks for.
//
// It knows sessions, portals and how values look on the wire; it knows neither
// plans nor storage.
//
// # The life of a connection
//
//	SSLRequest, GSSENCRequest → N          (TLS is not offered)
//	CancelRequest → Engine.Cancel, close
//	StartupMessage → [NegotiateProtocolVersion] → trust or SCRAM-SHA-256
//	→ AuthenticationOk, ParameterStatus..., BackendKeyData, ReadyForQuery
//	then, until Terminate or end of file:
//	  Query                                     → Session.Simple
//	  Parse, Bind, Describe, Execute, Close     → the same verbs of Session
//	  Sync                                      → Session.Sync, ReadyForQuery
//
// After an error in an extended-protocol message everything up to the next
// Sync is skipped. Data of a COPY that failed is ignored when it arrives, as
// PostgreSQL does: the client learns of the error at once.
//
// One goroutine serves one connection and is the only one that reads, writes
// and uses the session. A timer looks at the socket while a statement runs and
// cancels it when the client is gone. An idle connection holds a goroutine and
// a 2 KiB read buffer; the 64 KiB buffers come from a pool while there is
// something to carry.
//
// # Invariants
//
//   - Nothing a client sends panics or takes memory before it has sent as much:
//     a message body grows with the bytes that arrived, not with its length word.
//   - A panic below a message is logged and ends that connection alone.
//   - Rows are encoded straight into the write buffer, without an allocation
//     per row.
package pgwire
