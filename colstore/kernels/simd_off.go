//go:build !(goexperiment.simd && amd64)

package kernels

func simdName() string { return "" }

func simdUnpack[T Int]([]T, []byte, uint, int64) bool { return false }

func simdPrefixSum[T Int]([]T, T) bool { return false }

func simdUnpackDeltas[T Int]([]T, []byte, uint, int64, T) bool { return false }

func simdDecimals([]float64, []int64, float64) bool { return false }

func simdSum([]byte, int, uint) (hi, lo uint64, ok bool) { return 0, 0, false }

func simdBounds([]byte, int, uint) (lo, hi uint64, ok bool) { return 0, 0, false }

func simdCompare([]uint64, []byte, int, uint, bool, uint64) bool { return false }

func simdProfile(*Profile, []int64) int { return 1 }

func simdMinMax[T Int]([]T, *T, *T) int { return 0 }
