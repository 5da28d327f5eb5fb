package exec

import (
	"encoding/binary"
	"math"

	"tsdb/colstore/vector"
)

const (
	// memoBytes bounds the results that a correlated subquery keeps: beyond it
	// new ones are computed each time.
	memoBytes = 8 << 20
	// memoTrial is the number of runs after which a memo that answered less than
	// a tenth of them is given up.
	memoTrial = 1000
)

// memo keeps the results of a correlated subquery by the values it read.
type memo struct {
	on       bool
	results  map[string]*vector.Batch
	held     account
	key      []byte
	hits     int
	lookups  int
	disabled bool
}

// find returns the result for the values in row of slots.
func (m *memo) find(slots []*vector.Vector, row int) (*vector.Batch, bool) {
	if !m.on || m.disabled {
		return nil, false
	}
	m.key = m.key[:0]
	for _, s := range slots {
		m.key = appendValue(m.key, s, row)
	}
	m.lookups++
	b, ok := m.results[string(m.key)]
	if ok {
		m.hits++
	} else if m.lookups > memoTrial && m.hits*10 < m.lookups {
		m.forget()
		m.disabled = true
	}
	return b, ok
}

// add keeps the result for the values last looked for, if there is room.
func (m *memo) add(b *vector.Batch) {
	if !m.on || m.disabled {
		return
	}
	size := int64(len(m.key)) + b.Size() + 100
	if m.held.held+size > memoBytes || m.held.set(m.held.held+size) != nil {
		return
	}
	if m.results == nil {
		m.results = map[string]*vector.Batch{}
	}
	m.results[string(m.key)] = b
}

func (m *memo) forget() {
	m.results, m.hits, m.lookups, m.disabled = nil, 0, 0, false
	m.held.release()
}

// appendValue appends row i of v so that equal bytes mean equal values.
func appendValue(dst []byte, v *vector.Vector, i int) []byte {
	if v.IsNull(i) {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	if v.Dict != nil || v.Const || v.Kind == vector.Bytes {
		one := vector.New(v.Kind, 1)
		one.AppendFrom(v, i)
		v, i = one, 0
	}
	switch v.Kind {
	case vector.Bool:
		if v.Bool(i) {
			return append(dst, 1)
		}
		return append(dst, 0)
	case vector.Int16:
		return binary.LittleEndian.AppendUint16(dst, uint16(v.I16[i]))
	case vector.Int32:
		return binary.LittleEndian.AppendUint32(dst, uint32(v.I32[i]))
	case vector.Uint32:
		return binary.LittleEndian.AppendUint32(dst, v.U32[i])
	case vector.Int64:
		return binary.LittleEndian.AppendUint64(dst, uint64(v.I64[i]))
	case vector.Float32:
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(v.F32[i]))
	case vector.Float64:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.F64[i]))
	case vector.Fixed16:
		return append(dst, v.F16[i][:]...)
	}
	b := v.Bytes(i)
	dst = binary.AppendUvarint(dst, uint64(len(b)))
	return append(dst, b...)
}
