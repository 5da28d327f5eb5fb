package keyrange

import (
	"fmt"
	"math"
	"strings"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// maxTexts bounds the spans that are spelled out; more would hide the plan.
const maxTexts = 16

// spanTexts spells the first spans: the points of the leading parts, then an
// interval of the next.
func spanTexts(t *catalog.Table, doms domains, points int, last domain, c *functions.Ctx) []string {
	parts := []string{""}
	add := func(col int, ivs []interval, dom domain) {
		var next []string
		for _, p := range parts {
			for _, iv := range ivs {
				if len(next) == maxTexts {
					break
				}
				if p != "" {
					next = append(next, p+", "+intervalText(t, col, dom, iv, c))
				} else {
					next = append(next, intervalText(t, col, dom, iv, c))
				}
			}
		}
		parts = next
	}
	for _, p := range t.Storage.Key[:points] {
		add(p.Column, doms[p.Column].ivs, doms[p.Column])
	}
	if last.ivs != nil {
		add(t.Storage.Key[points].Column, last.ivs, last)
	}
	for i, p := range parts {
		parts[i] = "(" + p + ")"
	}
	return parts
}

func intervalText(t *catalog.Table, col int, dom domain, iv interval, c *functions.Ctx) string {
	name := t.Columns[col].Name
	typ := t.Columns[col].Type
	if dom.point(iv) {
		return name + " = " + ValueText(typ, iv.lo, c)
	}
	var b strings.Builder
	b.WriteString(name)
	if iv.lo != nil {
		op := ">="
		if iv.loOpen {
			op = ">"
		}
		fmt.Fprintf(&b, " %s %s", op, ValueText(typ, iv.lo, c))
	}
	if iv.lo != nil && iv.hi != nil {
		b.WriteString(" ..")
	}
	if iv.hi != nil {
		op := "<="
		if iv.hiOpen {
			op = "<"
		}
		fmt.Fprintf(&b, " %s %s", op, ValueText(typ, iv.hi, c))
	}
	return b.String()
}

// ValueText spells row 0 of v as a literal.
func ValueText(t types.Type, v *vector.Vector, c *functions.Ctx) string {
	if v.IsNull(0) {
		return "NULL"
	}
	var ctx types.Context
	if c != nil {
		ctx = c.Context
	}
	s := string(types.AppendText(nil, t, v, 0, &ctx))
	switch t.OID {
	case types.Int2, types.Int4, types.Int8, types.Float4, types.Float8, types.Numeric, types.Oid:
		return s
	case types.Bool:
		if s == "t" {
			return "true"
		}
		return "false"
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

// TimeText spells a range of time.
func TimeText(t *catalog.Table, r table.Range, c *functions.Ctx) string {
	typ := types.T(types.Timestamp)
	if t.Columns[t.Storage.Time].Type.OID == types.TimestampTZ {
		typ = types.T(types.TimestampTZ)
	}
	text := func(micros int64) string {
		v := vector.New(vector.Int64, 1)
		v.AppendInt64(micros)
		return ValueText(typ, v, c)
	}
	switch {
	case r.Lo == math.MinInt64:
		return "< " + text(r.Hi)
	case r.Hi == math.MaxInt64:
		return ">= " + text(r.Lo)
	}
	return ">= " + text(r.Lo) + " .. < " + text(r.Hi)
}
