package pgcatalog

import (
	"strings"

	"tsdb/sql/catalog"
	"tsdb/sql/types"
)

// attribute is a column of any relation.
type attribute struct {
	num       int
	name      string
	typ       types.Type
	declared  types.OID // the domain it was declared with, else the type
	notNull   bool
	def       string // SQL text, empty: none
	identity  byte
	generated string
}

var sequenceAttributes = []attribute{
	{num: 1, name: "last_value", typ: types.T(types.Int8), declared: types.Int8, notNull: true},
	{num: 2, name: "log_cnt", typ: types.T(types.Int8), declared: types.Int8, notNull: true},
	{num: 3, name: "is_called", typ: types.T(types.Bool), declared: types.Bool, notNull: true},
}

func tableAttributes(t *catalog.Table) []attribute {
	out := make([]attribute, len(t.Columns))
	for i := range t.Columns {
		c := &t.Columns[i]
		out[i] = attribute{num: int(c.AttNum), name: c.Name, typ: c.Type, declared: c.Type.OID, notNull: c.NotNull,
			identity: c.Identity, generated: c.Generated}
		if c.Domain != 0 {
			out[i].declared = c.Domain
		}
		if c.Identity == 0 && c.Generated == "" {
			out[i].def = c.Default
		}
	}
	return out
}

func viewAttributes(v *catalog.View) []attribute {
	out := make([]attribute, len(v.Columns))
	for i, c := range v.Columns {
		out[i] = attribute{num: i + 1, name: c.Name, typ: types.Type{OID: c.Type, Mod: c.Mod}, declared: c.Type}
	}
	return out
}

func virtualAttributes(r *relation) []attribute {
	out := make([]attribute, len(r.cols))
	for i, c := range r.cols {
		out[i] = attribute{num: i + 1, name: c.Name, typ: c.Type, declared: c.Type.OID, notNull: c.Name == "oid"}
	}
	return out
}

// attributeRow writes one row of pg_attribute.
func attributeRow(w *rows, rel types.OID, a attribute) {
	st := storageOf(a.typ.OID)
	mod := a.typ.Mod
	if a.declared != a.typ.OID {
		mod = -1
	}
	w.oid("attrelid", rel).text("attname", a.name).oid("atttypid", a.declared).num("attnum", int64(a.num)).num("atttypmod", int64(mod))
	w.num("attlen", int64(st.length)).bool("attbyval", st.byValue).text("attalign", string(st.align)).text("attstorage", string(st.storage))
	w.oid("attcollation", st.collation).bool("attnotnull", a.notNull).bool("atthasdef", a.def != "" || a.generated != "")
	w.nums(-1, "attstattarget", "attcacheoff").nums(0, "attinhcount")
	if types.ElemOf(a.typ.OID) != 0 {
		w.num("attndims", 1)
	} else {
		w.num("attndims", 0)
	}
	identity, generated := "", ""
	if a.identity != 0 {
		identity = string(a.identity)
	}
	if a.generated != "" {
		generated = "s"
	}
	w.bools(false, "atthasmissing", "attisdropped").bool("attislocal", true)
	w.text("attidentity", identity).text("attgenerated", generated).text("attcompression", "")
	w.end()
}

func attributeRows(w *rows, rel types.OID, list []attribute) {
	for _, a := range list {
		attributeRow(w, rel, a)
	}
}

func fillAttribute(w *rows, s *source) {
	for _, r := range sortedRelations() {
		attributeRows(w, r.oid, virtualAttributes(r))
	}
	for _, t := range s.cat.Tables() {
		attributeRows(w, t.OID, tableAttributes(t))
		for _, x := range indexesOf(t) {
			for j := range x.width() {
				typ := x.columnType(j)
				attributeRow(w, x.oid, attribute{num: j + 1, name: x.columnName(j), typ: typ, declared: typ.OID})
			}
		}
	}
	for _, v := range s.cat.Views() {
		attributeRows(w, v.OID, viewAttributes(v))
	}
	for _, q := range s.cat.Sequences() {
		attributeRows(w, q.OID, sequenceAttributes)
	}
}

func fillAttrdef(w *rows, s *source) {
	for _, t := range s.cat.Tables() {
		for i, a := range tableAttributes(t) {
			text := a.def
			if a.generated != "" {
				text = a.generated
			}
			if text != "" {
				w.oid("oid", attrDefOID(t, &t.Columns[i])).oid("adrelid", t.OID).num("adnum", int64(a.num))
				w.text("adbin", s.expression(text)).end()
			}
		}
	}
}

// regclassSuffix follows the OIDs that stand for sequences in the text of a
// default.
const regclassSuffix = "'::regclass"

// expression prints a default or check with the names that its sequences have now.
func (s *source) expression(text string) string {
	var b strings.Builder
	for {
		end := strings.Index(text, regclassSuffix)
		if end < 0 {
			b.WriteString(text)
			return b.String()
		}
		start := end
		for start > 0 && text[start-1] >= '0' && text[start-1] <= '9' {
			start--
		}
		name := ""
		if start < end && start > 0 && text[start-1] == '\'' {
			if o, ok := s.object(number(text[start:end])); ok {
				name = s.relationText(o)
			}
		}
		if name == "" {
			b.WriteString(text[:end])
		} else {
			b.WriteString(text[:start])
			b.WriteString(strings.ReplaceAll(name, "'", "''"))
		}
		b.WriteString(regclassSuffix)
		text = text[end+len(regclassSuffix):]
	}
}

// relationText is a relation's name, with its schema where the search path does
// not find it.
func (s *source) relationText(o object) string {
	if s.visible(o) {
		return QuoteIdent(o.name)
	}
	return QuoteIdent(o.schema) + "." + QuoteIdent(o.name)
}
