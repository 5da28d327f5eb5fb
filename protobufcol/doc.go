// Package protobufcol is the boundary between serialized cells and vectors:
// descriptor sets, field paths, protobuf and JSON messages decoded straight
// into columns.
//
// It stands beside rowkey, below the planner: the wide-column layouts call it
// with the bytes of a cell and the fields a query asks for, and get vectors.
// It knows neither tables nor SQL expressions. Bytes that do not decode are an
// error value, never a panic.
//
// The layouts columnar and row keep no serialized cells, so nothing imports
// this package before a layout with cells does.
package protobufcol
