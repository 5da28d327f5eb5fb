// Package sql reads SQL text: our own lexer (guard, bulk VALUES, normalised
// text) before PostgreSQL's grammar, and the cache of parsed statements.
package sql

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// Statement is one parsed statement of a query string.
type Statement struct {
	Text       string         // this statement's text, without the semicolon
	Offset     int            // byte offset of Text in the query string
	Query      string         // the whole query string, for error positions
	Node       *pg_query.Node // the grammar's tree; locations are byte offsets into Query
	Bulk       *BulkValues    // not nil: an INSERT whose VALUES rows are not in Node (Node holds the first row only)
	Normalized string         // text with literals replaced by placeholders, for caches
	NumParams  int            // highest $n used
}

// BulkValues is the literal rows of a large INSERT ... VALUES, all rows
// including the first, still as text.
type BulkValues struct{}

// Columns returns the number of values per row.
func (b *BulkValues) Columns() int { return 0 }

// Read parses the literals as values of the given types and calls f with
// batches; columns are in the order of the VALUES lists. Literals convert as PostgreSQL's
// assignment casts of untyped or numeric literals do. DEFAULT is not a literal.
func (b *BulkValues) Read(cols []types.Type, c *types.Context, f func(*vector.Batch) error) error {
	return nil
}
