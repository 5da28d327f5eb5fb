package colstore

import (
	"tsdb/colstore/segment"
	"tsdb/colstore/table"
)

// encodeRows encodes a small arrival block.
func encodeRows(s *table.Schema, b *block) []byte {
	rows := make([][]byte, b.n)
	for i := range rows {
		rows[i] = appendRowValue(nil, s, b.cols, i)
	}
	return segment.AppendArrivalRows(nil, rows)
}

// decodeArrival decodes either form of an arrival block.
func decodeArrival(s *table.Schema, value []byte, what string) (*block, error) {
	if !segment.IsArrivalRows(value) {
		ids, kinds := columnIDs(s)
		cols, n, err := segment.DecodeArrival(value, ids, kinds, what)
		if err != nil {
			return nil, err
		}
		return newBlock(s, cols, n), nil
	}
	rows, err := segment.DecodeArrivalRows(value, what)
	if err != nil {
		return nil, err
	}
	b := emptyBlock(s, len(rows))
	d := newRowDecoder(s)
	for _, r := range rows {
		if err := d.split(r); err != nil {
			return nil, &table.CorruptionError{What: what, Why: err.Error()}
		}
		for i, v := range b.cols {
			d.appendTo(v, i)
		}
	}
	return newBlock(s, b.cols, len(rows)), nil
}
