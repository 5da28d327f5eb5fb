package session

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/logical"
	"tsdb/sql/pgerr"
)

// utilityColumns is the shape of the rows that a command returns, nil for none.
func (s *Session) utilityColumns(n *pg_query.Node) []logical.Column {
	switch n := n.GetNode().(type) {
	case *pg_query.Node_VariableShowStmt:
		return showColumns(n.VariableShowStmt.Name)
	case *pg_query.Node_ExecuteStmt:
		if p, ok := s.prepared[n.ExecuteStmt.Name]; ok && p.a != nil {
			return p.a.cols
		}
	}
	return nil
}

// utility runs a command that the planner does not bind and returns its tag.
func (s *Session) utility(ctx context.Context, a *analyzed, r Result) (string, error) {
	s.begin()
	switch n := a.st.Node.GetNode().(type) {
	case *pg_query.Node_TransactionStmt:
		return s.transactionCommand(ctx, n.TransactionStmt)
	case *pg_query.Node_VariableSetStmt:
		return s.setCommand(a.st, n.VariableSetStmt)
	case *pg_query.Node_VariableShowStmt:
		return s.showCommand(n.VariableShowStmt.Name, r)
	case *pg_query.Node_CopyStmt:
		return s.copyCommand(ctx, a.st, n.CopyStmt, r)
	case *pg_query.Node_PrepareStmt:
		return "PREPARE", s.prepareCommand(a.st, n.PrepareStmt)
	case *pg_query.Node_ExecuteStmt:
		return s.executeCommand(ctx, n.ExecuteStmt, r)
	case *pg_query.Node_DeallocateStmt:
		return s.deallocate(n.DeallocateStmt)
	case *pg_query.Node_DiscardStmt:
		return s.discard(ctx, n.DiscardStmt)
	case *pg_query.Node_VacuumStmt:
		return s.vacuum(ctx, n.VacuumStmt)
	case *pg_query.Node_CheckPointStmt:
		if !s.superuser() {
			return "", pgerr.New(pgerr.InsufficientPrivilege, "must be superuser or have privileges of pg_checkpoint to do CHECKPOINT")
		}
		return "CHECKPOINT", s.e.store.Flush()
	case *pg_query.Node_CallStmt:
		return s.call(ctx, n.CallStmt)
	case *pg_query.Node_UnlistenStmt:
		return "UNLISTEN", nil // nothing can be listened to
	case *pg_query.Node_ClosePortalStmt:
		if n.ClosePortalStmt.Portalname == "" {
			return "CLOSE CURSOR ALL", nil
		}
		return "", pgerr.New(pgerr.InvalidCursorName, `cursor "%s" does not exist`, n.ClosePortalStmt.Portalname)
	case *pg_query.Node_ConstraintsSetStmt:
		return "SET CONSTRAINTS", s.setConstraints(ctx, n.ConstraintsSetStmt)
	}
	if tag, handled, err := s.definition(ctx, a); handled {
		return tag, err
	}
	return "", pgerr.Unsupported("%s", commandName(a.st.Node))
}

// definition runs DDL.
func (s *Session) definition(ctx context.Context, a *analyzed) (tag string, handled bool, err error) {
	var run func() error
	switch n := a.st.Node.GetNode().(type) {
	case *pg_query.Node_CreateStmt:
		tag, run = "CREATE TABLE", func() error { return s.createTable(ctx, a.st, n.CreateStmt) }
	case *pg_query.Node_DropStmt:
		tag = commandName(a.st.Node)
		run = func() error { return s.drop(ctx, n.DropStmt) }
	case *pg_query.Node_IndexStmt:
		tag, run = "CREATE INDEX", func() error { return s.createIndex(ctx, a.st, n.IndexStmt) }
	case *pg_query.Node_TruncateStmt:
		tag, run = "TRUNCATE TABLE", func() error { return s.truncate(ctx, n.TruncateStmt) }
	case *pg_query.Node_CreateRoleStmt:
		tag, run = "CREATE ROLE", func() error { return s.createRole(n.CreateRoleStmt) }
	case *pg_query.Node_AlterRoleStmt:
		tag, run = "ALTER ROLE", func() error { return s.alterRole(n.AlterRoleStmt) }
	case *pg_query.Node_DropRoleStmt:
		tag, run = "DROP ROLE", func() error { return s.dropRole(n.DropRoleStmt) }
	case *pg_query.Node_CreateSeqStmt:
		tag, run = "CREATE SEQUENCE", func() error { return s.createSequence(a.st, n.CreateSeqStmt) }
	case *pg_query.Node_AlterSeqStmt:
		tag, run = "ALTER SEQUENCE", func() error { return s.alterSequence(ctx, a.st, n.AlterSeqStmt) }
	case *pg_query.Node_ClusterStmt:
		tag, run = "CLUSTER", func() error { return s.cluster(ctx, n.ClusterStmt) }
	case *pg_query.Node_ReindexStmt:
		tag, run = "REINDEX", func() error { return s.reindex(n.ReindexStmt) }
	default:
		var of func() (string, error)
		if tag, of = s.objectDefinition(ctx, a); of == nil {
			return "", false, nil
		}
		run = func() (err error) {
			tag, err = of()
			return err
		}
	}
	if err := s.writable(tag); err != nil {
		return "", true, err
	}
	if err := s.lockCatalog(ctx); err != nil {
		return "", true, err
	}
	s.tx.queried = true
	err = run()
	return tag, true, err
}

