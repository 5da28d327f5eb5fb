package functions

import (
	_ "embed"
	"strconv"
	"strings"

	"tsdb/sql/types"
)

//go:embed oids.tsv
var oidLines string

// knownOIDs maps a signature, as oids.tsv spells it, to PostgreSQL's OID.
var knownOIDs = func() map[string]types.OID {
	m := map[string]types.OID{}
	for _, line := range strings.Split(oidLines, "\n") {
		if sig, oid, ok := strings.Cut(line, "\t"); ok {
			if n, err := strconv.ParseUint(oid, 10, 32); err == nil {
				m[sig] = types.OID(n)
			}
		}
	}
	return m
}()

// oidOf returns PostgreSQL's OID of a signature, else a new one from 70000 up.
func oidOf(kind byte, name string, args []types.OID) types.OID {
	sig := []byte{kind, ' '}
	sig = append(append(sig, name...), '(')
	for i, a := range args {
		if i > 0 {
			sig = append(sig, ' ')
		}
		sig = strconv.AppendUint(sig, uint64(a), 10)
	}
	if oid, ok := knownOIDs[string(append(sig, ')'))]; ok {
		return oid
	}
	nextOID++
	return nextOID - 1
}
