package scalar

// WithChildren returns a copy of e with other operands, as many as Children
// returns and in that order.
func WithChildren(e Expr, c []Expr) Expr { return withChildren(e, c) }