// commandName spells a command for messages and tags: CREATE INDEX, DROP VIEW.
func commandName(n *pg_query.Node) string {
	switch x := n.GetNode().(type) {
	case *pg_query.Node_DropStmt:
		return "DROP " + objectName(x.DropStmt.RemoveType)
	case *pg_query.Node_AlterTableStmt:
		return "ALTER " + objectName(x.AlterTableStmt.Objtype)
	case *pg_query.Node_RenameStmt:
		return "ALTER " + objectName(x.RenameStmt.RenameType) + " RENAME"
	case *pg_query.Node_AlterOwnerStmt:
		return "ALTER " + objectName(x.AlterOwnerStmt.ObjectType) + " OWNER"
	case *pg_query.Node_AlterObjectSchemaStmt:
		return "ALTER " + objectName(x.AlterObjectSchemaStmt.ObjectType) + " SET SCHEMA"
	case *pg_query.Node_SelectStmt:
		if selectInto(x.SelectStmt) != nil {
			return "SELECT INTO"
		}
	case *pg_query.Node_CreateTableAsStmt:
		if x.CreateTableAsStmt.Objtype == pg_query.ObjectType_OBJECT_MATVIEW {
			return "CREATE MATERIALIZED VIEW"
		}
		return "CREATE TABLE AS"
	case *pg_query.Node_GrantStmt:
		if !x.GrantStmt.IsGrant {
			return "REVOKE"
		}
	case *pg_query.Node_GrantRoleStmt:
		if !x.GrantRoleStmt.IsGrant {
			return "REVOKE ROLE"
		}
	case *pg_query.Node_FetchStmt:
		if x.FetchStmt.Ismove {
			return "MOVE"
		}
	case *pg_query.Node_DefineStmt:
		return "CREATE " + objectName(x.DefineStmt.Kind)
	}
	t := strings.TrimPrefix(fmt.Sprintf("%T", n.GetNode()), "*pg_query.Node_")
	if name, ok := commandNames[t]; ok {
		return name
	}
	return spaced(strings.TrimSuffix(t, "Stmt"))
}

// commandNames holds the commands whose node's name does not spell them.
var commandNames = map[string]string{
	"IndexStmt": "CREATE INDEX", "ViewStmt": "CREATE VIEW", "CreateSeqStmt": "CREATE SEQUENCE", "AlterSeqStmt": "ALTER SEQUENCE",
	"CreatedbStmt": "CREATE DATABASE", "DropdbStmt": "DROP DATABASE", "DeclareCursorStmt": "DECLARE CURSOR", "FetchStmt": "FETCH",
	"CreateTrigStmt": "CREATE TRIGGER", "CreateEventTrigStmt": "CREATE EVENT TRIGGER", "CreatePlangStmt": "CREATE LANGUAGE",
	"CreateFdwStmt": "CREATE FOREIGN DATA WRAPPER", "CreateAmStmt": "CREATE ACCESS METHOD", "RuleStmt": "CREATE RULE",
	"CompositeTypeStmt": "CREATE TYPE", "CreateEnumStmt": "CREATE TYPE", "CreateRangeStmt": "CREATE TYPE", "AlterEnumStmt": "ALTER TYPE",
	"CreateStatsStmt": "CREATE STATISTICS", "RefreshMatViewStmt": "REFRESH MATERIALIZED VIEW", "SecLabelStmt": "SECURITY LABEL",
	"AlterRoleSetStmt": "ALTER ROLE SET", "AlterDatabaseSetStmt": "ALTER DATABASE SET", "LockStmt": "LOCK TABLE", "GrantRoleStmt": "GRANT ROLE",
	"CreateOpClassStmt": "CREATE OPERATOR CLASS", "CreateOpFamilyStmt": "CREATE OPERATOR FAMILY",
}

