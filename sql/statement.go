// Package sql reads SQL text: our own lexer (guard, bulk VALUES, normalised
// text) before PostgreSQL's grammar, and the cache of parsed statements.
package sql

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"
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
