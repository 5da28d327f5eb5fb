package session

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/sql/pgerr"
)

// deferral is what follows a constraint of a column: whether and when it may be
// checked late.
type deferral struct {
	of        pg_query.ConstrType // the constraint, UNDEFINED: none that may be deferred
	when      bool                // [NOT] DEFERRABLE was given
	initially bool                // INITIALLY was given
	refused   bool                // NOT DEFERRABLE
}

// columnConstraints reads the constraints of a column in order.
func (b *tableBuilder) columnConstraints(col int, list []*pg_query.Node) error {
	d := deferral{}
	for _, n := range list {
		c := n.GetConstraint()
		switch c.Contype {
		case pg_query.ConstrType_CONSTR_ATTR_DEFERRABLE, pg_query.ConstrType_CONSTR_ATTR_NOT_DEFERRABLE,
			pg_query.ConstrType_CONSTR_ATTR_DEFERRED, pg_query.ConstrType_CONSTR_ATTR_IMMEDIATE:
			if err := b.when(&d, c); err != nil {
				return err
			}
			continue
		case pg_query.ConstrType_CONSTR_FOREIGN, pg_query.ConstrType_CONSTR_PRIMARY, pg_query.ConstrType_CONSTR_UNIQUE:
			d = deferral{of: c.Contype}
		default:
			d = deferral{}
		}
		if err := b.columnConstraint(col, c); err != nil {
			return err
		}
	}
	return nil
}

var deferralWords = map[pg_query.ConstrType]string{
	pg_query.ConstrType_CONSTR_ATTR_DEFERRABLE: "DEFERRABLE", pg_query.ConstrType_CONSTR_ATTR_NOT_DEFERRABLE: "NOT DEFERRABLE",
	pg_query.ConstrType_CONSTR_ATTR_DEFERRED: "INITIALLY DEFERRED", pg_query.ConstrType_CONSTR_ATTR_IMMEDIATE: "INITIALLY IMMEDIATE",
}

// when serves one clause of a deferral.
func (b *tableBuilder) when(d *deferral, c *pg_query.Constraint) error {
	wrong := func(format string, args ...any) error {
		return pgerr.New(pgerr.SyntaxError, format, args...).At(b.st.Position(c.Location))
	}
	if d.of == pg_query.ConstrType_CONSTR_TYPE_UNDEFINED {
		return wrong("misplaced %s clause", deferralWords[c.Contype])
	}
	switch c.Contype {
	case pg_query.ConstrType_CONSTR_ATTR_DEFERRABLE, pg_query.ConstrType_CONSTR_ATTR_NOT_DEFERRABLE:
		if d.when {
			return wrong("multiple DEFERRABLE/NOT DEFERRABLE clauses not allowed")
		}
	default:
		if d.initially {
			return wrong("multiple INITIALLY IMMEDIATE/DEFERRED clauses not allowed")
		}
	}
	switch c.Contype {
	case pg_query.ConstrType_CONSTR_ATTR_DEFERRABLE:
		d.when = true
		return b.deferLast(d, false)
	case pg_query.ConstrType_CONSTR_ATTR_NOT_DEFERRABLE:
		d.when, d.refused = true, true
		if d.initially && d.of == pg_query.ConstrType_CONSTR_FOREIGN && b.foreign[len(b.foreign)-1].deferred {
			return wrong("constraint declared INITIALLY DEFERRED must be DEFERRABLE")
		}
	case pg_query.ConstrType_CONSTR_ATTR_DEFERRED:
		d.initially = true
		if d.refused {
			return wrong("constraint declared INITIALLY DEFERRED must be DEFERRABLE")
		}
		return b.deferLast(d, true)
	case pg_query.ConstrType_CONSTR_ATTR_IMMEDIATE:
		d.initially = true
	}
	return nil
}

// deferLast makes the constraint that was read last one that may be deferred.
func (b *tableBuilder) deferLast(d *deferral, initially bool) error {
	if d.of != pg_query.ConstrType_CONSTR_FOREIGN {
		return pgerr.Unsupported("DEFERRABLE constraint")
	}
	k := &b.foreign[len(b.foreign)-1]
	k.deferrable, k.deferred = true, k.deferred || initially
	return nil
}
