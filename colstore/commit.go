package colstore

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/cockroachdb/pebble/v2"

	"tsdb/colstore/keys"
	"tsdb/colstore/segment"
	"tsdb/colstore/table"
)

// commitRequest is a transaction that waits for the committer.
type commitRequest struct {
	tx        *Tx
	sync      bool
	onPublish func(show func())
	done      bool
	err       error
	pending   []*seg // staged segments whose rows the P record holds
	txn       uint64 // id of the P record
}

// Commit makes the writes durable (sync: fsynced before it returns) and visible. onPublish, if not nil, runs
// under the commit lock and calls show once, which makes the writes visible: what it does before and after is
// how others are kept from seeing the writes without what belongs to them.
// After an error nothing of the transaction is visible or durable.
//
// Errors: as Append.
func (t *Tx) Commit(ctx context.Context, sync bool, onPublish func(show func())) error {
	if err := t.usable(); err != nil {
		t.Rollback()
		return err
	}
	if t.empty() {
		defer t.end()
		if onPublish != nil {
			t.s.commitMu.Lock()
			onPublish(func() {})
			t.s.commitMu.Unlock()
		}
		return nil
	}
	err := ctx.Err()
	if err == nil {
		err = t.s.writable()
	}
	if err != nil {
		t.Rollback()
		return err
	}
	for _, tt := range t.order {
		t.settle(tt)
		t.encode(tt)
	}
	r := &commitRequest{tx: t, sync: sync, onPublish: onPublish}
	unlock := t.holdContainers()
	t.s.commit(r)
	unlock()
	if r.err != nil {
		t.Rollback()
		return r.err
	}
	t.end()
	if len(r.pending) > 0 {
		t.s.publishPending(r)
	}
	t.s.afterCommit(t)
	return nil
}

func (t *Tx) empty() bool {
	if len(t.metas)+len(t.created)+len(t.dropped)+len(t.altered) > 0 {
		return false
	}
	for _, tt := range t.order {
		if tt.rows > 0 || len(tt.ops) > 0 || len(tt.gone.rows) > 0 {
			return false
		}
	}
	return true
}

// holdContainers keeps flushes and compactions from replacing containers of
// the tables whose rows the commit deletes, until the returned function is called.
func (t *Tx) holdContainers() (unlock func()) {
	var held []*tableShared
	tables := append([]*txTable(nil), t.order...)
	slices.SortFunc(tables, func(a, b *txTable) int { return cmp.Compare(a.schema.ID, b.schema.ID) })
	st := t.s.acquire()
	defer st.release()
	for _, tt := range tables {
		if len(tt.gone.rows) == 0 && !tt.replaces {
			continue
		}
		if v := st.find(tt.schema.ID); v != nil {
			v.shared.publish.RLock()
			held = append(held, v.shared)
		}
	}
	return func() {
		for _, ts := range held {
			ts.publish.RUnlock()
		}
	}
}

// encode builds the arrival blocks of a table outside of the commit lock.
func (t *Tx) encode(tt *txTable) { tt.encoded = encodeArrivals(tt.schema, tt.blocks) }

// commit queues a request and returns when it is decided. Whoever holds the
// commit lock is the committer and takes all that queue up meanwhile: they
// share one batch and one sync.
func (s *Store) commit(r *commitRequest) {
	s.queueMu.Lock()
	s.queue = append(s.queue, r)
	s.queueMu.Unlock()
	s.commitMu.Lock()
	defer s.commitMu.Unlock()
	if r.done {
		return
	}
	if s.closed.Load() {
		r.err = ErrClosed
		return
	}
	s.queueMu.Lock()
	group := s.queue
	s.queue = nil
	s.queueMu.Unlock()
	s.commitGroup(group)
}

func (s *Store) commitGroup(group []*commitRequest) {
	g := &groupCommit{s: s, draft: s.draft(), seq: s.nextSeq}
	g.begin(group)
	defer g.batch.Close()
	sync := false
	var accepted []*commitRequest
	for _, r := range group {
		r.done = true
		if r.err = g.prepare(r); r.err == nil {
			accepted = append(accepted, r)
			sync = sync || r.sync || len(r.pending) > 0
		}
	}
	if len(accepted) == 0 {
		return
	}
	if err := g.apply(sync); err != nil {
		for _, r := range accepted {
			r.err = err
		}
		return
	}
	s.nextSeq = g.seq
	show := func() { s.publish(g.draft) }
	for _, r := range accepted {
		if around, inner := r.onPublish, show; around != nil {
			show = func() { around(inner) }
		}
	}
	show()
}

// groupCommit is the batch that one turn of the committer writes.
type groupCommit struct {
	s       *Store
	draft   *state
	batch   *pebble.Batch
	seq     uint64
	keyed   bool // spaces R or I change
	dropped []*version
	dead    []*seg // segments without a live row
	garbage int64  // bytes of blocks of dropped tables
}

