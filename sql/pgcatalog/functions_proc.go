package pgcatalog

import (
	"strings"

	"tsdb/colstore/vector"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// procedure is what pg_proc functions say about one entry of the registry.
type procedure struct {
	args     []types.OID
	names    []string
	variadic bool
	ret      string
}

func procedureOf(oid types.OID) (procedure, bool) {
	for o := range functions.AllFunctions {
		if o.OID == oid && !o.Operator {
			return procedure{o.Args, o.ArgNames, o.Variadic, types.FormatType(types.T(o.Ret))}, true
		}
	}
	for a := range functions.AllAggregates {
		if a.OID == oid {
			return procedure{args: a.Args, ret: types.FormatType(types.T(a.Ret))}, true
		}
	}
	for f := range functions.AllSetReturning {
		if f.OID == oid {
			ret := "SETOF record"
			if len(f.Types) == 1 {
				ret = "SETOF " + types.FormatType(types.T(f.Types[0]))
			}
			return procedure{args: f.Args, ret: ret}, true
		}
	}
	return procedure{}, false
}

func functionResult(_ *source, args []*vector.Vector, i int) (string, bool) {
	p, ok := procedureOf(oidAt(args[0], i))
	return p.ret, ok
}

func functionArguments(_ *source, args []*vector.Vector, i int) (string, bool) {
	p, ok := procedureOf(oidAt(args[0], i))
	parts := make([]string, len(p.args))
	for j, a := range p.args {
		parts[j] = types.FormatType(types.T(a))
		if j < len(p.names) && p.names[j] != "" {
			parts[j] = QuoteIdent(p.names[j]) + " " + parts[j]
		}
		if p.variadic && j == len(p.args)-1 {
			parts[j] = "VARIADIC " + parts[j]
		}
	}
	return strings.Join(parts, ", "), ok
}

func databaseSize(c *functions.Ctx, out *vector.Vector, _ []*vector.Vector, n int) error {
	s := newSource(c)
	total := int64(0)
	for _, t := range s.cat.Tables() {
		b, _ := s.size(t)
		total += b
	}
	for i := 0; i < n; i++ {
		out.I64[i] = total
	}
	return nil
}

func init() {
	a := func(t ...types.OID) []types.OID { return t }
	functions.RegisterFunctions(
		fn(2165, "pg_get_function_result", a(types.Oid), types.Text, textKernel(functionResult), "Result type of a function"),
		fn(2162, "pg_get_function_arguments", a(types.Oid), types.Text, textKernel(functionArguments), "Arguments of a function"),
		fn(2232, "pg_get_function_identity_arguments", a(types.Oid), types.Text, textKernel(functionArguments), "Arguments that identify a function"),
		fn(2710, "pg_has_role", a(types.Oid, types.Text), types.Bool, boolKernel(yes), "Whether the user is a member of a role"),
		fn(2709, "pg_has_role", a(types.Name, types.Text), types.Bool, boolKernel(yes), "Whether the user is a member of a role"),
		fn(2168, "pg_database_size", a(types.Name), types.Int8, databaseSize, "Stored bytes of the database"),
		fn(2324, "pg_database_size", a(types.Oid), types.Int8, databaseSize, "Stored bytes of the database"),
		fn(2322, "pg_tablespace_size", a(types.Oid), types.Int8, databaseSize, "Stored bytes of a tablespace"),
	)
}
