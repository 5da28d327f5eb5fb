package bind

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/logical"
	"tsdb/sql/pgerr"
)

// change binds INSERT, UPDATE or DELETE, with its WITH queries around the plans
// that may read them.
func (b *binder) change(n *pg_query.Node) (*Bound, error) {
	before := b.written
	b.written = nil
	out, err := b.changeStatement(n)
	s := b.written
	b.written = before
	if err != nil || s == nil {
		return out, err
	}
	out.With = s.changes
	levels := []*scope{s}
	if b.outside != nil {
		levels = append(levels, b.outside)
	}
	around := func(n logical.Node) logical.Node {
		for _, l := range levels {
			n = l.withQueries(n)
		}
		return n
	}
	out.Root, out.Returning = around(out.Root), around(out.Returning)
	if out.Conflict != nil {
		out.Conflict.Update = around(out.Conflict.Update)
	}
	return out, nil
}

func (b *binder) changeStatement(n *pg_query.Node) (*Bound, error) {
	switch s := n.GetNode().(type) {
	case *pg_query.Node_InsertStmt:
		return b.insert(s.InsertStmt)
	case *pg_query.Node_UpdateStmt:
		return b.update(s.UpdateStmt)
	case *pg_query.Node_DeleteStmt:
		return b.delete(s.DeleteStmt)
	}
	return nil, unsupported("MERGE")
}

// withChange binds a data-modifying WITH query of the statement itself.
func (b *binder) withChange(c *pg_query.CommonTableExpr, s *scope, f *cteFrame) error {
	if s.parent != nil || s.run != nil || b.outside != nil || b.defining {
		return b.errorAt(c.Location, pgerr.FeatureNotSupported, "WITH clause containing a data-modifying statement must be at the top level")
	}
	b.outside = s
	bound, err := b.change(c.Ctequery)
	b.outside = nil
	if err != nil {
		return err
	}
	if bound.Cols == nil {
		f.silent = true
	} else if f.cols, err = b.namedColumns(c, bound.Cols); err != nil {
		return err
	}
	s.ctes = f
	s.changes = append(s.changes, &WithChange{ID: f.id, Name: f.name, Bound: bound})
	return nil
}
