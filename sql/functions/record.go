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

// OptionalRow is Row for the missing side of an outer join: where all arguments
// are NULL, so is the row.
var OptionalRow = &Overload{OID: 69998, Name: "row", Args: []types.OID{types.Any}, Variadic: true, Ret: types.Record, NotStrict: true,
	Bind: func(ts []types.Type) Kernel {
		return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
			var buf []byte
			res := vector.New(vector.Bytes, n)
			for i := range n {
				missing := true
				for _, a := range args {
					missing = missing && a.IsNull(i)
				}
				if missing {
					res.AppendNull()
					continue
				}
				buf = types.AppendRecord(buf[:0], ts, args, i)
				res.AppendBytes(buf)
			}
			*out = *res
			return nil
		}
	}}

// RecordIsNull and RecordIsNotNull test a record's fields: whether all of them
// are NULL, and whether none is.
var (
	RecordIsNull    = recordTest(69997, "row_is_null", func(fields, nulls int) bool { return fields == nulls }, true)
	RecordIsNotNull = recordTest(69996, "row_is_not_null", func(_, nulls int) bool { return nulls == 0 }, false)
)

func recordTest(oid types.OID, name string, test func(fields, nulls int) bool, ofNull bool) *Overload {
	return &Overload{OID: oid, Name: name, Args: []types.OID{types.Record}, Ret: types.Bool, NotStrict: true,
		Eval: func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
			res := vector.New(vector.Bool, n)
			for i := range n {
				if args[0].IsNull(i) {
					res.AppendBool(ofNull)
				} else {
					res.AppendBool(test(types.RecordNulls(args[0].Bytes(i))))
				}
			}
			*out = *res
			return nil
		}}
}

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
