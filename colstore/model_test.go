package colstore

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
)

// wide is a table with a column of every kind, none of them NOT NULL.
func wide(id uint64, layout table.Layout) table.Schema {
	s := table.Schema{ID: table.ID(id), Layout: layout, Time: 2}
	codecs := []rowkey.Codec{rowkey.CodecBytes, rowkey.CodecInt, rowkey.CodecInt, rowkey.CodecInt, rowkey.CodecFloat,
		rowkey.CodecFloat, rowkey.CodecBool, rowkey.CodecFixed, rowkey.CodecUint, rowkey.CodecNone}
	for i, k := range wideKinds {
		s.Columns = append(s.Columns, table.Column{ID: table.ColumnID(i + 1), Kind: k, Codec: codecs[i]})
	}
	return s
}

var wideKinds = []vector.Kind{vector.Bytes, vector.Int16, vector.Int64, vector.Int32, vector.Float64, vector.Float32,
	vector.Bool, vector.Fixed16, vector.Uint32, vector.Bytes}

func randomTime(rng *rand.Rand) int64 {
	switch rng.IntN(40) {
	case 0:
		return math.MaxInt64
	case 1:
		return math.MinInt64
	case 2:
		return -rng.Int64N(1 << 50)
	}
	return rng.Int64N(400) * 3_600_000_000
}

// randomBatch makes rows; the columns of never stay without NULL.
func randomBatch(rng *rand.Rand, n int, never ...int) *vector.Batch {
	b := &vector.Batch{N: n}
	for c, k := range wideKinds {
		v := vector.New(k, n)
		nullable := rng.IntN(2) == 0
		for _, x := range never {
			nullable = nullable && x != c
		}
		text := rng.IntN(3)
		for i := 0; i < n; i++ {
			if nullable && rng.IntN(5) == 0 {
				v.AppendNull()
				continue
			}
			appendRandom(rng, v, c, text)
		}
		b.Cols = append(b.Cols, v)
	}
	return b
}

func appendRandom(rng *rand.Rand, v *vector.Vector, c, text int) {
	switch v.Kind {
	case vector.Bytes:
		switch {
		case c == 0 || text == 0:
			v.AppendString(fmt.Sprint("k", rng.IntN(6)))
		case text == 1:
			v.AppendString(fmt.Sprint("text ", rng.Int64()))
		default:
			v.AppendBytes(bytes.Repeat([]byte{byte(rng.IntN(3))}, rng.IntN(60)))
		}
	case vector.Int16:
		v.AppendInt16(int16(rng.IntN(1000) - 500))
	case vector.Int64:
		v.AppendInt64(randomTime(rng))
	case vector.Int32:
		v.AppendInt32(int32(rng.Uint32()))
	case vector.Float64:
		v.AppendFloat64([]float64{float64(rng.IntN(100)) / 4, rng.NormFloat64(), math.NaN(), math.Inf(1), 0.1, math.Copysign(0, -1)}[rng.IntN(6)])
	case vector.Float32:
		v.AppendFloat32(float32(rng.IntN(50)) / 8)
	case vector.Bool:
		v.AppendBool(rng.IntN(3) == 0)
	case vector.Fixed16:
		var x [16]byte
		x[rng.IntN(16)] = byte(rng.IntN(3))
		v.AppendFixed16(x)
	case vector.Uint32:
		v.AppendUint32(rng.Uint32N(1000))
	}
}

// modelTable is the expected content of one table.
type modelTable struct {
	schema table.Schema
	rows   *vector.Batch
	keys   map[string]bool
	ids    *vector.Vector // of rows that were read
}

func newModelTable(s table.Schema) *modelTable {
	m := &modelTable{schema: s, keys: map[string]bool{}, rows: &vector.Batch{}, ids: &vector.Vector{Kind: vector.Int64}}
	if s.Layout == table.RowStore {
		m.ids = vector.New(vector.Bytes, 0)
	}
	for _, c := range s.Columns {
		m.rows.Cols = append(m.rows.Cols, vector.New(c.Kind, 0))
	}
	return m
}

func (m *modelTable) add(b *vector.Batch, row int) {
	for i, c := range b.Cols {
		m.rows.Cols[i].AppendFrom(c, row)
	}
	m.rows.N++
}

