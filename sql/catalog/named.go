package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"tsdb/sql/types"
)

// named is an immutable set of the objects of one kind, found by OID or by
// schema and name.
type named[T any] struct {
	byOID  map[types.OID]*T
	byName map[tableName]*T
}

// identity returns what an object is found by.
func identity[T any](o *T) (oid types.OID, name tableName) {
	switch o := any(o).(type) {
	case *View:
		return o.OID, tableName{o.Schema, o.Name}
	case *Sequence:
		return o.OID, tableName{o.Schema, o.Name}
	case *Enum:
		return o.OID, tableName{o.Schema, o.Name}
	case *Domain:
		return o.OID, tableName{o.Schema, o.Name}
	}
	return 0, tableName{}
}

func (n named[T]) named(schema types.OID, name string) (*T, bool) {
	o, ok := n.byName[tableName{schema, name}]
	return o, ok
}

func (n named[T]) sorted() []*T {
	return slices.SortedFunc(maps.Values(n.byOID), func(a, b *T) int {
		x, _ := identity(a)
		y, _ := identity(b)
		return cmp.Compare(x, y)
	})
}

// with returns a set in which o exists or replaces the object of its OID.
func (n named[T]) with(o *T) named[T] {
	oid, name := identity(o)
	out := n.without(oid)
	if len(out.byOID) == len(n.byOID) { // nothing was left out, so nothing was copied
		out = named[T]{maps.Clone(n.byOID), maps.Clone(n.byName)}
	}
	if out.byOID == nil {
		out = named[T]{map[types.OID]*T{}, map[tableName]*T{}}
	}
	out.byOID[oid], out.byName[name] = o, o
	return out
}

func (n named[T]) without(oid types.OID) named[T] {
	old, ok := n.byOID[oid]
	if !ok {
		return n
	}
	out := named[T]{maps.Clone(n.byOID), maps.Clone(n.byName)}
	_, name := identity(old)
	delete(out.byOID, oid)
	delete(out.byName, name)
	return out
}

// objectRecord is the stored form of views, sequences, enums and domains.
type objectRecord[T any] struct {
	Version int `json:"v"`
	Object  *T  `json:"object"`
}

func encodeObject[T any](prefix string) func(*T) Record {
	return func(o *T) Record {
		oid, _ := identity(o)
		return encode(recordKey(prefix, oid), objectRecord[T]{1, o})
	}
}

// load adds the object of a record.
func (n *named[T]) load(key string, value []byte) error {
	r := objectRecord[T]{Object: new(T)}
	if err := decode(key, value, &r.Version, &r); err != nil {
		return err
	}
	*n = n.with(r.Object)
	return nil
}

// commentRecord is the stored form of one comment.
type commentRecord struct {
	Version int    `json:"v"`
	About   Ref    `json:"about"`
	Text    string `json:"text"`
}

func commentKey(about Ref) string {
	return fmt.Sprintf("%s%08x/%08x/%04x", commentPrefix, about.Class, about.OID, uint16(about.Column))
}

// diffComments appends the records that turn the comments of old into those of new.
func diffComments(out []Record, old, new map[Ref]string) []Record {
	for about, text := range new {
		if have, ok := old[about]; !ok || have != text {
			out = append(out, encode(commentKey(about), commentRecord{1, about, text}))
		}
	}
	for about := range old {
		if _, ok := new[about]; !ok {
			out = append(out, Record{Key: []byte(commentKey(about))})
		}
	}
	return out
}

func (s *Snapshot) loadComment(key string, value []byte) error {
	var r commentRecord
	if err := decode(key, value, &r.Version, &r); err != nil {
		return err
	}
	s.comments[r.About] = r.Text
	return nil
}

// extras is what a table's record holds beyond what versions 1 and 2 knew.
type extras struct {
	Checks      []Check      `json:"checks,omitempty"`
	ForeignKeys []ForeignKey `json:"foreignkeys,omitempty"`
	Indexes     []Index      `json:"indexes,omitempty"`
	Query       string       `json:"query,omitempty"`
	Path        []string     `json:"path,omitempty"`
	Names       []UsedName   `json:"names,omitempty"`
	Unpopulated bool         `json:"unpopulated,omitempty"`
	Depends     []Ref        `json:"depends,omitempty"`
	Temp        bool         `json:"temp,omitempty"`
	OnCommit    byte         `json:"oncommit,omitempty"`
}

func (e *extras) empty() bool {
	b, err := json.Marshal(e)
	return err == nil && string(b) == "{}"
}

// columnExtras is what a column's record holds beyond what versions 1 and 2 knew.
type columnExtras struct {
	Generated string    `json:"generated,omitempty"`
	Identity  byte      `json:"identity,omitempty"`
	Domain    types.OID `json:"domain,omitempty"`
	Depends   []Ref     `json:"depends,omitempty"`
}

func (e *columnExtras) empty() bool {
	return e.Generated == "" && e.Identity == 0 && e.Domain == 0 && len(e.Depends) == 0
}
