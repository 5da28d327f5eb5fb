package bind

import (
	"tsdb/colstore/vector"
	"tsdb/planner/scalar"
	"tsdb/sql/types"
)

// systemColumn tells whether every table of PostgreSQL has a column of this name.
func systemColumn(name string) bool {
	switch name {
	case "ctid", "xmin", "xmax", "cmin", "cmax", "tableoid":
		return true
	}
	return false
}

// frozenXID is what rows of the catalog show as the transaction that made them.
const frozenXID = 2

// systemValue returns what a system column of an item shows, nil if the item
// has no such column or its rows cannot be told from those that an outer join
// adds.
func (it *item) systemValue(name string) scalar.Expr {
	witness := it.witness()
	if witness == nil {
		return nil
	}
	value := uint32(frozenXID)
	typ := types.T(types.Xid)
	switch {
	case name == "tableoid" && it.table != nil:
		value, typ = it.table.OID, types.T(types.Oid)
	case name == "tableoid" && it.virtual != nil:
		value, typ = it.virtual.RelOID(), types.T(types.Oid)
	case (name == "xmin" || name == "xmax") && it.virtual != nil:
		if name == "xmax" {
			value = 0
		}
	default:
		return nil
	}
	v := vector.New(vector.Uint32, 1)
	v.AppendUint32(value)
	present := &scalar.IsNull{Arg: witness, Negate: true}
	return &scalar.Case{Whens: []scalar.When{{Cond: present, Then: &scalar.Const{Value: v, Typ: typ}}}, Else: nullConst(typ), Typ: typ}
}

// witness returns a column that is never NULL in the item's own rows.
func (it *item) witness() scalar.Expr {
	if it.virtual != nil && it.virtual.SchemaName() == "pg_catalog" && len(it.cols) > 0 {
		return it.cols[0].use()
	}
	if it.table != nil && len(it.cols) == len(it.table.Columns) {
		for i := range it.table.Columns {
			if it.table.Columns[i].NotNull {
				return it.cols[i].use()
			}
		}
	}
	return nil
}

// systemOf finds a system column of the only item in sight that has it.
func (s *scope) systemOf(name string) (found scalar.Expr) {
	for _, it := range s.items {
		if e := it.systemValue(name); e != nil && it.relVisible {
			if found != nil {
				return nil
			}
			found = e
		}
	}
	return found
}
