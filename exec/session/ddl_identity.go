package session

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// addIdentity is ALTER COLUMN ... ADD GENERATED ... AS IDENTITY.
func (x *alteration) addIdentity(name string, c *pg_query.Constraint) error {
	i, err := x.column(name)
	if err != nil {
		return err
	}
	col := &x.t.Columns[i]
	wrong := func(what string) error {
		return pgerr.New(pgerr.ObjectNotInPrerequisiteState, `column "%s" of relation "%s" `+what, name, x.old.Name)
	}
	switch {
	case !integerType(col.Type.OID):
		return pgerr.New(pgerr.InvalidParameterValue, "identity column type must be smallint, integer, or bigint")
	case !col.NotNull:
		return wrong("must be declared NOT NULL before identity can be added")
	case col.Identity != 0:
		return wrong("is already an identity column")
	case col.Default != "":
		return wrong("already has a default value")
	}
	if err := x.identityColumn(i, c); err != nil {
		return err
	}
	return x.takeSequences()
}

func integerType(t types.OID) bool { return t == types.Int2 || t == types.Int4 || t == types.Int8 }

// takeSequences makes the sequences of columns that were just added the
// catalog's: their values may be wanted at once.
func (x *alteration) takeSequences() error {
	err := x.addSequences()
	x.sequences = nil
	return err
}

// identityOf finds an identity column and its sequence; no column and no error
// where it is none and that may be.
func (x *alteration) identityOf(name string, missingOK bool) (*catalog.Column, *catalog.Sequence, error) {
	i, err := x.column(name)
	if err != nil {
		return nil, nil, err
	}
	col := &x.t.Columns[i]
	if col.Identity != 0 {
		if q := identitySequence(x.s.catalog(), x.t, col); q != nil {
			return col, q, nil
		}
	}
	e := pgerr.New(pgerr.ObjectNotInPrerequisiteState, `column "%s" of relation "%s" is not an identity column`, name, x.old.Name)
	if missingOK {
		x.s.notice(pgerr.Notice("%s, skipping", e.Message))
		return nil, nil, nil
	}
	return nil, nil, e
}

// setIdentity is ALTER COLUMN ... SET GENERATED, SET option and RESTART.
func (x *alteration) setIdentity(name string, list []*pg_query.Node) error {
	col, q, err := x.identityOf(name, false)
	if err != nil {
		return err
	}
	var rest []*pg_query.Node
	for _, n := range list {
		if d := n.GetDefElem(); d.Defname == "generated" {
			col.Identity = byte(d.Arg.GetInteger().GetIval())
			continue
		}
		rest = append(rest, n)
	}
	if len(rest) == 0 {
		return nil
	}
	next := *q
	if err := (&sequenceOptions{s: x.s, st: x.st, q: &next, alter: true}).read(rest); err != nil {
		return err
	}
	x.s.tx.local = x.s.tx.local.WithSequence(&next)
	return nil
}

// dropIdentity is ALTER COLUMN ... DROP IDENTITY: the values stay.
func (x *alteration) dropIdentity(name string, missingOK bool) error {
	col, q, err := x.identityOf(name, missingOK)
	if col == nil {
		return err
	}
	col.Identity, col.Default, col.Depends = 0, "", nil
	x.s.tx.local = x.s.tx.local.WithoutSequence(q.OID)
	x.s.forget(catalog.ClassRelation, q.OID)
	return nil
}

// dropExpression is ALTER COLUMN ... DROP EXPRESSION: the values stay.
func (x *alteration) dropExpression(name string, missingOK bool) error {
	i, err := x.column(name)
	if err != nil {
		return err
	}
	col := &x.t.Columns[i]
	if col.Generated != "" {
		col.Generated, col.Depends = "", nil
		return nil
	}
	e := pgerr.New(pgerr.ObjectNotInPrerequisiteState, `column "%s" of relation "%s" is not a stored generated column`, name, x.old.Name)
	if missingOK {
		x.s.notice(pgerr.Notice("%s, skipping", e.Message))
		return nil
	}
	return e
}
