package encoding

import (
	"encoding/binary"

	"github.com/klauspost/compress/s2"

	"tsdb/colstore/vector"
)

// s2Len returns the bytes that an s2 block without its length prefix decodes
// to, -1 if an element is cut off. A damaged length prefix must not make the
// decoder take a gigabyte, so it is compared with what the elements say.
func s2Len(src []byte) int {
	total := 0
	for len(src) > 0 {
		n, size := s2Element(src)
		if size > len(src) || total > MaxBlockBytes {
			return -1
		}
		total, src = total+n, src[size:]
	}
	return total
}

// s2Element returns the length and the size of the element at the start of
// src. A size beyond src says that it is cut off.
func s2Element(src []byte) (n, size int) {
	var ext [4]byte
	copy(ext[:], src[1:])
	next := int(binary.LittleEndian.Uint32(ext[:]))
	tag, arg := src[0]&3, int(src[0]>>2)
	switch {
	case tag == 0 && arg < 60:
		return arg + 1, arg + 2
	case tag == 0: // a literal with its length in 1 to 4 bytes
		k := arg - 59
		n = next&(1<<(8*k)-1) + 1
		return n, 1 + k + n
	case tag == 2:
		return arg + 1, 3
	case tag == 3:
		return arg + 1, 5
	case src[0]>>5 != 0 || ext[0] != 0 || arg&7 < 5:
		return arg&7 + 4, 2
	}
	var b [4]byte
	if len(src) > 2 {
		copy(b[:], src[2:])
	}
	next = int(binary.LittleEndian.Uint32(b[:]))
	switch arg & 7 { // a repeated offset with its length in 1 to 3 bytes
	case 5:
		return next&0xFF + 8, 3
	case 6:
		return next&0xFFFF + 1<<8 + 4, 4
	}
	return next&0xFFFFFF + 1<<16 + 4, 5
}

func (d *Decoder) decodeS2(dst *vector.Vector, src []byte, rows int) error {
	if len(src) < 4 {
		return malformed("s2")
	}
	size := int(binary.LittleEndian.Uint32(src))
	_, prefix := binary.Uvarint(src[4:])
	if n, err := s2.DecodedLen(src[4:]); err != nil || n != size || size > MaxBlockBytes || s2Len(src[4+prefix:]) != size {
		return malformed("s2 size")
	}
	if cap(d.tmp) < size+Slack {
		d.tmp = make([]byte, size+Slack)
	}
	out, err := s2.Decode(d.tmp[:size:size], src[4:])
	if err != nil || len(out) != size {
		return malformed("s2")
	}
	return d.decodePlain(dst, d.tmp[:size], rows)
}
