package session

import (
	"slices"

	"tsdb/colstore"
	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
	"tsdb/sql/catalog"
	"tsdb/sql/types"
)

// checkSeen refuses matches that the transaction's snapshot does not hold, or
// holds with other values: DO UPDATE must not work on what a REPEATABLE READ
// transaction cannot see.
//
// Errors: table.ErrRowsChanged.
func (u *upsert) checkSeen(m *colstore.Match) error {
	missing := map[string]bool{}
	req := table.ScanRequest{Columns: allOf(u.w.t)}
	for i := range m.Of {
		missing[string(appendRow(nil, u.w.t, m.Rows.Cols, i))] = true
		if u.keys[0].Primary && u.appendKey(m.Rows.Cols, i) {
			key := slices.Clone(u.key)
			req.Spans = append(req.Spans, rowkey.Span{Start: key, End: rowkey.Successor(key)})
		}
	}
	req.Spans = rowkey.Normalize(req.Spans)
	sc, err := u.seen.Scan(u.w.t.Storage.ID, req)
	if err != nil {
		return err
	}
	r := sc.NewReader()
	defer r.Close()
	var row []byte
	for len(missing) > 0 {
		b, err := r.Next()
		if err != nil {
			return err
		}
		if b == nil {
			return table.ErrRowsChanged
		}
		b = b.Flat(nil)
		for i := range b.N {
			row = appendRow(row[:0], u.w.t, b.Cols, i)
			delete(missing, string(row))
		}
	}
	return nil
}

// appendRow spells a row so that equal rows have equal bytes.
func appendRow(dst []byte, t *catalog.Table, cols []*vector.Vector, i int) []byte {
	for c := range t.Columns {
		if cols[c].IsNull(i) {
			dst = append(dst, 0, 0, 0, 0, 0)
			continue
		}
		at := len(dst)
		dst = append(dst, 1, 0, 0, 0, 0)
		dst = types.AppendBinary(dst, t.Columns[c].Type, cols[c], i)
		n := len(dst) - at
		dst[at+1], dst[at+2], dst[at+3], dst[at+4] = byte(n), byte(n>>8), byte(n>>16), byte(n>>24)
	}
	return dst
}
