package segment

import "encoding/binary"

// SmallArrival is the number of rows up to which an arrival block is written
// as rows: the fixed part of a chunk per column would outweigh them.
const SmallArrival = 16

// AppendArrivalRows encodes an arrival block as rows, whose form is the
// caller's: uvarint length and bytes, each.
func AppendArrivalRows(dst []byte, rows [][]byte) []byte {
	start := len(dst)
	dst = binary.LittleEndian.AppendUint32(open(dst, magicRows), uint32(len(rows)))
	for _, r := range rows {
		dst = appendString(dst, r)
	}
	return seal(dst, start)
}

// IsArrivalRows tells the two forms of arrival blocks apart.
func IsArrivalRows(src []byte) bool { return len(src) >= 4 && string(src[:4]) == magicRows }

// DecodeArrivalRows decodes an arrival block of rows. The result aliases src.
func DecodeArrivalRows(src []byte, what string) ([][]byte, error) {
	e, err := check(src, magicRows, what)
	if err != nil {
		return nil, err
	}
	r := &reader{src: e[envelopeSize:]}
	n := r.u32()
	if n == 0 || n > MaxArrivalRows || uint64(n) > uint64(len(r.src)) {
		return nil, corrupt(what, "%d rows do not fit", n)
	}
	rows := make([][]byte, n)
	for i := range rows {
		rows[i] = r.string()
	}
	if r.bad || len(r.src) != 0 {
		return nil, corrupt(what, "%v", errShort)
	}
	return rows, nil
}
