package session

import (
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"tsdb/planner"
	"tsdb/planner/bind"
	"tsdb/planner/logical"
	"tsdb/sql"
	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/sqltext"
	"tsdb/sql/types"
)

// definedQuery is the query of a view: as text, and bound.
type definedQuery struct {
	text  string
	path  []string
	uses  *bind.Uses
	bound *planner.Bound
}

// define binds a query that is to become a view. Its text keeps the columns
// that * stands for now.
func (s *Session) define(st *sql.Statement, sel *pg_query.SelectStmt) (*definedQuery, error) {
	sel = sqltext.Copy(sel)
	types, err := s.qualifyTypes(sel)
	if err != nil {
		return nil, err
	}
	b, uses, err := bind.Query((*bind.Env)(s.env(s.catalog(), s.functionCtx(), nil)), st, sel)
	if err != nil {
		return nil, err
	}
	for _, t := range types {
		if !slices.Contains(uses.Depends, t) {
			uses.Depends = append(uses.Depends, t)
		}
	}
	sqltext.ExpandStars(sel, func(n *pg_query.Node) []sqltext.Column {
		var out []sqltext.Column
		for _, c := range uses.Stars[n] {
			out = append(out, sqltext.Column(c))
		}
		return out
	})
	text, err := sqltext.Select(sel)
	return &definedQuery{text: text, path: s.SearchPath(), uses: uses, bound: b}, err
}

// qualifyTypes writes the schemas of the types that users made into a query, so
// that it does not depend on the search path, and returns these types.
func (s *Session) qualifyTypes(sel *pg_query.SelectStmt) ([]catalog.Ref, error) {
	var used []catalog.Ref
	sqltext.Walk(sel, func(m proto.Message) {
		n, ok := m.(*pg_query.TypeName)
		if !ok || len(n.Names) == 0 || len(n.Names) > 2 {
			return
		}
		schema, name := objectPath(&pg_query.Node{Node: &pg_query.Node_TypeName{TypeName: n}})
		t, ok := s.findType(schema, name)
		if !ok || t.builtin {
			return
		}
		n.Names = []*pg_query.Node{sqltext.String(s.schemaName(t.schema)), sqltext.String(name)}
		used = append(used, typeRef(t.oid))
	})
	return used, nil
}

// refuseViewQuery refuses what the query of a view cannot have.
func refuseViewQuery(sel *pg_query.SelectStmt, what string) error {
	if selectInto(sel) != nil {
		return pgerr.New(pgerr.FeatureNotSupported, "%s must not contain SELECT INTO", what)
	}
	for _, c := range sel.GetWithClause().GetCtes() {
		if c.GetCommonTableExpr().GetCtequery().GetSelectStmt() == nil {
			verb := "contain"
			if what == "materialized views" {
				verb = "use"
			}
			return pgerr.New(pgerr.FeatureNotSupported, "%s must not %s data-modifying statements in WITH", what, verb)
		}
	}
	return nil
}

// createView runs CREATE [OR REPLACE] [TEMP] VIEW.
func (s *Session) createView(st *sql.Statement, n *pg_query.ViewStmt) error {
	sel := n.Query.GetSelectStmt()
	if sel == nil {
		return pgerr.Unsupported("a view of this statement")
	}
	if n.View.GetRelpersistence() == "u" {
		return pgerr.New(pgerr.SyntaxError, "views cannot be unlogged because they do not have storage")
	}
	if err := refuseViewQuery(sel, "views"); err != nil {
		return err
	}
	q, err := s.define(st, sel)
	if err != nil {
		return err
	}
	v := &catalog.View{Name: n.View.Relname, Owner: s.userOID(), Query: q.text, Path: q.path, Names: q.uses.Names, Depends: q.uses.Depends}
	if v.Columns, err = viewColumns(q.bound.Cols, n.Aliases); err != nil {
		return err
	}
	for _, o := range n.Options {
		if d := o.GetDefElem(); d.GetDefname() == "check_option" {
			v.Options = append(v.Options, catalog.Option{Name: d.GetDefname(), Value: constText(d.GetArg())})
		}
	}
	switch n.WithCheckOption {
	case pg_query.ViewCheckOption_LOCAL_CHECK_OPTION:
		v.Options = append(v.Options, catalog.Option{Name: "check_option", Value: "local"})
	case pg_query.ViewCheckOption_CASCADED_CHECK_OPTION:
		v.Options = append(v.Options, catalog.Option{Name: "check_option", Value: "cascaded"})
	}
	if err := s.checkOptionAllowed(v); err != nil {
		return err
	}
	if v.Options, err = viewOptions(n.Options, v.Options); err != nil {
		return err
	}
	return s.addView(n, v, q.uses.Temp)
}

