package session

import (
	"context"
	"errors"
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/planner/bind"
	"tsdb/rowkey"
	"tsdb/sql"
	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// maxTableColumns is PostgreSQL's limit.
const maxTableColumns = 1600

// tableBuilder collects what CREATE TABLE says.
type tableBuilder struct {
	s    *Session
	st   *sql.Statement
	stmt *pg_query.CreateStmt
	t    *catalog.Table
	null map[int]bool // columns declared NULL
	keys []keyClause

	checks    []checkClause
	generated map[int]*pg_query.Node // expressions of generated columns
	sequences []ownedSequence        // of serial and identity columns
	foreign   []foreignClause
	likes     []*likeSource
}

// keyClause is a PRIMARY KEY or UNIQUE of the statement, or a unique index.
type keyClause struct {
	primary  bool
	index    bool
	name     string
	columns  []string
	location int32

	like *likeSource         // of a key copied by LIKE
	from *catalog.Constraint // the key that it is copied from
}

func (s *Session) createTable(ctx context.Context, st *sql.Statement, n *pg_query.CreateStmt) error {
	if err := s.refuseTableClauses(n); err != nil {
		return err
	}
	sc, err := s.targetSchema(n.Relation)
	if err != nil {
		if pgerr.From(err).Code == pgerr.InvalidSchemaName && n.Relation.GetSchemaname() != "" {
			err = pgerr.From(err).At(st.Position(n.Relation.Location))
		}
		return err
	}
	name := n.Relation.GetRelname()
	if s.relationExists(sc.OID, name) {
		e := pgerr.New(pgerr.DuplicateTable, `relation "%s" already exists`, name)
		if n.IfNotExists {
			e.Severity = pgerr.SevNotice
			e.Message += ", skipping"
			s.notice(e)
			return nil
		}
		return e
	}
	if err := s.typeNameTaken(sc.OID, name); err != nil {
		return err
	}
	b := &tableBuilder{s: s, st: st, stmt: n, null: map[int]bool{},
		t: &catalog.Table{Schema: sc.OID, Name: name, Owner: s.userOID(), Temp: isTemp(sc), OnCommit: onCommit(n.Oncommit)}}
	if err := b.build(); err != nil {
		return err
	}
	if err := s.writeTx().CreateTable(b.t.Storage); err != nil {
		if errors.Is(err, table.ErrConflictMode) {
			return pgerr.Unsupported("conflict = 'replace' on a columnar table with a primary key").WithHint("Use WITH (layout = 'row') or conflict = 'ignore'.")
		}
		return err
	}
	s.tx.local = s.tx.local.WithTable(b.t)
	if err := b.addSequences(); err != nil {
		return err
	}
	b.likeNotes()
	return b.addForeignKeys(ctx)
}

// refuseTableClauses names the clauses that are out of scope.
func (s *Session) refuseTableClauses(n *pg_query.CreateStmt) error {
	if n.Relation.GetRelpersistence() == "u" {
		s.unloggedNotice(n.Relation.GetRelname())
	}
	switch {
	case n.Partbound != nil:
		return pgerr.Unsupported("PARTITION OF")
	case n.Partspec != nil:
		return pgerr.Unsupported("PARTITION BY").WithHint("Tables are divided by time on their own: WITH (bucket = '1 day').")
	case len(n.InhRelations) > 0:
		return pgerr.Unsupported("INHERITS")
	case n.OfTypename != nil:
		return pgerr.Unsupported("CREATE TABLE OF")
	case n.Tablespacename != "":
		return pgerr.Unsupported("TABLESPACE")
	case n.AccessMethod != "" && n.AccessMethod != "heap":
		return pgerr.New(pgerr.UndefinedObject, `access method "%s" does not exist`, n.AccessMethod).
			WithHint("Choose where rows live with WITH (layout = 'columnar' | 'row').")
	case n.Oncommit > pg_query.OnCommitAction_ONCOMMIT_NOOP && n.Relation.GetRelpersistence() != "t" && n.Relation.GetSchemaname() != "pg_temp":
		return pgerr.New(pgerr.InvalidTableDefinition, "ON COMMIT can only be used on temporary tables")
	}
	return nil
}

// unloggedNotice says what UNLOGGED does.
func (s *Session) unloggedNotice(table string) {
	s.notice(pgerr.Notice(`table "%s" is logged, as all tables are`, table))
}

func refuseSystemSchema(sc *catalog.Schema, rel string) error {
	if catalog.IsSystem(sc.OID) {
		return pgerr.New(pgerr.InsufficientPrivilege, `permission denied to create "%s.%s"`, sc.Name, rel).
			WithDetail("System catalog modifications are currently disallowed.")
	}
	return nil
}

func noSchema(name string) error {
	return pgerr.New(pgerr.InvalidSchemaName, `schema "%s" does not exist`, name)
}

func (s *Session) checkDatabase(rv *pg_query.RangeVar) error {
	if c := rv.GetCatalogname(); c != "" && c != s.database {
		return pgerr.New(pgerr.FeatureNotSupported, `cross-database references are not implemented: "%s.%s.%s"`,
			c, rv.GetSchemaname(), rv.GetRelname())
	}
	return nil
}

// relationExists reports whether a relation of any kind has that name.
func (s *Session) relationExists(schema types.OID, name string) bool {
	_, ok := s.catalog().Relation(schema, name)
	return ok
}

func (b *tableBuilder) build() error {
	for _, el := range b.stmt.TableElts {
		var err error
		switch x := el.GetNode().(type) {
		case *pg_query.Node_ColumnDef:
			err = b.column(x.ColumnDef)
		case *pg_query.Node_Constraint:
			err = b.tableConstraint(x.Constraint)
		case *pg_query.Node_TableLikeClause:
			err = b.like(x.TableLikeClause)
		}
		if err != nil {
			return err
		}
	}
	if len(b.t.Columns) == 0 {
		return pgerr.Unsupported("a table without columns")
	}
	if len(b.t.Columns) > maxTableColumns {
		return pgerr.New(pgerr.TooManyColumns, "tables can have at most %d columns", maxTableColumns)
	}
	if err := b.assignIDs(); err != nil {
		return err
	}
	if err := b.likeKeys(); err != nil {
		return err
	}
	for _, primary := range []bool{true, false} {
		for _, k := range b.keys {
			if k.primary == primary {
				if err := b.key(k); err != nil {
					return err
				}
			}
		}
	}
	if err := b.options(); err != nil {
		return err
	}
	b.t.DeriveKeys()
	if err := b.addExpressions(); err != nil {
		return err
	}
	return b.likeRest()
}

// addExpressions reads what may name any column: generated columns and checks.
func (b *tableBuilder) addExpressions() error {
	for i := range b.t.Columns {
		if n := b.generated[i]; n != nil {
			if err := b.generatedColumn(i, n); err != nil {
				return err
			}
		}
	}
	for _, k := range b.checks {
		if err := b.addCheck(k); err != nil {
			return err
		}
	}
	return nil
}

var systemColumns = []string{"tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"}

// newColumn refuses a name that a column cannot have.
func (b *tableBuilder) newColumn(name string) error {
	if b.t.ColumnIndex(name) >= 0 {
		return pgerr.New(pgerr.DuplicateColumn, `column "%s" specified more than once`, name)
	}
	if slices.Contains(systemColumns, name) {
		return pgerr.New(pgerr.DuplicateColumn, `column name "%s" conflicts with a system column name`, name)
	}
	return nil
}

func (b *tableBuilder) column(d *pg_query.ColumnDef) error {
	name := d.Colname
	if err := b.newColumn(name); err != nil {
		return err
	}
	typ, domain, err := b.columnType(d)
	if err != nil {
		return err
	}
	if err := b.collation(d, typ); err != nil {
		return err
	}
	if len(d.Fdwoptions) > 0 {
		return pgerr.Unsupported("column OPTIONS")
	}
	if err := b.columnStorage(d, typ); err != nil {
		return err
	}
	b.t.AddColumn(catalog.Column{Name: name, Type: typ, Domain: domain}, codecOf(typ))
	col := len(b.t.Columns) - 1
	if _, serial := serialType(d.TypeName); serial {
		if err := b.serialColumn(col); err != nil {
			return err
		}
	}
	return b.columnConstraints(col, d.Constraints)
}

// columnStorage reads STORAGE and COMPRESSION, which change nothing.
func (b *tableBuilder) columnStorage(d *pg_query.ColumnDef, typ types.Type) error {
	switch d.Compression {
	case "", "default", "pglz", "lz4":
	default:
		return pgerr.New(pgerr.InvalidParameterValue, `invalid compression method "%s"`, d.Compression)
	}
	if k := typ.Kind(); d.Compression != "" && k != vector.Bytes {
		return pgerr.New(pgerr.FeatureNotSupported, "column data type %s does not support compression", types.FormatType(types.T(typ.OID)))
	}
	if d.Compression != "" || d.StorageName != "" {
		b.s.notice(storageNotice(d.Colname))
	}
	return nil
}

func storageNotice(column string) *pgerr.Error {
	return pgerr.Notice(`statistics, storage and compression of column "%s" are chosen from its values; the setting has no effect`, column)
}

func (b *tableBuilder) serialColumn(col int) error {
	q, err := b.columnSequence(col, false, nil)
	if err != nil {
		return err
	}
	c := &b.t.Columns[col]
	c.NotNull, c.Default, c.Depends = true, nextvalText(q.OID), []catalog.Ref{relationRef(q.OID)}
	return nil
}

// identityColumn is GENERATED ... AS IDENTITY: a default that the statements of
// users may not replace at will.
func (b *tableBuilder) identityColumn(col int, c *pg_query.Constraint) error {
	column := &b.t.Columns[col]
	pos := b.st.Position(c.Location)
	switch {
	case column.Type.OID != types.Int2 && column.Type.OID != types.Int4 && column.Type.OID != types.Int8:
		return pgerr.New(pgerr.InvalidParameterValue, "identity column type must be smallint, integer, or bigint")
	case column.Identity != 0:
		return pgerr.New(pgerr.SyntaxError, `multiple identity specifications for column "%s" of table "%s"`, column.Name, b.t.Name).At(pos)
	case column.Default != "":
		return pgerr.New(pgerr.SyntaxError, `both default and identity specified for column "%s" of table "%s"`, column.Name, b.t.Name).At(pos)
	case b.null[col]:
		return pgerr.New(pgerr.SyntaxError, `conflicting NULL/NOT NULL declarations for column "%s" of table "%s"`, column.Name, b.t.Name).At(pos)
	}
	q, err := b.columnSequence(col, true, c.Options)
	if err != nil {
		return err
	}
	column.Identity, column.NotNull, column.Default = c.GeneratedWhen[0], true, nextvalText(q.OID)
	return nil
}

// columnType returns the type of a column's values, and the domain that it is
// declared with.
func (b *tableBuilder) columnType(d *pg_query.ColumnDef) (typ types.Type, domain types.OID, err error) {
	if t, ok := serialType(d.TypeName); ok {
		return types.T(t), 0, nil
	}
	typ, of, err := bind.DeclaredType(b.s.bindEnv(), b.st, d.TypeName)
	if err != nil {
		return typ, 0, err
	}
	if of != nil {
		domain = of.OID
	}
	switch typ.OID {
	case types.Unknown, types.Void, types.Record, types.Any, types.AnyArray, types.AnyElement, types.AnyNonArray, types.AnyEnum,
		types.AnyCompatible, types.AnyCompatibleArray:
		return typ, 0, pgerr.New(pgerr.InvalidTableDefinition, `column "%s" has pseudo-type %s`, d.Colname, types.FormatType(typ))
	}
	return typ, domain, nil
}

func collatable(t types.OID) bool {
	switch t {
	case types.Text, types.Varchar, types.BPChar, types.Name, types.TextArray, types.VarcharArray, types.BPCharArray:
		return true
	}
	return false
}

func (b *tableBuilder) collation(d *pg_query.ColumnDef, typ types.Type) error {
	if d.CollClause == nil {
		return nil
	}
	pos := b.st.Position(d.CollClause.Location)
	names := d.CollClause.Collname
	name := ""
	if len(names) > 0 {
		name = names[len(names)-1].GetString_().GetSval()
	}
	switch name {
	case "C", "POSIX", "C.UTF-8", "C.utf8", "ucs_basic", "default":
	default:
		return pgerr.New(pgerr.UndefinedObject, `collation "%s" for encoding "UTF8" does not exist`, nameOf(names)).At(pos)
	}
	if !collatable(typ.OID) {
		return pgerr.New(pgerr.DatatypeMismatch, "collations are not supported by type %s", types.FormatType(types.T(typ.OID))).At(pos)
	}
	return nil
}

func (b *tableBuilder) columnConstraint(col int, c *pg_query.Constraint) error {
	column := &b.t.Columns[col]
	pos := b.st.Position(c.Location)
	conflict := pgerr.New(pgerr.SyntaxError, `conflicting NULL/NOT NULL declarations for column "%s" of table "%s"`, column.Name, b.t.Name).At(pos)
	switch c.Contype {
	case pg_query.ConstrType_CONSTR_NULL:
		if column.NotNull {
			return conflict
		}
		b.null[col] = true
	case pg_query.ConstrType_CONSTR_NOTNULL:
		if b.null[col] {
			return conflict
		}
		column.NotNull = true
	case pg_query.ConstrType_CONSTR_DEFAULT:
		if column.Identity != 0 {
			return pgerr.New(pgerr.SyntaxError, `both default and identity specified for column "%s" of table "%s"`, column.Name, b.t.Name).At(pos)
		}
		if b.generated[col] != nil {
			return pgerr.New(pgerr.SyntaxError, `both default and generation expression specified for column "%s" of table "%s"`, column.Name, b.t.Name).At(pos)
		}
		if column.Default != "" {
			return pgerr.New(pgerr.SyntaxError, `multiple default values specified for column "%s" of table "%s"`, column.Name, b.t.Name).At(pos)
		}
		err := b.s.setDefault(b.st, column, c.RawExpr)
		if b.stmt == nil { // ALTER TABLE
			err = unplaced(err)
		}
		return err
	case pg_query.ConstrType_CONSTR_IDENTITY:
		return b.identityColumn(col, c)
	case pg_query.ConstrType_CONSTR_GENERATED:
		if column.Default != "" {
			return pgerr.New(pgerr.SyntaxError, `both default and generation expression specified for column "%s" of table "%s"`, column.Name, b.t.Name).At(pos)
		}
		if b.generated == nil {
			b.generated = map[int]*pg_query.Node{}
		}
		b.generated[col] = c.RawExpr
	case pg_query.ConstrType_CONSTR_CHECK:
		b.checks = append(b.checks, checkClause{c, column.Name})
	case pg_query.ConstrType_CONSTR_FOREIGN:
		return b.addForeign(c, []string{column.Name})
	case pg_query.ConstrType_CONSTR_PRIMARY, pg_query.ConstrType_CONSTR_UNIQUE:
		return b.addKey(c, []string{column.Name})
	default:
		return refuseConstraint(c)
	}
	return nil
}

func (b *tableBuilder) tableConstraint(c *pg_query.Constraint) error {
	switch c.Contype {
	case pg_query.ConstrType_CONSTR_PRIMARY, pg_query.ConstrType_CONSTR_UNIQUE:
		names := make([]string, len(c.Keys))
		for i, k := range c.Keys {
			names[i] = k.GetString_().GetSval()
		}
		return b.addKey(c, names)
	case pg_query.ConstrType_CONSTR_CHECK:
		b.checks = append(b.checks, checkClause{c: c})
		return nil
	case pg_query.ConstrType_CONSTR_FOREIGN:
		names := make([]string, len(c.FkAttrs))
		for i, k := range c.FkAttrs {
			names[i] = stringOf(k)
		}
		return b.addForeign(c, names)
	}
	return refuseConstraint(c)
}

// refuseConstraint names a constraint that is out of scope.
func refuseConstraint(c *pg_query.Constraint) error {
	switch c.Contype {
	case pg_query.ConstrType_CONSTR_EXCLUSION:
		return pgerr.Unsupported("EXCLUDE constraint")
	}
	return pgerr.Unsupported("this constraint")
}

func (b *tableBuilder) addKey(c *pg_query.Constraint, columns []string) error {
	switch {
	case c.Deferrable || c.Initdeferred:
		return pgerr.Unsupported("DEFERRABLE constraint")
	case len(c.Including) > 0:
		return pgerr.Unsupported("INCLUDE in a constraint")
	case c.NullsNotDistinct:
		return pgerr.Unsupported("NULLS NOT DISTINCT")
	case c.Indexname != "":
		return pgerr.Unsupported("USING INDEX in a constraint")
	}
	for _, o := range c.Options {
		b.s.storageParameterNotice(o.GetDefElem().GetDefname())
	}
	k := keyClause{primary: c.Contype == pg_query.ConstrType_CONSTR_PRIMARY, name: c.Conname, columns: columns, location: c.Location}
	if k.primary {
		for _, o := range b.keys {
			if o.primary {
				return pgerr.New(pgerr.InvalidTableDefinition, `multiple primary keys for table "%s" are not allowed`, b.t.Name).
					At(b.st.Position(c.Location))
			}
		}
	}
	b.keys = append(b.keys, k)
	return nil
}

func (b *tableBuilder) assignIDs() error {
	var err error
	if b.t.OID, err = b.s.e.newOID(); err != nil {
		return err
	}
	if b.t.TypeOID, err = b.s.e.newOID(); err != nil {
		return err
	}
	id, err := b.s.e.store.NewID()
	if err != nil {
		return err
	}
	b.t.Storage.ID = table.ID(id)
	return nil
}

// codecOf is the ordered spelling of a type's values, CodecNone where a
// type's order is not that of its stored form.
func codecOf(t types.Type) rowkey.Codec {
	switch t.OID {
	case types.Numeric:
		return rowkey.CodecNumeric
	case types.Interval:
		return rowkey.CodecInterval
	case types.UUID:
		return rowkey.CodecFixed
	case types.Text, types.Varchar, types.Bytea, types.Name:
		return rowkey.CodecBytes
	}
	switch t.Kind() {
	case vector.Bool:
		return rowkey.CodecBool
	case vector.Int16, vector.Int32, vector.Int64:
		return rowkey.CodecInt
	case vector.Uint32:
		return rowkey.CodecUint
	case vector.Float32, vector.Float64:
		return rowkey.CodecFloat
	}
	return rowkey.CodecNone
}

// key turns a key clause into a constraint.
func (b *tableBuilder) key(k keyClause) error {
	word := "unique"
	if k.primary {
		word = "primary key"
	}
	con := catalog.Constraint{Primary: k.primary, Index: k.index}
	for _, name := range k.columns {
		col := b.t.ColumnIndex(name)
		if col < 0 {
			return pgerr.New(pgerr.UndefinedColumn, `column "%s" named in key does not exist`, name).At(b.st.Position(k.location))
		}
		for _, have := range con.Columns {
			if have == col {
				return pgerr.New(pgerr.DuplicateColumn, `column "%s" appears twice in %s constraint`, name, word).At(b.st.Position(k.location))
			}
		}
		if err := keyType(&b.t.Columns[col], b.t.Storage.Columns[col].Codec); err != nil {
			return err
		}
		if k.primary {
			b.t.Columns[col].NotNull = true
		}
		con.Columns = append(con.Columns, col)
	}
	var err error
	if con.Name, err = b.constraintName(k); err != nil {
		return err
	}
	if con.OID, err = b.s.e.newOID(); err != nil {
		return err
	}
	if con.IndexOID, err = b.s.e.newOID(); err != nil {
		return err
	}
	if !k.primary {
		if con.StoreID, err = b.s.e.store.NewID(); err != nil {
			return err
		}
	}
	k.likeKeyMade(&con)
	b.t.Constraints = append(b.t.Constraints, con)
	return nil
}

// keyType refuses a column whose values have no key form.
func keyType(c *catalog.Column, codec rowkey.Codec) error {
	if codec != rowkey.CodecNone {
		return nil
	}
	name := types.FormatType(types.T(c.Type.OID))
	switch c.Type.OID {
	case types.JSON, types.ACLItem, types.PgNodeTree, types.Xid:
		return pgerr.New(pgerr.UndefinedObject, `data type %s has no default operator class for access method "btree"`, name).
			WithHint("You must specify an operator class for the index or define a default operator class for the data type.")
	}
	return pgerr.Unsupported("a key column of type %s", name)
}

func (b *tableBuilder) constraintName(k keyClause) (string, error) {
	if k.name != "" {
		if b.nameTaken(k.name) {
			return "", pgerr.New(pgerr.DuplicateTable, `relation "%s" already exists`, k.name)
		}
		return k.name, nil
	}
	middle, suffix := "", "pkey"
	switch {
	case k.index:
		middle, suffix = strings.Join(k.columns, "_"), "idx"
	case !k.primary:
		middle, suffix = strings.Join(k.columns, "_"), "key"
	}
	for n := 0; ; n++ {
		end := suffix
		if n > 0 {
			end += itoa(int64(n))
		}
		if name := objectNameFor(b.t.Name, middle, end); !b.nameTaken(name) {
			return name, nil
		}
	}
}

func (b *tableBuilder) nameTaken(name string) bool {
	if name == b.t.Name {
		return true
	}
	for i := range b.t.Constraints {
		if b.t.Constraints[i].Name == name {
			return true
		}
	}
	for i := range b.t.Indexes {
		if b.t.Indexes[i].Name == name {
			return true
		}
	}
	return b.s.relationExists(b.t.Schema, name)
}

// maxIdentifier is the longest name in bytes.
const maxIdentifier = 63

// objectNameFor joins the parts with underscores and shortens the longer of
// the first two until the name fits.
func objectNameFor(a, b, suffix string) string {
	over := len(suffix) + 1
	if b != "" {
		over++
	}
	for len(a)+len(b)+over > maxIdentifier {
		if len(a) > len(b) {
			a = cutText(a, len(a)-1)
		} else {
			b = cutText(b, len(b)-1)
		}
	}
	if b != "" {
		a += "_" + b
	}
	return a + "_" + suffix
}
