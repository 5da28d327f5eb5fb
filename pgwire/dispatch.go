package pgwire

import (
	"github.com/jackc/pgx/v5/pgproto3"

	"tsdb/sql/pgerr"
)

// dispatch serves a message that stands between statements; false ends the connection.
func (c *conn) dispatch(typ byte, body []byte) bool {
	if typ == 'X' {
		c.out.flush() // answers to what was sent before it
		return false
	}
	if c.skip && typ != 'S' {
		return true
	}
	switch typ {
	case 'Q':
		return c.simpleQuery(body)
	case 'P':
		return c.extended(c.onParse(body))
	case 'B':
		return c.extended(c.onBind(body))
	case 'D':
		return c.extended(c.onDescribe(body))
	case 'E':
		return c.extended(c.onExecute(body))
	case 'C':
		return c.extended(c.onClose(body))
	case 'S':
		return c.onSync()
	case 'H':
		c.out.want = true
		return true
	case 'd', 'c', 'f': // left over from a COPY that failed
		return true
	case 'F':
		c.reportError(pgerr.Unsupported("the function call protocol"))
		c.ready()
		return true
	}
	c.fail(fatal(pgerr.ProtocolViolation, "invalid frontend message type %d", typ))
	return false
}

// errFormat is a message whose body does not follow the protocol. Its length
// was right, so the conversation goes on.
func errFormat(detail error) error {
	return pgerr.New(pgerr.ProtocolViolation, "invalid message format").WithCause(detail)
}

// simpleQuery runs a query string.
func (c *conn) simpleQuery(body []byte) bool {
	var q pgproto3.Query
	err := q.Decode(body)
	if err != nil {
		err = errFormat(err)
	} else {
		c.query = true
		err = c.run(func() error { return c.sess.Simple(c.ctx, q.String, c) })
		c.query = false
	}
	if err != nil && !c.stopped(err) {
		return false
	}
	c.ready()
	return true
}

// run runs a statement: the client is watched, a COPY left open is finished.
func (c *conn) run(statement func() error) error {
	c.copy = copyState{}
	c.startWatch()
	err := statement()
	c.copy.release()
	c.stopWatch()
	if err == nil {
		return c.copy.drain()
	}
	c.copy.abandon()
	return err
}

// stopped reports a statement's error; false ends the connection.
func (c *conn) stopped(err error) bool {
	if c.out.err != nil {
		return false
	}
	if c.copy.broken {
		c.fail(asError(err))
		return false
	}
	if c.ctx.Err() != nil {
		if c.srv.draining.Load() {
			c.fail(errShutdown())
		}
		return false
	}
	e := asError(err)
	if e.Severity == pgerr.SevFatal {
		c.fail(e)
		return false
	}
	c.reportError(e)
	return true
}

func (c *conn) reportError(e *pgerr.Error) {
	c.out.report('E', e)
	c.out.want = true
}

// extended ends an extended-protocol message; false ends the connection.
func (c *conn) extended(err error) bool {
	if err == nil {
		return true
	}
	c.skip = true
	if !c.stopped(err) {
		return false
	}
	c.sess.Fail()
	return true
}

func (c *conn) onParse(body []byte) error {
	m := &c.parse
	if err := m.Decode(body); err != nil {
		return errFormat(err)
	}
	if err := c.sess.Parse(c.ctx, m.Name, m.Query, m.ParameterOIDs); err != nil {
		return err
	}
	c.out.empty('1')
	return nil
}

// boundPortal remembers the formats of the unnamed portal from Bind to its
// first Execute, the path that nearly every driver takes.
type boundPortal struct {
	formats []int16
	fresh   bool
}

func (c *conn) onBind(body []byte) error {
	m := &c.bind
	if err := m.Decode(body); err != nil {
		return errFormat(err)
	}
	c.bound.fresh = false
	if err := c.sess.Bind(c.ctx, m.DestinationPortal, m.PreparedStatement, m.ParameterFormatCodes, m.Parameters,
		m.ResultFormatCodes); err != nil {
		return err
	}
	if m.DestinationPortal == "" {
		c.bound = boundPortal{formats: append(c.bound.formats[:0], m.ResultFormatCodes...), fresh: true}
	}
	c.out.empty('2')
	return nil
}

func (c *conn) onDescribe(body []byte) error {
	m := &c.describe
	if err := m.Decode(body); err != nil {
		return errFormat(err)
	}
	switch m.ObjectType {
	case 'S':
		d, err := c.sess.DescribeStatement(c.ctx, m.Name)
		if err != nil {
			return err
		}
		c.parameterDescription(d.Params)
		c.rowDescriptionOrNone(d.Cols, nil)
	case 'P':
		d, err := c.sess.DescribePortal(m.Name)
		if err != nil {
			return err
		}
		c.rowDescriptionOrNone(d.Cols, d.Formats)
	default:
		return pgerr.New(pgerr.ProtocolViolation, "invalid DESCRIBE message subtype %d", m.ObjectType)
	}
	return nil
}

func (c *conn) onExecute(body []byte) error {
	m := &c.execute
	if err := m.Decode(body); err != nil {
		return errFormat(err)
	}
	formats := c.bound.formats
	if m.Portal != "" || !c.bound.fresh {
		d, err := c.sess.DescribePortal(m.Portal)
		if err != nil {
			return err
		}
		formats = d.Formats
		c.rows.prepare(d.Cols, formats, c.sess.Context())
	}
	c.bound.fresh = false
	c.formats = formats
	return c.run(func() error { return c.sess.Execute(c.ctx, m.Portal, int64(m.MaxRows), c) })
}

func (c *conn) onClose(body []byte) error {
	m := &c.close
	if err := m.Decode(body); err != nil {
		return errFormat(err)
	}
	switch m.ObjectType {
	case 'S':
		c.sess.CloseStatement(m.Name)
	case 'P':
		if m.Name == "" {
			c.bound.fresh = false
		}
		c.sess.ClosePortal(m.Name)
	default:
		return pgerr.New(pgerr.ProtocolViolation, "invalid CLOSE message subtype %d", m.ObjectType)
	}
	c.out.empty('3')
	return nil
}

// onSync commits the implicit transaction.
func (c *conn) onSync() bool {
	c.skip = false
	c.bound.fresh = false
	if err := c.run(func() error { return c.sess.Sync(c.ctx) }); err != nil && !c.stopped(err) {
		return false
	}
	c.ready()
	return true
}
