package sql

import (
	"math"
	"strconv"
	"unsafe"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// bulkColumn is a target column of bulk VALUES.
type bulkColumn struct {
	t     types.Type
	v     *vector.Vector
	name  string
	class targetClass
}

// targetClass groups the target types by the assignment casts that lead to
// them from int4, int8, numeric and bool.
type targetClass uint8

const (
	targetOther targetClass = iota // strings and NULL only
	targetInt
	targetFloat
	targetNumeric
	targetText // text, varchar, char(n), name
	targetBool
	targetOid // oid and its aliases: integers only
)

func classOf(oid types.OID) targetClass {
	switch oid {
	case types.Int2, types.Int4, types.Int8:
		return targetInt
	case types.Float4, types.Float8:
		return targetFloat
	case types.Numeric:
		return targetNumeric
	case types.Text, types.Varchar, types.BPChar, types.Name:
		return targetText
	case types.Bool:
		return targetBool
	case types.Oid, types.Regproc, types.Regprocedure, types.Regclass, types.Regtype, types.Regnamespace, types.Regrole:
		return targetOid
	}
	return targetOther
}

// value appends the literal to the column.
func (r *bulkReader) value(c *bulkColumn, lit *literal) error {
	switch lit.kind {
	case litNull:
		c.v.AppendNull()
		return nil
	case litString:
		return r.stringValue(c, lit)
	case litTrue, litFalse:
		return r.boolValue(c, lit)
	}
	switch c.class {
	case targetInt:
		if lit.kind == litInt && r.fastInt(c, lit) {
			return nil
		}
	case targetFloat:
		if r.fastFloat(c, lit) {
			return nil
		}
	}
	return r.numberValue(c, lit)
}

// view is s without copying; the callee does not keep or change it.
func view(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

func (r *bulkReader) stringValue(c *bulkColumn, lit *literal) error {
	text := view(r.src[lit.from:lit.to])
	if lit.doubled || lit.escape {
		r.buf = lit.appendContent(r.buf[:0], r.src)
		text = r.buf
	}
	if c.t.OID == types.Text {
		c.v.AppendBytes(text)
		return nil
	}
	err := types.ParseText(c.v, c.t, text, r.ctx)
	if err == nil {
		return nil
	}
	// A literal is read without its length or precision; applying that is a
	// conversion of the value, whose error has no position.
	if c.t.Mod >= 0 && c.t.OID != types.Interval {
		r.scratch.Reset(c.v.Kind)
		if types.ParseText(&r.scratch, types.T(c.t.OID), text, r.ctx) == nil {
			r.convertError(c, pgerr.From(err))
			return nil
		}
	}
	return r.readError(lit, err)
}

// readError gives an error of reading a literal its position.
func (r *bulkReader) readError(lit *literal, err error) error {
	return pgerr.From(err).At(position(r.src, lit.start))
}

// convertError keeps the first error of converting a value and lets the row go on.
func (r *bulkReader) convertError(c *bulkColumn, err *pgerr.Error) {
	if r.later == nil {
		r.later = err
	}
	c.v.AppendNull()
}

func (r *bulkReader) boolValue(c *bulkColumn, lit *literal) error {
	t := lit.kind == litTrue
	switch c.class {
	case targetBool:
		c.v.AppendBool(t)
		return nil
	case targetText:
		text := "false"
		if t {
			text = "true"
		}
		if c.t.OID == types.Name { // no cast of its own: the output function's t or f
			text = text[:1]
		}
		return r.convertText(c, view(text))
	}
	return r.mismatch(c, lit, types.Bool)
}

// convertText assigns the text form of a number or bool.
func (r *bulkReader) convertText(c *bulkColumn, text []byte) error {
	if err := types.ParseText(c.v, c.t, text, r.ctx); err != nil {
		r.convertError(c, pgerr.From(err))
	}
	return nil
}

func (r *bulkReader) mismatch(c *bulkColumn, lit *literal, oid types.OID) error {
	return pgerr.New(pgerr.DatatypeMismatch, "column \"%s\" is of type %s but expression is of type %s",
		c.name, types.FormatType(types.T(c.t.OID)), types.FormatType(types.T(oid))).
		WithHint("You will need to rewrite or cast the expression.").At(position(r.src, lit.start))
}

// parseInt reads up to 18 digits.
func parseInt(s string, neg bool) (n int64, ok bool) {
	if len(s) > 18 {
		return 0, false
	}
	for i := 0; i < len(s); i++ {
		n = n*10 + int64(s[i]-'0')
	}
	if neg {
		n = -n
	}
	return n, true
}

func (r *bulkReader) fastInt(c *bulkColumn, lit *literal) bool {
	n, ok := parseInt(r.src[lit.from:lit.to], lit.neg)
	return ok && appendInt(c, n)
}

// appendInt appends n if it is in the range of the column's type.
func appendInt(c *bulkColumn, n int64) bool {
	switch c.t.OID {
	case types.Int2:
		if n != int64(int16(n)) {
			return false
		}
		c.v.AppendInt16(int16(n))
	case types.Int4:
		if n != int64(int32(n)) {
			return false
		}
		c.v.AppendInt32(int32(n))
	default:
		c.v.AppendInt64(n)
	}
	return true
}

func (r *bulkReader) fastFloat(c *bulkColumn, lit *literal) bool {
	bits := 64
	if c.t.OID == types.Float4 {
		bits = 32
	}
	x, err := strconv.ParseFloat(r.src[lit.from:lit.to], bits)
	if err != nil || x == 0 && lit.kind != litInt || x != 0 && x < smallest(bits) {
		return false
	}
	if lit.neg && x != 0 { // numeric has no -0
		x = -x
	}
	if bits == 32 {
		c.v.AppendFloat32(float32(x))
	} else {
		c.v.AppendFloat64(x)
	}
	return true
}

// smallest is the least normal number: below it PostgreSQL's input may refuse.
func smallest(bits int) float64 {
	if bits == 32 {
		return 0x1p-126
	}
	return 0x1p-1022
}

// numberType is the type of a numeric literal.
func numberType(lit *literal, digits string) types.OID {
	if lit.kind == litNumeric {
		return types.Numeric
	}
	sign := ""
	if lit.neg {
		sign = "-"
	}
	n, err := strconv.ParseInt(sign+digits, 10, 64)
	switch {
	case err != nil:
		return types.Numeric
	case n >= math.MinInt32 && n <= math.MaxInt32:
		return types.Int4
	}
	return types.Int8
}

// numberValue is the general path of numeric literals: through the canonical
// text of the literal's own type.
func (r *bulkReader) numberValue(c *bulkColumn, lit *literal) error {
	digits := r.src[lit.from:lit.to]
	oid := numberType(lit, digits)
	switch {
	case c.class == targetOther, c.class == targetBool, c.class == targetOid && oid == types.Numeric:
		if oid == types.Numeric {
			// The constant itself is read first and may be refused.
			if _, err := r.canonical(lit, -1); err != nil {
				return r.readError(lit, err)
			}
		}
		return r.mismatch(c, lit, oid)
	case c.class == targetOid:
		return r.oidValue(c, lit, oid)
	}
	mod := int32(-1)
	if c.class == targetInt {
		mod = 1000<<16 + 4 // numeric(1000, 0): rounds
	}
	if c.class == targetNumeric && c.t.Mod < 0 {
		r.signed(lit)
		if err := types.ParseText(c.v, c.t, r.buf, r.ctx); err != nil {
			return r.readError(lit, err)
		}
		return nil
	}
	text, err := r.canonical(lit, mod)
	if err != nil {
		return r.readError(lit, err)
	}
	if c.class != targetInt {
		return r.convertText(c, text)
	}
	if n, err := strconv.ParseInt(string(text), 10, 64); err != nil || !appendInt(c, n) {
		r.convertError(c, pgerr.New(pgerr.NumericValueOutOfRange, "%s out of range", types.FormatType(types.T(c.t.OID))))
	}
	return nil
}

// signed puts the literal with its sign into buf.
func (r *bulkReader) signed(lit *literal) {
	r.buf = r.buf[:0]
	if lit.neg {
		r.buf = append(r.buf, '-')
	}
	r.buf = append(r.buf, r.src[lit.from:lit.to]...)
}

// canonical returns the literal's text as numeric prints it.
func (r *bulkReader) canonical(lit *literal, mod int32) ([]byte, error) {
	t := types.Type{OID: types.Numeric, Mod: mod}
	r.signed(lit)
	r.scratch.Reset(vector.Bytes)
	if err := types.ParseText(&r.scratch, t, r.buf, r.ctx); err != nil {
		// Rounding needs room that a number near the limit does not have.
		r.scratch.Reset(vector.Bytes)
		if err = types.ParseText(&r.scratch, types.T(types.Numeric), r.buf, r.ctx); err != nil {
			return nil, err
		}
	}
	r.buf = types.AppendText(r.buf[:0], types.T(types.Numeric), &r.scratch, 0, r.ctx)
	return r.buf, nil
}

func (r *bulkReader) oidValue(c *bulkColumn, lit *literal, oid types.OID) error {
	r.signed(lit)
	n, _ := strconv.ParseInt(string(r.buf), 10, 64)
	if oid == types.Int8 && n != int64(uint32(n)) {
		r.convertError(c, pgerr.New(pgerr.NumericValueOutOfRange, "OID out of range"))
		return nil
	}
	c.v.AppendUint32(uint32(n)) // int4 is binary compatible: negative numbers wrap
	return nil
}
