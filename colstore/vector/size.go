//go:build !tinybatch

package vector

// BatchSize is the number of rows that operators aim at: large enough to hide
// the cost per call, small enough that a batch of ten columns stays in L2.
const BatchSize = 4096
