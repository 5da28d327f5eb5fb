package functions

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// encodeBytes is encode(): hex, base64 with lines of 76 characters, or escape.
func encodeBytes(out *vector.Vector, args []*vector.Vector, i int) error {
	b := args[0].Bytes(i)
	switch format := str(args[1], i); format {
	case "hex":
		out.Data = hex.AppendEncode(out.Data, b)
	case "base64":
		const perLine = 57
		for len(b) > perLine {
			out.Data = base64.StdEncoding.AppendEncode(out.Data, b[:perLine])
			out.Data = append(out.Data, '\n')
			b = b[perLine:]
		}
		out.Data = base64.StdEncoding.AppendEncode(out.Data, b)
	case "escape":
		for _, c := range b {
			switch {
			case c == '\\':
				out.Data = append(out.Data, '\\', '\\')
			case c == 0 || c >= 0x80:
				out.Data = append(out.Data, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
			default:
				out.Data = append(out.Data, c)
			}
		}
	default:
		return errEncoding(format)
	}
	return nil
}

func errEncoding(format string) error {
	return pgerr.New(pgerr.InvalidParameterValue, "unrecognized encoding: \"%s\"", format)
}

// decodeBytes is decode(), the reverse.
func decodeBytes(out *vector.Vector, args []*vector.Vector, i int) error {
	s := args[0].Bytes(i)
	switch format := str(args[1], i); format {
	case "hex":
		return decodeHex(out, s)
	case "base64":
		return decodeBase64(out, s)
	case "escape":
		return decodeEscape(out, s)
	default:
		return errEncoding(format)
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func decodeHex(out *vector.Vector, s []byte) error {
	for len(s) > 0 {
		if isSpace(s[0]) {
			s = s[1:]
			continue
		}
		hi := hexValue(s[0])
		if hi < 0 {
			return pgerr.New(pgerr.InvalidParameterValue, "invalid hexadecimal digit: \"%s\"", s[:runeOffset(s, 1)])
		}
		if len(s) == 1 {
			return pgerr.New(pgerr.InvalidParameterValue, "invalid hexadecimal data: odd number of digits")
		}
		lo := hexValue(s[1])
		if lo < 0 {
			return pgerr.New(pgerr.InvalidParameterValue, "invalid hexadecimal digit: \"%s\"", s[1:1+runeOffset(s[1:], 1)])
		}
		out.Data = append(out.Data, byte(hi<<4|lo))
		s = s[2:]
	}
	return nil
}

// decodeBase64 skips blanks and ignores what follows a padded group.
func decodeBase64(out *vector.Vector, s []byte) error {
	var buf uint32
	pos, end := 0, 0
	for k := 0; k < len(s); k++ {
		c := s[k]
		v := bytes.IndexByte(base64Alphabet, c)
		switch {
		case isSpace(c):
			continue
		case c == '=' && end == 0:
			if end = pos - 1; pos < 2 {
				return pgerr.New(pgerr.InvalidParameterValue, "unexpected \"=\" while decoding base64 sequence")
			}
			v = 0
		case c == '=':
			v = 0
		case v < 0:
			return pgerr.New(pgerr.InvalidParameterValue, "invalid symbol \"%s\" found while decoding base64 sequence", s[k:k+runeOffset(s[k:], 1)])
		}
		buf = buf<<6 | uint32(v)
		if pos++; pos < 4 {
			continue
		}
		out.Data = append(out.Data, byte(buf>>16))
		if end == 0 || end > 1 {
			out.Data = append(out.Data, byte(buf>>8))
		}
		if end == 0 || end > 2 {
			out.Data = append(out.Data, byte(buf))
		}
		buf, pos = 0, 0
	}
	if pos != 0 {
		return pgerr.New(pgerr.InvalidParameterValue, "invalid base64 end sequence").
			WithHint("Input data is missing padding, is truncated, or is otherwise corrupted.")
	}
	return nil
}

var base64Alphabet = []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")

func decodeEscape(out *vector.Vector, s []byte) error {
	for len(s) > 0 {
		switch {
		case s[0] != '\\':
			out.Data, s = append(out.Data, s[0]), s[1:]
		case len(s) > 1 && s[1] == '\\':
			out.Data, s = append(out.Data, '\\'), s[2:]
		case len(s) > 3 && '0' <= s[1] && s[1] <= '3' && '0' <= s[2] && s[2] <= '7' && '0' <= s[3] && s[3] <= '7':
			out.Data, s = append(out.Data, (s[1]-'0')<<6|(s[2]-'0')<<3|s[3]-'0'), s[4:]
		default:
			return pgerr.New(pgerr.InvalidTextRepresentation, "invalid input syntax for type bytea")
		}
	}
	return nil
}

func getByte(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	for i := range out.I32[:n] {
		if !live(out, i) {
			continue
		}
		b, k := args[0].Bytes(i), int4(args[1], i)
		if k < 0 || k >= len(b) {
			return errIndex(k, len(b))
		}
		out.I32[i] = int32(b[k])
	}
	return nil
}

func errIndex(k, n int) error {
	return pgerr.New("2202E", "index %d out of valid range, 0..%d", k, n-1)
}

func setByte(out *vector.Vector, args []*vector.Vector, i int) error {
	b, k := args[0].Bytes(i), int4(args[1], i)
	if k < 0 || k >= len(b) {
		return errIndex(k, len(b))
	}
	at := len(out.Data)
	out.Data = append(out.Data, b...)
	out.Data[at+k] = byte(int4(args[2], i))
	return nil
}

func trimBytes(start, end bool) Kernel {
	return textRows(func(out *vector.Vector, args []*vector.Vector, i int) error {
		b, set := args[0].Bytes(i), args[1].Bytes(i)
		for start && len(b) > 0 && bytes.IndexByte(set, b[0]) >= 0 {
			b = b[1:]
		}
		for end && len(b) > 0 && bytes.IndexByte(set, b[len(b)-1]) >= 0 {
			b = b[:len(b)-1]
		}
		out.Data = append(out.Data, b...)
		return nil
	})
}

func init() {
	b, t, i4 := types.Bytea, types.Text, types.Int4
	RegisterFunctions(
		fn("encode", t, textRows(encodeBytes), b, t).fails().doc("Bytes as text: hex, base64 or escape."),
		fn("decode", b, textRows(decodeBytes), t, t).fails().doc("Bytes of text in hex, base64 or escape."),
		fn("get_byte", i4, getByte, b, i4).fails().doc("One byte, counted from 0."),
		fn("set_byte", b, textRows(setByte), b, i4, i4).fails().doc("Bytes with one changed."),
		fn("btrim", b, trimBytes(true, true), b, b).doc("Without the bytes of a set at both ends."),
		fn("ltrim", b, trimBytes(true, false), b, b).doc("Without the bytes of a set at the start."),
		fn("rtrim", b, trimBytes(false, true), b, b).doc("Without the bytes of a set at the end."),
		fn("sha256", b, text1(func(dst, s []byte) []byte { sum := sha256.Sum256(s); return append(dst, sum[:]...) }), b).doc("SHA-256 hash."),
		fn("sha512", b, text1(func(dst, s []byte) []byte { sum := sha512.Sum512(s); return append(dst, sum[:]...) }), b).doc("SHA-512 hash."),
	)
}
