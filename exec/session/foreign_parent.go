package session

import (
	"context"

	"tsdb/colstore"
	"tsdb/colstore/vector"
	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
)

// parentCheck is what a statement does to keys that one foreign key references:
// those that it took away, and what became of them.
type parentCheck struct {
	key     *childKey
	cols    []int // the referenced columns in the parent
	deleted *referenceSet
	changed *referenceSet
	became  *referenceSet // per row of changed: the new key; duplicates stay
	buf     []byte
}

func newParentCheck(parent *catalog.Table, k *childKey) *parentCheck {
	p := &parentCheck{key: k, deleted: newReferenceSet(columnTypes(&k.shape)), changed: newReferenceSet(columnTypes(&k.shape)),
		became: newReferenceSet(columnTypes(&k.shape))}
	for _, num := range k.f.RefColumns {
		p.cols = append(p.cols, parent.ColumnByNum(num))
	}
	return p
}

func pick(b *vector.Batch, cols []int) []*vector.Vector {
	out := make([]*vector.Vector, len(cols))
	for i, c := range cols {
		out[i] = b.Cols[c]
	}
	return out
}

// removed notes rows that the statement deleted.
func (p *parentCheck) removed(old *vector.Batch) {
	cols := pick(old, p.cols)
	for i := range old.N {
		if p.whole(cols, i) {
			p.buf = appendRow(p.buf[:0], &p.key.shape, cols, i)
			p.deleted.add(p.buf, cols, i)
		}
	}
}

// updated notes rows that the statement updated, before and after.
func (p *parentCheck) updated(old, new *vector.Batch) {
	was, is := pick(old, p.cols), pick(new, p.cols)
	var now []byte
	for i := range old.N {
		if !p.whole(was, i) {
			continue
		}
		p.buf = appendRow(p.buf[:0], &p.key.shape, was, i)
		now = appendRow(now[:0], &p.key.shape, is, i)
		if string(p.buf) == string(now) {
			continue
		}
		if _, have := p.changed.keys[string(p.buf)]; have {
			continue
		}
		p.changed.add(p.buf, was, i)
		for c, v := range is {
			p.became.rows.Cols[c].AppendFrom(v, i)
		}
		p.became.rows.N++
	}
}

// whole reports whether a key has no NULL, so that children may have it.
func (p *parentCheck) whole(cols []*vector.Vector, i int) bool {
	for _, c := range cols {
		if c.IsNull(i) {
			return false
		}
	}
	return true
}

// run looks for children of keys that are gone and does what the constraint says.
func (p *parentCheck) run(ctx context.Context, r *references) error {
	if r.s.isDeferred(p.key.f) && p.key.f.OnDelete == 'a' && p.deleted.rows.N > 0 {
		r.s.tx.deferredGone = append(r.s.tx.deferredGone, &parentCheck{key: p.key, deleted: p.deleted})
	} else if p.deleted.rows.N > 0 {
		if err := p.serve(ctx, r, p.deleted, p.key.f.OnDelete, nil); err != nil {
			return err
		}
	}
	if r.s.isDeferred(p.key.f) && p.key.f.OnUpdate == 'a' && p.changed.rows.N > 0 {
		r.s.tx.deferredGone = append(r.s.tx.deferredGone, &parentCheck{key: p.key, deleted: p.changed})
	} else if p.changed.rows.N > 0 {
		return p.serve(ctx, r, p.changed, p.key.f.OnUpdate, p.became)
	}
	return nil
}

// orphans are rows of the child whose parent is gone.
type orphans struct {
	rows *vector.Batch // all columns
	ids  *vector.Vector
	of   []int // rows of the reference set
}

func (p *parentCheck) find(ctx context.Context, s *Session, sn *colstore.Snapshot, set *referenceSet) (*orphans, error) {
	child := p.key.child
	o := &orphans{rows: &vector.Batch{}, ids: vector.New(vector.Bytes, 0)}
	for i := range child.Columns {
		o.rows.Cols = append(o.rows.Cols, vector.New(child.Columns[i].Type.Kind(), 0))
	}
	err := scanTable(ctx, sn, child, func(b *vector.Batch) error {
		if err := p.key.read(b); err != nil {
			return err
		}
		for i := range b.N {
			key, err := p.key.of(s, i)
			if err != nil {
				return err
			}
			at, orphan := set.keys[string(key)]
			if key == nil || !orphan {
				continue
			}
			for c := range child.Columns {
				o.rows.Cols[c].AppendFrom(b.Cols[c], i)
			}
			o.rows.N++
			o.ids.AppendFrom(b.Cols[len(child.Columns)], i)
			o.of = append(o.of, at)
		}
		return nil
	})
	return o, err
}

