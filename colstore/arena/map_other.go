//go:build !linux

package arena

func mapped(size int) []byte { return make([]byte, size) }

func unmap([]byte) {}
