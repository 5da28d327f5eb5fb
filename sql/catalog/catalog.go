// Package catalog holds what exists: roles, schemas, tables with their columns,
// constraints and indexes, views, sequences, enums, domains and comments, as
// immutable versioned snapshots.
//
// A Snapshot is read without locks. DDL builds a new one with the With methods
// and the session publishes it when the transaction commits. Records are
// written as JSON into the store's key space M, one per object.
package catalog

import (
	"slices"

	"tsdb/colstore/table"
	"tsdb/rowkey"
	"tsdb/sql/types"
)

// Fixed OIDs, as in PostgreSQL.
const (
	PgCatalogOID         types.OID = 11
	PublicOID            types.OID = 2200
	StatOID              types.OID = 16390 // schema tsdb_stat
	InformationSchemaOID types.OID = 13182
	BootstrapRoleOID     types.OID = 10
	DatabaseOID          types.OID = 16384 // tsdb; postgres is 5
	PostgresDatabaseOID  types.OID = 5
	FirstUserOID         types.OID = 16400
)

// IsSystem reports whether a schema holds computed relations only.
func IsSystem(schema types.OID) bool {
	return schema == PgCatalogOID || schema == InformationSchemaOID || schema == StatOID
}

// Role is a user or group.
type Role struct {
	OID                                                   types.OID
	Name                                                  string
	Superuser                                             bool
	Login                                                 bool
	CreateDB, CreateRole, Inherit, Replication, BypassRLS bool
	// Verifier is PostgreSQL's SCRAM-SHA-256$... string, empty: no password.
	Verifier string
}

// Schema is a namespace.
type Schema struct {
	OID   types.OID
	Name  string
	Owner types.OID
}

// Column is one column of a table.
type Column struct {
	ID      table.ColumnID
	AttNum  int16 // 1-based
	Name    string
	Type    types.Type
	NotNull bool
	Default string // SQL text of the expression, empty: none
	// Generated is the SQL text of GENERATED ALWAYS AS (...) STORED, empty: none.
	Generated string
	Identity  byte      // 'a' GENERATED ALWAYS, 'd' BY DEFAULT AS IDENTITY, 0: no identity column
	Domain    types.OID // the domain it was declared with, 0: none; Type is the base type
	Depends   []Ref     // what Default and Generated use, such as sequences
}

// Constraint is a primary key or UNIQUE constraint.
type Constraint struct {
	OID      types.OID // of pg_constraint
	IndexOID types.OID // of the index in pg_class
	Name     string
	Primary  bool
	Columns  []int  // indexes into Table.Columns
	StoreID  uint64 // table.UniqueIndex.ID, 0 for the primary key
	Index    bool   // made by CREATE UNIQUE INDEX: no row in pg_constraint
}

// Option is one name and value of WITH (...).
type Option struct{ Name, Value string }

// Table is a base table.
type Table struct {
	OID         types.OID
	TypeOID     types.OID // pg_type row of its composite type
	Schema      types.OID
	Name        string
	Owner       types.OID
	Columns     []Column
	Constraints []Constraint
	Options     []Option // as given
	Checks      []Check
	ForeignKeys []ForeignKey
	Indexes     []Index // that are not unique

	// Query is the SELECT of a materialized view, written under search_path
	// Path; empty: a table. Unpopulated: made WITH NO DATA. Depends is what
	// Query uses.
	Query       string
	Path        []string
	Names       []UsedName
	Unpopulated bool
	Depends     []Ref

	Temp     bool // in its session's temporary schema, gone with it
	OnCommit byte // of a temporary table: 0 keep, 'd' delete rows, 'D' drop

	// Last is the highest number that a column has ever had: numbers of dropped
	// columns are not given again.
	Last    int16
	Storage table.Schema
}

// AddColumn appends a column with the next number; its codec comes from codec.
func (t *Table) AddColumn(c Column, codec rowkey.Codec) {
	t.Last++
	c.AttNum, c.ID = t.Last, table.ColumnID(t.Last)
	t.Columns = append(t.Columns, c)
	t.Storage.Columns = append(t.Storage.Columns, table.Column{ID: c.ID, Kind: c.Type.Kind(), Codec: codec})
}

// Clone returns a copy whose columns, constraints and options may be changed.
func (t *Table) Clone() *Table {
	n := *t
	n.Columns = slices.Clone(t.Columns)
	n.Options = slices.Clone(t.Options)
	n.Storage.Columns = slices.Clone(t.Storage.Columns)
	n.Constraints = slices.Clone(t.Constraints)
	n.Checks, n.ForeignKeys, n.Indexes = slices.Clone(t.Checks), slices.Clone(t.ForeignKeys), slices.Clone(t.Indexes)
	for i := range n.Constraints {
		n.Constraints[i].Columns = slices.Clone(n.Constraints[i].Columns)
	}
	return &n
}

// RemoveColumn leaves out column i and the keys that it is part of. It is not
// the time column.
func (t *Table) RemoveColumn(i int) {
	t.Columns = slices.Delete(t.Columns, i, i+1)
	t.Storage.Columns = slices.Delete(t.Storage.Columns, i, i+1)
	t.Constraints = slices.DeleteFunc(t.Constraints, func(c Constraint) bool { return slices.Contains(c.Columns, i) })
	for _, c := range t.Constraints {
		for k := range c.Columns {
			if c.Columns[k] > i {
				c.Columns[k]--
			}
		}
	}
	if t.Storage.Time > i {
		t.Storage.Time--
	}
	t.DeriveKeys()
}

// PrimaryKey returns the primary key, nil if the table has none.
func (t *Table) PrimaryKey() *Constraint {
	for i := range t.Constraints {
		if t.Constraints[i].Primary {
			return &t.Constraints[i]
		}
	}
	return nil
}

// ColumnIndex returns the index of the named column, -1 if there is none.
func (t *Table) ColumnIndex(name string) int {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return i
		}
	}
	return -1
}
