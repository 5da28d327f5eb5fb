package functions

import (
	"slices"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// orders returns the numbers of an enum's labels.
func orders(c *Ctx, enum types.OID) ([]int64, error) {
	var all []int64
	if c.Enums != nil {
		all = c.Enums.EnumOrders(enum)
	}
	if len(all) == 0 {
		return nil, pgerr.New(pgerr.ObjectNotInPrerequisiteState, "enum %s contains no values", types.FormatType(types.T(enum)))
	}
	return all, nil
}

// enumEnd is enum_first and enum_last: the value of the argument does not matter.
func enumEnd(last bool) func([]types.Type) Kernel {
	return func(args []types.Type) Kernel {
		enum := args[0].OID
		return func(c *Ctx, out *vector.Vector, _ []*vector.Vector, n int) error {
			all, err := orders(c, enum)
			if err != nil {
				return err
			}
			x := all[0]
			if last {
				x = all[len(all)-1]
			}
			for i := range n {
				out.I64[i] = x
			}
			return nil
		}
	}
}

// enumRange is enum_range of one argument, all labels, or of two bounds, where
// NULL is no bound.
func enumRange(args []types.Type) Kernel {
	enum := args[0].OID
	return func(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		var all []int64
		if c.Enums != nil {
			all = c.Enums.EnumOrders(enum)
		}
		for i := range n {
			part := all
			if len(args) == 2 {
				part = labelsBetween(all, args[0], args[1], i)
			}
			v := vector.New(vector.Int64, len(part))
			for _, x := range part {
				v.AppendInt64(x)
			}
			out.Data = types.AppendArray(out.Data, types.T(enum), v, 0, v.N, nil)
			endRow(out)
		}
		return nil
	}
}

func labelsBetween(all []int64, lo, hi *vector.Vector, i int) []int64 {
	from, to := 0, len(all)
	if !lo.IsNull(i) {
		from, _ = slices.BinarySearch(all, lo.I64[i&lo.Mask()])
	}
	if !hi.IsNull(i) {
		at, found := slices.BinarySearch(all, hi.I64[i&hi.Mask()])
		if to = at; found {
			to++
		}
	}
	return all[from:max(from, to)]
}

func init() {
	enum := types.AnyEnum
	RegisterFunctions(
		Overload{Name: "enum_first", Args: []types.OID{enum}, Ret: enum, Bind: enumEnd(false), NotStrict: true, CanFail: true,
			Volatility: Stable, Doc: "First label of the argument's enum."},
		Overload{Name: "enum_last", Args: []types.OID{enum}, Ret: enum, Bind: enumEnd(true), NotStrict: true, CanFail: true,
			Volatility: Stable, Doc: "Last label of the argument's enum."},
		Overload{Name: "enum_range", Args: []types.OID{enum}, Ret: types.AnyArray, Bind: enumRange, NotStrict: true,
			Volatility: Stable, Doc: "All labels of the argument's enum, in order."},
		Overload{Name: "enum_range", Args: []types.OID{enum, enum}, Ret: types.AnyArray, Bind: enumRange, NotStrict: true,
			Volatility: Stable, Doc: "Labels from the first to the second argument; NULL is no bound."},
	)
}
