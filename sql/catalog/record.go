package catalog

import (
	"encoding/json"
	"fmt"
	"strings"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/rowkey"
	"tsdb/sql/types"
)

// FormatVersion is the newest version of the catalog's records. A record of a
// larger version is refused: an older binary must not guess. A table's record
// has version 2 only if it uses what version 1 did not know: values of added
// columns in older rows, retention, unique indexes, numbers of dropped columns.
//
// Version 3 is for what came next: checks, foreign keys, indexes that are not
// unique, generated and identity columns, domains, materialized views,
// temporary tables.
const FormatVersion = 3

// MetaPrefix begins the keys of all catalog records in key space M.
//
//	catalog/format              {"v":1}
//	catalog/role/<oid>          one role
//	catalog/schema/<oid>        one schema
//	catalog/table/<oid>         one table with its columns, constraints and indexes
//	catalog/view/<oid>          one view
//	catalog/sequence/<oid>      the definition of one sequence
//	catalog/enum/<oid>          one enum with its labels
//	catalog/domain/<oid>        one domain with its checks
//	catalog/comment/<class>/<oid>/<column>   one comment
//
// OIDs are eight hexadecimal digits, so that keys sort by OID.
const MetaPrefix = "catalog/"

const (
	formatKey    = MetaPrefix + "format"
	rolePrefix   = MetaPrefix + "role/"
	schemaPrefix = MetaPrefix + "schema/"
	tablePrefix  = MetaPrefix + "table/"

	viewPrefix     = MetaPrefix + "view/"
	sequencePrefix = MetaPrefix + "sequence/"
	enumPrefix     = MetaPrefix + "enum/"
	domainPrefix   = MetaPrefix + "domain/"
	commentPrefix  = MetaPrefix + "comment/"
)

func recordKey(prefix string, oid types.OID) string { return fmt.Sprintf("%s%08x", prefix, oid) }

// Record is one key and value of the catalog in the store. A nil value deletes
// the key.
type Record struct{ Key, Value []byte }

type formatRecord struct {
	Version int `json:"v"`
}

type roleRecord struct {
	Version     int       `json:"v"`
	OID         types.OID `json:"oid"`
	Name        string    `json:"name"`
	Superuser   bool      `json:"superuser,omitempty"`
	Login       bool      `json:"login,omitempty"`
	CreateDB    bool      `json:"createdb,omitempty"`
	CreateRole  bool      `json:"createrole,omitempty"`
	Inherit     bool      `json:"inherit,omitempty"`
	Replication bool      `json:"replication,omitempty"`
	BypassRLS   bool      `json:"bypassrls,omitempty"`
	Verifier    string    `json:"verifier,omitempty"`
}

type schemaRecord struct {
	Version int       `json:"v"`
	OID     types.OID `json:"oid"`
	Name    string    `json:"name"`
	Owner   types.OID `json:"owner"`
}

type columnRecord struct {
	ID      table.ColumnID `json:"id"`
	AttNum  int16          `json:"attnum"`
	Name    string         `json:"name"`
	Type    types.OID      `json:"type"`
	Mod     int32          `json:"mod"`
	NotNull bool           `json:"notnull,omitempty"`
	Default string         `json:"default,omitempty"`
	Codec   rowkey.Codec   `json:"codec"`
	Kind    vector.Kind    `json:"kind"`
	Missing *string        `json:"missing,omitempty"` // text form of the value in older rows
	columnExtras
}

type constraintRecord struct {
	OID     types.OID `json:"oid"`
	Index   types.OID `json:"index"`
	Name    string    `json:"name"`
	Primary bool      `json:"primary,omitempty"`
	Columns []int     `json:"columns"`
	Store   uint64    `json:"store,omitempty"`
	IsIndex bool      `json:"isindex,omitempty"`
}

