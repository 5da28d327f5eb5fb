package functions

import (
	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// ioCast converts through the text form: output function, then input function.
func ioCast(from, to types.OID, ctx CastContext) *Cast {
	return &Cast{From: from, To: to, Context: ctx, CanFail: true, Make: func(mod int32, explicit bool) Kernel {
		return nil
	}}
}

func arrayCast(from, to types.OID, elem *Cast) *Cast {
	return &Cast{From: from, To: to, Context: elem.Context, CanFail: elem.CanFail}
}

var _ vector.Kind
