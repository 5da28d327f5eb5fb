package catalog

import (
	"slices"

	"tsdb/sql/types"
)

// OIDs of PostgreSQL's catalogs: the class of a Ref or of a comment.
const (
	ClassType       types.OID = 1247 // pg_type
	ClassRelation   types.OID = 1259 // pg_class: tables, views, sequences, indexes
	ClassRole       types.OID = 1260 // pg_authid
	ClassDatabase   types.OID = 1262 // pg_database
	ClassConstraint types.OID = 2606 // pg_constraint
	ClassSchema     types.OID = 2615 // pg_namespace
)

// Ref names an object, or with Column a column of a relation (its AttNum). It
// says what an object depends on, and what a comment is about.
type Ref struct {
	Class  types.OID `json:"class"`
	OID    types.OID `json:"oid"`
	Column int16     `json:"column,omitempty"`
}

// ViewColumn is one column of a view.
type ViewColumn struct {
	Name string    `json:"name"`
	Type types.OID `json:"type"`
	Mod  int32     `json:"mod"`
}

// UsedName is a relation in the text of a view's query: a name there and what
// it meant when the view was made. The relation and its columns may have other
// names by now.
type UsedName struct {
	Schema  string       `json:"schema,omitempty"` // as written, empty: none
	Name    string       `json:"name"`
	OID     types.OID    `json:"oid"`
	Columns []UsedColumn `json:"columns"` // that it had then, in order
}

// UsedColumn is a column by the name that it had.
type UsedColumn struct {
	Num  int16  `json:"num"` // AttNum; of a view: 1-based position
	Name string `json:"name"`
}

// View is a query with a name. A materialized view is a Table with a Query.
type View struct {
	OID     types.OID    `json:"oid"`
	TypeOID types.OID    `json:"typeoid"`
	Schema  types.OID    `json:"schema"`
	Name    string       `json:"name"`
	Owner   types.OID    `json:"owner"`
	Columns []ViewColumn `json:"columns"`
	Query   string       `json:"query"` // SQL text of the SELECT
	Path    []string     `json:"path"`  // search_path under which Query was written
	Names   []UsedName   `json:"names,omitempty"`
	Options []Option     `json:"options,omitempty"`
	Depends []Ref        `json:"depends,omitempty"`
	Temp    bool         `json:"temp,omitempty"`
}

// Sequence is the definition of a sequence; its value lives in the store
// outside of transactions.
type Sequence struct {
	OID       types.OID `json:"oid"`
	Schema    types.OID `json:"schema"`
	Name      string    `json:"name"`
	Owner     types.OID `json:"owner"`
	Type      types.OID `json:"type"` // int2, int4, int8
	Start     int64     `json:"start"`
	Increment int64     `json:"increment"`
	Min       int64     `json:"min"`
	Max       int64     `json:"max"`
	Cache     int64     `json:"cache"`
	Cycle     bool      `json:"cycle,omitempty"`
	// OwnedBy is the column with which the sequence is dropped; OID 0: none.
	// Identity says that it belongs to an identity column.
	OwnedBy  Ref  `json:"ownedby"`
	Identity bool `json:"identity,omitempty"`
	Temp     bool `json:"temp,omitempty"`
	// Generation changes with every ALTER SEQUENCE ... RESTART and TRUNCATE ...
	// RESTART IDENTITY: values of an older one are void. From, if not nil, is the
	// first value of this one, else Start.
	Generation uint64 `json:"generation,omitempty"`
	From       *int64 `json:"from,omitempty"`
}

// First is the first value of the sequence's generation.
func (q *Sequence) First() int64 {
	if q.From != nil {
		return *q.From
	}
	return q.Start
}

// EnumLabel is a value of an enum. Order is what vectors hold: labels compare
// as these numbers do, and a label put between two gets a number between.
type EnumLabel struct {
	OID   types.OID `json:"oid"` // of pg_enum
	Name  string    `json:"name"`
	Order int64     `json:"order"`
}

// Enum is CREATE TYPE ... AS ENUM. Its OIDs are in the range of types.IsEnum,
// the array's is types.ArrayOf of it.
type Enum struct {
	OID    types.OID   `json:"oid"`
	Schema types.OID   `json:"schema"`
	Name   string      `json:"name"`
	Owner  types.OID   `json:"owner"`
	Labels []EnumLabel `json:"labels"` // in order
}

// Check is a CHECK constraint of a table or domain. Expr is SQL text over the
// table's columns, or over VALUE.
type Check struct {
	OID       types.OID `json:"oid"`
	Name      string    `json:"name"`
	Expr      string    `json:"expr"`
	Columns   []int16   `json:"columns,omitempty"` // AttNums that Expr reads
	NoInherit bool      `json:"noinherit,omitempty"`
	NotValid  bool      `json:"notvalid,omitempty"` // rows from before it were not checked
}

// Domain is a type with checks over another type. Columns of a domain hold
// values of Base.
type Domain struct {
	OID      types.OID `json:"oid"`
	ArrayOID types.OID `json:"arrayoid"`
	Schema   types.OID `json:"schema"`
	Name     string    `json:"name"`
	Owner    types.OID `json:"owner"`
	Base     types.OID `json:"base"`
	Mod      int32     `json:"mod"`
	Parent   types.OID `json:"parent,omitempty"` // domain over a domain: the one it was made from
	NotNull  bool      `json:"notnull,omitempty"`
	Default  string    `json:"default,omitempty"`
	Checks   []Check   `json:"checks,omitempty"`
}

