package functions

import (
	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// refit makes the kernel that gives a string the length that a modifier asks
// for; nil if there is nothing to do.
func refit(t types.Type, explicit bool) Kernel {
	if plainText(t) {
		return nil
	}
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		for i := 0; i < n; i++ {
			if !live(out, i) {
				endRow(out)
				continue
			}
			if err := addFitted(out, t, args[0].Bytes(i), explicit); err != nil {
				return err
			}
		}
		return nil
	}
}

// trimmed drops the padding of bpchar, then fits the string.
func trimmed(t types.Type, explicit bool) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		for i := 0; i < n; i++ {
			if !live(out, i) {
				endRow(out)
				continue
			}
			if err := addFitted(out, t, trimBlanks(args[0].Bytes(i)), explicit); err != nil {
				return err
			}
		}
		return nil
	}
}

func textCast(from, to types.OID, ctx CastContext, make func(types.Type, bool) Kernel) Cast {
	return Cast{From: from, To: to, Context: ctx, CanFail: to == types.Varchar || to == types.BPChar,
		Make: func(mod int32, explicit bool) Kernel { return make(types.Type{OID: to, Mod: mod}, explicit) }}
}

// boolWords prints booleans as the cast does, not as the output function does.
func boolWords(t types.Type, explicit bool) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		for i := 0; i < n; i++ {
			if !live(out, i) {
				endRow(out)
				continue
			}
			word := "false"
			if args[0].Bool(i) {
				word = "true"
			}
			if err := addFitted(out, t, []byte(word), explicit); err != nil {
				return err
			}
		}
		return nil
	}
}

// firstByte makes "char" of a string.
func firstByte(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	for i := 0; i < n; i++ {
		s := args[0].Bytes(i)
		addRow(out, s[:min(1, len(s))])
	}
	return nil
}

func init() {
	for _, from := range []types.OID{types.Text, types.Varchar} {
		for _, to := range []types.OID{types.Text, types.Varchar, types.BPChar} {
			RegisterCasts(textCast(from, to, CastImplicit, refit))
		}
		RegisterCasts(
			textCast(from, types.Name, CastImplicit, refit),
			simple(from, types.Char, CastAssignment, firstByte),
		)
	}
	RegisterCasts(
		textCast(types.BPChar, types.BPChar, CastImplicit, refit),
		textCast(types.BPChar, types.Text, CastImplicit, trimmed),
		textCast(types.BPChar, types.Varchar, CastImplicit, trimmed),
		textCast(types.BPChar, types.Name, CastImplicit, trimmed),
		simple(types.BPChar, types.Char, CastAssignment, firstByte),
		textCast(types.Name, types.Text, CastImplicit, refit),
		textCast(types.Name, types.Varchar, CastAssignment, refit),
		textCast(types.Name, types.BPChar, CastAssignment, refit),
		textCast(types.Char, types.Text, CastImplicit, refit),
		textCast(types.Char, types.Varchar, CastAssignment, refit),
		textCast(types.Char, types.BPChar, CastAssignment, refit),
		textCast(types.Bool, types.Text, CastAssignment, boolWords),
		textCast(types.Bool, types.Varchar, CastAssignment, boolWords),
		textCast(types.Bool, types.BPChar, CastAssignment, boolWords),
		relabel(types.PgNodeTree, types.Text, CastImplicit),
	)
}