func (m *modelTable) clone() *modelTable {
	c := &modelTable{schema: m.schema, rows: m.rows.Clone(), keys: map[string]bool{}}
	for k := range m.keys {
		c.keys[k] = true
	}
	return c
}

func printRow(cols []*vector.Vector, i int) string {
	line := ""
	for _, c := range cols {
		line += cell(c, i) + "|"
	}
	return line
}

// matches applies a request to row i exactly.
func (m *modelTable) matches(req *table.ScanRequest, i int) bool {
	s := &m.schema
	if req.Spans != nil && len(s.Key) > 0 {
		key, in := appendRowKey(nil, s.Key, m.rows.Cols, i), false
		for _, sp := range req.Spans {
			in = in || sp.Contains(key)
		}
		if !in {
			return false
		}
	}
	if req.Time != nil {
		t, null := timeOf(s, m.rows.Cols[s.Time], i)
		in := false
		for _, r := range req.Time {
			in = in || !null && t >= r.Lo && t < r.Hi
		}
		if !in {
			return false
		}
	}
	for _, f := range req.Filters {
		v := m.rows.Cols[f.Column]
		if f.Op == table.IsNull || f.Op == table.IsNotNull {
			if v.IsNull(i) != (f.Op == table.IsNull) {
				return false
			}
			continue
		}
		if v.IsNull(i) {
			return false
		}
		codec := s.Columns[f.Column].Codec
		c := bytes.Compare(rowkey.AppendKey(nil, codec, v, i), rowkey.AppendKey(nil, codec, f.Value, 0))
		ok := map[table.CompareOp]bool{table.EQ: c == 0, table.NE: c != 0, table.LT: c < 0, table.LE: c <= 0, table.GT: c > 0, table.GE: c >= 0}[f.Op]
		if !ok {
			return false
		}
	}
	return true
}

func randomRequest(rng *rand.Rand, m *modelTable) table.ScanRequest {
	s := &m.schema
	req := table.ScanRequest{Columns: rng.Perm(len(s.Columns))}
	if rng.IntN(2) == 0 && len(s.Key) > 0 && m.rows.N > 0 {
		for k := 0; k < 1+rng.IntN(3); k++ {
			a := appendRowKey(nil, s.Key, m.rows.Cols, rng.IntN(m.rows.N))
			z := appendRowKey(nil, s.Key, m.rows.Cols, rng.IntN(m.rows.N))
			if bytes.Compare(a, z) > 0 {
				a, z = z, a
			}
			if rng.IntN(3) == 0 {
				z = append(bytes.Clone(a), 0)
			}
			req.Spans = append(req.Spans, rowkey.Span{Start: a, End: z})
		}
		if rng.IntN(4) == 0 {
			req.Spans[0].End = nil
		}
		req.Spans = rowkey.Normalize(req.Spans)
	}
	if rng.IntN(3) == 0 {
		lo := randomTime(rng)
		if lo == math.MaxInt64 {
			lo = 0
		}
		hi := lo + rng.Int64N(1<<40)
		if hi < lo {
			hi = math.MaxInt64
		}
		req.Time = []table.Range{{Lo: lo, Hi: hi}}
	}
	if rng.IntN(2) == 0 {
		c := rng.IntN(len(s.Columns))
		f := table.Filter{Column: c, Op: table.CompareOp(rng.IntN(8))}
		if s.Columns[c].Codec == rowkey.CodecNone {
			f.Op = table.IsNull
		}
		if f.Op < table.IsNull {
			f.Value = vector.New(wideKinds[c], 1)
			appendRandom(rng, f.Value, c, 0)
		}
		req.Filters = []table.Filter{f}
	}
	switch rng.IntN(4) {
	case 0:
		req.Order = table.KeyOrder
	case 1:
		req.Order = table.TimeOrder
	}
	req.Reverse = rng.IntN(2) == 0
	return req
}