// ForeignKey is a REFERENCES constraint. Enforced is false where the table or
// the one it references is not of layout row.
type ForeignKey struct {
	OID        types.OID `json:"oid"`
	Name       string    `json:"name"`
	Columns    []int16   `json:"columns"`    // AttNums of this table
	Table      types.OID `json:"table"`      // referenced
	RefColumns []int16   `json:"refcolumns"` // AttNums there, in the order of Columns
	Constraint types.OID `json:"constraint"` // the primary key or UNIQUE constraint there
	OnDelete   byte      `json:"ondelete"`   // 'a' no action, 'r' restrict, 'c' cascade, 'n' set null, 'd' set default
	OnUpdate   byte      `json:"onupdate"`
	MatchFull  bool      `json:"matchfull,omitempty"`
	Deferrable bool      `json:"deferrable,omitempty"`
	Deferred   bool      `json:"deferred,omitempty"` // INITIALLY DEFERRED
	NotValid   bool      `json:"notvalid,omitempty"`
	Enforced   bool      `json:"enforced,omitempty"`
}

// Index is an index that is not unique. Key says that it gives the table's key
// order; others are recorded only.
type Index struct {
	OID     types.OID     `json:"oid"`
	Name    string        `json:"name"`
	Columns []IndexColumn `json:"columns"`
	Include []int16       `json:"include,omitempty"`
	Method  string        `json:"method"`          // btree, brin, ...
	Where   string        `json:"where,omitempty"` // predicate of a partial index
	Options []Option      `json:"options,omitempty"`
	Key     bool          `json:"key,omitempty"`
}

// IndexColumn is one column or expression of an index.
type IndexColumn struct {
	Column     int16  `json:"column,omitempty"` // AttNum; 0: Expr
	Expr       string `json:"expr,omitempty"`
	Desc       bool   `json:"desc,omitempty"`
	NullsFirst bool   `json:"nullsfirst,omitempty"`
	OpClass    string `json:"opclass,omitempty"`
}

// Reference is a foreign key with the table that has it.
type Reference struct {
	Table *Table
	Key   *ForeignKey
}

// References lists the foreign keys that reference a table, in no order.
func (s *Snapshot) References(table types.OID) []Reference {
	var out []Reference
	for _, t := range s.byOID {
		for i := range t.ForeignKeys {
			if t.ForeignKeys[i].Table == table {
				out = append(out, Reference{t, &t.ForeignKeys[i]})
			}
		}
	}
	return out
}

// ColumnByNum returns the index of the column with that AttNum, -1 if there is none.
func (t *Table) ColumnByNum(num int16) int {
	return slices.IndexFunc(t.Columns, func(c Column) bool { return c.AttNum == num })
}

// RelationKind is pg_class.relkind.
type RelationKind byte

// Kinds of relations.
const (
	RelTable        RelationKind = 'r'
	RelView         RelationKind = 'v'
	RelMaterialized RelationKind = 'm'
	RelSequence     RelationKind = 'S'
	RelIndex        RelationKind = 'i'
)

// Relation is any object of pg_class: one of the pointers is not nil; for an
// index, Table is its table.
type Relation struct {
	Kind       RelationKind
	OID        types.OID
	Schema     types.OID
	Name       string
	Owner      types.OID
	Table      *Table
	View       *View
	Sequence   *Sequence
	Constraint *Constraint // RelIndex of a key or a unique index
	Index      *Index      // RelIndex of another index
}

// Kind returns whether t is a table or a materialized view.
func (t *Table) Kind() RelationKind {
	if t.Query != "" {
		return RelMaterialized
	}
	return RelTable
}

// Relation finds a relation of any kind by name; indexes share their table's
// schema and the names of relations.
func (s *Snapshot) Relation(schema types.OID, name string) (Relation, bool) {
	if t, ok := s.Table(schema, name); ok {
		return tableRelation(t), true
	}
	if v, ok := s.views.named(schema, name); ok {
		return viewRelation(v), true
	}
	if q, ok := s.sequences.named(schema, name); ok {
		return sequenceRelation(q), true
	}
	for _, t := range s.byOID {
		if t.Schema != schema {
			continue
		}
		for i := range t.Constraints {
			if c := &t.Constraints[i]; c.Name == name {
				return Relation{Kind: RelIndex, OID: c.IndexOID, Schema: schema, Name: name, Owner: t.Owner, Table: t, Constraint: c}, true
			}
		}
		for i := range t.Indexes {
			if x := &t.Indexes[i]; x.Name == name {
				return Relation{Kind: RelIndex, OID: x.OID, Schema: schema, Name: name, Owner: t.Owner, Table: t, Index: x}, true
			}
		}
	}
	return Relation{}, false
}

// RelationByOID finds a table, view or sequence.
func (s *Snapshot) RelationByOID(oid types.OID) (Relation, bool) {
	if t, ok := s.byOID[oid]; ok {
		return tableRelation(t), true
	}
	if v, ok := s.views.byOID[oid]; ok {
		return viewRelation(v), true
	}
	if q, ok := s.sequences.byOID[oid]; ok {
		return sequenceRelation(q), true
	}
	return Relation{}, false
}

func tableRelation(t *Table) Relation {
	return Relation{Kind: t.Kind(), OID: t.OID, Schema: t.Schema, Name: t.Name, Owner: t.Owner, Table: t}
}

func viewRelation(v *View) Relation {
	return Relation{Kind: RelView, OID: v.OID, Schema: v.Schema, Name: v.Name, Owner: v.Owner, View: v}
}

func sequenceRelation(q *Sequence) Relation {
	return Relation{Kind: RelSequence, OID: q.OID, Schema: q.Schema, Name: q.Name, Owner: q.Owner, Sequence: q}
}
