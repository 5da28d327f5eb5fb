package session

import (
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/sqltext"
	"tsdb/sql/types"
)

// typeHead is what enums and domains have in common.
type typeHead struct {
	oid, schema, owner types.OID
	name               string
}

// changeType runs RENAME, OWNER and SET SCHEMA of an enum or a domain.
func (s *Session) changeType(of pg_query.ObjectType, object *pg_query.Node, change func(*typeHead) error) error {
	schema, name := objectPath(object)
	t, ok := s.findType(schema, name)
	switch {
	case !ok:
		return pgerr.New(pgerr.UndefinedObject, `type "%s" does not exist`, dotted(schema, name))
	case of == pg_query.ObjectType_OBJECT_DOMAIN && !t.domain:
		return pgerr.New(pgerr.WrongObjectType, `%s is not a domain`, dotted(schema, name))
	case !s.superuser() && t.owner != s.userOID():
		return pgerr.New(pgerr.InsufficientPrivilege, "must be owner of type %s", name)
	case t.builtin:
		return pgerr.New(pgerr.InsufficientPrivilege, "permission denied for type %s", name)
	}
	h := typeHead{oid: t.oid, schema: t.schema, owner: t.owner, name: name}
	old := h
	cat := s.tx.local
	if e, ok := cat.EnumByOID(t.oid); ok {
		if err := change(&h); err != nil {
			return err
		}
		n := *e
		n.Schema, n.Owner, n.Name = h.schema, h.owner, h.name
		s.tx.local = cat.WithEnum(&n)
	} else if d, ok := cat.DomainByOID(t.oid); ok {
		if err := change(&h); err != nil {
			return err
		}
		n := *d
		n.Schema, n.Owner, n.Name = h.schema, h.owner, h.name
		s.tx.local = cat.WithDomain(&n)
	} else {
		return pgerr.New(pgerr.WrongObjectType, "%s is a table's row type", name).WithHint("Use ALTER TABLE instead.")
	}
	if h.schema == old.schema && h.name == old.name {
		return nil
	}
	from, to := s.schemaName(old.schema), s.schemaName(h.schema)
	return s.retype(func(m proto.Message) { sqltext.RenameTypeIn(m, from, old.name, to, h.name) }, nil)
}

// retype changes the names of types in everything that the catalog keeps as
// text, and with path the search paths of views.
func (s *Session) retype(change func(proto.Message), path func([]string) []string) error {
	rewrite := func(text *string, whole bool) error {
		if *text == "" {
			return nil
		}
		f := sqltext.Rewrite
		if whole {
			f = sqltext.RewriteQuery
		}
		out, err := f(*text, change)
		if err == nil {
			*text = out
		}
		return err
	}
	for _, v := range s.tx.local.Views() {
		n := *v
		if err := rewrite(&n.Query, true); err != nil {
			return err
		}
		if path != nil {
			n.Path = path(n.Path)
		}
		if n.Query != v.Query || !slices.Equal(n.Path, v.Path) {
			s.tx.local = s.tx.local.WithView(&n)
		}
	}
	for _, t := range s.tx.local.Tables() {
		n, texts := t.Clone(), []*string{}
		if path != nil {
			n.Path = path(n.Path)
		}
		changed := !slices.Equal(n.Path, t.Path)
		for i := range n.Columns {
			texts = append(texts, &n.Columns[i].Default, &n.Columns[i].Generated)
		}
		for i := range n.Checks {
			texts = append(texts, &n.Checks[i].Expr)
		}
		for i := range n.Indexes {
			x := &n.Indexes[i]
			texts = append(texts, &x.Where)
			x.Columns = slices.Clone(x.Columns)
			for k := range x.Columns {
				texts = append(texts, &x.Columns[k].Expr)
			}
		}
		for _, text := range texts {
			before := *text
			if err := rewrite(text, false); err != nil {
				return err
			}
			changed = changed || *text != before
		}
		before := n.Query
		if err := rewrite(&n.Query, true); err != nil {
			return err
		}
		if changed || n.Query != before {
			s.tx.local = s.tx.local.WithTable(n)
		}
	}
	return s.retypeDomains(rewrite)
}

func (s *Session) retypeDomains(rewrite func(*string, bool) error) error {
	for _, d := range s.tx.local.Domains() {
		n := *d
		n.Checks = slices.Clone(d.Checks)
		if err := rewrite(&n.Default, false); err != nil {
			return err
		}
		for i := range n.Checks {
			if err := rewrite(&n.Checks[i].Expr, false); err != nil {
				return err
			}
		}
		if n.Default != d.Default || !slices.EqualFunc(n.Checks, d.Checks, func(a, b catalog.Check) bool { return a.Expr == b.Expr }) {
			s.tx.local = s.tx.local.WithDomain(&n)
		}
	}
	return nil
}
