package pgcatalog

import (
	"slices"
	"strings"

	"tsdb/colstore/vector"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// There are no privileges: every role may do everything. The functions that ask
// for one answer true once they know the role, the object and the privilege.

// privileged is a kind of object that has privileges.
type privileged struct {
	function string
	names    []string // of its privileges
	// find looks for an object by name; the error says that it does not exist.
	find func(s *source, name string) error
	// exists reports whether there is an object of an OID; a question about none is NULL.
	exists func(s *source, oid types.OID) bool
}

// checkPrivileges refuses a list with a privilege that the kind does not have.
func (p *privileged) checkPrivileges(list string) error {
	for _, one := range strings.Split(list, ",") {
		one = strings.TrimSpace(one)
		name := strings.TrimSuffix(strings.ToUpper(one), " WITH GRANT OPTION")
		if !slices.Contains(p.names, name) {
			return pgerr.New(pgerr.InvalidParameterValue, "unrecognized privilege type: \"%s\"", one)
		}
	}
	return nil
}

func missing(code pgerr.Code, what, name string) error {
	return pgerr.New(code, "%s \"%s\" does not exist", what, name)
}

// findRole accepts the names of roles and public, and any OID.
func findRole(s *source, v *vector.Vector, i int) error {
	if v.Kind == vector.Uint32 {
		return nil
	}
	name := string(v.Bytes(i))
	if _, ok := s.cat.Role(name); !ok && name != "public" {
		return missing(pgerr.UndefinedObject, "role", name)
	}
	return nil
}

// byReg finds an object by the input of a reg type.
func byReg(t types.OID) func(*source, string) error {
	return func(s *source, name string) error {
		_, err := Names{Ctx: s.ctx}.ObjectID(t, name)
		return err
	}
}

func isObject(s *source, oid types.OID) bool { _, ok := s.object(oid); return ok }

func isType(s *source, oid types.OID) bool { _, ok := s.typeName(types.T(oid)); return ok }

func findSequence(s *source, name string) error {
	id, err := Names{Ctx: s.ctx}.ObjectID(types.Regclass, name)
	if err != nil {
		return err
	}
	if o, ok := s.object(id); ok && o.kind != 'S' {
		return pgerr.New(pgerr.WrongObjectType, "\"%s\" is not a sequence", o.name)
	}
	return nil
}

// findFunction looks at the name only, not at the arguments in brackets.
func findFunction(_ *source, text string) error {
	name, _, _ := strings.Cut(text, "(")
	name = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(name)), "pg_catalog.")
	if functions.Functions(name) == nil && functions.Aggregates(name) == nil && functions.SetReturningFunctions(name) == nil {
		return missing(pgerr.UndefinedFunction, "function", text)
	}
	return nil
}

func oneOfNames(code pgerr.Code, what string, known ...string) func(*source, string) error {
	return func(_ *source, name string) error {
		if !slices.Contains(known, name) {
			return missing(code, what, name)
		}
		return nil
	}
}

func anyOID(*source, types.OID) bool { return true }

func kindsWithPrivileges() []privileged {
	tables := []string{"SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER", "RULE"}
	columns, usage := []string{"SELECT", "INSERT", "UPDATE", "REFERENCES"}, []string{"USAGE"}
	return []privileged{
		{"table", tables, byReg(types.Regclass), isObject},
		{"any_column", columns, byReg(types.Regclass), isObject},
		{"sequence", []string{"USAGE", "SELECT", "UPDATE"}, findSequence, isObject},
		{"schema", []string{"CREATE", "USAGE"}, func(s *source, name string) error {
			if _, ok := s.cat.Schema(name); !ok {
				return missing(pgerr.InvalidSchemaName, "schema", name)
			}
			return nil
		}, func(s *source, oid types.OID) bool { return s.schemaName(oid) != "" }},
		{"database", []string{"CREATE", "TEMPORARY", "TEMP", "CONNECT"}, func(s *source, name string) error {
			if s.ctx.Session != nil && s.ctx.Session.Database() != name {
				return missing(pgerr.InvalidCatalogName, "database", name)
			}
			return nil
		}, anyOID},
		{"function", []string{"EXECUTE"}, findFunction, anyOID},
		{"type", usage, byReg(types.Regtype), isType},
		{"language", usage, oneOfNames(pgerr.UndefinedObject, "language", "internal", "c", "sql", "plpgsql"), anyOID},
		{"tablespace", []string{"CREATE"}, oneOfNames(pgerr.UndefinedObject, "tablespace", "pg_default", "pg_global"), anyOID},
		{"foreign_data_wrapper", usage, oneOfNames(pgerr.UndefinedObject, "foreign-data wrapper"), anyOID},
		{"server", usage, oneOfNames(pgerr.UndefinedObject, "server"), anyOID},
	}
}