// begin makes the batch, readable if a request has to look rows up in it.
func (g *groupCommit) begin(group []*commitRequest) {
	for _, r := range group {
		for _, tt := range r.tx.order {
			g.keyed = g.keyed || len(tt.ops) > 0 || len(tt.entries) > 0
		}
		g.keyed = g.keyed || len(r.tx.dropped) > 0
	}
	if g.keyed {
		g.batch = g.s.db.NewIndexedBatch()
	} else {
		g.batch = g.s.db.NewBatch()
	}
}

func (g *groupCommit) apply(sync bool) error {
	s := g.s
	if g.keyed {
		g.draft.epoch.end()
		g.draft.epoch = &rowEpoch{db: s.db}
	}
	opts := pebble.NoSync
	if sync {
		opts = pebble.Sync
		s.written.LogSyncs.Add(1)
	}
	err := s.db.Apply(g.batch, opts)
	if failed := s.failed.get(); failed != nil {
		return failed
	}
	if err != nil {
		// Whether the batch is in the log is unknown, so nothing may follow it.
		s.failed.set(fmt.Errorf("commit: %w", err))
		return s.failed.get()
	}
	for _, v := range g.dropped {
		for _, sg := range v.segs.segs {
			sg.doomed.Store(true)
		}
	}
	for _, sg := range g.dead {
		sg.doomed.Store(true)
	}
	s.sweeper.garbage.Add(g.garbage)
	return nil
}

// prepare checks a request and adds it to the batch and the draft; after an
// error neither has changed.
func (g *groupCommit) prepare(r *commitRequest) error {
	t := r.tx
	for _, tt := range t.order {
		if t.isDropped(tt.schema.ID) || tt.created {
			continue
		}
		v := g.draft.find(tt.schema.ID)
		if v == nil {
			return table.ErrUnknownTable
		}
		if !tt.gone.catchUp(g.draft.trail, tt.schema.ID) {
			return table.ErrRowsChanged
		}
		if tt.known && v.data != tt.checked || tt.schema.Layout == table.RowStore && v.data != tt.checked {
			if err := g.recheck(t, tt, v); err != nil {
				return err
			}
		}
	}
	for _, id := range t.dropped {
		if g.draft.find(id) == nil && t.find(id) == nil {
			return table.ErrUnknownTable
		}
	}
	for _, op := range t.metas {
		if op.value == nil {
			_ = g.batch.Delete(op.key, nil)
		} else {
			_ = g.batch.Set(op.key, op.value, nil)
		}
	}
	for _, c := range t.created {
		if !t.isDropped(c.ID) {
			g.create(c)
		}
	}
	for _, a := range t.altered {
		if !a.tt.created && !t.isDropped(a.tt.schema.ID) {
			g.alter(a.tt.schema)
		}
	}
	var staged []segment.Pending
	for _, tt := range t.order {
		if !t.isDropped(tt.schema.ID) {
			staged = g.write(r, tt, staged)
		}
	}
	if len(staged) > 0 {
		r.txn = g.seq
		g.seq++
		_ = g.batch.Set(keys.AppendPending(nil, r.txn), segment.AppendPending(nil, staged), nil)
	}
	for _, id := range t.dropped {
		g.drop(t, id)
	}
	return nil
}

func (g *groupCommit) create(c *table.Schema) {
	_ = g.batch.Set(keys.AppendMetaID(nil, keys.MetaTable, uint64(c.ID)), appendSchema(nil, c), nil)
	g.draft.put(g.s.newVersion(c))
}

// alter gives a table another schema.
func (g *groupCommit) alter(c *table.Schema) {
	v := *g.draft.find(c.ID)
	if v.schema == c {
		return
	}
	_ = g.batch.Set(keys.AppendMetaID(nil, keys.MetaTable, uint64(c.ID)), appendSchema(nil, c), nil)
	v.schema = c
	blocks := make([]*block, len(v.blocks))
	for i, b := range v.blocks {
		blocks[i] = b.reshape(c)
	}
	v.blocks = blocks
	g.draft.put(&v)
}

func (s *Store) newVersion(c *table.Schema) *version {
	return &version{schema: c, segs: newSegList(nil), shared: &tableShared{}, active: &keyIndex{}, newest: math.MinInt64}
}

