package functions

import (
	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// ioCast converts through the text form: output function, then input function.
func ioCast(from, to types.OID, ctx CastContext) *Cast {
	c := &Cast{From: from, To: to, Context: ctx, CanFail: true}
	fc, _ := categoryOf(from)
	tc, _ := categoryOf(to)
	isText := fc == 'S' || from == types.Unknown
	c.Make = func(mod int32, explicit bool) Kernel {
		t := types.Type{OID: to, Mod: mod}
		switch {
		case tc == 'S':
			return textOutput(from, t, explicit)
		case isText:
			return textInput(t)
		}
		return throughText(from, t)
	}
	c.CanFail = tc != 'S' || to == types.Varchar || to == types.BPChar
	return c
}

// rebuild runs f for every row that counts, which appends the row to out; NULL
// rows get a filler. It is for kernels whose rows are appended by other packages.
func rebuild(out *vector.Vector, n int, f func(i int) error) error {
	valid := out.Valid
	out.Reset(out.Kind)
	for i := 0; i < n; i++ {
		if valid != nil && !valid.Get(i) {
			out.AppendNull()
			continue
		}
		if err := f(i); err != nil {
			return err
		}
	}
	out.Valid = valid
	return nil
}

// textInput reads strings by the input function of t.
func textInput(t types.Type) Kernel {
	return func(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		return rebuild(out, n, func(i int) error { return types.ParseText(out, t, args[0].Bytes(i), &c.Context) })
	}
}

// textOutput prints values and fits them to a string type.
func textOutput(from types.OID, to types.Type, explicit bool) Kernel {
	src := types.T(from)
	return func(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		m := args[0].Mask()
		var buf []byte
		for i := 0; i < n; i++ {
			if !live(out, i) {
				endRow(out)
				continue
			}
			if plainText(to) {
				out.Data = types.AppendText(out.Data, src, args[0], i&m, &c.Context)
				endRow(out)
				continue
			}
			buf = types.AppendText(buf[:0], src, args[0], i&m, &c.Context)
			if err := addFitted(out, to, buf, explicit); err != nil {
				return err
			}
		}
		return nil
	}
}

// plainText reports whether the string type takes any string as it is.
func plainText(t types.Type) bool {
	return t.OID == types.Text || t.OID == types.Varchar && t.Mod < 4 || t.OID == types.BPChar && t.Mod < 4
}

// addFitted appends s as a value of the string type t: cut, padded, or an error.
func addFitted(out *vector.Vector, t types.Type, s []byte, explicit bool) error {
	if t.OID == types.Name {
		addRow(out, cutName(s))
		return nil
	}
	fit, err := types.FitText(t, s, explicit)
	if err != nil {
		return err
	}
	out.Data = append(out.Data, fit...)
	for k := types.PadLen(t, fit); k > 0; k-- {
		out.Data = append(out.Data, ' ')
	}
	endRow(out)
	return nil
}

// maxName is the longest value of type name in bytes.
const maxName = 63

func cutName(s []byte) []byte {
	if len(s) <= maxName {
		return s
	}
	k := maxName
	for k > 0 && s[k]&0xC0 == 0x80 {
		k--
	}
	return s[:k]
}

// throughText is output followed by input, for pairs without a string type.
func throughText(from types.OID, to types.Type) Kernel {
	src := types.T(from)
	return func(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		m := args[0].Mask()
		var buf []byte
		return rebuild(out, n, func(i int) error {
			buf = types.AppendText(buf[:0], src, args[0], i&m, &c.Context)
			return types.ParseText(out, to, buf, &c.Context)
		})
	}
}

// arrayCast converts an array element by element; the target's modifier is the elements'.
func arrayCast(from, to types.OID, elem *Cast) *Cast {
	return &Cast{From: from, To: to, Context: elem.Context, CanFail: true, Make: func(mod int32, explicit bool) Kernel {
		var k Kernel
		if elem.Make != nil {
			k = elem.Make(mod, explicit)
		}
		if k == nil && from == to {
			return nil
		}
		return arrayElementsKernel(types.T(elem.From), types.T(elem.To), k)
	}}
}

func arrayElementsKernel(from, to types.Type, k Kernel) Kernel {
	return func(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		src, dst := vector.New(from.Kind(), 0), vector.New(to.Kind(), 0)
		for i := 0; i < n; i++ {
			if !live(out, i) {
				endRow(out)
				continue
			}
			array := args[0].Bytes(i)
			src.Reset(from.Kind())
			if err := ArrayElements(src, array); err != nil {
				return err
			}
			res := src
			if k != nil {
				dst.Reset(to.Kind())
				if dst.Kind != vector.Bytes {
					dst.Resize(src.N)
				}
				dst.Valid = append(dst.Valid[:0:0], src.Valid...)
				if src.Valid == nil {
					dst.Valid = nil
				}
				if err := k(c, dst, []*vector.Vector{src}, src.N); err != nil {
					return err
				}
				dst.N, res = src.N, dst
			}
			if err := addArrayLike(out, array, to, res); err != nil {
				return err
			}
		}
		return nil
	}
}

// addArrayLike appends an array with the shape of another and elements v.
func addArrayLike(out *vector.Vector, shape []byte, elem types.Type, v *vector.Vector) error {
	h, err := readArray(shape)
	if err != nil {
		return err
	}
	at := len(out.Data)
	out.Data = append(out.Data, shape[:12+8*h.dims]...)
	putOID(out.Data[at+8:], elem.OID)
	for i := 0; i < v.N; i++ {
		out.Data = appendArrayElem(out.Data, elem, v, i)
	}
	endRow(out)
	return nil
}
