package exec

import (
	"context"
	"slices"

	"tsdb/colstore/vector"
	"tsdb/sql/types"
)

// startBuffer prepares to sort rows (arguments, group) by group and order. A
// DISTINCT aggregate's arguments are keys too, so that equal rows come together.
func (a *aggRun) startBuffer(ctx context.Context) {
	kinds := make([]vector.Kind, 0, len(a.types)+1)
	for _, t := range a.types {
		kinds = append(kinds, t.Kind())
	}
	kinds = append(kinds, vector.Uint32)
	specs, columns := []sortSpec{{typ: groupType}}, []int{len(a.types)}
	for _, k := range a.order {
		specs, columns = append(specs, k.spec), append(columns, k.arg)
	}
	if a.call.Distinct {
		for i, t := range a.types {
			specs, columns = append(specs, sortSpec{typ: t}), append(columns, i)
		}
	}
	a.keyVecs = make([]*vector.Vector, len(specs))
	a.buffer = newRowSorter(&a.rowsHeld, kinds, specs, columns, -1)
	a.buffer.start(ctx)
}

// startSet prepares for distinct values, by group, that have no room.
func (a *aggRun) startSet(ctx context.Context) {
	var kinds []vector.Kind
	var specs []sortSpec
	var columns []int
	for i, c := range a.distinctTypes() {
		kinds, specs, columns = append(kinds, c.kind), append(specs, sortSpec{typ: c.typ}), append(columns, i)
	}
	a.set = newRowSorter(&a.setHeld, kinds, specs, columns, -1)
	a.set.start(ctx)
}

// rowSize is about what a row takes in memory.
func (s *rowSorter) rowSize() int64 {
	var size int64 = 64
	for _, k := range s.kinds {
		size += int64(max(k.Width(), 8))
	}
	return size
}

// keep adds n rows to the buffer. Where DISTINCT has left some rows of b out, the
// keys are the arguments themselves, as SQL demands.
func (a *aggRun) keep(b *vector.Batch, groups []uint32, n int) error {
	g := &vector.Vector{Kind: vector.Uint32, N: n, U32: groups}
	if groups == nil {
		g.Const, g.U32 = true, []uint32{0}
	}
	a.keyVecs[0] = g
	at := 1
	for _, k := range a.order {
		if n < b.N {
			a.keyVecs[at] = a.vecs[max(0, k.arg)]
		} else {
			v, err := k.prog.Eval(a.ev, b)
			if err != nil {
				return err
			}
			a.keyVecs[at] = v
		}
		at++
	}
	copy(a.keyVecs[at:], a.vecs)
	if err := a.buffer.add(append(slices.Clip(a.vecs), g), a.keyVecs, n); err != nil {
		return err
	}
	if groups == nil {
		a.load[0] += uint32(n)
	}
	for _, x := range groups[:min(n, len(groups))] {
		a.load[x]++
	}
	if a.distinct != nil {
		if err := a.accountDistinct(); err != nil {
			return err
		}
	}
	return a.buffer.account()
}

// replay adds the rows of groups lo..hi-1 to the state, as groups 0..hi-lo-1.
func (a *aggRun) replay(lo, hi int) error {
	for {
		if a.sorted == nil || a.at == a.sorted.N {
			b, err := a.buffer.next()
			if err != nil {
				return err
			}
			if err := canceled(a.buffer.ctx); err != nil {
				return err
			}
			if a.sorted, a.at = b, 0; b == nil {
				return nil
			}
			if a.repeats {
				a.sorted = a.unique(b, len(b.Cols)-1)
			}
		}
		groups := a.sorted.Cols[len(a.sorted.Cols)-1].U32[:a.sorted.N]
		end := a.at
		a.groups = a.groups[:0]
		for end < len(groups) && int(groups[end]) < hi {
			a.groups = append(a.groups, groups[end]-uint32(lo))
			end++
		}
		if end > a.at {
			if err := a.update(a.sorted, a.at, end); err != nil {
				return err
			}
			a.at = end
		}
		if end < len(groups) {
			return nil
		}
	}
}