type optionRecord struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type tableRecord struct {
	Version     int                `json:"v"`
	OID         types.OID          `json:"oid"`
	TypeOID     types.OID          `json:"typeoid"`
	Schema      types.OID          `json:"schema"`
	Name        string             `json:"name"`
	Owner       types.OID          `json:"owner"`
	Columns     []columnRecord     `json:"columns"`
	Constraints []constraintRecord `json:"constraints,omitempty"`
	Options     []optionRecord     `json:"options,omitempty"`

	Storage  table.ID       `json:"storage"`
	Layout   table.Layout   `json:"layout"`
	Time     int            `json:"time"`
	TimeUnit table.TimeUnit `json:"timeunit,omitempty"`
	Bucket   int64          `json:"bucket,omitempty"`
	Conflict table.Conflict `json:"conflict,omitempty"`

	Retention int64 `json:"retention,omitempty"`
	Last      int16 `json:"last,omitempty"` // 0: the number of columns
	extras
}

func encode(key string, v any) Record {
	b, err := json.Marshal(v)
	if err != nil { // records hold numbers, strings and slices of them only
		b = []byte("{}")
	}
	return Record{Key: []byte(key), Value: b}
}

func encodeRole(r *Role) Record {
	return encode(recordKey(rolePrefix, r.OID), roleRecord{1, r.OID, r.Name, r.Superuser, r.Login,
		r.CreateDB, r.CreateRole, r.Inherit, r.Replication, r.BypassRLS, r.Verifier})
}

func encodeSchema(s *Schema) Record {
	return encode(recordKey(schemaPrefix, s.OID), schemaRecord{1, s.OID, s.Name, s.Owner})
}

func encodeTable(t *Table) Record {
	rec := tableRecord{Version: 1, OID: t.OID, TypeOID: t.TypeOID, Schema: t.Schema, Name: t.Name,
		Owner: t.Owner, Storage: t.Storage.ID, Layout: t.Storage.Layout, Time: t.Storage.Time,
		TimeUnit: t.Storage.TimeUnit, Bucket: t.Storage.Bucket, Conflict: t.Storage.Conflict, Retention: t.Storage.Retention}
	if int(t.Last) > len(t.Columns) {
		rec.Last = t.Last
	}
	newer, newest := rec.Retention != 0 || rec.Last != 0, false
	for i, c := range t.Columns {
		sc := &t.Storage.Columns[i]
		cr := columnRecord{c.ID, c.AttNum, c.Name, c.Type.OID, c.Type.Mod, c.NotNull, c.Default, sc.Codec, sc.Kind, nil,
			columnExtras{c.Generated, c.Identity, c.Domain, c.Depends}}
		newest = newest || !cr.columnExtras.empty()
		if sc.Missing != nil {
			text := string(types.AppendText(nil, types.T(c.Type.OID), sc.Missing, 0, &types.Context{}))
			cr.Missing, newer = &text, true
		}
		rec.Columns = append(rec.Columns, cr)
	}
	for _, c := range t.Constraints {
		rec.Constraints = append(rec.Constraints, constraintRecord{c.OID, c.IndexOID, c.Name, c.Primary, c.Columns, c.StoreID, c.Index})
		newer = newer || c.Index
	}
	for _, o := range t.Options {
		rec.Options = append(rec.Options, optionRecord(o))
	}
	rec.extras = extras{t.Checks, t.ForeignKeys, t.Indexes, t.Query, t.Path, t.Names, t.Unpopulated, t.Depends, t.Temp, t.OnCommit}
	if newer {
		rec.Version = 2
	}
	if newest || !rec.extras.empty() {
		rec.Version = 3
	}
	return encode(recordKey(tablePrefix, t.OID), rec)
}

func decode(key string, value []byte, version *int, into any) error {
	if err := json.Unmarshal(value, into); err != nil {
		return &table.CorruptionError{What: "catalog record " + key, Why: err.Error()}
	}
	if *version < 1 || *version > FormatVersion {
		return &table.CorruptionError{What: "catalog record " + key,
			Why: fmt.Sprintf("format version %d, this binary reads up to %d", *version, FormatVersion)}
	}
	return nil
}

func decodeRole(key string, value []byte) (*Role, error) {
	var r roleRecord
	if err := decode(key, value, &r.Version, &r); err != nil {
		return nil, err
	}
	return &Role{OID: r.OID, Name: r.Name, Superuser: r.Superuser, Login: r.Login, CreateDB: r.CreateDB,
		CreateRole: r.CreateRole, Inherit: r.Inherit, Replication: r.Replication, BypassRLS: r.BypassRLS,
		Verifier: r.Verifier}, nil
}

