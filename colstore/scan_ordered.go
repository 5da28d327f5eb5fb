package colstore

import "tsdb/colstore/table"

// canOrder reports whether the order that a request names is the order of runs.
func (sc *scan) canOrder() bool { return false }

type orderedScan struct{ *scan }

var _ = table.KeyOrder
