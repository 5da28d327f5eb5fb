package copyio

// maxQuickDigits is the most digits that any int64 has room for.
const maxQuickDigits = 18

// quickInt reads a decimal integer that surely fits and returns where it ends,
// -1 if it is spelled otherwise. rest ends with a byte that is no digit.
func quickInt(rest []byte) (int64, int) {
	i := 0
	if rest[0] == '-' {
		i = 1
	}
	start := i
	var x int64
	for ; i < len(rest); i++ {
		d := rest[i] - '0'
		if d > 9 {
			break
		}
		x = x*10 + int64(d)
	}
	if digits := i - start; digits == 0 || digits > maxQuickDigits {
		return 0, -1
	}
	if start == 1 {
		x = -x
	}
	return x, i
}

// powers of ten that a float64 holds exactly, as far as quickFloat divides.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// quickFloat reads digits with at most one point among them, 15 digits in all:
// a float64 holds the digits and the power of ten, so that one division rounds
// once, to the nearest value. It returns where the number ends, -1 if it is
// spelled otherwise.
func quickFloat(rest []byte) (float64, int) {
	i := 0
	if rest[0] == '-' {
		i = 1
	}
	start, point := i, -1
	var x int64
	for ; i < len(rest); i++ {
		if rest[i] == '.' && point < 0 {
			point = i
			continue
		}
		d := rest[i] - '0'
		if d > 9 {
			break
		}
		x = x*10 + int64(d)
	}
	digits, decimals := i-start, 0
	if point >= 0 {
		digits--
		decimals = i - point - 1
	}
	if digits == 0 || digits > 15 {
		return 0, -1
	}
	f := float64(x)
	if start == 1 {
		f = -f
	}
	return f / powers[decimals], i
}
