package pgcatalog

import (
	"fmt"
	"strings"

	"tsdb/colstore/vector"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// textRow computes one row of a text result; ok = false is NULL.
type textRow func(s *source, args []*vector.Vector, i int) (string, bool)

func oidAt(v *vector.Vector, i int) types.OID { return v.U32[i&v.Mask()] }

// textKernel runs f on each row. Catalog functions see few rows, so a call per
// row is fine here.
func textKernel(f textRow) functions.Kernel {
	return func(c *functions.Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		s := newSource(c)
		valid := out.Valid
		out.Valid = nil
		for i := 0; i < n; i++ {
			if valid != nil && !valid.Get(i) {
				out.AppendNull()
				continue
			}
			if v, ok := f(s, args, i); ok {
				out.AppendString(v)
			} else {
				out.AppendNull()
			}
		}
		return nil
	}
}

// boolKernel runs f on each row; ok = false is NULL.
func boolKernel(f func(s *source, args []*vector.Vector, i int) (v, ok bool)) functions.Kernel {
	return func(c *functions.Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		s := newSource(c)
		for i := 0; i < n; i++ {
			if out.IsNull(i) {
				continue
			}
			v, ok := f(s, args, i)
			out.Bits.Put(i, v)
			if !ok {
				out.SetNull(i)
			}
		}
		return nil
	}
}

func sizeKernel(f func(s *source, o object) int64) functions.Kernel {
	return func(c *functions.Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		s := newSource(c)
		for i := 0; i < n; i++ {
			if out.IsNull(i) {
				continue
			}
			o, ok := s.object(oidAt(args[0], i))
			if !ok {
				out.SetNull(i)
				continue
			}
			out.I64[i] = f(s, o)
		}
		return nil
	}
}

func constant(v string) textRow {
	return func(*source, []*vector.Vector, int) (string, bool) { return v, true }
}

func null(*source, []*vector.Vector, int) (string, bool) { return "", false }

func yes(*source, []*vector.Vector, int) (bool, bool) { return true, true }

func no(*source, []*vector.Vector, int) (bool, bool) { return false, true }

func relationVisible(s *source, args []*vector.Vector, i int) (bool, bool) {
	o, ok := s.object(oidAt(args[0], i))
	return ok && s.visible(o), ok
}

func tableBytes(s *source, o object) int64 {
	if o.kind != 'r' || o.table == nil {
		return 0
	}
	b, _ := s.size(o.table)
	return b
}

func formatType(s *source, args []*vector.Vector, i int) (string, bool) {
	if args[0].IsNull(i) {
		return "", false
	}
	t := types.T(oidAt(args[0], i))
	if len(args) > 1 && !args[1].IsNull(i) {
		t.Mod = args[1].I32[i&args[1].Mask()]
	}
	if t.OID == 0 {
		return "-", true
	}
	if name, ok := s.typeName(t); ok {
		return name, true
	}
	return "???", true
}

func userByID(s *source, args []*vector.Vector, i int) (string, bool) {
	oid := oidAt(args[0], i)
	if n := s.roleName(oid); n != "" {
		return n, true
	}
	return fmt.Sprintf("unknown (OID=%d)", oid), true
}

func firstText(_ *source, args []*vector.Vector, i int) (string, bool) {
	return string(args[0].Bytes(i)), true
}

func getIndexDef(s *source, args []*vector.Vector, i int) (string, bool) {
	o, ok := s.object(oidAt(args[0], i))
	if !ok || o.index == nil {
		return "", false
	}
	if len(args) == 3 {
		if col := int(args[1].I32[i&args[1].Mask()]); col > 0 {
			if col > o.index.width() {
				return "", true
			}
			return o.index.column(col - 1), true
		}
		return s.indexDef(o.index, args[2].Bool(i)), true
	}
	return s.indexDef(o.index, false), true
}

func getConstraintDef(s *source, args []*vector.Vector, i int) (string, bool) {
	return s.constraintText(oidAt(args[0], i))
}

func encodingName(_ *source, args []*vector.Vector, i int) (string, bool) {
	switch args[0].I32[i&args[0].Mask()] {
	case 0:
		return "SQL_ASCII", true
	case 6:
		return "UTF8", true
	case 8:
		return "LATIN1", true
	}
	return "", true
}

func toReg(t types.OID) functions.Kernel {
	return func(c *functions.Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		names := Names{Ctx: c}
		for i := 0; i < n; i++ {
			if out.IsNull(i) {
				continue
			}
			id, err := names.ObjectID(t, strings.TrimSpace(string(args[0].Bytes(i))))
			if err != nil || id == 0 {
				out.SetNull(i)
				continue
			}
			out.U32[i] = id
		}
		return nil
	}
}

// fn is a stable catalog function.
func fn(oid types.OID, name string, args []types.OID, ret types.OID, k functions.Kernel, doc string) functions.Overload {
	return functions.Overload{OID: oid, Name: name, Args: args, Ret: ret, Volatility: functions.Stable, Eval: k, Doc: doc}
}

func init() {
	oid, text, i4, b := types.Oid, types.Text, types.Int4, types.Bool
	a := func(t ...types.OID) []types.OID { return t }
	add := functions.RegisterFunctions

	format := fn(1081, "format_type", a(oid, i4), text, textKernel(formatType), "SQL name of a type with its modifier")
	format.NotStrict = true
	add(format,
		fn(1642, "pg_get_userbyid", a(oid), types.Name, textKernel(userByID), "Name of the role with an OID"),
		fn(1716, "pg_get_expr", a(types.PgNodeTree, oid), text, textKernel(firstText), "Text of a stored expression"),
		fn(2509, "pg_get_expr", a(types.PgNodeTree, oid, b), text, textKernel(firstText), "Text of a stored expression"),
		fn(1643, "pg_get_indexdef", a(oid), text, textKernel(getIndexDef), "Statement that creates an index"),
		fn(2507, "pg_get_indexdef", a(oid, i4, b), text, textKernel(getIndexDef), "Statement that creates an index, or one of its columns"),
		fn(1387, "pg_get_constraintdef", a(oid), text, textKernel(getConstraintDef), "Definition of a constraint"),
		fn(2508, "pg_get_constraintdef", a(oid, b), text, textKernel(getConstraintDef), "Definition of a constraint"),
		fn(1597, "pg_encoding_to_char", a(i4), types.Name, textKernel(encodingName), "Name of an encoding"),
		fn(810, "getdatabaseencoding", a(), types.Name, textKernel(constant("UTF8")), "Encoding of the database"),
		fn(1216, "col_description", a(oid, i4), text, textKernel(columnDescription), "Comment of a column"),
		fn(1215, "obj_description", a(oid, types.Name), text, textKernel(objectDescription), "Comment of an object"),
		fn(1348, "obj_description", a(oid), text, textKernel(anyDescription), "Comment of an object"),
		fn(1993, "shobj_description", a(oid, types.Name), text, textKernel(sharedDescription), "Comment of a shared object"),
		fn(1641, "pg_get_viewdef", a(oid), text, textKernel(getViewDef), "Query of a view"),
		fn(2506, "pg_get_viewdef", a(oid, b), text, textKernel(getViewDef), "Query of a view"),
		fn(3159, "pg_get_viewdef", a(oid, i4), text, textKernel(getViewDef), "Query of a view"),
		fn(1640, "pg_get_viewdef", a(text), text, textKernel(getViewDefByName), "Query of a view"),
		fn(2505, "pg_get_viewdef", a(text, b), text, textKernel(getViewDefByName), "Query of a view"),
		fn(6174, "pg_get_statisticsobjdef_columns", a(oid), text, textKernel(null), "Columns of an extended statistics object"),
		fn(3778, "pg_tablespace_location", a(oid), text, textKernel(constant("")), "Directory of a tablespace"),
	)
	add(
		fn(2079, "pg_table_is_visible", a(oid), b, boolKernel(relationVisible), "Whether the search path finds a relation"),
		fn(2080, "pg_type_is_visible", a(oid), b, boolKernel(yes), "Whether the search path finds a type"),
		fn(2081, "pg_function_is_visible", a(oid), b, boolKernel(yes), "Whether the search path finds a function"),
		fn(2082, "pg_operator_is_visible", a(oid), b, boolKernel(yes), "Whether the search path finds an operator"),
		fn(3815, "pg_collation_is_visible", a(oid), b, boolKernel(yes), "Whether the search path finds a collation"),
		fn(6121, "pg_relation_is_publishable", a(types.Regclass), b, boolKernel(no), "Whether a relation can be published"),
		fn(3810, "pg_is_in_recovery", a(), b, boolKernel(no), "Whether recovery is in progress"),
		fn(2855, "pg_is_other_temp_schema", a(oid), b, boolKernel(no), "Whether a schema holds another session's temporary tables"),
	)
	rc := types.Regclass
	add(
		fn(2325, "pg_relation_size", a(rc), types.Int8, sizeKernel(tableBytes), "Stored bytes of a table"),
		fn(2997, "pg_table_size", a(rc), types.Int8, sizeKernel(tableBytes), "Stored bytes of a table"),
		fn(2286, "pg_total_relation_size", a(rc), types.Int8, sizeKernel(tableBytes), "Stored bytes of a table with its indexes"),
		fn(2998, "pg_indexes_size", a(rc), types.Int8, sizeKernel(func(*source, object) int64 { return 0 }), "Stored bytes of a table's indexes"),
		fn(2288, "pg_size_pretty", a(types.Int8), text, textKernel(sizePretty), "Bytes in a readable unit"),
		fn(3495, "to_regclass", a(text), rc, toReg(types.Regclass), "Relation of a name, NULL if there is none"),
		fn(3493, "to_regtype", a(text), types.Regtype, toReg(types.Regtype), "Type of a name, NULL if there is none"),
		fn(4086, "to_regnamespace", a(text), types.Regnamespace, toReg(types.Regnamespace), "Schema of a name, NULL if there is none"),
		fn(4093, "to_regrole", a(text), types.Regrole, toReg(types.Regrole), "Role of a name, NULL if there is none"),
	)
}

// sizePretty is PostgreSQL's pg_size_pretty: a unit is left once the number reaches 10,240
// of it, and halves round away from zero.
func sizePretty(_ *source, args []*vector.Vector, i int) (string, bool) {
	n := args[0].I64[i&args[0].Mask()]
	units := []string{"bytes", "kB", "MB", "GB", "TB", "PB"}
	abs := func(v int64) int64 {
		if v < 0 {
			return -v
		}
		return v
	}
	if abs(n) < 10*1024 {
		return fmt.Sprintf("%d bytes", n), true
	}
	// One binary digit more than the unit is kept for the rounding.
	n /= 512
	u := 1
	for abs(n) >= 20*1024-1 && u < len(units)-1 {
		n /= 1024
		u++
	}
	if n < 0 {
		n = (n - 1) / 2
	} else {
		n = (n + 1) / 2
	}
	return fmt.Sprintf("%d %s", n, units[u]), true
}
