package session

import (
	"context"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
)

func (s *Session) createSchema(n *pg_query.CreateSchemaStmt) error {
	if len(n.SchemaElts) > 0 {
		return pgerr.Unsupported("CREATE SCHEMA with elements")
	}
	owner := s.userOID()
	name := n.Schemaname
	if n.Authrole != nil {
		r, err := s.roleOf(n.Authrole)
		if err != nil {
			return err
		}
		owner = r.OID
		if name == "" {
			name = r.Name
		}
	}
	if !s.superuser() {
		return pgerr.New(pgerr.InsufficientPrivilege, "permission denied for database %s", s.database)
	}
	if strings.HasPrefix(name, "pg_") {
		return pgerr.New(pgerr.ReservedName, `unacceptable schema name "%s"`, name).
			WithDetail(`The prefix "pg_" is reserved for system schemas.`)
	}
	if _, ok := s.tx.local.Schema(name); ok {
		e := pgerr.New(pgerr.DuplicateSchema, `schema "%s" already exists`, name)
		if !n.IfNotExists {
			return e
		}
		e.Severity = pgerr.SevNotice
		e.Message += ", skipping"
		s.notice(e)
		return nil
	}
	oid, err := s.e.newOID()
	if err != nil {
		return err
	}
	s.tx.local = s.tx.local.WithSchema(&catalog.Schema{OID: oid, Name: name, Owner: owner})
	return nil
}

func (s *Session) dropSchemas(ctx context.Context, n *pg_query.DropStmt) error {
	for _, o := range n.Objects {
		name := o.GetString_().GetSval()
		sc, ok := s.tx.local.Schema(name)
		if !ok {
			if !n.MissingOk {
				return noSchema(name)
			}
			s.notice(pgerr.Notice(`schema "%s" does not exist, skipping`, name))
			continue
		}
		if err := s.dropSchema(ctx, sc, n.Behavior == pg_query.DropBehavior_DROP_CASCADE); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) dropSchema(ctx context.Context, sc *catalog.Schema, cascade bool) error {
	if catalog.IsSystem(sc.OID) {
		return pgerr.New(pgerr.DependentObjectsStillExist, "cannot drop schema %s because it is required by the database system", sc.Name)
	}
	if !s.superuser() && sc.Owner != s.userOID() {
		return pgerr.New(pgerr.InsufficientPrivilege, "must be owner of schema %s", sc.Name)
	}
	var inside []*catalog.Table
	for _, t := range s.tx.local.Tables() {
		if t.Schema == sc.OID {
			inside = append(inside, t)
		}
	}
	if len(inside) > 0 && !cascade {
		lines := make([]string, len(inside))
		for i, t := range inside {
			lines[i] = "table " + sc.Name + "." + t.Name + " depends on schema " + sc.Name
		}
		return pgerr.New(pgerr.DependentObjectsStillExist, "cannot drop schema %s because other objects depend on it", sc.Name).
			WithDetail("%s", strings.Join(lines, "\n")).WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
	}
	for _, t := range inside {
		if err := s.dropTable(ctx, t); err != nil {
			return err
		}
	}
	switch len(inside) {
	case 0:
	case 1:
		s.notice(pgerr.Notice("drop cascades to table %s", sc.Name+"."+inside[0].Name))
	default:
		s.notice(pgerr.Notice("drop cascades to %d other objects", len(inside)))
	}
	s.tx.local = s.tx.local.WithoutSchema(sc.Name)
	return nil
}