// ask is the kernel of one form: role says whether the first argument is a role.
func (p privileged) ask(role bool) functions.Kernel {
	return privilegeKernel(func(s *source, args []*vector.Vector, i int) (bool, error) {
		if role {
			if err := findRole(s, args[0], i); err != nil {
				return false, err
			}
			args = args[1:]
		}
		ok := true
		if args[0].Kind == vector.Uint32 {
			ok = p.exists(s, oidAt(args[0], i))
		} else if err := p.find(s, string(args[0].Bytes(i))); err != nil {
			return false, err
		}
		return ok, p.checkPrivileges(string(args[len(args)-1].Bytes(i)))
	})
}

// askColumn has the column, by name or number, before the privilege.
func askColumn(p privileged, role bool) functions.Kernel {
	whole := p.ask(role)
	return func(c *functions.Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		k := len(args) - 2
		rest := append(slices.Clone(args[:k]), args[k+1])
		if err := whole(c, out, rest, n); err != nil {
			return err
		}
		return privilegeKernel(func(s *source, args []*vector.Vector, i int) (bool, error) {
			return s.hasColumn(args[k-1], args[k], i)
		})(c, out, args, n)
	}
}

func (s *source) hasColumn(relation, column *vector.Vector, i int) (bool, error) {
	var id types.OID
	if relation.Kind == vector.Uint32 {
		id = oidAt(relation, i)
	} else {
		var err error
		if id, err = (Names{Ctx: s.ctx}).ObjectID(types.Regclass, string(relation.Bytes(i))); err != nil {
			return false, err
		}
	}
	o, ok := s.object(id)
	if !ok || o.table == nil || column.Kind != vector.Bytes {
		return ok, nil // a number, or a relation of the system
	}
	name := string(column.Bytes(i))
	for j := range o.table.Columns {
		if o.table.Columns[j].Name == name {
			return true, nil
		}
	}
	return false, pgerr.New(pgerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", name, o.name)
}

// privilegeKernel runs f on each row; false is NULL.
func privilegeKernel(f func(s *source, args []*vector.Vector, i int) (bool, error)) functions.Kernel {
	return func(c *functions.Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		s := newSource(c)
		for i := 0; i < n; i++ {
			if out.IsNull(i) {
				continue
			}
			ok, err := f(s, args, i)
			if err != nil {
				return err
			}
			out.Bits.Put(i, true)
			if !ok {
				out.SetNull(i)
			}
		}
		return nil
	}
}

func privilegeFunction(name string, k functions.Kernel, doc string, args ...types.OID) {
	functions.RegisterFunctions(functions.Overload{Name: name, Args: args, Ret: types.Bool, Volatility: functions.Stable, CanFail: true, Eval: k, Doc: doc})
}

// hasRole checks the roles and the privilege; whether one is a member of the other is not kept.
func hasRole(s *source, args []*vector.Vector, i int) (bool, error) {
	for _, a := range args[:2] {
		if err := findRole(s, a, i); err != nil {
			return false, err
		}
	}
	list := strings.ToUpper(string(args[2].Bytes(i)))
	list = strings.NewReplacer(" WITH ADMIN OPTION", "", " WITH GRANT OPTION", "").Replace(list)
	p := privileged{names: []string{"USAGE", "MEMBER"}}
	return true, p.checkPrivileges(list)
}

func init() {
	name, oid, text := types.Name, types.Oid, types.Text
	for _, p := range kindsWithPrivileges() {
		function, doc := "has_"+p.function+"_privilege", "Whether a role has a privilege: it has, if there are the role and the object."
		for _, object := range []types.OID{text, oid} {
			privilegeFunction(function, p.ask(false), doc, object, text)
			for _, role := range []types.OID{name, oid} {
				privilegeFunction(function, p.ask(true), doc, role, object, text)
			}
		}
		if p.function != "any_column" {
			continue
		}
		for _, object := range []types.OID{text, oid} {
			for _, column := range []types.OID{text, types.Int2} {
				privilegeFunction("has_column_privilege", askColumn(p, false), doc, object, column, text)
				for _, role := range []types.OID{name, oid} {
					privilegeFunction("has_column_privilege", askColumn(p, true), doc, role, object, column, text)
				}
			}
		}
	}
	const member = "Whether a role is a member of another"
	settings := privileged{"parameter", []string{"SET", "ALTER SYSTEM"}, func(*source, string) error { return nil }, anyOID}
	privilegeFunction("has_parameter_privilege", settings.ask(false), "Whether a role may change a setting.", text, text)
	for _, role := range []types.OID{name, oid} {
		privilegeFunction("has_parameter_privilege", settings.ask(true), "Whether a role may change a setting.", role, text, text)
		privilegeFunction("pg_has_role", privilegeKernel(hasRole), member, role, name, text)
		privilegeFunction("pg_has_role", privilegeKernel(hasRole), member, role, oid, text)
	}
}
