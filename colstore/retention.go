package colstore

import (
	"math"

	"tsdb/colstore/table"
)

// noExpiry is the limit of expired times of a table that keeps its rows.
const noExpiry = math.MinInt64

// expiry returns the time below which finite times of a table are expired now.
func (s *Store) expiry(schema *table.Schema) int64 {
	if schema.Retention <= 0 || schema.Time < 0 || schema.Layout != table.Columnar {
		return noExpiry
	}
	now := s.clock().UnixMicro()
	if now < math.MinInt64+schema.Retention {
		return noExpiry
	}
	return now - schema.Retention
}
