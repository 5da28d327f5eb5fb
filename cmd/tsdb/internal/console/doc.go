// Package console shows SQL to people: it splits typed text into statements,
// runs them over a client connection and prints results and errors the way
// psql does.
package console