// addView puts a view into the catalog, or in the place of its namesake.
func (s *Session) addView(n *pg_query.ViewStmt, v *catalog.View, temp bool) error {
	rv := n.View
	if temp && rv.Relpersistence != "t" && rv.Schemaname != "pg_temp" {
		s.notice(pgerr.Notice(`view "%s" will be a temporary view`, v.Name))
		if rv.Schemaname == "" {
			rv = &pg_query.RangeVar{Relname: rv.Relname, Relpersistence: "t", Catalogname: rv.Catalogname}
		}
	}
	sc, err := s.targetSchema(rv)
	if err != nil {
		return err
	}
	v.Schema, v.Temp = sc.OID, isTemp(sc)
	if old, ok := s.catalog().Relation(sc.OID, v.Name); ok {
		switch {
		case !n.Replace:
			return pgerr.New(pgerr.DuplicateTable, `relation "%s" already exists`, v.Name)
		case old.View == nil:
			return pgerr.New(pgerr.WrongObjectType, `"%s" is not a view`, v.Name)
		}
		if err := s.mustOwnRelation(old); err != nil {
			return err
		}
		if err := replaceable(old.View, v); err != nil {
			return err
		}
		v.OID, v.TypeOID, v.Owner = old.View.OID, old.View.TypeOID, old.View.Owner
		s.tx.local = s.tx.local.WithView(v)
		return nil
	}
	if err := s.typeNameTaken(sc.OID, v.Name); err != nil {
		return err
	}
	if v.OID, err = s.e.newOID(); err != nil {
		return err
	}
	if v.TypeOID, err = s.e.newOID(); err != nil {
		return err
	}
	s.tx.local = s.tx.local.WithView(v)
	return nil
}

// viewColumns names the columns of a view.
func viewColumns(cols []logical.Column, aliases []*pg_query.Node) ([]catalog.ViewColumn, error) {
	if len(aliases) > len(cols) {
		return nil, pgerr.New(pgerr.SyntaxError, "CREATE VIEW specifies more column names than columns")
	}
	out := make([]catalog.ViewColumn, len(cols))
	seen := map[string]bool{}
	for i, c := range cols {
		out[i] = catalog.ViewColumn{Name: c.Name, Type: c.Type.OID, Mod: c.Type.Mod}
		if i < len(aliases) {
			out[i].Name = aliases[i].GetString_().GetSval()
		}
		if seen[out[i].Name] {
			return nil, pgerr.New(pgerr.DuplicateColumn, `column "%s" specified more than once`, out[i].Name)
		}
		seen[out[i].Name] = true
		if pseudoType(c.Type.OID) {
			return nil, pgerr.New(pgerr.InvalidTableDefinition, `column "%s" has pseudo-type %s`, out[i].Name, types.FormatType(c.Type))
		}
	}
	if len(out) > maxTableColumns {
		return nil, pgerr.New(pgerr.TooManyColumns, "tables can have at most %d columns", maxTableColumns)
	}
	return out, nil
}

