//go:build !unix

package pgwire

import "net"

// hungUp cannot tell on this system: a client that is gone is noticed at the
// next write.
func hungUp(net.Conn) bool { return false }