func decodeSchema(key string, value []byte) (*Schema, error) {
	var r schemaRecord
	if err := decode(key, value, &r.Version, &r); err != nil {
		return nil, err
	}
	return &Schema{OID: r.OID, Name: r.Name, Owner: r.Owner}, nil
}

func decodeTable(key string, value []byte) (*Table, error) {
	var r tableRecord
	if err := decode(key, value, &r.Version, &r); err != nil {
		return nil, err
	}
	t := &Table{OID: r.OID, TypeOID: r.TypeOID, Schema: r.Schema, Name: r.Name, Owner: r.Owner}
	for _, c := range r.Columns {
		t.Columns = append(t.Columns, Column{ID: c.ID, AttNum: c.AttNum, Name: c.Name,
			Type: types.Type{OID: c.Type, Mod: c.Mod}, NotNull: c.NotNull, Default: c.Default,
			Generated: c.Generated, Identity: c.Identity, Domain: c.Domain, Depends: c.Depends})
		sc := table.Column{ID: c.ID, Kind: c.Kind, Codec: c.Codec}
		if c.Missing != nil {
			v := vector.New(c.Kind, 1)
			if err := types.ParseText(v, types.T(c.Type), []byte(*c.Missing), &types.Context{}); err != nil {
				return nil, &table.CorruptionError{What: "catalog record " + key, Why: err.Error()}
			}
			sc.Missing = v
		}
		t.Storage.Columns = append(t.Storage.Columns, sc)
		t.Last = max(t.Last, c.AttNum)
	}
	t.Last = max(t.Last, r.Last)
	for _, c := range r.Constraints {
		for _, col := range c.Columns {
			if col < 0 || col >= len(t.Columns) {
				return nil, &table.CorruptionError{What: "catalog record " + key, Why: "constraint on a column that does not exist"}
			}
		}
		t.Constraints = append(t.Constraints, Constraint{OID: c.OID, IndexOID: c.Index, Name: c.Name,
			Primary: c.Primary, Columns: c.Columns, StoreID: c.Store, Index: c.IsIndex})
	}
	for _, o := range r.Options {
		t.Options = append(t.Options, Option(o))
	}
	if r.Time < -1 || r.Time >= len(t.Columns) {
		return nil, &table.CorruptionError{What: "catalog record " + key, Why: "time column does not exist"}
	}
	s := &t.Storage
	s.ID, s.Layout, s.Time, s.TimeUnit, s.Bucket, s.Conflict = r.Storage, r.Layout, r.Time, r.TimeUnit, r.Bucket, r.Conflict
	s.Retention = r.Retention
	t.Checks, t.ForeignKeys, t.Indexes, t.Query, t.Path, t.Names = r.Checks, r.ForeignKeys, r.Indexes, r.Query, r.Path, r.Names
	t.Unpopulated, t.Depends, t.Temp, t.OnCommit = r.Unpopulated, r.extras.Depends, r.Temp, r.OnCommit
	for _, x := range t.Indexes {
		for _, c := range x.Columns {
			if c.Column != 0 && t.ColumnByNum(c.Column) < 0 {
				return nil, &table.CorruptionError{What: "catalog record " + key, Why: "index on a column that does not exist"}
			}
		}
	}
	t.DeriveKeys()
	return t, nil
}

// DeriveKeys fills the key, uniqueness and unique indexes of t.Storage from
// its constraints, the index that gives the key order, and the codecs of its
// columns.
func (t *Table) DeriveKeys() {
	s := &t.Storage
	s.Key, s.Unique, s.Indexes = nil, false, nil
	for _, c := range t.Constraints {
		parts := make([]rowkey.Part, len(c.Columns))
		for i, col := range c.Columns {
			parts[i] = rowkey.Part{Column: col, Codec: s.Columns[col].Codec}
		}
		if c.Primary {
			s.Key, s.Unique = parts, true
		} else {
			s.Indexes = append(s.Indexes, table.UniqueIndex{ID: c.StoreID, Parts: parts})
		}
	}
	if s.Unique {
		return
	}
	for _, x := range t.Indexes {
		if !x.Key {
			continue
		}
		s.Key = make([]rowkey.Part, len(x.Columns))
		for i, c := range x.Columns {
			col := t.ColumnByNum(c.Column)
			s.Key[i] = rowkey.Part{Column: col, Codec: s.Columns[col].Codec}
		}
		return
	}
}

