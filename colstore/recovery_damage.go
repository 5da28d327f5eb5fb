package colstore

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"tsdb/colstore/keys"
	"tsdb/colstore/table"
)

// condemn takes a table out of service whose records cannot be read: what is
// stored of it stays, and it answers with the error until it is dropped or
// truncated. Other errors than of damaged bytes come back.
func (r *recovery) condemn(id table.ID, what string, err error) error {
	var c *table.CorruptionError
	if !errors.As(r.s.damaged(what, err), &c) {
		return err
	}
	c.Table = id
	r.s.log.Error("damaged table, the others stay in service", "table", uint64(id), "error", c)
	if r.s.condemned == nil {
		r.s.condemned = map[table.ID]*table.CorruptionError{}
	}
	if r.s.condemned[id] == nil {
		r.s.condemned[id] = c
	}
	return nil
}

// condemnedError returns why a table is out of service, or nil.
func (s *Store) condemnedError(id table.ID) error {
	if c := s.condemned[id]; c != nil {
		return c
	}
	return nil
}

// eachTable calls f for the keys that known tables have in a space, and end (if
// not nil) behind those of one table, and removes those of tables that are no
// more. A table whose keys cannot be read is condemned.
func (r *recovery) eachTable(space byte, what string, f func(key, value []byte) error, end func() error) error {
	ids := make([]table.ID, 0, len(r.tables))
	for id := range r.tables {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		err := r.each(keys.AppendTable(nil, space, uint64(id)), f)
		if err == nil && end != nil {
			err = end()
		}
		if err != nil {
			if err := r.condemn(id, fmt.Sprintf("%s of table %d", what, id), err); err != nil {
				return err
			}
		}
	}
	return r.strangers(space)
}

// strangers removes what a space holds of tables that are no more. What cannot
// be read stays.
func (r *recovery) strangers(space byte) error {
	it, err := r.s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{space}, UpperBound: []byte{space + 1}})
	if err != nil {
		return r.tolerate(err)
	}
	for ok := it.First(); ok; {
		if len(it.Key()) < 9 {
			_ = it.Close()
			return &table.CorruptionError{What: "key", Why: fmt.Sprintf("%x is too short", it.Key())}
		}
		id := bigEndian(it.Key()[1:])
		from := keys.AppendTable(nil, space, id)
		to := keys.AfterPrefix(from)
		if r.tables[table.ID(id)] == nil {
			_ = r.batch.DeleteRange(from, to, nil)
		}
		ok = it.SeekGE(to)
	}
	return r.tolerate(it.Close())
}

// tolerate passes over damaged bytes where only leftovers are looked for.
func (r *recovery) tolerate(err error) error {
	if err == nil || !pebble.IsCorruptionError(err) {
		return err
	}
	r.s.log.Error("damaged bytes, leftovers may stay", "error", r.s.damaged("leftovers", err))
	return nil
}

// release forgets what was read of condemned tables, so that nothing is built
// on a part of them.
func (r *recovery) release() {
	for id := range r.s.condemned {
		if v := r.tables[id]; v != nil {
			r.tables[id], r.segs[id] = r.s.newVersion(v.schema), nil
		}
	}
}
