package bind

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"tsdb/sql/pgerr"
)

// orderQueries sorts the queries of WITH RECURSIVE so that each stands after
// those that it reads, and tells which read themselves.
func (b *binder) orderQueries(list []*pg_query.CommonTableExpr) ([]*pg_query.CommonTableExpr, []bool, error) {
	needs := make([]map[int]bool, len(list))
	for i, c := range list {
		needs[i] = map[int]bool{}
		r := &references{found: func(rv *pg_query.RangeVar, _ refPlace) error {
			for j, other := range list {
				if other.Ctename == rv.Relname {
					needs[i][j] = true
				}
			}
			return nil
		}}
		if err := r.node(c.Ctequery, refAnywhere); err != nil {
			return nil, nil, err
		}
	}
	var out []*pg_query.CommonTableExpr
	var recursive []bool
	done := make([]bool, len(list))
	for len(out) < len(list) {
		next := -1
		for i := range list {
			if !done[i] && ready(needs[i], done, i) {
				next = i
				break
			}
		}
		if next < 0 {
			for i, c := range list {
				if !done[i] {
					return nil, nil, b.errorAt(c.Location, pgerr.FeatureNotSupported, "mutual recursion between WITH items is not implemented")
				}
			}
		}
		done[next] = true
		c := list[next]
		if needs[next][next] {
			if err := b.checkRecursive(c); err != nil {
				return nil, nil, err
			}
		}
		out, recursive = append(out, c), append(recursive, needs[next][next])
	}
	return out, recursive, nil
}

func ready(needs map[int]bool, done []bool, self int) bool {
	for j := range needs {
		if j != self && !done[j] {
			return false
		}
	}
	return true
}

// refPlace is where a query reads itself.
type refPlace uint8

const (
	refAnywhere refPlace = iota // where it may
	refSeed
	refSubquery
	refOuterJoin
	refIntersect
	refExcept
)

// checkRecursive requires the form that can be computed in rounds.
func (b *binder) checkRecursive(c *pg_query.CommonTableExpr) error {
	sel := c.Ctequery.GetSelectStmt()
	if sel == nil {
		return b.errorAt(c.Location, pgerr.InvalidRecursion, "recursive query \"%s\" must not contain data-modifying statements", c.Ctename)
	}
	if sel.Op != pg_query.SetOperation_SETOP_UNION {
		return b.errorAt(c.Location, pgerr.InvalidRecursion,
			"recursive query \"%s\" does not have the form non-recursive-term UNION [ALL] recursive-term", c.Ctename)
	}
	count := 0
	r := &references{found: func(rv *pg_query.RangeVar, in refPlace) error {
		if rv.Relname != c.Ctename {
			return nil
		}
		where := ""
		switch in {
		case refSeed:
			where = "its non-recursive term"
		case refSubquery:
			where = "a subquery"
		case refOuterJoin:
			where = "an outer join"
		case refIntersect:
			where = "INTERSECT"
		case refExcept:
			where = "EXCEPT"
		default:
			if count++; count > 1 {
				return b.errorAt(rv.Location, pgerr.InvalidRecursion, "recursive reference to query \"%s\" must not appear more than once", c.Ctename)
			}
			return nil
		}
		return b.errorAt(rv.Location, pgerr.InvalidRecursion, "recursive reference to query \"%s\" must not appear within %s", c.Ctename, where)
	}}
	if err := r.node(&pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: sel.Larg}}, refSeed); err != nil {
		return err
	}
	if err := r.node(&pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: sel.Rarg}}, refAnywhere); err != nil {
		return err
	}
	what, at := "", int32(-1)
	switch {
	case len(sel.SortClause) > 0:
		what, at = "ORDER BY", locate(sel.SortClause[0])
	case sel.LimitOffset != nil:
		what, at = "OFFSET", locate(sel.LimitOffset)
	case sel.LimitCount != nil:
		what, at = "LIMIT", locate(sel.LimitCount)
	case len(sel.LockingClause) > 0:
		what = "FOR UPDATE/SHARE"
	default:
		return nil
	}
	return b.errorAt(at, pgerr.FeatureNotSupported, "%s in a recursive query is not implemented", what)
}

