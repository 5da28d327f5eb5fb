//go:build goexperiment.simd && amd64

package kernels

// A vector kernel loads the bytes of a group of packed values, moves the bytes
// that hold value j to lane j, shifts each lane by the bit offset of its value
// and masks it. index and shift say which bytes and by how much, per width.

var (
	index16 [max16 + 1][64]uint8
	shift16 [max16 + 1][32]uint16
	index32 [max32 + 1][64]uint8
	shift32 [max32 + 1][16]uint32
	index64 [max64 + 1][64]uint8
	shift64 [max64 + 1][8]uint64

	// For AVX2, which moves bytes inside 16 only: two or four windows of 16
	// bytes, each beginning at the byte of its first value.
	half32      [max32 + 1][32]int8
	halfShift32 [max32 + 1][8]uint32
	half64      [max64 + 1][64]int8
	halfShift64 [max64 + 1][8]uint64
)

func init() {
	for w := 0; w <= max64; w++ {
		for j := 0; j < 8; j++ {
			fill(index64[w][8*j:8*j+8], j*w>>3)
			shift64[w][j] = uint64(j * w & 7)
			first := j / 2 * 2 * w // bit where the window of two values begins
			bit := first&7 + j%2*w
			fill(half64[w][8*j:8*j+8], bit>>3)
			halfShift64[w][j] = uint64(bit & 7)
		}
		for j := 0; j < 16 && w <= max32; j++ {
			fill(index32[w][4*j:4*j+4], j*w>>3)
			shift32[w][j] = uint32(j * w & 7)
		}
		for j := 0; j < 8 && w <= max32; j++ {
			bit := j/4*4*w&7 + j%4*w
			fill(half32[w][4*j:4*j+4], bit>>3)
			halfShift32[w][j] = uint32(bit & 7)
		}
		for j := 0; j < 32 && w <= max16; j++ {
			fill(index16[w][2*j:2*j+2], j*w>>3)
			shift16[w][j] = uint16(j * w & 7)
		}
	}
}

func fill[T int8 | uint8](lane []T, first int) {
	for i := range lane {
		lane[i] = T(first + i)
	}
}
