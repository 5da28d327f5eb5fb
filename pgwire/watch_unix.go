//go:build unix

package pgwire

import (
	"net"
	"syscall"
)

// hungUp reports whether the peer has closed its side and everything that it
// sent was read. It takes nothing from the socket.
func hungUp(nc net.Conn) bool {
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return false
	}
	gone := false
	err = raw.Control(func(fd uintptr) {
		var b [1]byte
		n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		switch {
		case err == syscall.EAGAIN || err == syscall.EINTR:
		case err != nil:
			gone = true
		case n == 0:
			gone = true
		}
	})
	return err == nil && gone
}