// write adds the rows of one table to the batch and the draft.
func (g *groupCommit) write(r *commitRequest, tt *txTable, staged []segment.Pending) []segment.Pending {
	if tt.rows == 0 && len(tt.ops) == 0 && len(tt.gone.rows) == 0 {
		return staged
	}
	v := *g.draft.find(tt.schema.ID)
	if tt.schema != v.schema {
		r.tx.conform(tt, v.schema)
	}
	if tt.rows > 0 || len(tt.ops) > 0 {
		v.data++
	}
	g.deleteRows(&v, tt.gone.rows)
	id := uint64(tt.schema.ID)
	if len(tt.ops) > 0 {
		g.writeRows(tt, &v)
	}
	g.writeEntries(tt, &v)
	if len(tt.staged) > 0 {
		staged = g.writeStaged(r, tt, &v, staged)
	}
	for i, b := range tt.blocks {
		v.seq = g.seq
		g.seq++
		_ = g.batch.Set(keys.AppendArrival(nil, id, 0, v.seq), tt.encoded[i], nil)
		v.addBlock(b, v.seq)
		// The block also lies in Pebble's memtable.
		v.bytes += max(0, int64(len(tt.encoded[i]))-b.size)
	}
	if tt.schema.Layout == table.Columnar {
		v.rows += tt.rows
	}
	if tt.index != nil {
		v.noteKeys(tt)
		v.bytes += tt.keyBytes + keyIndexOverhead*tt.rows
	}
	g.draft.put(&v)
	return staged
}

// conform gives rows to be committed the schema that the table got meanwhile.
func (t *Tx) conform(tt *txTable, s *table.Schema) {
	tt.schema = s
	for i, b := range tt.blocks {
		tt.blocks[i] = b.reshape(s)
	}
	t.encode(tt)
}

// addBlock appends a committed block; small ones join the last block.
func (v *version) addBlock(b *block, seq uint64) {
	n := len(v.blocks)
	v.bytes += b.size
	ord := v.ord
	v.ord += uint64(b.n)
	if n > v.frozen && v.blocks[n-1].n+b.n <= blockRows && b.n < blockRows/4 {
		last := v.blocks[n-1]
		nb := last.extend(b)
		nb.runs = append(last.runs, seqRun{seq, last.n}) // behind what readers of last see
		v.blocks = append(v.blocks[:n-1:n-1], nb)
		return
	}
	nb := *b
	nb.ord, nb.runs = ord, []seqRun{{seq, 0}}
	v.blocks = append(v.blocks[:n:n], &nb)
}

// deleteRows records rows of committed containers as deleted, in the draft and
// the batch. The caller holds the table's publish lock.
func (g *groupCommit) deleteRows(v *version, rows rowSets) {
	owned, ownedBlocks := false, false
	for p, set := range rows {
		if p.seg == 0 {
			i := v.blockIndex(p.block)
			if i < 0 || p.own {
				continue
			}
			if !ownedBlocks {
				v.blocks = append(make([]*block, 0, len(v.blocks)+1), v.blocks...)
				ownedBlocks = true
			}
			g.deleteInBlock(v, i, set)
			continue
		}
		if i := v.segIndex(p.seg); i >= 0 {
			g.deleteInSegment(v, i, set, owned)
			owned = true
		}
	}
	if owned {
		g.dropDead(v)
	}
}

// deleteInBlock writes the record of rows deleted from a block in memory.
func (g *groupCommit) deleteInBlock(v *version, i int, set *roaring.Bitmap) {
	b := v.blocks[i]
	fresh := b.gone.lacking(set)
	if fresh.IsEmpty() {
		return
	}
	all := b.gone.union(fresh)
	v.rows -= int64(all.n - b.gone.count())
	g.s.written.DeletedRows.Add(int64(all.n - b.gone.count()))
	var records []uint64
	if b.gone != nil {
		records = b.gone.records
	}
	if len(records) >= maxRecords {
		for _, seq := range records {
			_ = g.batch.Delete(recordKey(v.schema.ID, arrivalBucket, seq), nil)
		}
		records, fresh = nil, all.rows
	}
	t := segment.Tombstone{}
	it := fresh.Iterator()
	for it.HasNext() {
		seq, at := b.runOf(int(it.Next()))
		t.Arrivals = append(t.Arrivals, segment.ArrivalRow{Sequence: seq, Row: uint32(at)})
	}
	seq := g.record(v, arrivalBucket, &t)
	v.blocks[i] = b.without(newDeletes(all.rows, append(records[:len(records):len(records)], seq)))
}

