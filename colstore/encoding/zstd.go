package encoding

import (
	"encoding/binary"
	"sync"

	"github.com/klauspost/compress/zstd"

	"tsdb/colstore/vector"
)

// maxZstdRatio is what a frame of nothing but repeated bytes reaches: a block
// of 128 KiB takes four bytes.
const maxZstdRatio = 1 << 15

// zstdEncoder and zstdDecoder are shared: each holds megabytes of tables, and
// both serve concurrent calls.
var (
	zstdEncoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(2),
			zstd.WithEncoderCRC(false), zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true))
		if err != nil {
			return nil // the options above are valid
		}
		return e
	})
	zstdDecoder = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(MaxBlockBytes), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil // the options above are valid
		}
		return d
	})
)

// Compress appends the size of src and its zstd frame; ok is false, and dst as
// it was, if that saves less than an eighth.
func Compress(dst, src []byte) (out []byte, ok bool) {
	out = binary.LittleEndian.AppendUint32(dst, uint32(len(src)))
	out = zstdEncoder().EncodeAll(src, out)
	if len(out)-len(dst) > len(src)*7/8 {
		return out[:len(dst)], false
	}
	return out, true
}

// Decompress decodes what Compress appended into buf, or newly where that is
// too small. Slack bytes after the result are readable.
func Decompress(buf, src []byte) ([]byte, error) {
	if len(src) < 4 {
		return nil, malformed("zstd")
	}
	size := int(binary.LittleEndian.Uint32(src))
	// A frame that holds less than it claims must not make the buffer large:
	// the claim is checked against the frame's own header.
	var h zstd.Header
	if err := h.Decode(src[4:]); err != nil || !h.HasFCS || h.FrameContentSize != uint64(size) || size > MaxBlockBytes ||
		size > maxZstdRatio*len(src) {
		return nil, malformed("zstd size")
	}
	if cap(buf) < size+Slack {
		buf = make([]byte, size+Slack)
	}
	out, err := zstdDecoder().DecodeAll(src[4:], buf[:0:size])
	if err != nil || len(out) != size {
		return nil, malformed("zstd")
	}
	if size > 0 && &out[0] != &buf[:1][0] {
		return nil, malformed("zstd buffer")
	}
	return buf[:size], nil
}

func (d *Decoder) decodeZstd(dst *vector.Vector, src []byte, rows int) error {
	out, err := Decompress(d.tmp, src)
	if err != nil {
		return err
	}
	d.tmp = out
	return d.decodePlain(dst, out, rows)
}
