package functions

import (
	"bytes"
	"strings"

	"tsdb/sql/pgerr"
)

// signPlace says where S writes the sign.
type signPlace uint8

const (
	signNowhere signPlace = iota
	signBefore
	signAfter
)

// numberShape is what the patterns of a number template amount to.
type numberShape struct {
	pre, post, multi             int // digits before and after the point, digits after V
	zero, decimal, fill, bracket bool
	zeroStart, zeroEnd           int
	sign                         signPlace
	signAt                       int // digits before an S
	minus, plus                  bool
	blank, roman, shift, science bool
}

func errTemplate(what string) *pgerr.Error { return pgerr.New(pgerr.SyntaxError, "%s", what) }

// add takes one pattern in, or says why it cannot stand there.
func (n *numberShape) add(id string) error {
	if n.science && id != "EEEE" {
		return errTemplate(`"EEEE" must be the last pattern used`)
	}
	switch id {
	case "9", "0":
		return n.digit(id)
	case "B":
		n.blank = n.blank || n.pre == 0 && n.post == 0 && !n.zero
	case "D", ".":
		if n.decimal {
			return errTemplate("multiple decimal points")
		}
		if n.shift {
			return errTemplate(`cannot use "V" and decimal point together`)
		}
		n.decimal = true
	case "FM":
		n.fill = true
	case "RN":
		n.roman = true
	case "V":
		if n.decimal {
			return errTemplate(`cannot use "V" and decimal point together`)
		}
		n.shift = true
	case "EEEE":
		if n.science {
			return errTemplate(`cannot use "EEEE" twice`)
		}
		if n.blank || n.fill || n.sign != signNowhere || n.bracket || n.minus || n.plus || n.roman || n.shift {
			return errTemplate(`"EEEE" is incompatible with other formats`).
				WithDetail("\"EEEE\" may only be used together with digit and decimal point patterns.")
		}
		n.science = true
	case "S", "MI", "PL", "SG", "PR":
		return n.signPattern(id)
	}
	return nil
}

func (n *numberShape) digit(id string) error {
	if n.bracket {
		return errTemplate(`"` + id + `" must be ahead of "PR"`)
	}
	if id == "9" && n.shift {
		n.multi++
		return nil
	}
	if id == "0" && !n.zero && !n.decimal {
		n.zero, n.zeroStart = true, n.pre+1
	}
	if n.decimal {
		n.post++
	} else {
		n.pre++
	}
	if id == "0" {
		n.zeroEnd = n.pre + n.post
	}
	return nil
}

func (n *numberShape) signPattern(id string) error {
	switch {
	case id == "S" && n.sign != signNowhere:
		return errTemplate(`cannot use "S" twice`)
	case id == "S" && (n.plus || n.minus || n.bracket):
		return errTemplate(`cannot use "S" and "PL"/"MI"/"SG"/"PR" together`)
	case id == "PR" && (n.sign != signNowhere || n.plus || n.minus):
		return errTemplate(`cannot use "PR" and "S"/"PL"/"MI"/"SG" together`)
	case id != "S" && id != "PR" && n.sign != signNowhere:
		return errTemplate(`cannot use "S" and "` + id + `" together`)
	}
	switch id {
	case "S":
		if n.sign = signAfter; !n.decimal {
			n.sign, n.signAt = signBefore, n.pre
		}
	case "MI":
		n.minus = true
	case "PL":
		n.plus = true
	case "SG":
		n.minus, n.plus = true, true
	default:
		n.bracket = true
	}
	return nil
}

// numberWriter prints the digits of one number by a template.
type numberWriter struct {
	numberShape
	dst      []byte
	digits   []byte // the number without its sign
	at       int    // the next of digits
	last     int    // the last digit that FM keeps, -1: all
	negative bool
	signed   bool // the sign is written, or needs not be
	spaces   int  // positions before the first digit
	current  int  // digit positions written
	count    int
	inside   bool // a digit has been written at the last position
	stop     int  // where the result ends: at the first position beyond the number, -1: nowhere
	err      error
}

// write prints digits, with a point where there are decimals, by the template.
func (n numberShape) write(dst []byte, parts []templatePart, digits []byte, negative bool, spaces int) ([]byte, error) {
	if n.science {
		return append(dst, digits...), nil
	}
	w := numberWriter{numberShape: n, dst: dst, digits: digits, negative: negative, last: -1, spaces: spaces, stop: -1}
	w.zeroStart--
	if w.roman {
		w.numberShape = numberShape{fill: n.fill, roman: true}
	}
	w.prepare()
	for i := range parts {
		p := &parts[i]
		if p.kind != templatePattern {
			w.dst = append(w.dst, p.text...)
			continue
		}
		w.pattern(p)
	}
	if w.stop >= 0 {
		w.dst = w.dst[:w.stop]
	}
	return w.dst, w.err
}

// end cuts the result off here: PostgreSQL writes the number's end as a character.
func (w *numberWriter) end() {
	if w.stop < 0 {
		w.stop = len(w.dst)
	}
}

func (w *numberWriter) prepare() {
	if w.plus || w.minus {
		w.signed = w.minus // MI, PL and SG write it themselves, but a lone PL only a plus
	} else {
		if !w.negative && w.fill {
			w.bracket = false
		}
		w.signed = !w.negative && w.fill && w.sign == signNowhere
		if w.sign == signBefore && w.pre == w.signAt {
			w.sign = signAfter
		}
	}
	w.count = w.post + w.pre - 1
	if point := bytes.IndexByte(w.digits, '.'); w.fill && w.decimal && point >= 0 {
		w.last = max(point, len(bytes.TrimRight(w.digits, "0"))-1)
		if w.zeroEnd > w.spaces {
			w.last = max(w.last, min(len(w.digits)-1, w.zeroEnd-w.spaces))
		}
	}
	if !w.signed && w.spaces == 0 {
		w.count++
	}
}

