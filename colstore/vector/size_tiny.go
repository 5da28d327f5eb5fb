//go:build tinybatch

package vector

// BatchSize is the number of rows that operators aim at, here as small as finds
// what goes wrong between batches; tests/slt is built this way too.
const BatchSize = 3