// Load builds the catalog from the records that meta yields (Store.Meta). ok
// is false if there are none: the store is new.
//
// Errors: *table.CorruptionError for a record that cannot be read.
func Load(meta func(prefix []byte, f func(key, value []byte) error) error) (s *Snapshot, ok bool, err error) {
	s = empty()
	err = meta([]byte(MetaPrefix), func(k, v []byte) error {
		ok = true
		return s.load(string(k), v)
	})
	if err != nil {
		return nil, false, err
	}
	if !ok {
		return nil, false, nil
	}
	for _, r := range Bootstrap().schemas {
		if _, have := s.schemas[r.Name]; !have && r.OID != PublicOID {
			s.schemas[r.Name] = r
		}
	}
	return s, true, nil
}

func (s *Snapshot) load(key string, value []byte) error {
	switch {
	case key == formatKey:
		var f formatRecord
		return decode(key, value, &f.Version, &f)
	case strings.HasPrefix(key, rolePrefix):
		r, err := decodeRole(key, value)
		if err != nil {
			return err
		}
		s.roles[r.Name] = r
	case strings.HasPrefix(key, schemaPrefix):
		r, err := decodeSchema(key, value)
		if err != nil {
			return err
		}
		s.schemas[r.Name] = r
	case strings.HasPrefix(key, tablePrefix):
		t, err := decodeTable(key, value)
		if err != nil {
			return err
		}
		s.byName[tableName{t.Schema, t.Name}], s.byOID[t.OID] = t, t
	case strings.HasPrefix(key, viewPrefix):
		return s.views.load(key, value)
	case strings.HasPrefix(key, sequencePrefix):
		return s.sequences.load(key, value)
	case strings.HasPrefix(key, enumPrefix):
		return s.enums.load(key, value)
	case strings.HasPrefix(key, domainPrefix):
		return s.domains.load(key, value)
	case strings.HasPrefix(key, commentPrefix):
		return s.loadComment(key, value)
	default:
		return &table.CorruptionError{What: "catalog record " + key, Why: "unknown kind"}
	}
	return nil
}

// Changes returns the records that turn the stored form of old into that of
// new. A nil old stands for an empty store.
func Changes(old, new *Snapshot) []Record {
	var out []Record
	if old == nil {
		old = empty()
		out = append(out, encode(formatKey, formatRecord{1}))
	}
	oldRoles, newRoles := byOID(old.roles, roleOID), byOID(new.roles, roleOID)
	oldSchemas, newSchemas := byOID(old.schemas, schemaOID), byOID(new.schemas, schemaOID)
	out = diff(out, rolePrefix, oldRoles, newRoles, encodeRole)
	out = diff(out, schemaPrefix, oldSchemas, newSchemas, encodeSchema)
	out = diff(out, tablePrefix, old.byOID, new.byOID, encodeTable)
	out = diff(out, viewPrefix, old.views.byOID, new.views.byOID, encodeObject[View](viewPrefix))
	out = diff(out, sequencePrefix, old.sequences.byOID, new.sequences.byOID, encodeObject[Sequence](sequencePrefix))
	out = diff(out, enumPrefix, old.enums.byOID, new.enums.byOID, encodeObject[Enum](enumPrefix))
	out = diff(out, domainPrefix, old.domains.byOID, new.domains.byOID, encodeObject[Domain](domainPrefix))
	return diffComments(out, old.comments, new.comments)
}

func roleOID(r *Role) types.OID     { return r.OID }
func schemaOID(s *Schema) types.OID { return s.OID }

func byOID[T any](m map[string]*T, oid func(*T) types.OID) map[types.OID]*T {
	out := make(map[types.OID]*T, len(m))
	for _, v := range m {
		out[oid(v)] = v
	}
	return out
}

func diff[T any](out []Record, prefix string, old, new map[types.OID]*T, enc func(*T) Record) []Record {
	for oid, n := range new {
		if old[oid] != n {
			out = append(out, enc(n))
		}
	}
	for oid := range old {
		if _, ok := new[oid]; !ok {
			out = append(out, Record{Key: []byte(recordKey(prefix, oid))})
		}
	}
	return out
}
