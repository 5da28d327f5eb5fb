package session

import (
	"math"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// labelSpacing is the distance of labels that nothing was put between yet: 32
// labels can be put one before the other.
const labelSpacing = 1 << 32

// maxLabel is the longest label in bytes.
const maxLabel = 63

// createEnum runs CREATE TYPE ... AS ENUM.
func (s *Session) createEnum(n *pg_query.CreateEnumStmt) error {
	sc, name, err := s.newTypeName(n.TypeName)
	if err != nil {
		return err
	}
	e := &catalog.Enum{Schema: sc.OID, Name: name, Owner: s.userOID()}
	oid, err := s.e.newOID()
	if err != nil {
		return err
	}
	e.OID = oid - catalog.FirstUserOID + types.EnumBase
	if !types.IsEnum(e.OID) {
		return pgerr.New(pgerr.ProgramLimitExceeded, "no number is left for another enum")
	}
	for i, v := range n.Vals {
		label := v.GetString_().GetSval()
		if err := checkLabel(label); err != nil {
			return err
		}
		if slices.ContainsFunc(e.Labels, func(l catalog.EnumLabel) bool { return l.Name == label }) {
			dup := pgerr.New(pgerr.UniqueViolation, `duplicate key value violates unique constraint "pg_enum_typid_label_index"`).
				WithDetail("Key (enumtypid, enumlabel)=(%d, %s) already exists.", e.OID, label)
			dup.Schema, dup.Table, dup.Constraint = "pg_catalog", "pg_enum", "pg_enum_typid_label_index"
			return dup
		}
		oid, err := s.e.newOID()
		if err != nil {
			return err
		}
		e.Labels = append(e.Labels, catalog.EnumLabel{OID: oid, Name: label, Order: int64(i+1) * labelSpacing})
	}
	s.tx.local = s.tx.local.WithEnum(e)
	return nil
}

func checkLabel(label string) error {
	if len(label) > maxLabel {
		return pgerr.New(pgerr.InvalidName, `invalid enum label "%s"`, label).WithDetail("Labels must be %d bytes or less.", maxLabel)
	}
	return nil
}

// alterEnum runs ALTER TYPE ... ADD VALUE and RENAME VALUE.
func (s *Session) alterEnum(n *pg_query.AlterEnumStmt) error {
	schema, name := objectPath(&pg_query.Node{Node: &pg_query.Node_List{List: &pg_query.List{Items: n.TypeName}}})
	t, ok := s.findType(schema, name)
	if !ok {
		return pgerr.New(pgerr.UndefinedObject, `type "%s" does not exist`, dotted(schema, name))
	}
	old, ok := s.catalog().EnumByOID(t.oid)
	switch {
	case !ok:
		return pgerr.New(pgerr.WrongObjectType, "%s is not an enum", types.FormatType(types.T(t.oid)))
	case !s.superuser() && t.owner != s.userOID():
		return pgerr.New(pgerr.InsufficientPrivilege, "must be owner of type %s", name)
	}
	if err := checkLabel(n.NewVal); err != nil {
		return err
	}
	e := *old
	e.Labels = slices.Clone(old.Labels)
	if n.OldVal != "" {
		return s.renameLabel(&e, n.OldVal, n.NewVal)
	}
	return s.addLabel(&e, n)
}

func labelAt(e *catalog.Enum, name string) int {
	return slices.IndexFunc(e.Labels, func(l catalog.EnumLabel) bool { return l.Name == name })
}

func (s *Session) renameLabel(e *catalog.Enum, from, to string) error {
	i := labelAt(e, from)
	switch {
	case i < 0:
		return pgerr.New(pgerr.InvalidParameterValue, `"%s" is not an existing enum label`, from)
	case labelAt(e, to) >= 0:
		return pgerr.New(pgerr.DuplicateObject, `enum label "%s" already exists`, to)
	}
	e.Labels[i].Name = to
	s.tx.local = s.tx.local.WithEnum(e)
	return nil
}

func (s *Session) addLabel(e *catalog.Enum, n *pg_query.AlterEnumStmt) error {
	if labelAt(e, n.NewVal) >= 0 {
		if !n.SkipIfNewValExists {
			return pgerr.New(pgerr.DuplicateObject, `enum label "%s" already exists`, n.NewVal)
		}
		e := pgerr.Notice(`enum label "%s" already exists, skipping`, n.NewVal)
		e.Code = pgerr.DuplicateObject
		s.notice(e)
		return nil
	}
	at := len(e.Labels)
	if n.NewValNeighbor != "" {
		if at = labelAt(e, n.NewValNeighbor); at < 0 {
			return pgerr.New(pgerr.InvalidParameterValue, `"%s" is not an existing enum label`, n.NewValNeighbor)
		}
		if n.NewValIsAfter {
			at++
		}
	}
	order, ok := orderAt(e.Labels, at)
	if !ok {
		return pgerr.New(pgerr.ProgramLimitExceeded, `no room is left for another label at this place of enum %s`, e.Name).
			WithHint("Make another enum with all labels and change the columns to it with ALTER TABLE ... ALTER COLUMN ... TYPE ... USING.")
	}
	oid, err := s.e.newOID()
	if err != nil {
		return err
	}
	e.Labels = slices.Insert(e.Labels, at, catalog.EnumLabel{OID: oid, Name: n.NewVal, Order: order})
	s.tx.local = s.tx.local.WithEnum(e)
	return nil
}

// orderAt is the number of a label that is to stand at index at; ok is false if
// there is none between its neighbours.
func orderAt(labels []catalog.EnumLabel, at int) (order int64, ok bool) {
	switch {
	case len(labels) == 0:
		return labelSpacing, true
	case at == len(labels):
		last := labels[at-1].Order
		return last + labelSpacing, last <= math.MaxInt64-labelSpacing
	case at == 0:
		first := labels[0].Order
		return first - labelSpacing, first >= math.MinInt64+labelSpacing
	}
	lo, hi := labels[at-1].Order, labels[at].Order
	order = lo + (hi-lo)/2
	return order, order != lo
}
