// Package pgcatalog serves pg_catalog and information_schema as virtual
// relations over the catalog snapshot, and the functions that ask about the
// catalog (pg_table_is_visible, format_type, pg_get_indexdef, ...).
//
// relations.txt lists every relation of PostgreSQL 15 with its OID, kind and
// columns (name:type OID, after a slash the type's modifier); relations that nothing fills are empty with the
// right shape, so that a client's query runs. fill_*.go hold one function per
// relation that has rows.
//
// Schema tsdb_stat has the same form and shows what storage knows of itself.
//
// Rows come from the session's snapshot (functions.Ctx.Session.Catalog), so a
// transaction sees its own DDL.
package pgcatalog
