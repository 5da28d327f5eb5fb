// Package explain prints physical plans as PostgreSQL's EXPLAIN does, with what
// this engine adds: the spans of the row key, the ranges of time, the columns
// read, and what zone maps prune by.
//
// It knows nothing of execution: ANALYZE's numbers come in through a function.
package explain

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"tsdb/colstore/table"
	"tsdb/planner/physical"
	"tsdb/sql/functions"
	"tsdb/sql/pgerr"
)

// Options are those of EXPLAIN.
type Options struct {
	Analyze bool
	Costs   bool // estimated rows
	Timing  bool
	Verbose bool
	Summary bool           // Planning, and with Analyze Execution
	Format  string         // "", text, json
	Ctx     *functions.Ctx // for the text of values; nil: defaults

	// Over is a line above the plan: Insert on t, Update on t, Delete on t. A
	// projection at the top, which makes the rows to write, is then left out.
	Over string
	// OverProps are lines below Over: Conflict Resolution: UPDATE.
	OverProps [][2]string

	Planning  time.Duration
	Execution time.Duration // with Analyze
}

// Stats is what one operator did.
type Stats struct {
	Rows, Batches int64
	Nanos         int64 // with its inputs
	Workers       int   // 0: none of its own
	Memory        int64 // most bytes held
	Spilled       int64 // bytes written to temporary files
	Files         int64 // temporary files
	Scan          *table.ScanStats
}

// Text returns the lines of EXPLAIN. stats is nil without ANALYZE.
//
// Errors: *pgerr.Error 0A000 for other formats than text and JSON.
func Text(n physical.Node, o Options, stats func(physical.Node) (Stats, bool)) ([]string, error) {
	d := describer{o: o, stats: stats}
	root := d.root(n)
	switch strings.ToLower(o.Format) {
	case "", "text":
		lines := root.text(nil, 0)
		if o.Summary {
			lines = append(lines, "Planning Time: "+millis(o.Planning.Nanoseconds()))
			if o.Analyze {
				lines = append(lines, "Execution Time: "+millis(o.Execution.Nanoseconds()))
			}
		}
		return lines, nil
	case "json":
		return d.json(root)
	}
	return nil, pgerr.Unsupported("EXPLAIN (FORMAT %s)", strings.ToUpper(o.Format))
}

// root describes the plan, below the line that stands over it.
func (d *describer) root(n physical.Node) *item {
	if d.o.Over == "" {
		return d.node(n)
	}
	over := &item{title: d.o.Over, unmeasured: true}
	for _, p := range d.o.OverProps {
		over.add(p[0], "%s", p[1])
	}
	p, ok := n.(*physical.Project)
	if !ok {
		over.ins = []*item{d.node(n)}
		return over
	}
	it := d.node(p.Input)
	d.subplans(it, p.Exprs)
	over.ins = []*item{it}
	return over
}

func millis(nanos int64) string { return fmt.Sprintf("%.3f ms", float64(nanos)/1e6) }

// item is one operator as it is printed.
type item struct {
	title string
	rows  float64 // estimate
	stats *Stats
	props []prop
	subs  []*item // plans inside expressions
	ins   []*item
	// unmeasured: neither an estimate nor numbers of a run
	unmeasured bool
}

type prop struct{ name, value string }

func (it *item) add(name, format string, args ...any) {
	it.props = append(it.props, prop{name, fmt.Sprintf(format, args...)})
}

type describer struct {
	o     Options
	stats func(physical.Node) (Stats, bool)
	plans int // subqueries so far
}

// text appends the lines of it and everything below.
func (it *item) text(lines []string, depth int) []string {
	indent, arrow := "", ""
	if depth > 0 {
		indent = strings.Repeat(" ", 6*depth-4)
		arrow = "->  "
	}
	lines = append(lines, indent+arrow+it.title)
	inner := strings.Repeat(" ", 6*depth+2)
	for _, p := range it.props {
		lines = append(lines, inner+p.name+": "+p.value)
	}
	for _, in := range it.ins {
		lines = in.text(lines, depth+1)
	}
	for _, s := range it.subs {
		lines = append(lines, inner+s.title)
		for _, in := range s.ins {
			lines = in.text(lines, depth+1)
		}
	}
	return lines
}

// heading adds the numbers of an operator to its title.
func (d *describer) heading(it *item) {
	if d.o.Costs {
		it.title += fmt.Sprintf("  (rows=%.0f)", math.Max(0, math.Round(it.rows)))
	}
	if !d.o.Analyze || it.stats == nil {
		return
	}
	s := it.stats
	it.title += fmt.Sprintf(" (actual rows=%d batches=%d", s.Rows, s.Batches)
	if d.o.Timing {
		it.title += " time=" + millis(s.Nanos)
	}
	it.title += ")"
}

// json returns the plan as one JSON document, a line per row of output.
func (d *describer) json(root *item) ([]string, error) {
	doc := map[string]any{"Plan": d.object(root)}
	if d.o.Summary {
		doc["Planning Time"] = float64(d.o.Planning.Microseconds()) / 1e3
		if d.o.Analyze {
			doc["Execution Time"] = float64(d.o.Execution.Microseconds()) / 1e3
		}
	}
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false) // conditions hold < and >
	if err := enc.Encode([]any{doc}); err != nil {
		return nil, err
	}
	return []string{strings.TrimSuffix(out.String(), "\n")}, nil
}

func (d *describer) object(it *item) map[string]any {
	name, _, _ := strings.Cut(it.title, "  (")
	name, _, _ = strings.Cut(name, " (actual")
	out := map[string]any{"Node Type": name}
	if d.o.Costs && !it.unmeasured {
		out["Plan Rows"] = math.Round(it.rows)
	}
	if s := it.stats; d.o.Analyze && s != nil {
		out["Actual Rows"], out["Batches"] = s.Rows, s.Batches
		if d.o.Timing {
			out["Actual Total Time"] = float64(s.Nanos) / 1e6
		}
	}
	for _, p := range it.props {
		out[p.name] = p.value
	}
	var plans []any
	for _, in := range append(append([]*item(nil), it.ins...), it.subs...) {
		plans = append(plans, d.object(in))
	}
	if plans != nil {
		out["Plans"] = plans
	}
	return out
}
