package pgcatalog

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"

	"tsdb/colstore/vector"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

//go:embed relations.txt
var relationsText string

// relation is one virtual relation.
type relation struct {
	schema, name string
	oid          types.OID
	kind         byte // r or v, as in pg_class.relkind
	cols         []catalog.VirtualColumn
	index        map[string]int
}

// SchemaName implements catalog.VirtualRelation.
func (r *relation) SchemaName() string { return r.schema }

// RelName implements catalog.VirtualRelation.
func (r *relation) RelName() string { return r.name }

// RelOID implements catalog.VirtualRelation.
func (r *relation) RelOID() types.OID { return r.oid }

// RelColumns implements catalog.VirtualRelation.
func (r *relation) RelColumns() []catalog.VirtualColumn { return r.cols }

// Rows implements catalog.VirtualRelation.
func (r *relation) Rows(c *functions.Ctx) (*vector.Batch, error) {
	w := newRows(r)
	if fill, ok := fills[r.schema+"."+r.name]; ok {
		fill(w, newSource(c))
	}
	return w.batch, w.err
}

var relations = sync.OnceValue(func() map[string]*relation {
	m := map[string]*relation{}
	for line := range strings.Lines(relationsText) {
		f := strings.Fields(line)
		schema, name, _ := strings.Cut(f[0], ".")
		r := &relation{schema: schema, name: name, oid: number(f[1]), kind: f[2][0], index: map[string]int{}}
		for i, col := range strings.Split(f[3], ",") {
			n, t, _ := strings.Cut(col, ":")
			t, mod, modified := strings.Cut(t, "/")
			typ := types.T(number(t))
			if modified {
				typ.Mod = int32(number(mod))
			}
			r.cols = append(r.cols, catalog.VirtualColumn{Name: n, Type: typ})
			r.index[n] = i
		}
		m[f[0]] = r
	}
	return m
})

var relationsByOID = sync.OnceValue(func() map[types.OID]*relation {
	m := map[types.OID]*relation{}
	for _, r := range relations() {
		m[r.oid] = r
	}
	return m
})

func number(s string) uint32 {
	n, _ := strconv.ParseUint(s, 10, 32)
	return uint32(n)
}

// Find returns the relation of pg_catalog or information_schema with that
// name, nil if there is none.
func Find(schema, name string) catalog.VirtualRelation {
	if r, ok := relations()[schema+"."+name]; ok {
		return r
	}
	return nil
}

// rows collects the rows of a relation: begin, any number of set calls by
// column name, end. Columns that a row does not set are NULL.
type rows struct {
	rel   *relation
	batch *vector.Batch
	set   []bool
	err   error // of what the rows come from
}

func newRows(r *relation) *rows {
	w := &rows{rel: r, batch: &vector.Batch{}, set: make([]bool, len(r.cols))}
	for _, c := range r.cols {
		w.batch.Cols = append(w.batch.Cols, vector.New(c.Type.Kind(), 16))
	}
	return w
}

func (w *rows) col(name string) *vector.Vector {
	i, ok := w.rel.index[name]
	if !ok || w.set[i] {
		return nil
	}
	w.set[i] = true
	return w.batch.Cols[i]
}

func (w *rows) text(name, v string) *rows {
	if c := w.col(name); c != nil {
		c.AppendString(v)
	}
	return w
}

func (w *rows) oid(name string, v types.OID) *rows {
	if c := w.col(name); c != nil {
		c.AppendUint32(v)
	}
	return w
}

func (w *rows) bool(name string, v bool) *rows {
	if c := w.col(name); c != nil {
		c.AppendBool(v)
	}
	return w
}

// num sets a column of any integer or float type.
func (w *rows) num(name string, v int64) *rows {
	c := w.col(name)
	if c == nil {
		return w
	}
	switch c.Kind {
	case vector.Int16:
		c.AppendInt16(int16(v))
	case vector.Int32:
		c.AppendInt32(int32(v))
	case vector.Int64:
		c.AppendInt64(v)
	case vector.Float32:
		c.AppendFloat32(float32(v))
	case vector.Float64:
		c.AppendFloat64(float64(v))
	case vector.Uint32:
		c.AppendUint32(uint32(v))
	default:
		c.AppendNull()
	}
	return w
}

// ratio sets a float8 column to a / b; NULL without b.
func (w *rows) ratio(name string, a, b int64) *rows {
	if b == 0 {
		return w
	}
	if c := w.col(name); c != nil {
		c.AppendFloat64(float64(a) / float64(b))
	}
	return w
}

// array sets an array column from the text form of an array.
func (w *rows) array(name, v string) *rows {
	i, ok := w.rel.index[name]
	c := w.col(name)
	if !ok || c == nil {
		return w
	}
	if err := types.ParseText(c, w.rel.cols[i].Type, []byte(v), &types.Context{}); err != nil {
		c.AppendNull()
	}
	return w
}

func (w *rows) bools(v bool, names ...string) *rows {
	for _, n := range names {
		w.bool(n, v)
	}
	return w
}

func (w *rows) nums(v int64, names ...string) *rows {
	for _, n := range names {
		w.num(n, v)
	}
	return w
}

func (w *rows) end() {
	for i, ok := range w.set {
		if !ok {
			w.batch.Cols[i].AppendNull()
		}
		w.set[i] = false
	}
	w.batch.N++
}
