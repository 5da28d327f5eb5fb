package session

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/sqltext"
	"tsdb/sql/types"
)

// Options of LIKE, as bits of TableLikeClause.Options.
const (
	likeComments    = 1 << 0
	likeConstraints = 1 << 2
	likeDefaults    = 1 << 3
	likeGenerated   = 1 << 4
	likeIdentity    = 1 << 5
	likeIndexes     = 1 << 6
)

// likeSource is a relation that a table's columns are copied from.
type likeSource struct {
	t       *catalog.Table // nil: a view
	options uint32
	nums    map[int16]int16 // numbers of its columns in the new table
	copies  []likeCopy
}

// likeCopy is an object and what it was copied from, which may have a comment.
type likeCopy struct{ to, from catalog.Ref }

func (l *likeSource) including(what uint32) bool { return l.options&what != 0 }

// like adds the columns of another relation. What reads columns or is made of
// them follows in likeKeys and likeRest, when all columns are there.
func (b *tableBuilder) like(c *pg_query.TableLikeClause) error {
	r, err := b.s.anyRelation(c.Relation)
	if err != nil {
		return pgerr.From(err).At(b.st.Position(c.Relation.Location))
	}
	l := &likeSource{t: r.Table, options: c.Options, nums: map[int16]int16{}}
	b.likes = append(b.likes, l)
	switch r.Kind {
	case catalog.RelTable, catalog.RelMaterialized:
		for i := range r.Table.Columns {
			if err := b.likeColumn(l, &r.Table.Columns[i]); err != nil {
				return err
			}
		}
		return nil
	case catalog.RelView:
		for i, c := range r.View.Columns {
			if err := b.newColumn(c.Name); err != nil {
				return err
			}
			typ := types.Type{OID: c.Type, Mod: c.Mod}
			b.t.AddColumn(catalog.Column{Name: c.Name, Type: typ}, codecOf(typ))
			b.noteLike(l, r.OID, int16(i+1))
		}
		return nil
	}
	return pgerr.New(pgerr.WrongObjectType, `relation "%s" is invalid in LIKE clause`, r.Name).
		WithDetail("This operation is not supported for %s.", relationKinds(r.Kind)).At(b.st.Position(c.Relation.Location))
}

// noteLike notes that the column added last is a copy of column num.
func (b *tableBuilder) noteLike(l *likeSource, of types.OID, num int16) {
	l.nums[num] = b.t.Last
	l.copies = append(l.copies, likeCopy{columnRef(0, b.t.Last), columnRef(of, num)})
}

func (b *tableBuilder) likeColumn(l *likeSource, from *catalog.Column) error {
	if err := b.newColumn(from.Name); err != nil {
		return err
	}
	c := catalog.Column{Name: from.Name, Type: from.Type, Domain: from.Domain, NotNull: from.NotNull}
	switch {
	case from.Identity != 0:
	case from.Generated != "":
		if l.including(likeGenerated) {
			text, err := unqualified(from.Generated)
			if err != nil {
				return err
			}
			c.Generated, c.Depends = text, from.Depends
		}
	case l.including(likeDefaults):
		c.Default, c.Depends = from.Default, from.Depends
	}
	b.t.AddColumn(c, codecOf(c.Type))
	b.noteLike(l, l.t.OID, from.AttNum)
	if from.Identity == 0 || !l.including(likeIdentity) {
		return nil
	}
	q, err := b.columnSequence(len(b.t.Columns)-1, true, nil)
	if err != nil {
		return err
	}
	for _, o := range b.s.catalog().Sequences() {
		if o.Identity && o.OwnedBy == columnRef(l.t.OID, from.AttNum) {
			q.Type = types.Int8 // as in PostgreSQL, which copies all but the type
			q.Start, q.Increment, q.Min, q.Max, q.Cache, q.Cycle = o.Start, o.Increment, o.Min, o.Max, o.Cache, o.Cycle
		}
	}
	to := &b.t.Columns[len(b.t.Columns)-1]
	to.Identity, to.Default = from.Identity, nextvalText(q.OID)
	return nil
}

// unqualified leaves the name of the old table out of an expression.
func unqualified(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	return sqltext.RenameColumns(text, func(_, column string) (string, string) { return "", column })
}

