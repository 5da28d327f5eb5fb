package functions

import (
	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// Row is ROW(...): it makes a record of its arguments.
var Row = &Overload{OID: 69999, Name: "row", Args: []types.OID{types.Any}, Variadic: true, Ret: types.Record, NotStrict: true,
	Bind: func(ts []types.Type) Kernel {
		return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
			for i := range n {
				out.Data = types.AppendRecord(out.Data, ts, args, i)
				endRow(out)
			}
			return nil
		}
	}}

// compareRecords compares records whose fields have the same types.
func compareRecords(rel relation) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		t := types.T(types.Record)
		for i := range n {
			if live(out, i) {
				out.Bits.Put(i, rel.holds(types.Compare(t, args[0], i, args[1], i)))
			}
		}
		return nil
	}
}

func init() { compareFamily(types.Record, compareRecords) }
