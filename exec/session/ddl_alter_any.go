package session

import (
	"context"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/sql"
	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// alterRelation runs ALTER TABLE, VIEW, MATERIALIZED VIEW, INDEX and SEQUENCE;
// ALTER TABLE serves all kinds.
func (s *Session) alterRelation(ctx context.Context, st *sql.Statement, n *pg_query.AlterTableStmt) error {
	if n.Objtype != pg_query.ObjectType_OBJECT_TABLE && alteredKinds[n.Objtype] == 0 {
		return pgerr.Unsupported("ALTER %s", objectName(n.Objtype))
	}
	r, err := s.anyRelation(n.Relation)
	if err != nil {
		return s.missingAltered(err, n.MissingOk, n.Relation)
	}
	if err := alterable(r, n.Objtype); err != nil {
		return err
	}
	switch {
	case r.View != nil:
		return s.alterView(r.View, n.Cmds)
	case r.Sequence != nil:
		return s.alterSequenceRelation(r.Sequence, n.Cmds)
	case r.Kind == catalog.RelIndex:
		return s.alterIndexRelation(r, n.Cmds)
	case r.Kind == catalog.RelMaterialized:
		if err := refuseMaterialized(r.Table, n.Cmds); err != nil {
			return err
		}
	}
	return s.alterTable(ctx, st, &pg_query.AlterTableStmt{Relation: n.Relation, Cmds: n.Cmds, Objtype: pg_query.ObjectType_OBJECT_TABLE})
}

// missingAltered turns the error of a relation that does not exist into a
// notice where IF EXISTS was given.
func (s *Session) missingAltered(err error, missingOK bool, rv *pg_query.RangeVar) error {
	if !missingOK || pgerr.From(err).Code != pgerr.UndefinedTable {
		return err
	}
	s.notice(pgerr.Notice(`relation "%s" does not exist, skipping`, rv.GetRelname()))
	return nil
}

// alteredKinds says which kind of relation a command is about; ALTER TABLE
// takes any.
var alteredKinds = map[pg_query.ObjectType]catalog.RelationKind{
	pg_query.ObjectType_OBJECT_VIEW: catalog.RelView, pg_query.ObjectType_OBJECT_MATVIEW: catalog.RelMaterialized,
	pg_query.ObjectType_OBJECT_SEQUENCE: catalog.RelSequence, pg_query.ObjectType_OBJECT_INDEX: catalog.RelIndex,
}

// alterable refuses a relation of another kind than the command names.
func alterable(r catalog.Relation, of pg_query.ObjectType) error {
	want, ok := alteredKinds[of]
	if !ok || want == r.Kind {
		return nil
	}
	article := "a"
	if want == catalog.RelIndex {
		article = "an"
	}
	return pgerr.New(pgerr.WrongObjectType, `"%s" is not %s %s`, r.Name, article, relationWord(want))
}

// refuseMaterialized refuses the actions of ALTER TABLE that a materialized
// view does not have.
func refuseMaterialized(t *catalog.Table, cmds []*pg_query.Node) error {
	for _, c := range cmds {
		switch cmd := c.GetAlterTableCmd(); cmd.Subtype {
		case pg_query.AlterTableType_AT_AddColumn, pg_query.AlterTableType_AT_DropColumn, pg_query.AlterTableType_AT_AlterColumnType,
			pg_query.AlterTableType_AT_SetNotNull, pg_query.AlterTableType_AT_DropNotNull, pg_query.AlterTableType_AT_ColumnDefault,
			pg_query.AlterTableType_AT_AddConstraint, pg_query.AlterTableType_AT_DropConstraint, pg_query.AlterTableType_AT_AddIdentity:
			return actionRefused(cmd, t.Name, "materialized views")
		}
	}
	return nil
}

// ownerOnly runs the one action that every kind of relation has.
func (s *Session) ownerOnly(r catalog.Relation, cmds []*pg_query.Node, kinds string) (types.OID, error) {
	owner := r.Owner
	if err := s.mustOwnRelation(r); err != nil {
		return 0, err
	}
	for _, c := range cmds {
		cmd := c.GetAlterTableCmd()
		if cmd.Subtype != pg_query.AlterTableType_AT_ChangeOwner {
			return 0, actionRefused(cmd, r.Name, kinds)
		}
		var err error
		if owner, err = s.ownerOf(cmd.Newowner); err != nil {
			return 0, err
		}
	}
	return owner, nil
}

func (s *Session) alterSequenceRelation(q *catalog.Sequence, cmds []*pg_query.Node) error {
	owner, err := s.ownerOnly(catalog.Relation{Kind: catalog.RelSequence, Name: q.Name, Owner: q.Owner}, cmds, "sequences")
	if err != nil {
		return err
	}
	n := *q
	n.Owner = owner
	s.tx.local = s.tx.local.WithSequence(&n)
	return nil
}

// alterIndexRelation serves the hints that an index takes; its owner is the table's.
func (s *Session) alterIndexRelation(r catalog.Relation, cmds []*pg_query.Node) error {
	if err := s.mustOwnRelation(r); err != nil {
		return err
	}
	for _, c := range cmds {
		cmd := c.GetAlterTableCmd()
		switch cmd.Subtype {
		case pg_query.AlterTableType_AT_ChangeOwner:
			s.warn(pgerr.WrongObjectType, `cannot change owner of index "%s"`, r.Name)
		default:
			return actionRefused(cmd, r.Name, "indexes")
		}
	}
	return nil
}

// ownerOf resolves the role of OWNER TO.
func (s *Session) ownerOf(role *pg_query.RoleSpec) (types.OID, error) {
	r, err := s.roleOf(role)
	if err != nil {
		return 0, err
	}
	return r.OID, nil
}

// setOwner runs ALTER SCHEMA and ALTER TYPE ... OWNER TO.
func (s *Session) setOwner(n *pg_query.AlterOwnerStmt) error {
	owner, err := s.ownerOf(n.Newowner)
	if err != nil {
		return err
	}
	switch n.ObjectType {
	case pg_query.ObjectType_OBJECT_SCHEMA:
		sc, err := s.ownSchema(n.Object.GetString_().GetSval())
		if err != nil {
			return err
		}
		c := *sc
		c.Owner = owner
		s.tx.local = s.tx.local.WithSchema(&c)
		return nil
	case pg_query.ObjectType_OBJECT_TYPE, pg_query.ObjectType_OBJECT_DOMAIN:
		return s.changeType(n.ObjectType, n.Object, func(t *typeHead) error {
			t.owner = owner
			return nil
		})
	}
	return pgerr.Unsupported("ALTER %s OWNER", objectName(n.ObjectType))
}
