package bind

import (
	"strconv"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/planner/logical"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// explain binds EXPLAIN and the statement it explains.
func (b *binder) explain(n *pg_query.ExplainStmt) (*Bound, error) {
	out := &Bound{Kind: Explain, Costs: true, Format: "text"}
	timingSet, summarySet := false, false
	for _, o := range n.Options {
		d := o.GetDefElem()
		if err := b.explainOption(out, d); err != nil {
			return nil, err
		}
		timingSet = timingSet || d.Defname == "timing"
		summarySet = summarySet || d.Defname == "summary"
	}
	if !timingSet {
		out.Timing = out.Analyze
	} else if out.Timing && !out.Analyze {
		return nil, pgerr.New(pgerr.InvalidParameterValue, "EXPLAIN option TIMING requires ANALYZE")
	}
	if !summarySet {
		out.Summary = out.Analyze
	}
	inner, err := b.statement(n.Query)
	if err != nil {
		return nil, err
	}
	out.Inner = inner
	t := types.T(types.Text)
	if out.Format == "json" {
		t = types.T(types.JSON)
	}
	out.Cols = []logical.Column{{Name: "QUERY PLAN", Type: t}}
	return out, nil
}

func (b *binder) explainOption(out *Bound, d *pg_query.DefElem) error {
	var flag *bool
	switch d.Defname {
	case "analyze":
		flag = &out.Analyze
	case "verbose":
		flag = &out.Verbose
	case "costs":
		flag = &out.Costs
	case "timing":
		flag = &out.Timing
	case "summary":
		flag = &out.Summary
	case "settings", "buffers", "wal":
		flag = new(bool)
	case "format":
		return b.explainFormat(out, d)
	default:
		return b.errorAt(d.Location, pgerr.SyntaxError, "unrecognized EXPLAIN option \"%s\"", d.Defname)
	}
	v, err := boolOption(d)
	*flag = v
	if err != nil {
		return err
	}
	if d.Defname == "wal" && v && !out.Analyze {
		return pgerr.New(pgerr.InvalidParameterValue, "EXPLAIN option WAL requires ANALYZE")
	}
	return nil
}

func (b *binder) explainFormat(out *Bound, d *pg_query.DefElem) error {
	v := optionText(d)
	switch v {
	case "text", "json":
		out.Format = v
		return nil
	case "xml", "yaml":
		return b.unsupportedAt(d.Location, "EXPLAIN (FORMAT %s)", strings.ToUpper(v))
	}
	return b.errorAt(d.Location, pgerr.InvalidParameterValue, "unrecognized value for EXPLAIN option \"%s\": \"%s\"", d.Defname, v)
}

// optionText is the value of an option as text; without value it is empty.
func optionText(d *pg_query.DefElem) string {
	switch a := d.Arg.GetNode().(type) {
	case *pg_query.Node_String_:
		return a.String_.Sval
	case *pg_query.Node_TypeName:
		return lastName(a.TypeName.Names)
	case *pg_query.Node_Integer:
		return strconv.Itoa(int(a.Integer.Ival))
	case *pg_query.Node_Float:
		return a.Float.Fval
	case *pg_query.Node_Boolean:
		if a.Boolean.Boolval {
			return "true"
		}
		return "false"
	}
	return ""
}

func boolOption(d *pg_query.DefElem) (bool, error) {
	if d.Arg.GetNode() == nil {
		return true, nil
	}
	if i := d.Arg.GetInteger(); i != nil {
		if i.Ival == 0 || i.Ival == 1 {
			return i.Ival == 1, nil
		}
	} else {
		switch strings.ToLower(optionText(d)) {
		case "true", "on":
			return true, nil
		case "false", "off":
			return false, nil
		}
	}
	return false, pgerr.New(pgerr.SyntaxError, "%s requires a Boolean value", d.Defname)
}
