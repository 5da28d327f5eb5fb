package bind

import "tsdb/sql/catalog"

// NotUpdatable says why rows cannot be written through a view, empty if they can.
func NotUpdatable(env *Env, v *catalog.View) string { return "" }