// readAll returns the rows of a request, columns in table order, as a model
// table.
func readAll(t testing.TB, sn *Snapshot, s table.Schema, req table.ScanRequest) (*modelTable, error) {
	t.Helper()
	sc, err := sn.Scan(s.ID, req)
	if err != nil {
		return nil, err
	}
	out := newModelTable(s)
	for w := 0; w < 2; w++ {
		r := sc.NewReader()
		for {
			b, err := r.Next()
			check(t, err)
			if b == nil {
				break
			}
			b = b.Flat(&vector.Batch{})
			inOrder := &vector.Batch{N: b.N, Cols: make([]*vector.Vector, len(req.Columns))}
			for i, c := range req.Columns {
				inOrder.Cols[c] = b.Cols[i]
			}
			for i := 0; i < b.N; i++ {
				out.add(inOrder, i)
				if req.RowIDs {
					out.ids.AppendFrom(b.Cols[len(req.Columns)], i)
				}
			}
		}
		r.Close()
	}
	if int64(out.rows.N) > sc.EstimatedRows() {
		t.Fatalf("%d rows, estimated at most %d", out.rows.N, sc.EstimatedRows())
	}
	return out, nil
}

func (m *modelTable) compare(t testing.TB, sn *Snapshot, req table.ScanRequest) {
	t.Helper()
	got, err := readAll(t, sn, m.schema, req)
	if errors.Is(err, table.ErrDeclined) && req.Order != table.AnyOrder {
		req.Order = table.AnyOrder
		got, err = readAll(t, sn, m.schema, req)
	}
	check(t, err)
	var have, want []string
	for i := 0; i < got.rows.N; i++ {
		if got.matches(&req, i) {
			have = append(have, printRow(got.rows.Cols, i))
		}
	}
	for i := 0; i < m.rows.N; i++ {
		if m.matches(&req, i) {
			want = append(want, printRow(m.rows.Cols, i))
		}
	}
	sort.Strings(have)
	sort.Strings(want)
	if !slices.Equal(have, want) {
		t.Logf("table %d, request %+v", m.schema.ID, req)
	}
	equal(t, have, want)
	if req.Order != table.AnyOrder {
		got.ordered(t, req)
	}
	req.NoPrune = true
	every, err := readAll(t, sn, m.schema, req)
	check(t, err)
	if every.rows.N != m.rows.N {
		t.Fatalf("without pruning %d rows, want %d", every.rows.N, m.rows.N)
	}
	st := sn.Stats(m.schema.ID)
	if st.Rows != int64(m.rows.N) && (m.schema.Retention == 0 || st.Rows < int64(m.rows.N)) {
		t.Fatalf("statistics say %d rows, there are %d", st.Rows, m.rows.N)
	}
}

func (m *modelTable) ordered(t testing.TB, req table.ScanRequest) {
	t.Helper()
	parts := m.schema.Key
	if req.Order == table.TimeOrder {
		parts = []rowkey.Part{{Column: m.schema.Time, Codec: m.schema.Columns[m.schema.Time].Codec}}
	}
	var last []byte
	for i := 0; i < m.rows.N; i++ {
		key := appendRowKey(nil, parts, m.rows.Cols, i)
		if c := bytes.Compare(last, key); i > 0 && (c > 0 && !req.Reverse || c < 0 && req.Reverse) {
			t.Fatalf("row %d is out of order", i)
		}
		last = key
	}
}

// append adds random rows through tx and to the model.
func (m *modelTable) append(t testing.TB, rng *rand.Rand, tx *Tx, n int) {
	t.Helper()
	var never []int
	for _, p := range m.schema.Key {
		never = append(never, p.Column)
	}
	b := randomBatch(rng, n, never...)
	if rng.IntN(3) == 0 {
		for i := 0; i < n; i++ {
			if rng.IntN(3) > 0 {
				b.Sel = append(b.Sel, int32(i))
			}
		}
	}
	mark := tx.Savepoint()
	added, err := tx.Append(ctx, m.schema.ID, b)
	next, dup, count := m.clone(), false, int64(0)
	for i := 0; i < n; i++ {
		if b.Sel != nil && sort.Search(len(b.Sel), func(k int) bool { return b.Sel[k] >= int32(i) }) == len(b.Sel) {
			break
		}
		if b.Sel != nil && b.Sel[sort.Search(len(b.Sel), func(k int) bool { return b.Sel[k] >= int32(i) })] != int32(i) {
			continue
		}
		if m.schema.Unique {
			key := string(appendRowKey(nil, m.schema.Key, b.Cols, i))
			if next.keys[key] && m.schema.Conflict == table.ConflictReplace {
				next.remove(func(k int) bool { return string(appendRowKey(nil, m.schema.Key, next.rows.Cols, k)) == key })
			}
			if next.keys[key] {
				dup = true
				continue
			}
			next.keys[key] = true
		}
		next.add(b, i)
		count++
	}
	if m.schema.Conflict == table.ConflictReplace {
		count = added // rows of the batch that replace each other may count or not
	}
	var d *table.DuplicateKeyError
	switch {
	case dup && m.schema.Conflict == table.ConflictError:
		if !errors.As(err, &d) {
			t.Fatalf("append: %v, want a duplicate key", err)
		}
		tx.RollbackTo(mark)
		return
	case err != nil:
		t.Fatal(err)
	case added != count:
		t.Fatalf("%d rows added, want %d", added, count)
	}
	if rng.IntN(6) == 0 {
		tx.RollbackTo(mark)
		return
	}
	*m = *next
}