// references finds the unqualified names of relations in a statement, without
// those of its own WITH queries.
type references struct {
	found func(*pg_query.RangeVar, refPlace) error
	own   []string // WITH names that hide others
	depth int
}

func (r *references) node(n *pg_query.Node, in refPlace) error {
	if n == nil {
		return nil
	}
	if r.depth++; r.depth > maxDepth {
		return tooDeep()
	}
	defer func() { r.depth-- }()
	switch e := n.GetNode().(type) {
	case *pg_query.Node_RangeVar:
		return r.rangeVar(e.RangeVar, in)
	case *pg_query.Node_SelectStmt:
		return r.selectStmt(e.SelectStmt, in)
	case *pg_query.Node_JoinExpr:
		return r.join(e.JoinExpr, in)
	case *pg_query.Node_SubLink:
		if err := r.node(e.SubLink.Testexpr, in); err != nil {
			return err
		}
		return r.node(e.SubLink.Subselect, refSubquery)
	}
	return r.below(n, in)
}

func (r *references) rangeVar(rv *pg_query.RangeVar, in refPlace) error {
	if rv.Schemaname != "" {
		return nil
	}
	for _, name := range r.own {
		if name == rv.Relname {
			return nil
		}
	}
	return r.found(rv, in)
}

func (r *references) join(j *pg_query.JoinExpr, in refPlace) error {
	left, right := in, in
	if in == refAnywhere {
		switch j.Jointype {
		case pg_query.JoinType_JOIN_LEFT:
			right = refOuterJoin
		case pg_query.JoinType_JOIN_RIGHT:
			left = refOuterJoin
		case pg_query.JoinType_JOIN_FULL:
			left, right = refOuterJoin, refOuterJoin
		}
	}
	if err := r.node(j.Larg, left); err != nil {
		return err
	}
	if err := r.node(j.Rarg, right); err != nil {
		return err
	}
	return r.node(j.Quals, in)
}

func (r *references) selectStmt(s *pg_query.SelectStmt, in refPlace) error {
	if s == nil {
		return nil
	}
	outside := r.own
	defer func() { r.own = outside }()
	if w := s.WithClause; w != nil {
		r.own = append([]string(nil), r.own...)
		if w.Recursive {
			for _, n := range w.Ctes {
				r.own = append(r.own, n.GetCommonTableExpr().Ctename)
			}
		}
		for _, n := range w.Ctes {
			if err := r.node(n.GetCommonTableExpr().Ctequery, in); err != nil {
				return err
			}
			r.own = append(r.own, n.GetCommonTableExpr().Ctename)
		}
	}
	left, right := in, in
	if in == refAnywhere {
		switch {
		case s.Op == pg_query.SetOperation_SETOP_INTERSECT && s.All:
			left, right = refIntersect, refIntersect
		case s.Op == pg_query.SetOperation_SETOP_EXCEPT && s.All:
			left, right = refExcept, refExcept
		case s.Op == pg_query.SetOperation_SETOP_EXCEPT:
			right = refExcept
		}
	}
	if err := r.selectStmt(s.Larg, left); err != nil {
		return err
	}
	if err := r.selectStmt(s.Rarg, right); err != nil {
		return err
	}
	return r.fields(s, in, "with_clause", "larg", "rarg")
}

// below visits what a node of another kind holds.
func (r *references) below(n proto.Message, in refPlace) error { return r.fields(n, in) }

// fields visits the nodes in a message's fields but for those named.
func (r *references) fields(m proto.Message, in refPlace, except ...string) error {
	var err error
	m.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if f.Kind() != protoreflect.MessageKind {
			return true
		}
		for _, name := range except {
			if string(f.Name()) == name {
				return true
			}
		}
		if f.IsList() {
			list := v.List()
			for i := 0; i < list.Len() && err == nil; i++ {
				err = r.message(list.Get(i).Message().Interface(), in)
			}
		} else {
			err = r.message(v.Message().Interface(), in)
		}
		return err == nil
	})
	return err
}

func (r *references) message(m proto.Message, in refPlace) error {
	switch m := m.(type) {
	case *pg_query.Node:
		return r.node(m, in)
	case *pg_query.RangeVar:
		return r.rangeVar(m, in)
	case *pg_query.SelectStmt:
		return r.selectStmt(m, in)
	}
	return r.fields(m, in)
}