func (w *numberWriter) pattern(p *templatePart) {
	c := byte(0)
	switch p.id {
	case "9", "0", ".", "D":
		w.position(p.id)
		return
	case ",", "G":
		if c = ','; !w.inside {
			c = ' '
		}
	case "L":
		w.dst = append(w.dst, ' ')
		return
	case "MI":
		if c = ' '; w.negative {
			c = '-'
		}
	case "PL":
		if c = ' '; !w.negative && !w.roman {
			c = '+'
		}
	case "SG":
		if w.roman {
			w.end()
		}
		if c = '+'; w.negative {
			c = '-'
		}
	case "RN":
		w.romanNumber(p.name == "rn")
		return
	case "TH":
		if !w.roman && !w.negative && !w.decimal && w.digits[0] != '#' {
			if c := w.digits[len(w.digits)-1]; c < '0' || c > '9' {
				w.err = pgerr.New(pgerr.InvalidTextRepresentation, "\"%s\" is not a number", w.digits)
			}
			w.dst = append(w.dst, ordinal(w.digits, p.name == "TH")...)
		}
		return
	}
	if c != 0 && (c != ' ' || !w.fill) {
		w.dst = append(w.dst, c)
	}
}

func (w *numberWriter) romanNumber(lower bool) {
	text := w.digits
	if lower {
		text = bytes.ToLower(text)
	}
	if !w.fill {
		w.dst = append(w.dst, strings.Repeat(" ", max(0, 15-len(text)))...)
	}
	w.dst = append(w.dst, text...)
}

func (w *numberWriter) next() byte {
	if w.at < len(w.digits) {
		return w.digits[w.at]
	}
	return 0
}

// hidesZero tells that the zero before the point is not shown: 9.9 prints 0.1 as .1.
func (w *numberWriter) hidesZero() bool {
	return !w.zero && w.at == 0 && w.digits[0] == '0' && w.post != 0
}

// keepsPoint tells that the point is the last character that FM keeps.
func (w *numberWriter) keepsPoint() bool { return w.last >= 0 && w.digits[w.last] == '.' }

// position writes what stands at a digit or the point.
func (w *numberWriter) position(id string) {
	if w.roman {
		return
	}
	w.inside = false
	if !w.signed && (w.current >= w.spaces || w.zero && w.zeroStart == w.current) && (!w.hidesZero() || w.keepsPoint()) {
		w.writeSign()
	}
	switch {
	case w.current < w.spaces && (w.zeroStart > w.current || !w.zero):
		if !w.fill {
			w.dst = append(w.dst, ' ')
		}
	case w.zero && w.current < w.spaces:
		w.dst = append(w.dst, '0')
		w.inside = true
	default:
		w.digitOrPoint(id)
		if w.at < len(w.digits) {
			w.at++
		}
	}
	end := w.count + int(b2u(w.spaces > 0)) + int(b2u(w.decimal))
	if w.last >= 0 && w.last == w.at {
		end = w.current
	}
	if w.current+1 == end {
		w.closeSign()
	}
	w.current++
}

func (w *numberWriter) writeSign() {
	switch {
	case w.sign != signNowhere:
		if w.sign != signBefore {
			return
		}
		if w.dst = append(w.dst, '+'); w.negative {
			w.dst[len(w.dst)-1] = '-'
		}
	case w.bracket && w.negative:
		w.dst = append(w.dst, '<')
	case w.negative:
		w.dst = append(w.dst, '-')
	case w.bracket || !w.fill:
		w.dst = append(w.dst, ' ')
	}
	w.signed = true
}

func (w *numberWriter) closeSign() {
	switch {
	case w.signed && w.bracket && w.negative:
		w.dst = append(w.dst, '>')
	case w.signed && w.bracket:
		w.dst = append(w.dst, ' ')
	case w.sign == signAfter && w.negative:
		w.dst = append(w.dst, '-')
	case w.sign == signAfter:
		w.dst = append(w.dst, '+')
	}
}

func (w *numberWriter) digitOrPoint(id string) {
	switch {
	case w.next() == '.':
		if !w.keepsPoint() || w.fill {
			w.dst = append(w.dst, '.')
		}
	case w.last >= 0 && w.at > w.last && id != "0":
	case w.hidesZero():
		if !w.fill {
			w.dst = append(w.dst, ' ')
		} else if w.keepsPoint() {
			w.dst = append(w.dst, '0')
		}
	default:
		if c := w.next(); c != 0 {
			w.dst = append(w.dst, c)
		} else {
			w.end()
		}
		w.inside = true
	}
}

// romanDigits spells a number from 1 to 3999, others as #.
func romanDigits(n int64) []byte {
	if n < 1 || n > 3999 {
		return bytes.Repeat([]byte("#"), 15)
	}
	var out []byte
	for _, r := range []struct {
		v int64
		s string
	}{{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}} {
		for ; n >= r.v; n -= r.v {
			out = append(out, r.s...)
		}
	}
	return out
}

// frame finds the blanks before the digits; digits that do not fit become #.
func (n *numberShape) frame(digits []byte) (shown []byte, spaces int) {
	before := bytes.IndexByte(digits, '.')
	if before < 0 {
		before = len(digits)
	}
	if before <= n.pre {
		return digits, n.pre - before
	}
	shown = bytes.Repeat([]byte("#"), n.pre+n.post+1)
	shown[n.pre] = '.'
	return shown, 0
}

// noScience stands for a number that EEEE cannot show.
func (n *numberShape) noScience() []byte {
	out := bytes.Repeat([]byte("#"), n.pre+n.post+6)
	out[0], out[n.pre+1] = ' ', '.'
	return out
}
