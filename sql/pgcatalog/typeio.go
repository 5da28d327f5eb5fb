package pgcatalog

import (
	_ "embed"
	"strings"
	"sync"

	"tsdb/sql/types"
)

// pgtypes.txt lists PostgreSQL's types: OID, name, typtype and the OIDs of the
// procedures of input, output, receive, send, modifier in and out, analyze and
// subscript. pgprocs.txt lists those procedures: OID, name, result, volatility,
// arguments. Nothing can call them; clients tell arrays and text from what a
// type names here.
var (
	//go:embed pgtypes.txt
	pgTypesText string
	//go:embed pgprocs.txt
	pgProcsText string
)

// typeIO are the procedures of a type.
type typeIO struct {
	in, out, receive, send, modIn, modOut, analyze, subscript types.OID
}

// ioProc is one of them.
type ioProc struct {
	oid        types.OID
	name       string
	ret        types.OID
	volatility byte
	args       []types.OID
}

var (
	enumIO   = typeIO{in: 3506, out: 3507, receive: 3532, send: 3533}
	domainIO = typeIO{in: 2597, receive: 2598}
)

var knownIO = sync.OnceValue(func() map[types.OID]*typeIO {
	m := map[types.OID]*typeIO{}
	for line := range strings.Lines(pgTypesText) {
		f := strings.Fields(line)
		m[number(f[0])] = &typeIO{number(f[3]), number(f[4]), number(f[5]), number(f[6]), number(f[7]), number(f[8]), number(f[9]), number(f[10])}
	}
	return m
})

// typeNames has the types that exist by name only: nothing has them.
var typeNames = sync.OnceValue(func() map[string]types.OID {
	m := map[string]types.OID{}
	for line := range strings.Lines(pgTypesText) {
		f := strings.Fields(line)
		if oid := number(f[0]); oid != 0 {
			if _, ok := types.Lookup(oid); !ok {
				m[f[1]] = oid
			}
		}
	}
	return m
})

var ioProcs = sync.OnceValue(func() []ioProc {
	var out []ioProc
	for line := range strings.Lines(pgProcsText) {
		f := strings.Fields(line)
		p := ioProc{oid: number(f[0]), name: f[1], ret: number(f[2]), volatility: f[3][0]}
		if f[4] != "-" {
			for _, a := range strings.Split(f[4], ",") {
				p.args = append(p.args, number(a))
			}
		}
		out = append(out, p)
	}
	return out
})
