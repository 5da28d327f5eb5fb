package scalar

import (
	"fmt"
	"strconv"
	"strings"

	"tsdb/colstore/vector"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// maxListItems bounds how much of a long IN list is printed.
const maxListItems = 100

// Names of the functions behind a syntax of arrays: ARRAY[...] and a[i].
const (
	ArrayConstructor = "ARRAY[]"
	ArraySubscript   = "[]"
)

// Format returns e as PostgreSQL's EXPLAIN prints conditions, such as
// ((delay > 5) AND (origin = 'SEA'::text)), with all casts.
func Format(e Expr) string {
	p := printer{}
	p.expr(e)
	return p.b.String()
}

// String returns e with everything that binding added: the index of each
// column, casts with a ~ in front where they are implicit, slots as ^index.
func String(e Expr) string {
	p := printer{full: true}
	p.expr(e)
	return p.b.String()
}

type printer struct {
	b    strings.Builder
	full bool
}

func (p *printer) put(s ...string) {
	for _, x := range s {
		p.b.WriteString(x)
	}
}

func (p *printer) list(sep string, es []Expr) {
	for i, e := range es {
		if i > 0 {
			p.put(sep)
		}
		p.expr(e)
	}
}

func (p *printer) expr(e Expr) {
	switch e := e.(type) {
	case *Column:
		p.name(e.Name, "#", e.Index)
	case *Slot:
		p.name(e.Name, "^", e.Index)
	case *Const:
		p.constant(e)
	case *Param:
		p.put("$", strconv.Itoa(e.Number))
	case *Call:
		p.call(e)
	case *Cast:
		p.cast(e)
	case *Logic:
		p.put("(")
		p.list(map[bool]string{false: " AND ", true: " OR "}[e.Or], e.Args)
		p.put(")")
	case *Not:
		p.put("(NOT ")
		p.expr(e.Arg)
		p.put(")")
	case *IsNull:
		p.test(e.Arg, e.Negate, "NULL")
	case *BoolTest:
		p.test(e.Arg, e.Negate, [...]string{"TRUE", "FALSE", "UNKNOWN"}[e.Value])
	case *Distinct:
		p.distinct(e)
	case *Case:
		p.cases(e)
	case *Coalesce:
		p.put("COALESCE(")
		p.list(", ", e.Args)
		p.put(")")
	case *MinMax:
		p.put(map[bool]string{false: "LEAST(", true: "GREATEST("}[e.Greatest])
		p.list(", ", e.Args)
		p.put(")")
	case *InList:
		p.inList(e)
	case *ArrayCompare:
		p.put("(")
		p.expr(e.Left)
		p.put(" ", e.Op.Name, map[bool]string{false: " ANY (", true: " ALL ("}[e.All])
		p.expr(e.Array)
		p.put("))")
	case *Subquery:
		p.subquery(e)
	default:
		p.put(fmt.Sprintf("<%T>", e))
	}
}

func (p *printer) name(name, mark string, index int) {
	p.put(name)
	if p.full {
		p.put(mark, strconv.Itoa(index))
	}
}

func (p *printer) test(e Expr, negate bool, what string) {
	p.put("(")
	p.expr(e)
	p.put(" IS ")
	if negate {
		p.put("NOT ")
	}
	p.put(what, ")")
}

func (p *printer) distinct(e *Distinct) {
	if e.Negate {
		p.put("(NOT ")
	}
	p.put("(")
	p.expr(e.Left)
	p.put(" IS DISTINCT FROM ")
	p.expr(e.Right)
	p.put(")")
	if e.Negate {
		p.put(")")
	}
}

func (p *printer) cases(e *Case) {
	p.put("CASE")
	for _, w := range e.Whens {
		p.put(" WHEN ")
		p.expr(w.Cond)
		p.put(" THEN ")
		p.expr(w.Then)
	}
	if e.Else != nil {
		p.put(" ELSE ")
		p.expr(e.Else)
	}
	p.put(" END")
}

// call prints operators in their place and functions that have a syntax of
// their own in SQL with it.
func (p *printer) call(e *Call) {
	switch {
	case e.Fn.Operator && len(e.Args) == 2:
		p.put("(")
		p.expr(e.Args[0])
		p.put(" ", e.Fn.Name, " ")
		p.expr(e.Args[1])
		p.put(")")
	case e.Fn.Operator:
		p.put("(", e.Fn.Name, " ")
		p.list(", ", e.Args)
		p.put(")")
	case e.Fn.Name == "timezone" && len(e.Args) == 2:
		p.put("(")
		p.expr(e.Args[1])
		p.put(" AT TIME ZONE ")
		p.expr(e.Args[0])
		p.put(")")
	case e.Fn.Name == "extract" && len(e.Args) == 2 && isText(e.Args[0]):
		p.put("EXTRACT(", string(e.Args[0].(*Const).Value.Bytes(0)), " FROM ")
		p.expr(e.Args[1])
		p.put(")")
	case e.Fn.Name == ArrayConstructor:
		p.put("ARRAY[")
		p.list(", ", e.Args)
		p.put("]")
	case e.Fn.Name == ArraySubscript:
		p.expr(e.Args[0])
		for _, a := range e.Args[1:] {
			p.put("[")
			p.expr(a)
			p.put("]")
		}
	default:
		p.put(e.Fn.Name, "(")
		p.list(", ", e.Args)
		p.put(")")
	}
}

func isText(e Expr) bool {
	c, ok := e.(*Const)
	return ok && c.Value.Kind == vector.Bytes && !c.Value.IsNull(0)
}

func (p *printer) cast(e *Cast) {
	p.put("(")
	p.expr(e.Arg)
	p.put(")")
	if e.Implicit && p.full {
		p.put("~")
	}
	p.put("::", types.FormatType(e.Typ))
}

func (p *printer) constant(e *Const) {
	if e.Value.IsNull(0) {
		p.put("NULL")
		if e.Typ.OID != types.Unknown {
			p.put("::", types.FormatType(e.Typ))
		}
		return
	}
	text := string(types.AppendText(nil, e.Typ, e.Value, 0, &types.Context{}))
	switch e.Typ.OID {
	case types.Bool:
		p.put(map[string]string{"t": "true", "f": "false"}[text])
		return
	case types.Int4:
		if text[0] != '-' {
			p.put(text)
			return
		}
	case types.Numeric:
		if text[0] >= '0' && text[0] <= '9' && strings.ContainsAny(text, "eE.") {
			p.put(text)
			if e.Typ.Mod >= 0 {
				p.put("::", types.FormatType(e.Typ))
			}
			return
		}
	}
	p.put(quote(text))
	if e.Typ.OID != types.Unknown {
		p.put("::", types.FormatType(e.Typ))
	}
}

func quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

// inList prints the comparison with an array that PostgreSQL makes of IN.
func (p *printer) inList(e *InList) {
	t := e.Arg.ResultType()
	p.put("(")
	p.expr(e.Arg)
	p.put(map[bool]string{false: " = ANY (", true: " <> ALL ("}[e.Negate])
	n := min(e.List.N, maxListItems)
	array := functions.AppendArray(nil, t.OID, e.List, 0, n)
	v := vector.New(vector.Bytes, 1)
	v.AppendBytes(array)
	text := string(types.AppendText(nil, types.T(types.ArrayOf(t.OID)), v, 0, &types.Context{}))
	if e.HasNull {
		text = strings.TrimSuffix(text, "}")
		if n > 0 {
			text += ","
		}
		text += "NULL}"
	}
	if n < e.List.N {
		text = strings.TrimSuffix(text, "}") + ",...}"
	}
	p.put(quote(text), "::", types.FormatType(types.T(types.ArrayOf(t.OID))), "))")
}

func (p *printer) subquery(e *Subquery) {
	switch e.Kind {
	case SubExists:
		p.put("EXISTS(SubPlan)")
	case SubArray:
		p.put("ARRAY(SubPlan)")
	case SubAny, SubAll, SubRow:
		if e.Match != nil {
			p.put("(ROW(")
			p.list(", ", e.Tests)
			p.put(") ", map[SubqueryKind]string{SubAny: "ANY ", SubAll: "ALL ", SubRow: "= "}[e.Kind], "(SubPlan))")
			break
		}
		p.put("(")
		p.expr(e.Test)
		p.put(" ", e.Op.Name, map[SubqueryKind]string{SubAny: " ANY ", SubAll: " ALL "}[e.Kind], "(SubPlan))")
	default:
		p.put("(SubPlan)")
	}
	if p.full && len(e.Outer) > 0 {
		p.put("[")
		p.list(", ", e.Outer)
		p.put("]")
	}
}
