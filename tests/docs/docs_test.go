// Package docs keeps docs/sql.md equal to what the registry of functions
// holds: the page is the head written by hand (head.md) and tables made here.
package docs

import (
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"tsdb/sql/functions"
	_ "tsdb/sql/pgcatalog" // registers the functions about the catalog
	"tsdb/sql/types"
)

//go:embed head.md
var head string

const page = "../../docs/sql.md"

// entry is one line of a table: a name with all its signatures.
type entry struct {
	name, doc  string
	signatures []string
}

func typeName(t types.OID) string {
	names := map[types.OID]string{types.Timestamp: "timestamp", types.TimestampTZ: "timestamptz", types.Float8: "float8", types.Float4: "float4",
		types.Int2: "int2", types.Int4: "int4", types.Int8: "int8", types.Varchar: "varchar", types.BPChar: "char", types.Time: "time", types.TimeTZ: "timetz"}
	if n, ok := names[t]; ok {
		return n
	}
	return types.FormatType(types.T(t))
}

func typeList(args []types.OID, variadic bool) string {
	parts := make([]string, len(args))
	for i, a := range args {
		parts[i] = typeName(a)
	}
	if variadic && len(parts) > 0 {
		parts[len(parts)-1] += " ..."
	}
	return strings.Join(parts, ", ")
}

type table struct {
	entries map[string]*entry
}

func (t *table) add(name, signature, doc string) {
	if t.entries == nil {
		t.entries = map[string]*entry{}
	}
	e := t.entries[name]
	if e == nil {
		e = &entry{name: name}
		t.entries[name] = e
	}
	if e.doc == "" {
		e.doc = doc
	}
	if !slices.Contains(e.signatures, signature) {
		e.signatures = append(e.signatures, signature)
	}
}

func (t *table) write(b *strings.Builder, title string) {
	fmt.Fprintf(b, "\n## %s (%d)\n\n| name | arguments → result | what |\n|---|---|---|\n", title, len(t.entries))
	names := make([]string, 0, len(t.entries))
	for n := range t.entries {
		names = append(names, n)
	}
	slices.Sort(names)
	escape := strings.NewReplacer("|", "\\|", "*", "\\*", "~", "\\~", "<", "&lt;")
	for _, n := range names {
		e := t.entries[n]
		fmt.Fprintf(b, "| %s | %s | %s |\n", escape.Replace(n), strings.Join(e.signatures, "<br>"), e.doc)
	}
}

func render() string {
	var fs, ops, aggs, sets table
	for o := range functions.AllFunctions {
		fs.add(o.Name, "("+typeList(o.Args, o.Variadic)+") → "+typeName(o.Ret), o.Doc)
	}
	for o := range functions.AllOperators {
		if len(o.Args) == 1 {
			ops.add(o.Name, typeList(o.Args, false)+" → "+typeName(o.Ret), o.Doc)
		} else {
			ops.add(o.Name, typeName(o.Args[0])+", "+typeName(o.Args[1])+" → "+typeName(o.Ret), o.Doc)
		}
	}
	for a := range functions.AllAggregates {
		aggs.add(a.Name, "("+typeList(a.Args, false)+") → "+typeName(a.Ret), a.Doc)
	}
	for f := range functions.AllSetReturning {
		sets.add(f.Name, "("+typeList(f.Args, false)+")", f.Doc)
	}
	var b strings.Builder
	b.WriteString(head)
	aggs.write(&b, "Aggregates")
	sets.write(&b, "Functions that return rows")
	fs.write(&b, "Functions")
	ops.write(&b, "Operators")
	return b.String()
}

func TestSQLPageIsTheRegistry(t *testing.T) {
	want := render()
	if os.Getenv("TSDB_UPDATE") != "" {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("docs/sql.md is not what the registry holds: run TSDB_UPDATE=1 go test ./tests/docs")
	}
}
