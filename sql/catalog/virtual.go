package catalog

import (
	"tsdb/colstore/vector"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// VirtualColumn is a column of a computed relation.
type VirtualColumn struct {
	Name string
	Type types.Type
}

// VirtualRelation is a relation whose rows are computed when it is read; sql/pgcatalog
// implements it for pg_catalog and information_schema.
type VirtualRelation interface {
	SchemaName() string
	RelName() string
	RelOID() types.OID
	RelColumns() []VirtualColumn
	// Rows returns all rows as one batch, columns as in RelColumns.
	Rows(c *functions.Ctx) (*vector.Batch, error)
}