// replaceable checks that a view's new query keeps the columns of the old one.
func replaceable(old, v *catalog.View) error {
	if len(v.Columns) < len(old.Columns) {
		return pgerr.New(pgerr.InvalidTableDefinition, "cannot drop columns from view")
	}
	for i, o := range old.Columns {
		n := v.Columns[i]
		if o.Name != n.Name {
			return pgerr.New(pgerr.InvalidTableDefinition, `cannot change name of view column "%s" to "%s"`, o.Name, n.Name).
				WithHint("Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead.")
		}
		if o.Type != n.Type || o.Mod != n.Mod {
			return pgerr.New(pgerr.InvalidTableDefinition, `cannot change data type of view column "%s" from %s to %s`, o.Name,
				types.FormatType(types.Type{OID: o.Type, Mod: o.Mod}), types.FormatType(types.Type{OID: n.Type, Mod: n.Mod}))
		}
	}
	return nil
}

// viewOptions reads WITH (...) or SET (...) of a view over the options it has.
func viewOptions(list []*pg_query.Node, have []catalog.Option) ([]catalog.Option, error) {
	out := slices.Clone(have)
	for _, o := range list {
		d := o.GetDefElem()
		name, value := d.GetDefname(), strings.ToLower(constText(d.GetArg()))
		switch {
		case d.GetDefnamespace() != "":
			return nil, pgerr.New(pgerr.InvalidParameterValue, `unrecognized parameter namespace "%s"`, d.GetDefnamespace())
		case name == "check_option":
			if value != "local" && value != "cascaded" {
				return nil, pgerr.New(pgerr.InvalidParameterValue, `invalid value for enum option "check_option": %s`, value).
					WithDetail(`Valid values are "local" and "cascaded".`)
			}
		case name == "security_barrier" || name == "security_invoker":
			if d.GetArg() == nil {
				value = "true"
			}
			switch value {
			case "true", "false", "on", "off", "1", "0", "yes", "no":
			default:
				return nil, pgerr.New(pgerr.InvalidParameterValue, `invalid value for boolean option "%s": %s`, name, value)
			}
		default:
			return nil, pgerr.New(pgerr.InvalidParameterValue, `unrecognized parameter "%s"`, name)
		}
		out = append(withoutOption(out, name), catalog.Option{Name: name, Value: value})
	}
	return out, nil
}

func withoutOption(options []catalog.Option, name string) []catalog.Option {
	return slices.DeleteFunc(options, func(o catalog.Option) bool { return o.Name == name })
}

// checkOptionAllowed refuses WITH CHECK OPTION of a view that cannot be written to.
func (s *Session) checkOptionAllowed(v *catalog.View) error {
	if !slices.ContainsFunc(v.Options, func(o catalog.Option) bool { return o.Name == "check_option" }) {
		return nil
	}
	if why := bind.NotUpdatable((*bind.Env)(s.env(s.catalog(), s.functionCtx(), nil)), v); why != "" {
		return pgerr.New(pgerr.FeatureNotSupported, "WITH CHECK OPTION is supported only on automatically updatable views").WithHint("%s", why)
	}
	return nil
}

