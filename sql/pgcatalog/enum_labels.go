package pgcatalog

import (
	"slices"

	"tsdb/sql/catalog"
	"tsdb/sql/types"
)

// enum returns an enum of the session's catalog.
func (n Names) enum(t types.OID) (*catalog.Enum, bool) {
	cat, ok := n.Ctx.Session.Catalog().(*catalog.Snapshot)
	if !ok {
		return nil, false
	}
	return cat.EnumByOID(t)
}

// EnumName implements types.EnumLabels.
func (n Names) EnumName(t types.OID) (string, bool) {
	if _, ok := n.enum(t); !ok {
		return "", false
	}
	return newSource(n.Ctx).typeName(types.T(t))
}

// EnumLabel implements types.EnumLabels.
func (n Names) EnumLabel(t types.OID, order int64) (string, bool) {
	e, ok := n.enum(t)
	if !ok {
		return "", false
	}
	at, ok := slices.BinarySearchFunc(e.Labels, order, func(l catalog.EnumLabel, x int64) int {
		switch {
		case l.Order < x:
			return -1
		case l.Order > x:
			return 1
		}
		return 0
	})
	if !ok {
		return "", false
	}
	return e.Labels[at].Name, true
}

// EnumOrder implements types.EnumLabels.
func (n Names) EnumOrder(t types.OID, label []byte) (int64, bool) {
	e, ok := n.enum(t)
	if !ok {
		return 0, false
	}
	for i := range e.Labels {
		if e.Labels[i].Name == string(label) {
			return e.Labels[i].Order, true
		}
	}
	return 0, false
}

// EnumOrders implements types.EnumLabels.
func (n Names) EnumOrders(t types.OID) []int64 {
	e, ok := n.enum(t)
	if !ok {
		return nil
	}
	out := make([]int64, len(e.Labels))
	for i := range e.Labels {
		out[i] = e.Labels[i].Order
	}
	return out
}
