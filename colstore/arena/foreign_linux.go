package arena

import "sync"

// foreign holds the first bytes of mapped buffers, to tell them from Go's.
var foreign sync.Map