// serve does what ON DELETE or ON UPDATE says to the children of set; became is
// what the keys became, nil if they were deleted.
func (p *parentCheck) serve(ctx context.Context, r *references, set *referenceSet, action byte, became *referenceSet) error {
	s := r.s
	if r.cascade >= maxCascade {
		return pgerr.New(pgerr.StatementTooComplex, "stack depth limit exceeded").WithHint("Foreign keys lead on to more than %d levels of rows.", maxCascade)
	}
	if err := p.keepGivenBack(ctx, s, set); err != nil || len(set.keys) == 0 {
		return err
	}
	if err := s.lockTable(ctx, p.key.child.OID); err != nil {
		return err
	}
	sn := s.writeTx().Snapshot()
	defer sn.Close()
	o, err := p.find(ctx, s, sn, set)
	if err != nil || o.rows.N == 0 {
		return err
	}
	if action == 'a' || action == 'r' {
		e := pgerr.New(pgerr.ForeignKeyViolation, `update or delete on table "%s" violates foreign key constraint "%s" on table "%s"`,
			p.key.parent.Name, p.key.f.Name, p.key.child.Name)
		e.Schema, e.Table, e.Constraint = s.schemaName(p.key.child.Schema), p.key.child.Name, p.key.f.Name
		return e.WithDetail(`%s is still referenced from table "%s".`,
			s.keyOf(p.key.parent, p.key.f.RefColumns, &p.key.shape, set.rows.Cols, o.of[0]), p.key.child.Name)
	}
	w := s.newWriter(ctx, p.key.child)
	if w.refs, err = s.references(p.key.child); err != nil {
		return err
	}
	if w.refs != nil {
		w.refs.cascade = r.cascade + 1
	}
	w.refsReady = true
	v := &view{snap: sn}
	if action == 'c' && became == nil {
		err = w.delete(v, 0, &vector.Batch{Cols: []*vector.Vector{o.ids}, N: o.ids.N})
	} else {
		var rows *vector.Batch
		if rows, err = p.rewritten(s, o, action, became); err == nil {
			err = w.update(v, len(rows.Cols)-1, rows)
		}
	}
	if err = w.finish(err); err != nil || action != 'd' {
		return err
	}
	return p.serve(ctx, r, set, 'a', became) // the default may be the key that is gone
}

// keepGivenBack forgets keys that the statement took away from one row and gave
// to another.
func (p *parentCheck) keepGivenBack(ctx context.Context, s *Session, set *referenceSet) error {
	m, err := s.findParents(ctx, &pendingCheck{p.key, set})
	if m == nil || err != nil {
		return err
	}
	defer m.Close()
	for _, of := range m.Of {
		p.buf = appendRow(p.buf[:0], &p.key.shape, set.rows.Cols, int(of))
		delete(set.keys, string(p.buf))
	}
	return nil
}

// rewritten returns the children's rows with other keys, and the row ids behind.
func (p *parentCheck) rewritten(s *Session, o *orphans, action byte, became *referenceSet) (*vector.Batch, error) {
	child := p.key.child
	out := &vector.Batch{N: o.rows.N, Cols: append([]*vector.Vector(nil), o.rows.Cols...)}
	for i, num := range p.key.f.Columns {
		col := child.ColumnByNum(num)
		v := vector.New(child.Columns[col].Type.Kind(), o.rows.N)
		switch {
		case action == 'c':
			if child.Columns[col].Type.OID != p.key.shape.Columns[i].Type.OID {
				return nil, pgerr.Unsupported("ON UPDATE CASCADE between columns of different types")
			}
			for _, at := range o.of {
				v.AppendFrom(became.rows.Cols[i], at)
			}
		case action == 'd' && child.Columns[col].Default != "":
			d, err := s.compileDefault(s.functionCtx(), s.catalog(), child, col)
			if err != nil {
				return nil, err
			}
			vals, err := d.values(o.rows.N)
			if err != nil {
				return nil, err
			}
			v = vals.Flat(&vector.Vector{})
		default:
			for range o.of {
				v.AppendNull()
			}
		}
		out.Cols[col] = v
	}
	out.Cols = append(out.Cols, o.ids)
	return out, nil
}