// spaced turns CreateExtension into CREATE EXTENSION.
func spaced(s string) string {
	var b strings.Builder
	for i, r := range s {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return strings.ToUpper(b.String())
}

func objectName(t pg_query.ObjectType) string {
	switch t {
	case pg_query.ObjectType_OBJECT_MATVIEW:
		return "MATERIALIZED VIEW"
	case pg_query.ObjectType_OBJECT_TABCONSTRAINT:
		return "TABLE"
	case pg_query.ObjectType_OBJECT_COLUMN:
		return "TABLE"
	case pg_query.ObjectType_OBJECT_TSCONFIGURATION:
		return "TEXT SEARCH CONFIGURATION"
	}
	return strings.ReplaceAll(strings.TrimPrefix(t.String(), "OBJECT_"), "_", " ")
}

// constText returns a constant of the grammar as text: what SET, WITH and
// COPY options hold.
func constText(n *pg_query.Node) string {
	switch x := n.GetNode().(type) {
	case *pg_query.Node_AConst:
		c := x.AConst
		switch v := c.GetVal().(type) {
		case *pg_query.A_Const_Ival:
			return strconv.Itoa(int(v.Ival.GetIval()))
		case *pg_query.A_Const_Fval:
			return v.Fval.GetFval()
		case *pg_query.A_Const_Boolval:
			return strconv.FormatBool(v.Boolval.GetBoolval())
		case *pg_query.A_Const_Sval:
			return v.Sval.GetSval()
		case *pg_query.A_Const_Bsval:
			return v.Bsval.GetBsval()
		}
		return ""
	case *pg_query.Node_String_:
		return x.String_.GetSval()
	case *pg_query.Node_Integer:
		return strconv.Itoa(int(x.Integer.GetIval()))
	case *pg_query.Node_Float:
		return x.Float.GetFval()
	case *pg_query.Node_Boolean:
		return strconv.FormatBool(x.Boolean.GetBoolval())
	case *pg_query.Node_TypeName:
		return nameOf(x.TypeName.Names)
	case *pg_query.Node_List:
		return nameOf(x.List.Items)
	case *pg_query.Node_TypeCast:
		return constText(x.TypeCast.Arg)
	}
	return ""
}

func nameOf(names []*pg_query.Node) string {
	parts := make([]string, len(names))
	for i, n := range names {
		parts[i] = n.GetString_().GetSval()
	}
	return strings.Join(parts, ".")
}

func (s *Session) deallocate(n *pg_query.DeallocateStmt) (string, error) {
	if n.Name == "" {
		clear(s.prepared)
		return "DEALLOCATE ALL", nil
	}
	if _, err := s.findStatement(n.Name); err != nil {
		return "", err
	}
	s.dropStatement(n.Name)
	return "DEALLOCATE", nil
}

func (s *Session) discard(ctx context.Context, n *pg_query.DiscardStmt) (string, error) {
	switch n.Target {
	case pg_query.DiscardMode_DISCARD_ALL:
		if s.tx.block || s.tx.several {
			return "", pgerr.New(pgerr.ActiveSQLTransaction, "DISCARD ALL cannot run inside a transaction block")
		}
		s.closePortals()
		clear(s.prepared)
		s.vals = settingValues{}
		s.derive()
		return "DISCARD ALL", s.discardTemp(ctx)
	case pg_query.DiscardMode_DISCARD_PLANS:
		return "DISCARD PLANS", nil
	case pg_query.DiscardMode_DISCARD_SEQUENCES:
		return "DISCARD SEQUENCES", nil
	}
	return "DISCARD TEMP", s.discardTemp(ctx)
}
