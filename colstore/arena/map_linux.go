package arena

import (
	"syscall"
	"unsafe"
)

// mapped returns memory of the system, aligned to its huge pages, with them
// where it has any; Go's memory if it refuses.
func mapped(size int) []byte {
	// A mapping begins at a page, a huge page at a multiple of its size: take
	// one more and give the ends back.
	const huge = 1 << minClass
	raw, err := syscall.Mmap(-1, 0, size+huge, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return make([]byte, size)
	}
	base := unsafe.Pointer(&raw[0])
	skip := int(-uintptr(base) & (huge - 1))
	if skip > 0 {
		release(unsafe.Pointer(&raw[0]), skip)
	}
	if rest := huge - skip; rest > 0 {
		release(unsafe.Pointer(&raw[skip+size]), rest)
	}
	b := unsafe.Slice((*byte)(unsafe.Add(base, skip)), size)
	_ = syscall.Madvise(b, syscall.MADV_HUGEPAGE)
	foreign.Store(&b[0], struct{}{})
	return b
}

func release(at unsafe.Pointer, n int) {
	_, _, _ = syscall.Syscall(syscall.SYS_MUNMAP, uintptr(at), uintptr(n), 0)
}

// unmap gives memory of mapped back.
func unmap(b []byte) {
	if _, ok := foreign.LoadAndDelete(&b[0]); ok {
		release(unsafe.Pointer(&b[0]), len(b))
	}
}