// update adds rows lo..hi-1 of b, of the groups in a.groups, to the state.
func (a *aggRun) update(b *vector.Batch, lo, hi int) error {
	for i := range a.vecs {
		a.vecs[i] = b.Cols[i]
		if lo > 0 || hi < b.N {
			a.picked[i].Reset(b.Cols[i].Kind)
			appendRange(&a.picked[i], b.Cols[i], lo, hi)
			a.vecs[i] = &a.picked[i]
		}
	}
	if err := a.state.Update(a.groups, a.vecs, hi-lo); err != nil {
		return err
	}
	if len(a.buffer.runs) == 0 {
		return nil
	}
	return a.held.set(a.state.Size())
}

// unique returns the rows of b that differ from the row before: all columns are
// compared; group is the one with group numbers.
func (a *aggRun) unique(b *vector.Batch, group int) *vector.Batch {
	typ := func(c int) types.Type {
		switch {
		case c == group:
			return groupType
		case group == 0:
			return a.types[c-1]
		}
		return a.types[c]
	}
	a.sel = a.sel[:0]
	before, row := &a.last, 0
	for i := range b.N {
		if before.N == 0 || !sameRow(typ, before, row, b, i) {
			a.sel = append(a.sel, int32(i))
		}
		before, row = b, i
	}
	shape(&a.last, len(b.Cols))
	for c, v := range b.Cols {
		a.last.Cols[c].Reset(v.Kind)
		a.last.Cols[c].AppendFrom(v, b.N-1)
	}
	a.last.N = 1
	if len(a.sel) == b.N {
		return b
	}
	out := &vector.Batch{}
	return gatherRows(out, b, a.sel)
}

func sameRow(typ func(int) types.Type, x *vector.Batch, i int, y *vector.Batch, j int) bool {
	for c, v := range x.Cols {
		w := y.Cols[c]
		if v.IsNull(i) != w.IsNull(j) {
			return false
		}
		if !v.IsNull(i) && types.Compare(typ(c), v, i, w, j) != 0 {
			return false
		}
	}
	return true
}

// accountDistinct counts the distinct values; where they are too many, they are
// put away and found to be repeated later, when all are sorted.
func (a *aggRun) accountDistinct() error {
	size := a.distinct.size()
	if !a.held.pressed(size) {
		err := a.held.set(size)
		if err == nil || !a.held.spills() {
			return err
		}
	}
	a.held.force(size)
	a.repeats = true
	if a.buffer == nil {
		if err := a.putAway(); err != nil {
			return err
		}
	}
	a.distinct = newGrouper(a.distinctTypes())
	return a.held.set(a.distinct.size())
}

// putAway moves the distinct values to the set.
func (a *aggRun) putAway() error {
	return a.eachDistinct(func(cols []*vector.Vector, n int) error {
		if err := a.set.add(cols, cols, n); err != nil {
			return err
		}
		return a.set.account()
	})
}

// eachDistinct calls f with the distinct values as (group, arguments).
func (a *aggRun) eachDistinct(f func(cols []*vector.Vector, n int) error) error {
	kinds := a.distinctTypes()
	cols := make([]*vector.Vector, len(kinds))
	for i := range cols {
		cols[i] = &vector.Vector{}
	}
	total := a.distinct.count()
	for lo := 0; lo < total; lo += vector.BatchSize {
		hi := min(total, lo+vector.BatchSize)
		for i, c := range cols {
			c.Reset(kinds[i].kind)
			a.distinct.appendKey(i, c, lo, hi)
		}
		if err := canceled(a.set.ctx); err != nil {
			return err
		}
		if err := f(cols, hi-lo); err != nil {
			return err
		}
	}
	return nil
}

// addDistinct gives the state the distinct values.
func (a *aggRun) addDistinct() error {
	add := func(cols []*vector.Vector, n int) error { return a.state.Update(cols[0].U32[:n], cols[1:], n) }
	if len(a.set.runs) == 0 && a.set.rows.n == 0 {
		return firstError(a.eachDistinct(add), a.dropDistinct())
	}
	if err := firstError(a.putAway(), a.dropDistinct(), a.set.finish()); err != nil {
		return err
	}
	for {
		b, err := a.set.next()
		if err != nil {
			return err
		}
		if b == nil {
			return a.set.close()
		}
		if b = a.unique(b, 0); b.N == 0 {
			continue
		}
		if err := add(b.Cols, b.N); err != nil {
			return err
		}
	}
}

func (a *aggRun) dropDistinct() error {
	a.distinct = nil
	a.held.release()
	return nil
}
