package segment

import "encoding/binary"

// Bloom is a filter over key hashes in 64-byte lines, one line per key. Its
// value is an envelope "TSDB" whose body is the lines, then Slack.
//
// At 12 bits a key about one absent key in 100 passes.
type Bloom struct{ lines []byte }

const (
	magicBloom   = "TSDB"
	bloomBits    = 12
	bloomLine    = 64
	bloomProbes  = 6
	bloomShuffle = 0x9E3779B97F4A7C15
)

// AppendBloom encodes the filter of the hashes.
func AppendBloom(dst []byte, hashes []uint64) []byte {
	start := len(dst)
	dst = open(dst, magicBloom)
	lines := max(1, (len(hashes)*bloomBits+bloomLine*8-1)/(bloomLine*8))
	body := make([]byte, lines*bloomLine)
	for _, h := range hashes {
		line, bits := bloomPlace(h, lines)
		for p := 0; p < bloomProbes; p++ {
			bit := bits & 511
			body[line+int(bit>>3)] |= 1 << (bit & 7)
			bits >>= 9
		}
	}
	dst = seal(append(dst, body...), start)
	return append(dst, make([]byte, Slack)...)
}

func bloomPlace(h uint64, lines int) (line int, bits uint64) {
	return int((h>>32)*uint64(lines)>>32) * bloomLine, h * bloomShuffle
}

// OpenBloom verifies a filter; it aliases src.
func OpenBloom(src []byte, what string) (Bloom, error) {
	e, err := check(src, magicBloom, what)
	if err != nil {
		return Bloom{}, err
	}
	return bloomOf(e, what)
}

// ReopenBloom is OpenBloom for a filter whose checksum was verified before, by
// the same process.
func ReopenBloom(src []byte, what string) (Bloom, error) {
	e, err := envelope(src, magicBloom, what)
	if err != nil {
		return Bloom{}, err
	}
	return bloomOf(e, what)
}

func bloomOf(e []byte, what string) (Bloom, error) {
	body := e[envelopeSize:]
	if len(body) == 0 || len(body)%bloomLine != 0 {
		return Bloom{}, corrupt(what, "filter of %d bytes", len(body))
	}
	return Bloom{body}, nil
}

// MayContain reports whether the key with the hash may be in the filter.
func (b Bloom) MayContain(h uint64) bool {
	line, bits := bloomPlace(h, len(b.lines)/bloomLine)
	for p := 0; p < bloomProbes; p++ {
		bit := bits & 511
		if b.lines[line+int(bit>>3)]>>(bit&7)&1 == 0 {
			return false
		}
		bits >>= 9
	}
	return true
}

// Checksum returns the stored checksum of a value with an envelope.
func Checksum(value []byte) uint32 { return binary.LittleEndian.Uint32(value[12:]) }
