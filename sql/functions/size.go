package functions

import (
	"bytes"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// sizeUnits are PostgreSQL's, each 1,024 of the one before.
var sizeUnits = []string{"bytes", "kB", "MB", "GB", "TB", "PB"}

// prettyNumeric prints bytes in the first unit in which they are below 10,240,
// rounded half away from zero.
func prettyNumeric(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	var d, limit, k, half, abs decimal
	limit.SetInt64(10 * 1024)
	k.SetInt64(1024)
	for i := 0; i < n; i++ {
		if live(out, i) {
			if err := d.Decode(args[0].Bytes(i)); err != nil {
				return err
			}
			unit := 0
			for ; unit < len(sizeUnits)-1; unit++ {
				abs.Set(&d)
				abs.Abs()
				if abs.Cmp(&limit) < 0 || d.IsNaN() || d.IsInf() {
					break
				}
				// One binary digit is kept for the rounding at the end.
				if unit == 0 {
					k.SetInt64(512)
					limit.SetInt64(20*1024 - 1)
				} else {
					k.SetInt64(1024)
				}
				if err := d.DivTrunc(&d, &k); err != nil {
					return err
				}
			}
			if unit > 0 {
				half.SetInt64(1)
				if d.Sign() < 0 {
					half.SetInt64(-1)
				}
				if err := d.Add(&d, &half); err != nil {
					return err
				}
				k.SetInt64(2)
				if err := d.DivTrunc(&d, &k); err != nil {
					return err
				}
				limit.SetInt64(10 * 1024)
			}
			out.Data = d.AppendText(out.Data)
			out.Data = append(append(out.Data, ' '), sizeUnits[unit]...)
		}
		endRow(out)
	}
	return nil
}

func errSize(text []byte) *pgerr.Error {
	return pgerr.New(pgerr.InvalidParameterValue, "invalid size: \"%s\"", text)
}

// numberLength is how much of s a decimal number with an exponent takes, 0 if none begins there.
func numberLength(s []byte) int {
	digits := func(i int) int {
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i
	}
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	start := i
	i = digits(i)
	have := i > start
	if i < len(s) && s[i] == '.' {
		end := digits(i + 1)
		have = have || end > i+1
		i = end
	}
	if !have {
		return 0
	}
	if i < len(s) && lowerASCII(s[i]) == 'e' {
		k := i + 1
		if k < len(s) && (s[k] == '-' || s[k] == '+') {
			k++
		}
		if end := digits(k); end > k {
			i = end
		}
	}
	return i
}

// sizeBytes reads a number with a unit.
func sizeBytes(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	var d, factor decimal
	for i := range out.I64[:n] {
		if !live(out, i) {
			continue
		}
		text := args[0].Bytes(i)
		s := bytes.TrimLeft(text, " \t\n\r\f\v")
		k := numberLength(s)
		if k == 0 {
			return errSize(text)
		}
		if err := d.Parse(s[:k]); err != nil {
			return err
		}
		unit := bytes.TrimSpace(s[k:])
		if len(unit) > 0 {
			power := -1
			for p, u := range sizeUnits {
				if len(u) == len(unit) && equalFold(unit, u) {
					power = p
				}
			}
			if len(unit) == 1 && lowerASCII(unit[0]) == 'b' {
				power = 0
			}
			if power < 0 {
				return errSize(text).WithDetail("Invalid size unit: \"%s\".", unit).
					WithHint("Valid units are \"bytes\", \"kB\", \"MB\", \"GB\", \"TB\", and \"PB\".")
			}
			factor.SetInt64(1 << (10 * power))
			if err := d.Mul(&d, &factor); err != nil {
				return err
			}
		}
		v, err := d.Int64(64)
		if err != nil {
			return err
		}
		out.I64[i] = v
	}
	return nil
}

func init() {
	RegisterFunctions(
		fn("pg_size_pretty", types.Text, prettyNumeric, types.Numeric).fails().doc("Bytes in a readable unit."),
		fn("pg_size_bytes", types.Int8, sizeBytes, types.Text).fails().doc("Bytes of a size with a unit."),
	)
}