// deleteInSegment writes the record of rows deleted from a segment.
func (g *groupCommit) deleteInSegment(v *version, i int, set *roaring.Bitmap, owned bool) {
	sg, old := v.segs.segs[i], v.deleted(i)
	fresh := old.lacking(set)
	if fresh.IsEmpty() {
		v.setDeleted(i, old, owned)
		return
	}
	all := old.union(fresh)
	v.rows -= int64(all.n - old.count())
	g.s.written.DeletedRows.Add(int64(all.n - old.count()))
	var records []uint64
	if old != nil {
		records = old.records
	}
	if len(records) >= maxRecords {
		for _, seq := range records {
			_ = g.batch.Delete(recordKey(v.schema.ID, sg.id.Bucket, seq), nil)
		}
		records, fresh = nil, all.rows
	}
	seq := g.record(v, sg.id.Bucket, &segment.Tombstone{Segment: sg.id.ID, Rows: fresh})
	v.setDeleted(i, newDeletes(all.rows, append(records[:len(records):len(records)], seq)), owned)
}

func (g *groupCommit) record(v *version, b keys.Bucket, t *segment.Tombstone) uint64 {
	seq := g.seq
	g.seq++
	_ = g.batch.Set(recordKey(v.schema.ID, b, seq), t.Append(nil), nil)
	return seq
}

// dropDead removes segments whose rows are all deleted.
func (g *groupCommit) dropDead(v *version) {
	dead := 0
	for i, sg := range v.segs.segs {
		if v.deleted(i).count() == int(sg.info.Rows) && !sg.pending.Load() {
			dead++
		}
	}
	if dead == 0 {
		return
	}
	segs := make([]*seg, 0, len(v.segs.segs)-dead)
	dels := make([]*deletes, 0, len(segs))
	for i, sg := range v.segs.segs {
		d := v.deleted(i)
		if d.count() != int(sg.info.Rows) || sg.pending.Load() {
			segs, dels = append(segs, sg), append(dels, d)
			continue
		}
		_ = g.batch.Delete(keys.AppendSegment(nil, sg.id), nil)
		for _, seq := range d.records {
			_ = g.batch.Delete(recordKey(v.schema.ID, sg.id.Bucket, seq), nil)
		}
		g.dead = append(g.dead, sg)
	}
	v.replaceSegs(segs, dels)
}

// replaceSegs gives a version that is not published yet other segments.
func (v *version) replaceSegs(segs []*seg, dels []*deletes) {
	old := v.segs
	unpublished := old.refs.Load() == 0
	v.segs, v.dels = newSegList(segs), dels
	if unpublished {
		for _, sg := range old.segs {
			sg.refs.Add(-1)
		}
	}
}

// writeStaged gives the staged segments their sequence and lists them for the
// P record.
func (g *groupCommit) writeStaged(r *commitRequest, tt *txTable, v *version, staged []segment.Pending) []segment.Pending {
	seq := g.seq
	g.seq++
	all := append(append(make([]*seg, 0, len(v.segs.segs)+len(tt.staged)), v.segs.segs...), tt.staged...)
	dels := append(make([]*deletes, 0, len(all)), v.dels...)
	dels = append(dels, make([]*deletes, len(v.segs.segs)-len(dels))...)
	for _, sg := range tt.staged {
		sg.pending.Store(true)
		dels = append(dels, infoDeletes(sg.info))
		sg.info.SeqMin, sg.info.SeqMax = seq, seq
		staged = append(staged, segment.Pending{Key: keys.AppendSegment(nil, sg.id), Row: sg.info.Append(nil)})
	}
	r.pending = append(r.pending, tt.staged...)
	v.replaceSegs(all, dels)
	return staged
}

// noteKeys makes known how far the keys and times of the committed rows reach.
// The keys themselves are indexed when somebody looks.
func (v *version) noteKeys(tt *txTable) {
	v.newest = max(v.newest, tt.newest)
	ts := v.shared
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.raise(tt.maxKey)
	for _, sg := range tt.staged {
		ts.raise(sg.info.LastKey)
	}
}

// drop adds the removal of a table. Chunks go later, when no state lists them.
func (g *groupCommit) drop(t *Tx, id table.ID) {
	if v := g.draft.find(id); v != nil {
		_ = g.batch.Delete(keys.AppendMetaID(nil, keys.MetaTable, uint64(id)), nil)
		_ = g.batch.Delete(keys.AppendMetaID(nil, keys.MetaCount, uint64(id)), nil)
		for _, space := range []byte{keys.SpaceArrival, keys.SpaceCell, keys.SpaceRow, keys.SpaceTombstone, keys.SpaceSegment} {
			g.deleteAll(space, uint64(id))
		}
		for _, x := range v.schema.Indexes {
			g.deleteAll(keys.SpaceIndex, x.ID)
		}
		g.dropped = append(g.dropped, v)
		g.garbage += v.bytes
		g.draft.remove(id)
	}
	if tt := t.find(id); tt != nil {
		g.s.discard(tt.staged)
		tt.staged = nil
	}
}

func (g *groupCommit) deleteAll(space byte, id uint64) {
	from := keys.AppendTable(nil, space, id)
	_ = g.batch.DeleteRange(from, keys.AfterPrefix(from), nil)
}
