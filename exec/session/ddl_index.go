package session

import (
	"context"
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/planner/bind"
	"tsdb/planner/scalar"
	"tsdb/rowkey"
	"tsdb/sql"
	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// accessMethods are PostgreSQL's. An index that is only recorded may name any.
var accessMethods = []string{"btree", "hash", "gist", "gin", "spgist", "brin"}

// maxIndexColumns is PostgreSQL's limit.
const maxIndexColumns = 32

// createIndex runs CREATE [UNIQUE] INDEX. A unique index is enforced. Another
// one on an empty table without a key may become the key order; the rest are
// recorded, and a notice says so.
func (s *Session) createIndex(ctx context.Context, st *sql.Statement, n *pg_query.IndexStmt) error {
	if n.Concurrent && (s.tx.block || s.tx.several) {
		return pgerr.New(pgerr.ActiveSQLTransaction, "CREATE INDEX CONCURRENTLY cannot run inside a transaction block")
	}
	if n.AccessMethod != "" && !slices.Contains(accessMethods, n.AccessMethod) {
		return pgerr.New(pgerr.UndefinedObject, `access method "%s" does not exist`, n.AccessMethod)
	}
	if n.TableSpace != "" {
		return pgerr.Unsupported("TABLESPACE")
	}
	if r, err := s.anyRelation(n.Relation); err == nil && r.Kind != catalog.RelTable && r.Kind != catalog.RelMaterialized {
		return pgerr.New(pgerr.WrongObjectType, `cannot create index on relation "%s"`, r.Name).
			WithDetail("This operation is not supported for %s.", relationKinds(r.Kind))
	}
	t, err := s.alterTarget(ctx, n.Relation, false)
	if err != nil {
		return err
	}
	if n.Idxname != "" && s.relationExists(t.Schema, n.Idxname) {
		e := pgerr.New(pgerr.DuplicateTable, `relation "%s" already exists`, n.Idxname)
		if n.IfNotExists {
			e.Severity, e.Message = pgerr.SevNotice, e.Message+", skipping"
			s.notice(e)
			return nil
		}
		return e
	}
	x := s.newAlteration(st, t)
	if n.Unique {
		return x.uniqueIndex(ctx, n)
	}
	return x.plainIndex(ctx, n)
}

// uniqueIndex is CREATE UNIQUE INDEX: uniqueness without a constraint's row in
// pg_constraint.
func (x *alteration) uniqueIndex(ctx context.Context, n *pg_query.IndexStmt) error {
	switch {
	case n.WhereClause != nil:
		return pgerr.Unsupported("a partial unique index")
	case len(n.IndexIncludingParams) > 0:
		return pgerr.Unsupported("INCLUDE in a unique index")
	case n.NullsNotDistinct:
		return pgerr.Unsupported("NULLS NOT DISTINCT")
	case n.AccessMethod != "" && n.AccessMethod != "btree":
		return pgerr.New(pgerr.FeatureNotSupported, `access method "%s" does not support unique indexes`, n.AccessMethod)
	}
	k := keyClause{name: n.Idxname, index: true}
	for _, p := range n.IndexParams {
		name := p.GetIndexElem().GetName()
		if name == "" {
			return pgerr.Unsupported("a unique index on an expression")
		}
		if x.t.ColumnIndex(name) < 0 {
			return pgerr.New(pgerr.UndefinedColumn, `column "%s" does not exist`, name)
		}
		if !slices.Contains(k.columns, name) {
			k.columns = append(k.columns, name)
		}
	}
	x.keys = append(x.keys, k)
	return x.apply(ctx)
}

// plainIndex is CREATE INDEX without UNIQUE.
func (x *alteration) plainIndex(ctx context.Context, n *pg_query.IndexStmt) error {
	ix := catalog.Index{Name: n.Idxname, Method: n.AccessMethod}
	if ix.Method == "" {
		ix.Method = "btree"
	}
	var parts []string
	if len(n.IndexParams) > maxIndexColumns {
		return pgerr.New(pgerr.TooManyColumns, "cannot use more than %d columns in an index", maxIndexColumns)
	}
	for _, p := range n.IndexParams {
		c, part, err := x.indexColumn(p.GetIndexElem(), ix.Method)
		if err != nil {
			return err
		}
		ix.Columns, parts = append(ix.Columns, c), append(parts, part)
	}
	for _, p := range n.IndexIncludingParams {
		col := x.t.ColumnIndex(p.GetIndexElem().GetName())
		if col < 0 {
			return pgerr.New(pgerr.UndefinedColumn, `column "%s" does not exist`, p.GetIndexElem().GetName())
		}
		ix.Include = append(ix.Include, x.t.Columns[col].AttNum)
	}
	if n.WhereClause != nil {
		text, err := deparse(n.WhereClause)
		if err != nil {
			return err
		}
		e, _, err := x.over(text, bind.ForIndexWhere, types.T(types.Bool))
		if err != nil {
			return err
		}
		if !bind.Immutable(e) {
			return pgerr.New(pgerr.InvalidObjectDefinition, "functions in index predicate must be marked IMMUTABLE")
		}
		ix.Where = text
	}
	for _, o := range n.Options {
		ix.Options = append(ix.Options, catalog.Option{Name: o.GetDefElem().GetDefname(), Value: constText(o.GetDefElem().GetArg())})
	}
	var err error
	if ix.OID, err = x.s.e.newOID(); err != nil {
		return err
	}
	if ix.Name == "" {
		ix.Name = x.indexName(parts)
	}
	empty, err := x.isEmpty(ctx)
	if err != nil {
		return err
	}
	ix.Key = empty && x.givesOrder(&ix)
	x.t.Indexes = append(x.t.Indexes, ix)
	if ix.Key {
		x.rewrite = true
	} else {
		x.s.notice(x.recordedNotice(&ix))
	}
	return x.apply(ctx)
}

// indexColumn reads one column or expression of an index; part is what it adds
// to the name that the index gets by default.
func (x *alteration) indexColumn(e *pg_query.IndexElem, method string) (c catalog.IndexColumn, part string, err error) {
	c.Desc = e.Ordering == pg_query.SortByDir_SORTBY_DESC
	c.NullsFirst = e.NullsOrdering == pg_query.SortByNulls_SORTBY_NULLS_FIRST ||
		c.Desc && e.NullsOrdering != pg_query.SortByNulls_SORTBY_NULLS_LAST
	if method != "btree" && (e.Ordering != pg_query.SortByDir_SORTBY_DEFAULT || e.NullsOrdering != pg_query.SortByNulls_SORTBY_NULLS_DEFAULT) {
		return c, "", pgerr.New(pgerr.FeatureNotSupported, `access method "%s" does not support ASC/DESC options`, method)
	}
	c.OpClass = nameOf(e.Opclass)
	if e.Name != "" {
		col := x.t.ColumnIndex(e.Name)
		if col < 0 {
			return c, "", pgerr.New(pgerr.UndefinedColumn, `column "%s" does not exist`, e.Name)
		}
		c.Column = x.t.Columns[col].AttNum
		return c, e.Name, nil
	}
	if c.Expr, err = deparse(e.Expr); err != nil {
		return c, "", err
	}
	b, _, err := x.over(c.Expr, bind.ForIndex, types.T(types.Unknown))
	if err != nil {
		return c, "", err
	}
	if !bind.Immutable(b) {
		return c, "", pgerr.New(pgerr.InvalidObjectDefinition, "functions in index expression must be marked IMMUTABLE")
	}
	part = "expr"
	if f := e.Expr.GetFuncCall(); f != nil {
		part = f.Funcname[len(f.Funcname)-1].GetString_().GetSval()
	}
	return c, part, nil
}

// over binds an expression over the columns of the table as it was. Positions
// in its text mean nothing in the statement and are left out.
func (x *alteration) over(text string, use bind.Use, want types.Type) (scalar.Expr, bool, error) {
	env := (*bind.Env)(x.s.env(x.s.catalog(), x.s.functionCtx(), nil))
	e, ok, err := bind.ExpressionOver(env, text, x.old, use, want)
	if err != nil {
		pe := *pgerr.From(err)
		pe.Position = 0
		err = &pe
	}
	return e, ok, err
}

// indexName is the name that PostgreSQL gives an index.
func (b *tableBuilder) indexName(parts []string) string {
	for n := 0; ; n++ {
		end := "idx"
		if n > 0 {
			end += itoa(int64(n))
		}
		if name := objectNameFor(b.t.Name, strings.Join(parts, "_"), end); !b.nameTaken(name) {
			return name
		}
	}
}

// givesOrder reports whether an index says in which order rows are to lie: its
// time column after at least one other, in a table that has no key yet.
func (b *tableBuilder) givesOrder(ix *catalog.Index) bool {
	s := &b.t.Storage
	if s.Layout != table.Columnar || s.Time < 0 || len(s.Key) > 0 || ix.Method != "btree" || ix.Where != "" {
		return false
	}
	at := -1
	for i, c := range ix.Columns {
		col := b.t.ColumnByNum(c.Column)
		if c.Column == 0 || s.Columns[col].Codec == rowkey.CodecNone {
			return false
		}
		if col == s.Time {
			at = i
		}
	}
	return at > 0
}

// recordedNotice says what an index does that neither orders rows nor keeps
// them unique.
func (b *tableBuilder) recordedNotice(ix *catalog.Index) *pgerr.Error {
	n := pgerr.Notice(`index "%s" is recorded and not used: rows are found by their key, their time and the ranges of values in each block`, ix.Name)
	if b.t.PrimaryKey() == nil && b.orderable(ix) {
		n.Hint = "CLUSTER " + quoteIdent(b.t.Name) + " USING " + quoteIdent(ix.Name) + " makes it the order of the rows."
	}
	return n
}

// orderable reports whether CLUSTER can order the rows by an index.
func (b *tableBuilder) orderable(ix *catalog.Index) bool {
	if b.t.Storage.Layout != table.Columnar || ix.Method != "btree" || ix.Where != "" {
		return false
	}
	return !slices.ContainsFunc(ix.Columns, func(c catalog.IndexColumn) bool {
		return c.Column == 0 || b.t.Storage.Columns[b.t.ColumnByNum(c.Column)].Codec == rowkey.CodecNone
	})
}

// isEmpty reports whether the table has no row.
func (x *alteration) isEmpty(ctx context.Context) (bool, error) {
	found := false
	err := x.scan(ctx, table.ScanRequest{}, func(b *vector.Batch) error {
		found = found || b.Rows() > 0
		return nil
	})
	return !found, err
}

// promote is ADD CONSTRAINT ... USING INDEX: a unique index becomes a
// constraint and takes its name.
func (x *alteration) promote(c *pg_query.Constraint) error {
	pos := x.st.Position(c.Location)
	i := slices.IndexFunc(x.t.Constraints, func(o catalog.Constraint) bool { return o.Index && o.Name == c.Indexname })
	if i < 0 {
		if slices.ContainsFunc(x.t.Indexes, func(o catalog.Index) bool { return o.Name == c.Indexname }) {
			return pgerr.New(pgerr.WrongObjectType, `"%s" is not a unique index`, c.Indexname).At(pos).
				WithDetail("Cannot create a primary key or unique constraint using such an index.")
		}
		return pgerr.New(pgerr.UndefinedObject, `index "%s" does not exist`, c.Indexname).At(pos)
	}
	if c.Deferrable || c.Initdeferred {
		return pgerr.Unsupported("DEFERRABLE constraint")
	}
	con := &x.t.Constraints[i]
	con.Index = false
	if c.Conname != "" && c.Conname != con.Name {
		if x.nameTaken(c.Conname) {
			return pgerr.New(pgerr.DuplicateTable, `relation "%s" already exists`, c.Conname)
		}
		x.s.notice(pgerr.Notice(`ALTER TABLE / ADD CONSTRAINT USING INDEX will rename index "%s" to "%s"`, con.Name, c.Conname))
		con.Name = c.Conname
	}
	if c.Contype != pg_query.ConstrType_CONSTR_PRIMARY {
		return nil
	}
	if x.t.PrimaryKey() != nil {
		return pgerr.New(pgerr.InvalidTableDefinition, `multiple primary keys for table "%s" are not allowed`, x.old.Name)
	}
	con.Primary, con.StoreID = true, 0
	for _, col := range con.Columns {
		x.mustNotBeNull(col)
	}
	x.rewrite, x.rekeyed = true, true
	return nil
}

// clusterOn is ALTER TABLE ... CLUSTER ON: it marks an index and moves no row.
func (x *alteration) clusterOn(name string) error {
	if r, ok := x.s.catalog().Relation(x.old.Schema, name); !ok || r.Kind != catalog.RelIndex || r.Table.OID != x.old.OID {
		return pgerr.New(pgerr.UndefinedObject, `index "%s" for table "%s" does not exist`, name, x.old.Name)
	}
	n := pgerr.Notice("no row is moved")
	n.Hint = "CLUSTER " + quoteIdent(x.old.Name) + " USING " + quoteIdent(name) + " orders the rows by an index."
	x.s.notice(n)
	return nil
}

// reindex answers REINDEX: entries of unique indexes are written with their
// rows and checked by "tsdb check", there is nothing to build anew.
func (s *Session) reindex(n *pg_query.ReindexStmt) error {
	if n.Relation != nil {
		cat := s.catalog()
		name := n.Relation.GetRelname()
		var found catalog.Relation
		for _, oid := range s.searchOIDs(cat) {
			sc, ok := cat.SchemaByOID(oid)
			if !ok || n.Relation.GetSchemaname() != "" && sc.Name != n.Relation.GetSchemaname() {
				continue
			}
			if found, ok = cat.Relation(oid, name); ok {
				break
			}
		}
		switch index := n.Kind == pg_query.ReindexObjectType_REINDEX_OBJECT_INDEX; {
		case found.OID == 0:
			return pgerr.New(pgerr.UndefinedTable, `relation "%s" does not exist`, name)
		case index && found.Kind != catalog.RelIndex:
			return pgerr.New(pgerr.WrongObjectType, `"%s" is not an index`, name)
		case !index && found.Table == nil || !index && found.Kind == catalog.RelIndex:
			return pgerr.New(pgerr.WrongObjectType, `"%s" is not a table or materialized view`, name)
		}
	}
	s.notice(pgerr.Notice("indexes are written with their rows; there is nothing to build anew"))
	return nil
}

// cluster runs CLUSTER table USING index: the index becomes the order of the
// rows.
func (s *Session) cluster(ctx context.Context, n *pg_query.ClusterStmt) error {
	if n.Relation == nil {
		return nil // every table is in the order of its key at all times
	}
	t, err := s.alterTarget(ctx, n.Relation, false)
	if err != nil {
		return err
	}
	x := s.newAlteration(nil, t)
	if n.Indexname == "" {
		if len(t.Storage.Key) == 0 {
			return pgerr.New(pgerr.UndefinedObject, `there is no previously clustered index for table "%s"`, t.Name)
		}
		return nil
	}
	pk := t.PrimaryKey()
	if pk != nil && pk.Name == n.Indexname {
		return nil // as they always are
	}
	k := slices.IndexFunc(x.t.Indexes, func(i catalog.Index) bool { return i.Name == n.Indexname })
	unique := slices.ContainsFunc(x.t.Constraints, func(c catalog.Constraint) bool { return c.Name == n.Indexname })
	switch {
	case k < 0 && !unique:
		return pgerr.New(pgerr.UndefinedObject, `index "%s" for table "%s" does not exist`, n.Indexname, t.Name)
	case pk != nil:
		return pgerr.Unsupported("an order of rows other than the primary key's").
			WithHint("Drop the constraint %s first, or make a primary key of these columns.", pk.Name)
	case unique:
		return pgerr.Unsupported("CLUSTER on a unique index").WithHint("Make an index on the same columns without UNIQUE.")
	case !x.orderable(&x.t.Indexes[k]):
		return pgerr.Unsupported("CLUSTER on this index").WithHint("Rows are ordered by plain columns, in tables of layout columnar.")
	case x.t.Indexes[k].Key:
		return nil
	}
	for i := range x.t.Indexes {
		x.t.Indexes[i].Key = i == k
	}
	x.rewrite = true
	return x.apply(ctx)
}
