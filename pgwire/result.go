package pgwire

import (
	"tsdb/colstore/vector"
	"tsdb/exec/session"
	"tsdb/planner/logical"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

var (
	_ session.Result = (*conn)(nil)
	_ session.Client = (*conn)(nil)
)

// Columns announces rows.
func (c *conn) Columns(cols []logical.Column) error {
	if !c.query {
		c.rows.prepare(cols, c.formats, c.sess.Context())
		return c.out.err
	}
	c.rowDescription(cols, nil)
	c.rows.prepare(cols, nil, c.sess.Context())
	return c.out.err
}

// Rows sends a batch.
func (c *conn) Rows(b *vector.Batch) error { return c.rows.rows(c.out, b) }

// Complete ends a statement.
func (c *conn) Complete(tag string) error {
	if err := c.copy.drain(); err != nil {
		return err
	}
	start := c.out.begin('C')
	c.out.string(tag)
	c.out.end(start)
	return c.out.err
}

// Empty ends an empty query string.
func (c *conn) Empty() error {
	c.out.empty('I')
	return c.out.err
}

// Suspended ends an Execute at its row limit.
func (c *conn) Suspended() error {
	c.out.empty('s')
	return c.out.err
}

// Notice sends a notice, warning or other message that is no error.
func (c *conn) Notice(n *pgerr.Error) {
	if n.Severity == "" {
		m := *n
		m.Severity = pgerr.SevNotice
		n = &m
	}
	c.out.report('N', n)
}

// FlushNotices sends the notices of a statement that goes on for long.
func (c *conn) FlushNotices() { c.out.write() }

// ParameterStatus reports a setting.
func (c *conn) ParameterStatus(name, value string) {
	start := c.out.begin('S')
	c.out.string(name)
	c.out.string(value)
	c.out.end(start)
}

// RemoteAddr returns the client's address, [local] without a network.
func (c *conn) RemoteAddr() string { return c.remote }

func (c *conn) parameterDescription(params []types.OID) {
	start := c.out.begin('t')
	c.out.int16(len(params))
	for _, oid := range params {
		c.out.int32(oid)
	}
	c.out.end(start)
}

func (c *conn) rowDescriptionOrNone(cols []logical.Column, formats []int16) {
	if cols == nil {
		c.out.empty('n')
		return
	}
	c.rowDescription(cols, formats)
}

func (c *conn) rowDescription(cols []logical.Column, formats []int16) {
	w := c.out
	start := w.begin('T')
	w.int16(len(cols))
	for i := range cols {
		col := &cols[i]
		size := int16(-1)
		if info, ok := types.Lookup(col.Type.OID); ok {
			size = info.Len
		}
		w.string(col.Name)
		w.int32(col.Table)
		w.int16(int(col.AttNum))
		shown := col.Type.Shown()
		w.int32(shown.OID)
		w.int16(int(size))
		w.int32(uint32(shown.Mod))
		w.int16(int(formatOf(formats, i)))
	}
	w.end(start)
}
