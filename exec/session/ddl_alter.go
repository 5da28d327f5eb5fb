package session

import (
	"context"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/exec/eval"
	"tsdb/sql"
	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// alteration is one ALTER TABLE: a copy of the table that its actions change,
// and what the stored rows have to go through.
type alteration struct {
	tableBuilder
	old *catalog.Table
	// rewrite: the rows move into a storage of its own, for another key, layout
	// or uniqueness, or for a column whose values differ from row to row.
	rewrite bool
	rekeyed bool                             // the primary key came or went
	fill    map[table.ColumnID]*defaultValue // values that differ from row to row
	changed map[table.ColumnID]*changedType  // columns of another type
	running *rewriting                       // while rows are copied
	notNull map[table.ColumnID]bool          // columns that must be found without NULLs
	added   map[table.ColumnID]bool
	// verified are checks that the rows have to pass in the end.
	verified []types.OID
}

func (s *Session) alterTable(ctx context.Context, st *sql.Statement, n *pg_query.AlterTableStmt) error {
	if n.Objtype != pg_query.ObjectType_OBJECT_TABLE {
		return pgerr.Unsupported("ALTER %s", objectName(n.Objtype))
	}
	t, err := s.alterTarget(ctx, n.Relation, n.MissingOk)
	if t == nil || err != nil {
		return err
	}
	x := s.newAlteration(st, t)
	// As in PostgreSQL, columns go before they change and others come, and keys
	// come last.
	for phase := range 5 {
		for _, c := range n.Cmds {
			cmd := c.GetAlterTableCmd()
			if alterPhase(cmd) != phase {
				continue
			}
			if err := x.action(ctx, cmd); err != nil {
				return err
			}
		}
	}
	return x.apply(ctx)
}

func (s *Session) newAlteration(st *sql.Statement, t *catalog.Table) *alteration {
	return &alteration{tableBuilder: tableBuilder{s: s, st: st, t: t.Clone(), null: map[int]bool{}}, old: t,
		fill: map[table.ColumnID]*defaultValue{}, changed: map[table.ColumnID]*changedType{}, notNull: map[table.ColumnID]bool{}, added: map[table.ColumnID]bool{}}
}

// alterTarget finds the table and waits until nobody else changes its rows;
// nil without error where IF EXISTS says that this is fine.
func (s *Session) alterTarget(ctx context.Context, rv *pg_query.RangeVar, missingOK bool) (*catalog.Table, error) {
	t, err := s.relation(rv)
	if err != nil {
		if missingOK && pgerr.From(err).Code == pgerr.UndefinedTable {
			s.notice(pgerr.Notice(`relation "%s" does not exist, skipping`, rv.GetRelname()))
			return nil, nil
		}
		return nil, err
	}
	if err := s.mustOwn(t); err != nil {
		return nil, err
	}
	return t, s.lockTableAlone(ctx, t.OID)
}

func alterPhase(cmd *pg_query.AlterTableCmd) int {
	switch cmd.Subtype {
	case pg_query.AlterTableType_AT_ColumnDefault:
		if cmd.Def == nil {
			return 0
		}
		return 3
	case pg_query.AlterTableType_AT_DropColumn, pg_query.AlterTableType_AT_DropConstraint, pg_query.AlterTableType_AT_DropNotNull,
		pg_query.AlterTableType_AT_DropIdentity, pg_query.AlterTableType_AT_DropExpression:
		return 0
	case pg_query.AlterTableType_AT_AlterColumnType:
		return 1
	case pg_query.AlterTableType_AT_AddColumn:
		return 2
	case pg_query.AlterTableType_AT_AddConstraint:
		return 4
	}
	return 3
}

func (x *alteration) action(ctx context.Context, cmd *pg_query.AlterTableCmd) error {
	cascade := cmd.Behavior == pg_query.DropBehavior_DROP_CASCADE
	switch cmd.Subtype {
	case pg_query.AlterTableType_AT_AddColumn:
		return x.addColumn(cmd.Def.GetColumnDef(), cmd.MissingOk)
	case pg_query.AlterTableType_AT_DropColumn:
		return x.dropColumn(ctx, cmd.Name, cascade, cmd.MissingOk)
	case pg_query.AlterTableType_AT_ColumnDefault:
		return x.setDefault(cmd.Name, cmd.Def)
	case pg_query.AlterTableType_AT_SetNotNull:
		col, err := x.column(cmd.Name)
		if err != nil {
			return err
		}
		x.mustNotBeNull(col)
		return nil
	case pg_query.AlterTableType_AT_DropNotNull:
		return x.dropNotNull(cmd.Name)
	case pg_query.AlterTableType_AT_AddConstraint:
		return x.addConstraint(cmd.Def.GetConstraint())
	case pg_query.AlterTableType_AT_DropConstraint:
		return x.dropConstraint(ctx, cmd.Name, cascade, cmd.MissingOk)
	case pg_query.AlterTableType_AT_SetRelOptions:
		return x.setOptions(cmd.Def.GetList().GetItems())
	case pg_query.AlterTableType_AT_ResetRelOptions:
		return x.resetOptions(cmd.Def.GetList().GetItems())
	case pg_query.AlterTableType_AT_ChangeOwner:
		return x.setOwner(cmd.Newowner)
	case pg_query.AlterTableType_AT_AlterColumnType:
		return x.changeType(cmd.Name, cmd.Def.GetColumnDef())
	case pg_query.AlterTableType_AT_SetStatistics, pg_query.AlterTableType_AT_SetStorage, pg_query.AlterTableType_AT_SetCompression:
		return x.columnHint(cmd.Name)
	case pg_query.AlterTableType_AT_ClusterOn:
		return x.clusterOn(cmd.Name)
	case pg_query.AlterTableType_AT_AddIdentity:
		return x.addIdentity(cmd.Name, cmd.Def.GetConstraint())
	case pg_query.AlterTableType_AT_SetIdentity:
		return x.setIdentity(cmd.Name, cmd.Def.GetList().GetItems())
	case pg_query.AlterTableType_AT_DropIdentity:
		return x.dropIdentity(cmd.Name, cmd.MissingOk)
	case pg_query.AlterTableType_AT_DropExpression:
		return x.dropExpression(cmd.Name, cmd.MissingOk)
	case pg_query.AlterTableType_AT_ValidateConstraint:
		return x.validate(ctx, cmd.Name)
	case pg_query.AlterTableType_AT_AlterConstraint:
		return x.alterConstraint(cmd.Def.GetConstraint())
	case pg_query.AlterTableType_AT_SetUnLogged:
		x.s.unloggedNotice(x.old.Name)
		return nil
	case pg_query.AlterTableType_AT_SetLogged, pg_query.AlterTableType_AT_DropCluster:
		return nil // as it is
	}
	return pgerr.Unsupported("this action of ALTER TABLE")
}

// column finds a column of the table.
func (x *alteration) column(name string) (int, error) {
	i := x.t.ColumnIndex(name)
	if i >= 0 {
		return i, nil
	}
	if slices.Contains(systemColumns, name) {
		return 0, pgerr.New(pgerr.FeatureNotSupported, `cannot alter system column "%s"`, name)
	}
	return 0, pgerr.New(pgerr.UndefinedColumn, `column "%s" of relation "%s" does not exist`, name, x.old.Name)
}

func (x *alteration) mustNotBeNull(col int) {
	c := &x.t.Columns[col]
	if !c.NotNull {
		c.NotNull = true
		x.notNull[c.ID] = true
	}
}

func (x *alteration) addColumn(d *pg_query.ColumnDef, missingOK bool) error {
	if x.t.ColumnIndex(d.Colname) >= 0 {
		e := pgerr.New(pgerr.DuplicateColumn, `column "%s" of relation "%s" already exists`, d.Colname, x.old.Name)
		if missingOK {
			e.Severity, e.Message = pgerr.SevNotice, e.Message+", skipping"
			x.s.notice(e)
			return nil
		}
		return e
	}
	if len(x.t.Columns) >= maxTableColumns {
		return pgerr.New(pgerr.TooManyColumns, "tables can have at most %d columns", maxTableColumns)
	}
	if err := x.tableBuilder.column(d); err != nil {
		return err
	}
	i := len(x.t.Columns) - 1
	c := &x.t.Columns[i]
	x.added[c.ID] = true
	if c.NotNull {
		x.notNull[c.ID] = true
	}
	if err := x.takeSequences(); err != nil {
		return err
	}
	if x.generated[i] != nil {
		x.rewrite = true // computed from the rest of the row
		return nil
	}
	if x.s.catalog().DefaultOf(c) == "" {
		return nil
	}
	return x.valueOfAdded(i)
}

// valueOfAdded gives an added column its default in the rows that exist.
func (x *alteration) valueOfAdded(i int) error {
	s, c := x.s, &x.t.Columns[i]
	ctx := s.functionCtx()
	e, err := s.boundDefault(ctx, s.catalog(), s.catalog().DefaultOf(c), c)
	if err != nil {
		return err
	}
	if volatile(e) {
		prog, err := eval.Compile(e)
		if err != nil {
			return err
		}
		x.fill[c.ID] = &defaultValue{prog: prog, env: &eval.Env{Ctx: ctx}}
		x.rewrite = true
		return nil
	}
	v, err := eval.Constant(&eval.Env{Ctx: ctx}, e)
	if err == nil {
		err = s.checkDefault(c, v)
	}
	if err == nil && !v.IsNull(0) {
		x.t.Storage.Columns[i].Missing = v
	}
	return err
}

// dropColumn is DROP COLUMN: what depends on the column is in the way, or goes
// with it.
func (x *alteration) dropColumn(ctx context.Context, name string, cascade, missingOK bool) error {
	i := x.t.ColumnIndex(name)
	if i < 0 {
		if slices.Contains(systemColumns, name) {
			return pgerr.New(pgerr.FeatureNotSupported, `cannot drop system column "%s"`, name)
		}
		if missingOK {
			x.s.notice(pgerr.Notice(`column "%s" of relation "%s" does not exist, skipping`, name, x.old.Name))
			return nil
		}
		return pgerr.New(pgerr.UndefinedColumn, `column "%s" of relation "%s" does not exist`, name, x.old.Name)
	}
	num := x.t.Columns[i].AttNum
	if err := x.s.dropDependents(ctx, columnRef(x.old.OID, num), x.old, cascade, x.removePart); err != nil {
		return err
	}
	return x.removeColumn(x.t.ColumnByNum(num))
}

// removeColumn takes out a column and the keys and indexes that it is part of.
// Without the time column or part of the key the rows have to lie in another
// way.
func (x *alteration) removeColumn(i int) error {
	if i < 0 {
		return nil
	}
	if len(x.t.Columns) == 1 {
		return pgerr.Unsupported("a table without columns")
	}
	num := x.t.Columns[i].AttNum
	if pk := x.t.PrimaryKey(); pk != nil && slices.Contains(pk.Columns, i) {
		x.rewrite, x.rekeyed = true, true
	}
	x.t.Indexes = slices.DeleteFunc(x.t.Indexes, func(ix catalog.Index) bool {
		uses := slices.Contains(ix.Include, num) || slices.ContainsFunc(ix.Columns, func(c catalog.IndexColumn) bool { return c.Column == num })
		x.rewrite = x.rewrite || uses && ix.Key
		return uses
	})
	if x.t.Storage.Time == i {
		x.rewrite, x.rekeyed = true, true
		x.t.Storage.Time, x.t.Storage.Bucket, x.t.Storage.Retention = -1, 0, 0
		x.t.Options = slices.DeleteFunc(x.t.Options, func(o catalog.Option) bool {
			return o.Name == "time" || o.Name == "bucket" || o.Name == "retention"
		})
	}
	x.t.RemoveColumn(i)
	x.s.tx.local = x.s.tx.local.WithComment(columnRef(x.old.OID, num), "")
	return nil
}

func (x *alteration) setDefault(name string, def *pg_query.Node) error {
	i, err := x.column(name)
	if err != nil {
		return err
	}
	c := &x.t.Columns[i]
	switch {
	case c.Identity != 0:
		return pgerr.New(pgerr.SyntaxError, `column "%s" of relation "%s" is an identity column`, name, x.old.Name).
			WithHint("%s", map[bool]string{true: "Use ALTER TABLE ... ALTER COLUMN ... DROP IDENTITY instead."}[def == nil])
	case c.Generated != "":
		return pgerr.New(pgerr.SyntaxError, `column "%s" of relation "%s" is a generated column`, name, x.old.Name).
			WithHint("%s", map[bool]string{true: "Use ALTER TABLE ... ALTER COLUMN ... DROP EXPRESSION instead."}[def == nil])
	case def == nil:
		c.Default, c.Depends = "", nil
		return nil
	}
	return unplaced(x.s.setDefault(x.st, c, def))
}

func (x *alteration) dropNotNull(name string) error {
	i, err := x.column(name)
	if err != nil {
		return err
	}
	if pk := x.t.PrimaryKey(); pk != nil && slices.Contains(pk.Columns, i) {
		return pgerr.New(pgerr.InvalidTableDefinition, `column "%s" is in a primary key`, name)
	}
	if x.t.Columns[i].Identity != 0 {
		return pgerr.New(pgerr.SyntaxError, `column "%s" of relation "%s" is an identity column`, name, x.old.Name)
	}
	x.t.Columns[i].NotNull = false
	return nil
}

// columnHint accepts what PostgreSQL's storage of a column is told.
func (x *alteration) columnHint(name string) error {
	if _, err := x.column(name); err != nil {
		return err
	}
	x.s.notice(storageNotice(name))
	return nil
}

func (x *alteration) addConstraint(c *pg_query.Constraint) error {
	if c.Indexname != "" {
		return x.promote(c)
	}
	if c.Contype == pg_query.ConstrType_CONSTR_PRIMARY {
		if x.t.PrimaryKey() != nil {
			return pgerr.New(pgerr.InvalidTableDefinition, `multiple primary keys for table "%s" are not allowed`, x.old.Name)
		}
		for _, k := range c.Keys {
			col, err := x.column(k.GetString_().GetSval())
			if err != nil {
				return err
			}
			x.mustNotBeNull(col)
		}
	}
	return x.tableConstraint(c)
}

// dropConstraint is DROP CONSTRAINT of any kind. Without the primary key the
// rows lie in another way.
func (x *alteration) dropConstraint(ctx context.Context, name string, cascade, missingOK bool) error {
	oid, ok := constraintNamed(x.t, name)
	if !ok {
		if missingOK {
			x.s.notice(pgerr.Notice(`constraint "%s" of relation "%s" does not exist, skipping`, name, x.old.Name))
			return nil
		}
		return pgerr.New(pgerr.UndefinedObject, `constraint "%s" of relation "%s" does not exist`, name, x.old.Name)
	}
	ref := constraintRef(oid)
	if err := x.s.dropDependents(ctx, ref, x.old, cascade, x.removePart); err != nil {
		return err
	}
	x.s.forget(ref.Class, ref.OID)
	return x.removePart(ref)
}

// constraintNamed finds a constraint of a table by name.
func constraintNamed(t *catalog.Table, name string) (types.OID, bool) {
	for _, c := range t.Constraints {
		if c.Name == name && !c.Index {
			return c.OID, true
		}
	}
	for _, c := range t.Checks {
		if c.Name == name {
			return c.OID, true
		}
	}
	for _, c := range t.ForeignKeys {
		if c.Name == name {
			return c.OID, true
		}
	}
	return 0, false
}

func (x *alteration) setOwner(role *pg_query.RoleSpec) error {
	name := role.GetRolename()
	switch role.GetRoletype() {
	case pg_query.RoleSpecType_ROLESPEC_CURRENT_USER, pg_query.RoleSpecType_ROLESPEC_CURRENT_ROLE:
		name = x.s.currentUser()
	case pg_query.RoleSpecType_ROLESPEC_SESSION_USER:
		name = x.s.SessionUser()
	}
	r, ok := x.s.catalog().Role(name)
	if !ok {
		return pgerr.New(pgerr.UndefinedObject, `role "%s" does not exist`, name)
	}
	x.t.Owner = r.OID
	return nil
}

// apply takes the keys in, checks or moves the rows, and makes the new table
// the catalog's.
func (x *alteration) apply(ctx context.Context) error {
	for _, k := range x.keys {
		if err := x.key(k); err != nil {
			return err
		}
		x.rewrite = true
		x.rekeyed = x.rekeyed || k.primary
	}
	x.t.DeriveKeys()
	if err := unplaced(x.addExpressions()); err != nil {
		return err
	}
	x.verifyLater()
	if err := x.store(ctx); err != nil {
		return err
	}
	if err := x.verify(ctx); err != nil {
		return err
	}
	return x.addForeignKeys(ctx)
}

// store gives the rows their new shape.
func (x *alteration) store(ctx context.Context) error {
	if x.rewrite {
		return x.move(ctx)
	}
	if err := x.checkNotNull(ctx); err != nil {
		return err
	}
	if err := x.s.writeTx().AlterTable(x.t.Storage); err != nil {
		return err
	}
	x.s.tx.local = x.s.tx.local.WithTable(x.t)
	return nil
}

// checkNotNull looks for NULLs in the columns that must not have them.
func (x *alteration) checkNotNull(ctx context.Context) error {
	for i := range x.t.Columns {
		c := &x.t.Columns[i]
		if !x.notNull[c.ID] || x.added[c.ID] && x.t.Storage.Columns[i].Missing != nil {
			continue
		}
		req := table.ScanRequest{}
		if !x.added[c.ID] {
			at := slices.IndexFunc(x.old.Columns, func(o catalog.Column) bool { return o.ID == c.ID })
			req.Columns = []int{at}
			req.Filters = []table.Filter{{Column: at, Op: table.IsNull}}
		}
		err := x.scan(ctx, req, func(b *vector.Batch) error {
			if x.added[c.ID] && b.Rows() > 0 || len(b.Cols) > 0 && anyNull(b) {
				return x.s.containsNulls(x.t, i)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func anyNull(b *vector.Batch) bool {
	v := b.Flat(nil).Cols[0]
	return v.N > 0 && v.HasNulls()
}

func (s *Session) containsNulls(t *catalog.Table, col int) error {
	e := pgerr.New(pgerr.NotNullViolation, `column "%s" of relation "%s" contains null values`, t.Columns[col].Name, t.Name)
	e.Schema, e.Table, e.Column = s.schemaName(t.Schema), t.Name, t.Columns[col].Name
	return e
}

// scan reads the table as it is now, with the transaction's own rows, in any
// isolation level: the lock keeps others out.
func (x *alteration) scan(ctx context.Context, req table.ScanRequest, f func(*vector.Batch) error) error {
	snap := x.s.writeTx().Snapshot()
	defer snap.Close()
	sc, err := snap.Scan(x.old.Storage.ID, req)
	if err != nil {
		return err
	}
	return readAll(ctx, sc, f)
}
