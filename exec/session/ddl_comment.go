package session

import (
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// commentKinds says which kind of relation COMMENT ON is about.
var commentKinds = map[pg_query.ObjectType]catalog.RelationKind{
	pg_query.ObjectType_OBJECT_TABLE: catalog.RelTable, pg_query.ObjectType_OBJECT_VIEW: catalog.RelView,
	pg_query.ObjectType_OBJECT_MATVIEW: catalog.RelMaterialized, pg_query.ObjectType_OBJECT_SEQUENCE: catalog.RelSequence,
	pg_query.ObjectType_OBJECT_INDEX: catalog.RelIndex,
}

// comment runs COMMENT ON; an empty comment removes the one that there is.
func (s *Session) comment(n *pg_query.CommentStmt) error {
	about, err := s.commented(n)
	if err != nil || about.OID == 0 {
		return err
	}
	s.tx.local = s.tx.local.WithComment(about, n.Comment)
	return nil
}

// commented finds what COMMENT ON is about; no OID: nothing, without error.
func (s *Session) commented(n *pg_query.CommentStmt) (catalog.Ref, error) {
	items := n.Object.GetList().GetItems()
	name := n.Object.GetString_().GetSval()
	switch n.Objtype {
	case pg_query.ObjectType_OBJECT_COLUMN:
		return s.commentedColumn(items)
	case pg_query.ObjectType_OBJECT_TABCONSTRAINT:
		return s.commentedConstraint(items)
	case pg_query.ObjectType_OBJECT_DOMCONSTRAINT:
		return s.commentedCheck(items)
	case pg_query.ObjectType_OBJECT_SCHEMA:
		sc, err := s.ownSchema(name)
		if err != nil {
			return catalog.Ref{}, err
		}
		return schemaRef(sc.OID), nil
	case pg_query.ObjectType_OBJECT_DATABASE:
		return s.commentedDatabase(name)
	case pg_query.ObjectType_OBJECT_ROLE:
		r, ok := s.catalog().Role(name)
		if !ok {
			return catalog.Ref{}, noRole(name)
		}
		return catalog.Ref{Class: catalog.ClassRole, OID: r.OID}, nil
	case pg_query.ObjectType_OBJECT_TYPE, pg_query.ObjectType_OBJECT_DOMAIN:
		return s.commentedType(n)
	}
	want, ok := commentKinds[n.Objtype]
	if !ok {
		return catalog.Ref{}, pgerr.Unsupported("COMMENT ON %s", objectName(n.Objtype))
	}
	return s.commentedRelation(items, want)
}

// rangeOf makes a RangeVar of the names of an object.
func rangeOf(items []*pg_query.Node) *pg_query.RangeVar {
	rv := &pg_query.RangeVar{}
	if n := len(items); n > 0 {
		rv.Relname = items[n-1].GetString_().GetSval()
		if n > 1 {
			rv.Schemaname = items[n-2].GetString_().GetSval()
		}
		if n > 2 {
			rv.Catalogname = items[n-3].GetString_().GetSval()
		}
	}
	return rv
}

func (s *Session) commentedRelation(items []*pg_query.Node, want catalog.RelationKind) (catalog.Ref, error) {
	r, err := s.anyRelation(rangeOf(items))
	if err != nil {
		return catalog.Ref{}, err
	}
	if r.Kind != want {
		article := "a"
		if want == catalog.RelIndex {
			article = "an"
		}
		return catalog.Ref{}, pgerr.New(pgerr.WrongObjectType, `"%s" is not %s %s`, r.Name, article, relationWord(want))
	}
	return relationRef(r.OID), s.mustOwnRelation(r)
}

func (s *Session) commentedColumn(items []*pg_query.Node) (catalog.Ref, error) {
	none := catalog.Ref{}
	if len(items) < 2 {
		return none, pgerr.New(pgerr.SyntaxError, "column name must be qualified")
	}
	column := items[len(items)-1].GetString_().GetSval()
	r, err := s.anyRelation(rangeOf(items[:len(items)-1]))
	if err != nil {
		return none, err
	}
	num := int16(0)
	switch {
	case r.Kind == catalog.RelIndex || r.Kind == catalog.RelSequence:
		return none, pgerr.New(pgerr.WrongObjectType, `cannot set comment on relation "%s"`, r.Name).
			WithDetail("This operation is not supported for %s.", relationKinds(r.Kind))
	case r.View != nil:
		num = int16(slices.IndexFunc(r.View.Columns, func(c catalog.ViewColumn) bool { return c.Name == column }) + 1)
	default:
		if i := r.Table.ColumnIndex(column); i >= 0 {
			num = r.Table.Columns[i].AttNum
		}
	}
	if num == 0 {
		return none, pgerr.New(pgerr.UndefinedColumn, `column "%s" of relation "%s" does not exist`, column, r.Name)
	}
	return columnRef(r.OID, num), s.mustOwnRelation(r)
}

func (s *Session) commentedConstraint(items []*pg_query.Node) (catalog.Ref, error) {
	none := catalog.Ref{}
	if len(items) < 2 {
		return none, pgerr.New(pgerr.SyntaxError, "constraint name must be qualified")
	}
	name := items[len(items)-1].GetString_().GetSval()
	t, err := s.relation(rangeOf(items[:len(items)-1]))
	if err != nil {
		return none, err
	}
	p := namedConstraint(t, name)
	if !p.any() {
		return none, pgerr.New(pgerr.UndefinedObject, `constraint "%s" for table "%s" does not exist`, name, t.Name)
	}
	return p.ref(t), s.mustOwn(t)
}

// ref names a constraint or an index.
func (p part) ref(t *catalog.Table) catalog.Ref {
	switch {
	case p.key >= 0:
		return constraintRef(t.Constraints[p.key].OID)
	case p.check >= 0:
		return constraintRef(t.Checks[p.check].OID)
	case p.foreign >= 0:
		return constraintRef(t.ForeignKeys[p.foreign].OID)
	}
	return relationRef(t.Indexes[p.index].OID)
}

func (s *Session) commentedCheck(items []*pg_query.Node) (catalog.Ref, error) {
	none := catalog.Ref{}
	if len(items) != 2 {
		return none, pgerr.New(pgerr.SyntaxError, "constraint name must be qualified")
	}
	schema, domain := objectPath(items[0])
	name := items[1].GetString_().GetSval()
	t, ok := s.findType(schema, domain)
	switch {
	case !ok:
		return none, pgerr.New(pgerr.UndefinedObject, `type "%s" does not exist`, dotted(schema, domain))
	case !t.domain:
		return none, pgerr.New(pgerr.WrongObjectType, `%s is not a domain`, dotted(schema, domain))
	}
	if d, ok := s.catalog().DomainByOID(t.oid); ok {
		for i := range d.Checks {
			if d.Checks[i].Name == name {
				return constraintRef(d.Checks[i].OID), nil
			}
		}
	}
	return none, pgerr.New(pgerr.UndefinedObject, `constraint "%s" for domain %s does not exist`, name, dotted(schema, domain))
}

func (s *Session) commentedDatabase(name string) (catalog.Ref, error) {
	oids := map[string]types.OID{"tsdb": catalog.DatabaseOID, "postgres": catalog.PostgresDatabaseOID}
	oid, ok := oids[name]
	if !ok {
		s.warn(pgerr.InvalidCatalogName, `database "%s" does not exist`, name)
		return catalog.Ref{}, nil
	}
	if !s.superuser() {
		return catalog.Ref{}, pgerr.New(pgerr.InsufficientPrivilege, "must be owner of database %s", name)
	}
	return catalog.Ref{Class: catalog.ClassDatabase, OID: oid}, nil
}

func (s *Session) commentedType(n *pg_query.CommentStmt) (catalog.Ref, error) {
	schema, name := objectPath(n.Object)
	t, ok := s.findType(schema, name)
	switch {
	case !ok:
		return catalog.Ref{}, pgerr.New(pgerr.UndefinedObject, `type "%s" does not exist`, dotted(schema, name))
	case n.Objtype == pg_query.ObjectType_OBJECT_DOMAIN && !t.domain:
		return catalog.Ref{}, pgerr.New(pgerr.WrongObjectType, `"%s" is not a domain`, dotted(schema, name))
	case !s.superuser() && t.owner != s.userOID():
		return catalog.Ref{}, pgerr.New(pgerr.InsufficientPrivilege, "must be owner of type %s", name)
	}
	return typeRef(t.oid), nil
}
