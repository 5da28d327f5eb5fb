//go:build tinybatch

package vector

// BatchSize is the number of rows that operators aim at, here as small as it
// may be, to find what goes wrong between batches: blocks in memory are cut at
// its multiples, where words of their bitmaps begin. tests/slt is built this way
// too.
const BatchSize = 64