// remove takes out the rows that gone reports and returns how many.
func (m *modelTable) remove(gone func(i int) bool) int {
	keep := []int32{}
	for i := 0; i < m.rows.N; i++ {
		if !gone(i) {
			keep = append(keep, int32(i))
		} else if m.schema.Unique {
			delete(m.keys, string(appendRowKey(nil, m.schema.Key, m.rows.Cols, i)))
		}
	}
	n := m.rows.N - len(keep)
	m.rows = (&vector.Batch{Cols: m.rows.Cols, N: m.rows.N, Sel: keep}).Clone()
	return n
}

// change deletes or updates random rows through tx and in the model. Rows are
// chosen by what they hold, so that equal rows share their fate.
func (m *modelTable) change(t testing.TB, rng *rand.Rand, tx *Tx) {
	t.Helper()
	req := randomRequestNoTime(rng, m)
	req.RowIDs = true
	salt, share := rng.Uint64(), uint64(1+rng.IntN(10))
	chosen := func(x *modelTable, i int) bool {
		return x.matches(&req, i) && (hashKey([]byte(printRow(x.rows.Cols, i)))+salt)%10 < share
	}
	mark := tx.Savepoint()
	sn := tx.Snapshot()
	defer sn.Close()
	got, err := readAll(t, sn, m.schema, req)
	if errors.Is(err, table.ErrDeclined) {
		req.Order = table.AnyOrder
		got, err = readAll(t, sn, m.schema, req)
	}
	check(t, err)
	sel := []int32{}
	for i := 0; i < got.rows.N; i++ {
		if chosen(got, i) {
			sel = append(sel, int32(i))
		}
	}
	next := m.clone()
	var n int64
	if rng.IntN(2) == 0 {
		n, err = tx.Delete(ctx, sn, m.schema.ID, got.ids, sel)
		next.remove(func(i int) bool { return chosen(m, i) })
	} else {
		var ids *vector.Vector
		b := (&vector.Batch{Cols: got.rows.Cols, N: got.rows.N, Sel: sel}).Clone()
		ids = (&vector.Batch{Cols: []*vector.Vector{got.ids}, N: got.ids.N, Sel: sel}).Clone().Cols[0]
		last := len(b.Cols) - 1
		b.Cols[last] = vector.New(vector.Bytes, b.N)
		for i := 0; i < b.N; i++ {
			b.Cols[last].AppendString(fmt.Sprint("updated ", salt))
		}
		if len(sel) > 0 {
			n, err = tx.Update(ctx, sn, m.schema.ID, ids, b)
		}
		next.remove(func(i int) bool { return chosen(m, i) })
		for i := 0; i < b.N; i++ {
			next.add(b, i)
			if m.schema.Unique {
				next.keys[string(appendRowKey(nil, m.schema.Key, b.Cols, i))] = true
			}
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if n != int64(len(sel)) {
		t.Fatalf("table %d: %d rows changed, want %d", m.schema.ID, n, len(sel))
	}
	if rng.IntN(5) == 0 {
		tx.RollbackTo(mark)
		return
	}
	*m = *next
}

func randomRequestNoTime(rng *rand.Rand, m *modelTable) table.ScanRequest {
	req := randomRequest(rng, m)
	if m.schema.Time < 0 {
		req.Time = nil
	}
	return req
}