// likeKeys adds the keys and unique indexes of the relations, behind those of
// the statement.
func (b *tableBuilder) likeKeys() error {
	primary := false
	for _, k := range b.keys {
		primary = primary || k.primary
	}
	for _, l := range b.likes {
		if l.t == nil || !l.including(likeIndexes) {
			continue
		}
		for i := range l.t.Constraints {
			from := &l.t.Constraints[i]
			if from.Primary && primary {
				return pgerr.New(pgerr.InvalidTableDefinition, `multiple primary keys for table "%s" are not allowed`, b.t.Name)
			}
			primary = primary || from.Primary
			k := keyClause{primary: from.Primary, index: from.Index, like: l, from: from}
			for _, c := range from.Columns {
				k.columns = append(k.columns, l.t.Columns[c].Name)
			}
			b.keys = append(b.keys, k)
		}
	}
	return nil
}

// likeRest adds the checks and the indexes that are not unique.
func (b *tableBuilder) likeRest() error {
	for _, l := range b.likes {
		if l.t != nil && l.including(likeConstraints) {
			for i := range l.t.Checks {
				if err := b.likeCheck(l, l.t.Checks[i]); err != nil {
					return err
				}
			}
		}
		if l.t != nil && l.including(likeIndexes) {
			for i := range l.t.Indexes {
				if err := b.likeIndex(l, l.t.Indexes[i]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (b *tableBuilder) likeCheck(l *likeSource, c catalog.Check) error {
	if _, taken := constraintNamed(b.t, c.Name); taken {
		return pgerr.New(pgerr.DuplicateObject, `constraint "%s" for relation "%s" already exists`, c.Name, b.t.Name)
	}
	from := c.OID
	var err error
	if c.OID, err = b.s.e.newOID(); err != nil {
		return err
	}
	if c.Expr, err = unqualified(c.Expr); err != nil {
		return err
	}
	c.Columns, c.NotValid = l.renumber(c.Columns), false
	b.t.Checks = append(b.t.Checks, c)
	l.copies = append(l.copies, likeCopy{constraintRef(c.OID), constraintRef(from)})
	return nil
}

func (l *likeSource) renumber(nums []int16) (out []int16) {
	for _, n := range nums {
		out = append(out, l.nums[n])
	}
	return out
}

func (b *tableBuilder) likeIndex(l *likeSource, ix catalog.Index) error {
	from := ix.OID
	var err error
	if ix.OID, err = b.s.e.newOID(); err != nil {
		return err
	}
	if ix.Where, err = unqualified(ix.Where); err != nil {
		return err
	}
	cols := ix.Columns
	ix.Columns = nil
	var parts []string
	for _, c := range cols {
		part := ""
		if c.Column != 0 {
			c.Column = l.nums[c.Column]
			part = b.t.Columns[b.t.ColumnByNum(c.Column)].Name
		} else if c.Expr, err = unqualified(c.Expr); err == nil {
			part, err = indexPart(c.Expr)
		}
		if err != nil {
			return err
		}
		ix.Columns, parts = append(ix.Columns, c), append(parts, part)
	}
	ix.Include = l.renumber(ix.Include)
	ix.Name = b.indexName(parts)
	if ix.Key = b.givesOrder(&ix); !ix.Key {
		b.s.notice(b.recordedNotice(&ix))
	}
	b.t.Indexes = append(b.t.Indexes, ix)
	b.t.DeriveKeys()
	l.copies = append(l.copies, likeCopy{relationRef(ix.OID), relationRef(from)})
	return nil
}

// indexPart is what an expression adds to the name of its index.
func indexPart(expr string) (string, error) {
	tree, err := pg_query.Parse("SELECT " + expr)
	if err != nil {
		return "", pgerr.New(pgerr.InternalError, "expression of an index cannot be read: %s", err)
	}
	f := tree.Stmts[0].Stmt.GetSelectStmt().TargetList[0].GetResTarget().GetVal().GetFuncCall()
	if f == nil {
		return "expr", nil
	}
	return strings.ToLower(stringOf(f.Funcname[len(f.Funcname)-1])), nil
}

// likeKeyMade notes which key a copied one has become.
func (k *keyClause) likeKeyMade(con *catalog.Constraint) {
	if k.like != nil {
		k.like.copies = append(k.like.copies, likeCopy{constraintRef(con.OID), constraintRef(k.from.OID)},
			likeCopy{relationRef(con.IndexOID), relationRef(k.from.IndexOID)})
	}
}

// likeNotes copies the comments, once the table is in the catalog.
func (b *tableBuilder) likeNotes() {
	for _, l := range b.likes {
		if !l.including(likeComments) {
			continue
		}
		for _, c := range l.copies {
			if c.to.Column != 0 {
				c.to.OID = b.t.OID
			}
			if text, ok := b.s.catalog().Comment(c.from); ok {
				b.s.tx.local = b.s.tx.local.WithComment(c.to, text)
			}
		}
	}
}
