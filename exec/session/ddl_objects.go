package session

import (
	"context"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// selectInto returns the INTO clause of a query, nil if it has none.
func selectInto(sel *pg_query.SelectStmt) *pg_query.IntoClause {
	for sel.GetLarg() != nil {
		sel = sel.Larg
	}
	return sel.GetIntoClause()
}

// objectDefinition returns what runs a command about views, filled tables,
// schemas and comments, and the tag that it goes by; nil for any other. The
// command may end with another tag.
func (s *Session) objectDefinition(ctx context.Context, a *analyzed) (string, func() (string, error)) {
	tagged := func(tag string, run func() error) (string, func() (string, error)) {
		return tag, func() (string, error) { return tag, run() }
	}
	switch n := a.st.Node.GetNode().(type) {
	case *pg_query.Node_CreateTableAsStmt:
		return commandName(a.st.Node), func() (string, error) { return s.createTableAs(ctx, a.st, n.CreateTableAsStmt) }
	case *pg_query.Node_SelectStmt:
		return "SELECT INTO", func() (string, error) { return s.selectIntoTable(ctx, a.st, n.SelectStmt) }
	case *pg_query.Node_ViewStmt:
		return tagged("CREATE VIEW", func() error { return s.createView(a.st, n.ViewStmt) })
	case *pg_query.Node_RefreshMatViewStmt:
		return tagged("REFRESH MATERIALIZED VIEW", func() error { return s.refreshView(ctx, n.RefreshMatViewStmt) })
	case *pg_query.Node_AlterTableStmt:
		return tagged("ALTER "+objectName(n.AlterTableStmt.Objtype), func() error { return s.alterRelation(ctx, a.st, n.AlterTableStmt) })
	case *pg_query.Node_RenameStmt:
		return tagged("ALTER "+renamedKind(n.RenameStmt), func() error { return s.rename(ctx, n.RenameStmt) })
	case *pg_query.Node_AlterObjectSchemaStmt:
		return tagged("ALTER "+objectName(n.AlterObjectSchemaStmt.ObjectType), func() error { return s.setSchema(ctx, n.AlterObjectSchemaStmt) })
	case *pg_query.Node_AlterOwnerStmt:
		return tagged("ALTER "+objectName(n.AlterOwnerStmt.ObjectType), func() error { return s.setOwner(n.AlterOwnerStmt) })
	case *pg_query.Node_CreateEnumStmt:
		return tagged("CREATE TYPE", func() error { return s.createEnum(n.CreateEnumStmt) })
	case *pg_query.Node_AlterEnumStmt:
		return tagged("ALTER TYPE", func() error { return s.alterEnum(n.AlterEnumStmt) })
	case *pg_query.Node_CreateDomainStmt:
		return tagged("CREATE DOMAIN", func() error { return s.createDomain(a.st, n.CreateDomainStmt) })
	case *pg_query.Node_AlterDomainStmt:
		return tagged("ALTER DOMAIN", func() error { return s.alterDomain(ctx, a.st, n.AlterDomainStmt) })
	case *pg_query.Node_CreateSchemaStmt:
		return tagged("CREATE SCHEMA", func() error { return s.createSchema(ctx, a.st, n.CreateSchemaStmt) })
	case *pg_query.Node_CommentStmt:
		return tagged("COMMENT", func() error { return s.comment(n.CommentStmt) })
	}
	return "", nil
}
