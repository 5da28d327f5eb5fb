package sql

import (
	"fmt"
	"syscall"
)

// minStack is the thread stack that maxDepth is made for.
const minStack = 2 << 20

// CheckThreadStack reports an error when threads that run the grammar get less
// than 2 MB of stack: the C library gives every thread the soft limit of
// RLIMIT_STACK, and 2 MB where it is unlimited. Call it at start-up.
func CheckThreadStack() error {
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(rlimitStack, &lim); err != nil {
		return fmt.Errorf("read the stack limit: %w", err)
	}
	if lim.Cur < minStack {
		return fmt.Errorf("the stack limit of %d kB is below the %d kB that the SQL grammar needs; raise it with \"ulimit -s %d\"",
			lim.Cur>>10, minStack>>10, minStack>>10)
	}
	return nil
}

// rlimitStack is RLIMIT_STACK, 3 on every system that Go runs on with this call.
const rlimitStack = 3