// alterView runs the actions of ALTER VIEW, and of ALTER TABLE on a view.
func (s *Session) alterView(v *catalog.View, cmds []*pg_query.Node) error {
	if err := s.mustOwnRelation(catalog.Relation{Kind: catalog.RelView, Name: v.Name, Owner: v.Owner}); err != nil {
		return err
	}
	n := *v
	for _, c := range cmds {
		cmd := c.GetAlterTableCmd()
		var err error
		switch cmd.Subtype {
		case pg_query.AlterTableType_AT_ChangeOwner:
			n.Owner, err = s.ownerOf(cmd.Newowner)
		case pg_query.AlterTableType_AT_SetRelOptions:
			if n.Options, err = viewOptions(cmd.Def.GetList().GetItems(), n.Options); err == nil {
				err = s.checkOptionAllowed(&n)
			}
		case pg_query.AlterTableType_AT_ResetRelOptions:
			n.Options = slices.Clone(n.Options)
			for _, o := range cmd.Def.GetList().GetItems() {
				n.Options = withoutOption(n.Options, o.GetDefElem().GetDefname())
			}
		case pg_query.AlterTableType_AT_ColumnDefault:
			if !slices.ContainsFunc(v.Columns, func(c catalog.ViewColumn) bool { return c.Name == cmd.Name }) {
				return pgerr.New(pgerr.UndefinedColumn, `column "%s" of relation "%s" does not exist`, cmd.Name, v.Name)
			}
			err = pgerr.Unsupported("a default of a view's column")
		default:
			err = actionRefused(cmd, v.Name, "views")
		}
		if err != nil {
			return err
		}
	}
	s.tx.local = s.tx.local.WithView(&n)
	return nil
}

// alterActions spells actions of ALTER TABLE for errors.
var alterActions = map[pg_query.AlterTableType]string{
	pg_query.AlterTableType_AT_AddColumn: "ADD COLUMN", pg_query.AlterTableType_AT_DropColumn: "DROP COLUMN",
	pg_query.AlterTableType_AT_AlterColumnType: "ALTER COLUMN ... SET DATA TYPE", pg_query.AlterTableType_AT_SetNotNull: "ALTER COLUMN ... SET NOT NULL",
	pg_query.AlterTableType_AT_DropNotNull: "ALTER COLUMN ... DROP NOT NULL", pg_query.AlterTableType_AT_ColumnDefault: "ALTER COLUMN ... SET DEFAULT",
	pg_query.AlterTableType_AT_AddConstraint: "ADD CONSTRAINT", pg_query.AlterTableType_AT_DropConstraint: "DROP CONSTRAINT",
	pg_query.AlterTableType_AT_ValidateConstraint: "VALIDATE CONSTRAINT", pg_query.AlterTableType_AT_AlterConstraint: "ALTER CONSTRAINT",
	pg_query.AlterTableType_AT_AddIdentity: "ALTER COLUMN ... ADD IDENTITY", pg_query.AlterTableType_AT_SetIdentity: "ALTER COLUMN ... SET",
	pg_query.AlterTableType_AT_DropIdentity: "ALTER COLUMN ... DROP IDENTITY", pg_query.AlterTableType_AT_DropExpression: "ALTER COLUMN ... DROP EXPRESSION",
	pg_query.AlterTableType_AT_SetStatistics: "ALTER COLUMN ... SET STATISTICS", pg_query.AlterTableType_AT_SetStorage: "ALTER COLUMN ... SET STORAGE",
	pg_query.AlterTableType_AT_ClusterOn: "CLUSTER ON", pg_query.AlterTableType_AT_DropCluster: "SET WITHOUT CLUSTER",
	pg_query.AlterTableType_AT_SetLogged: "SET LOGGED", pg_query.AlterTableType_AT_SetUnLogged: "SET UNLOGGED",
	pg_query.AlterTableType_AT_SetRelOptions: "SET", pg_query.AlterTableType_AT_ResetRelOptions: "RESET",
}

// actionRefused is the error of an action that relations of a kind do not have.
func actionRefused(cmd *pg_query.AlterTableCmd, name, kinds string) error {
	action, ok := alterActions[cmd.Subtype]
	if !ok {
		return pgerr.Unsupported("this action of ALTER TABLE")
	}
	if cmd.Subtype == pg_query.AlterTableType_AT_ColumnDefault && cmd.Def == nil {
		action = "ALTER COLUMN ... DROP DEFAULT"
	}
	return pgerr.New(pgerr.WrongObjectType, `ALTER action %s cannot be performed on relation "%s"`, action, name).
		WithDetail("This operation is not supported for %s.", kinds)
}
