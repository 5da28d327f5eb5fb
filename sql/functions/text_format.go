package functions

import (
	"strings"
	"unicode/utf8"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// printer appends the output form of row i of a value.
type printer func(dst []byte, c *Ctx, v *vector.Vector, i int) []byte

func printerOf(t types.Type) printer {
	return func(dst []byte, c *Ctx, v *vector.Vector, i int) []byte {
		return types.AppendText(dst, t, v, i&v.Mask(), &c.Context)
	}
}

func printersOf(args []types.Type) []printer {
	out := make([]printer, len(args))
	for i, t := range args {
		out[i] = printerOf(t)
	}
	return out
}

// concat prints all arguments that are not NULL one after the other.
func concat(args []types.Type) Kernel {
	ps := printersOf(args)
	return func(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		for i := 0; i < n; i++ {
			for k, a := range args {
				if !a.IsNull(i) {
					out.Data = ps[k](out.Data, c, a, i)
				}
			}
			endRow(out)
		}
		return nil
	}
}

// concatWS is concat with a separator, the first argument; NULL separator, NULL result.
func concatWS(args []types.Type) Kernel {
	ps := printersOf(args)
	return func(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		for i := 0; i < n; i++ {
			if args[0].IsNull(i) {
				setNull(out, i, n)
				endRow(out)
				continue
			}
			first := true
			for k, a := range args[1:] {
				if a.IsNull(i) {
					continue
				}
				if !first {
					out.Data = append(out.Data, args[0].Bytes(i)...)
				}
				first = false
				out.Data = ps[k+1](out.Data, c, a, i)
			}
			endRow(out)
		}
		return nil
	}
}

// concatCast is text || anything: the operand that is not text goes through its cast to text.
func concatCast(at int) func(args []types.Type) Kernel {
	return func(in []types.Type) Kernel {
		var conv Kernel
		if cast, ok := FindCast(in[at].OID, types.Text, CastAssignment); ok && cast.Make != nil {
			conv = cast.Make(-1, false)
		}
		return func(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
			if conv == nil {
				return concatBytes(c, out, args, n)
			}
			printed := vector.New(vector.Bytes, n)
			src := args[at]
			printed.Valid = src.Valid
			if err := conv(c, printed, []*vector.Vector{src}, src.Phys()); err != nil {
				return err
			}
			printed.Const = src.Const
			both := []*vector.Vector{args[0], args[1]}
			both[at] = printed
			return concatBytes(c, out, both, n)
		}
	}
}

// AppendIdent appends an identifier, in double quotes where SQL needs them
// (quote_ident).
func AppendIdent(dst, s []byte) []byte {
	plain := len(s) > 0
	for k, c := range s {
		lower := 'a' <= c && c <= 'z' || c == '_'
		if !lower && (k == 0 || !('0' <= c && c <= '9')) {
			plain = false
			break
		}
	}
	if plain && !reservedWords[string(s)] {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	for _, c := range s {
		if c == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}

// quotedLiteral appends a string literal; with a backslash it is an E” string.
func quotedLiteral(dst, s []byte) []byte {
	for _, c := range s {
		if c == '\\' {
			dst = append(dst, 'E')
			break
		}
	}
	dst = append(dst, '\'')
	for _, c := range s {
		if c == '\'' || c == '\\' {
			dst = append(dst, c)
		}
		dst = append(dst, c)
	}
	return append(dst, '\'')
}

// quoteRows quotes the output form of any value; nullable prints NULL as the word.
func quoteRows(nullable bool) func([]types.Type) Kernel {
	return func(in []types.Type) Kernel {
		p := printerOf(in[0])
		return func(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
			var buf []byte
			for i := 0; i < n; i++ {
				switch {
				case !args[0].IsNull(i):
					buf = p(buf[:0], c, args[0], i)
					out.Data = quotedLiteral(out.Data, buf)
				case nullable:
					out.Data = append(out.Data, "NULL"...)
				}
				endRow(out)
			}
			return nil
		}
	}
}

// formatText is format(): %s, %I, %L with position, flag and width.
func formatText(in []types.Type) Kernel {
	ps := printersOf(in)
	return func(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		for i := 0; i < n; i++ {
			if args[0].IsNull(i) {
				setNull(out, i, n)
				endRow(out)
				continue
			}
			f := formatter{c: c, out: out, args: args, printers: ps, row: i}
			if err := f.run(args[0].Bytes(i)); err != nil {
				return err
			}
			endRow(out)
		}
		return nil
	}
}

type formatter struct {
	c        *Ctx
	out      *vector.Vector
	args     []*vector.Vector
	printers []printer
	row      int
	next     int // argument used last
	buf, fit []byte
}

func errFormat(format string, args ...any) error {
	return pgerr.New(pgerr.InvalidParameterValue, format, args...)
}

func errFormatEnd() error {
	return pgerr.New(pgerr.InvalidParameterValue, "unterminated format() type specifier").WithHint("For a single \"%%\" use \"%%%%\".")
}

func (f *formatter) run(s []byte) error {
	for len(s) > 0 {
		if s[0] != '%' {
			f.out.Data = append(f.out.Data, s[0])
			s = s[1:]
			continue
		}
		s = s[1:]
		if len(s) == 0 {
			return errFormatEnd()
		}
		if s[0] == '%' {
			f.out.Data = append(f.out.Data, '%')
			s = s[1:]
			continue
		}
		var err error
		if s, err = f.directive(s); err != nil {
			return err
		}
	}
	return nil
}

// number reads decimal digits; ok is false without any.
func (f *formatter) number(s []byte) (k int, rest []byte, ok bool, err error) {
	for len(s) > 0 && '0' <= s[0] && s[0] <= '9' {
		k, ok, s = k*10+int(s[0]-'0'), true, s[1:]
		if k > 1<<30 {
			return 0, s, false, pgerr.New(pgerr.NumericValueOutOfRange, "number is out of range")
		}
	}
	if len(s) == 0 {
		return 0, s, false, errFormatEnd()
	}
	return k, s, ok, nil
}

func (f *formatter) directive(s []byte) ([]byte, error) {
	arg, width, left := -1, 0, false
	k, rest, ok, err := f.number(s)
	if err != nil {
		return s, err
	}
	if ok && rest[0] == '$' {
		if k == 0 {
			return s, errFormat("format specifies argument 0, but arguments are numbered from 1")
		}
		arg, s = k, rest[1:]
	}
	for len(s) > 0 && s[0] == '-' {
		left, s = true, s[1:]
	}
	if len(s) > 0 && s[0] == '*' {
		if width, s, err = f.indirect(s[1:]); err != nil {
			return s, err
		}
	} else if width, s, _, err = f.number(s); err != nil {
		return s, err
	}
	if width < 0 {
		width, left = -width, true
	}
	if len(s) == 0 {
		return s, errFormatEnd()
	}
	if s[0] != 's' && s[0] != 'I' && s[0] != 'L' {
		_, w := utf8.DecodeRune(s)
		return s, pgerr.New(pgerr.InvalidParameterValue, "unrecognized format() type specifier \"%s\"", s[:w]).
			WithHint("For a single \"%%\" use \"%%%%\".")
	}
	if arg < 0 {
		f.next++
		arg = f.next
	} else {
		f.next = arg
	}
	if arg >= len(f.args) {
		return s, errFormat("too few arguments for format()")
	}
	return f.convert(s, arg, width, left)
}

// indirect reads the width from an argument.
func (f *formatter) indirect(s []byte) (int, []byte, error) {
	k, rest, ok, err := f.number(s)
	if err != nil {
		return 0, s, err
	}
	arg := f.next + 1
	if ok {
		if rest[0] != '$' {
			return 0, s, errFormat("width argument position must be ended by \"$\"")
		}
		if arg, s = k, rest[1:]; k == 0 {
			return 0, s, errFormat("format specifies argument 0, but arguments are numbered from 1")
		}
	}
	f.next = arg
	if arg >= len(f.args) {
		return 0, s, errFormat("too few arguments for format()")
	}
	v := f.args[arg]
	if v.IsNull(f.row) {
		return 0, s, nil
	}
	f.buf = f.printers[arg](f.buf[:0], f.c, v, f.row)
	w, err := types.ParseInt(f.buf, 32)
	if w == -1<<31 {
		return 0, s, pgerr.New(pgerr.NumericValueOutOfRange, "number is out of range")
	}
	return int(w), s, err
}

func (f *formatter) convert(s []byte, arg, width int, left bool) ([]byte, error) {
	v := f.args[arg]
	null := v.IsNull(f.row)
	f.buf, f.fit = f.buf[:0], f.fit[:0]
	if !null {
		f.buf = f.printers[arg](f.buf, f.c, v, f.row)
	}
	switch s[0] {
	case 'I':
		if null {
			return s, pgerr.New(pgerr.NullValueNotAllowed, "null values cannot be formatted as an SQL identifier")
		}
		f.fit = AppendIdent(f.fit, f.buf)
	case 'L':
		if null {
			f.fit = append(f.fit, "NULL"...)
		} else {
			f.fit = quotedLiteral(f.fit, f.buf)
		}
	default:
		f.fit = append(f.fit, f.buf...)
	}
	if err := checkRoom(f.out, len(f.fit)+width); err != nil {
		return s, err
	}
	blanks := strings.Repeat(" ", max(0, width-utf8.RuneCount(f.fit)))
	if !left {
		f.out.Data = append(f.out.Data, blanks...)
	}
	f.out.Data = append(f.out.Data, f.fit...)
	if left {
		f.out.Data = append(f.out.Data, blanks...)
	}
	return s[1:], nil
}

// bound makes an overload whose kernel depends on the actual types.
func boundFn(name string, ret types.OID, bind func([]types.Type) Kernel, args ...types.OID) Overload {
	return Overload{Name: name, Args: args, Ret: ret, Bind: bind}
}

func init() {
	t := types.Text
	a, b := boundFn("||", t, concatCast(1), t, types.AnyNonArray), boundFn("||", t, concatCast(0), types.AnyNonArray, t)
	a.Operator, b.Operator = true, true
	RegisterFunctions(a.stable(), b.stable(),
		boundFn("concat", t, concat, types.Any).variadic().takesNulls().stable().doc("All arguments that are not NULL, printed one after the other."),
		boundFn("concat_ws", t, concatWS, t, types.Any).variadic().takesNulls().stable().doc("The arguments that are not NULL, with a separator between."),
		boundFn("format", t, formatText, t, types.Any).variadic().takesNulls().stable().fails().doc("Arguments put into a format string."),
		boundFn("format", t, formatText, t).takesNulls().stable().fails().doc("Arguments put into a format string."),
		fn("quote_ident", t, text1(AppendIdent), t).doc("As an identifier in SQL."),
		fn("quote_literal", t, text1(quotedLiteral), t).doc("As a string literal in SQL."),
		boundFn("quote_literal", t, quoteRows(false), types.AnyElement).stable().doc("As a string literal in SQL."),
		boundFn("quote_nullable", t, quoteRows(true), t).takesNulls().doc("As a string literal in SQL, or NULL."),
		boundFn("quote_nullable", t, quoteRows(true), types.AnyElement).takesNulls().stable().doc("As a string literal in SQL, or NULL."),
	)
}
