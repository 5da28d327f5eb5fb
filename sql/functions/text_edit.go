package functions

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

func replaceText(out *vector.Vector, args []*vector.Vector, i int) error {
	s, from, to := args[0].Bytes(i), args[1].Bytes(i), args[2].Bytes(i)
	if len(from) == 0 {
		out.Data = append(out.Data, s...)
		return nil
	}
	if grow := len(to) - len(from); grow > 0 {
		if err := checkRoom(out, len(s)+bytes.Count(s, from)*grow); err != nil {
			return err
		}
	}
	for {
		k := bytes.Index(s, from)
		if k < 0 {
			out.Data = append(out.Data, s...)
			return nil
		}
		out.Data = append(out.Data, s[:k]...)
		out.Data = append(out.Data, to...)
		s = s[k+len(from):]
	}
}

func repeatText(out *vector.Vector, args []*vector.Vector, i int) error {
	s, k := args[0].Bytes(i), max(0, int4(args[1], i))
	if len(s) == 0 {
		return nil
	}
	if k > maxBatchBytes/len(s) {
		return checkRoom(out, maxBatchBytes+1)
	}
	if err := checkRoom(out, k*len(s)); err != nil {
		return err
	}
	out.Data = slices.Grow(out.Data, k*len(s))
	for ; k > 0; k-- {
		out.Data = append(out.Data, s...)
	}
	return nil
}

// pad makes s width characters long: cut, or filled up on one side.
func pad(out *vector.Vector, s, fill []byte, width int, onLeft bool) error {
	width = max(0, width)
	const most = 0x3fffffff/utf8.UTFMax - 1 // what PostgreSQL allocates for the longest characters
	if width > most {
		return checkRoom(out, maxBatchBytes+1)
	}
	if err := checkRoom(out, width); err != nil {
		return err
	}
	missing := width - utf8.RuneCount(s)
	if missing <= 0 || len(fill) == 0 {
		out.Data = append(out.Data, s[:runeOffset(s, width)]...)
		return nil
	}
	if !onLeft {
		out.Data = append(out.Data, s...)
	}
	for per := utf8.RuneCount(fill); missing > 0; missing -= per {
		if missing < per {
			fill = fill[:runeOffset(fill, missing)]
		}
		out.Data = append(out.Data, fill...)
	}
	if onLeft {
		out.Data = append(out.Data, s...)
	}
	return nil
}

func pads(name, doc string, onLeft bool) {
	RegisterFunctions(
		fn(name, types.Text, textRows(func(out *vector.Vector, args []*vector.Vector, i int) error {
			return pad(out, args[0].Bytes(i), []byte(" "), int4(args[1], i), onLeft)
		}), types.Text, types.Int4).fails().doc(doc),
		fn(name, types.Text, textRows(func(out *vector.Vector, args []*vector.Vector, i int) error {
			return pad(out, args[0].Bytes(i), args[2].Bytes(i), int4(args[1], i), onLeft)
		}), types.Text, types.Int4, types.Text).fails().doc(doc),
	)
}

// splitPart returns field k of s, counted from the end if negative.
func splitPart(out *vector.Vector, args []*vector.Vector, i int) error {
	s, sep, k := args[0].Bytes(i), args[1].Bytes(i), int4(args[2], i)
	switch {
	case k == 0:
		return pgerr.New(pgerr.InvalidParameterValue, "field position must not be zero")
	case len(sep) == 0:
		if k == 1 || k == -1 {
			out.Data = append(out.Data, s...)
		}
		return nil
	case k < 0:
		k += bytes.Count(s, sep) + 2
		if k <= 0 {
			return nil
		}
	}
	for ; ; k-- {
		at := bytes.Index(s, sep)
		if k == 1 {
			if at >= 0 {
				s = s[:at]
			}
			out.Data = append(out.Data, s...)
			return nil
		}
		if at < 0 {
			return nil
		}
		s = s[at+len(sep):]
	}
}

// translate replaces each character that occurs in from by the one at its place
// in to, or drops it.
func translate(out *vector.Vector, args []*vector.Vector, i int) error {
	s, from, to := args[0].Bytes(i), args[1].Bytes(i), args[2].Bytes(i)
	for len(s) > 0 {
		_, w := utf8.DecodeRune(s)
		c := s[:w]
		s = s[w:]
		k := bytes.Index(from, c)
		if k < 0 {
			out.Data = append(out.Data, c...)
			continue
		}
		rest := to[runeOffset(to, utf8.RuneCount(from[:k])):]
		out.Data = append(out.Data, rest[:runeOffset(rest, 1)]...)
	}
	return nil
}

// overlay replaces count characters of s from a position by another string.
func overlay(out *vector.Vector, s, by []byte, from, count int64) error {
	if from <= 0 {
		return pgerr.New("22011", "negative substring length not allowed")
	}
	if err := substring(out, s, 1, from-1, true); err != nil {
		return err
	}
	out.Data = append(out.Data, by...)
	return substring(out, s, from+count, 0, false)
}

func overlayRest(out *vector.Vector, args []*vector.Vector, i int) error {
	by := args[1].Bytes(i)
	return overlay(out, args[0].Bytes(i), by, int64(int4(args[2], i)), int64(utf8.RuneCount(by)))
}

func overlayFor(out *vector.Vector, args []*vector.Vector, i int) error {
	return overlay(out, args[0].Bytes(i), args[1].Bytes(i), int64(int4(args[2], i)), int64(int4(args[3], i)))
}

func init() {
	t := types.Text
	RegisterFunctions(
		fn("replace", t, textRows(replaceText), t, t, t).fails().doc("All occurrences of a string replaced by another."),
		fn("repeat", t, textRows(repeatText), t, types.Int4).fails().doc("The string a number of times."),
		fn("split_part", t, textRows(splitPart), t, t, types.Int4).fails().doc("One field of a string split at a delimiter."),
		fn("translate", t, textRows(translate), t, t, t).doc("Each character of a set replaced by its counterpart."),
		fn("overlay", t, textRows(overlayRest), t, t, types.Int4).fails().doc("Part of a string replaced by another."),
		fn("overlay", t, textRows(overlayFor), t, t, types.Int4, types.Int4).fails().doc("Part of a string replaced by another."),
	)
	pads("lpad", "Filled up at the start to a length.", true)
	pads("rpad", "Filled up at the end to a length.", false)
}
