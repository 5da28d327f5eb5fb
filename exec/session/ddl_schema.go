package session

import (
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
