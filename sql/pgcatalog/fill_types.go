package pgcatalog

import (
	"fmt"
	"strings"

	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// storage is the part of pg_type that describes how PostgreSQL stores a value;
// clients read it from pg_attribute.
type storage struct {
	length    int16
	byValue   bool
	align     byte
	storage   byte
	collation types.OID
}

func storageOf(oid types.OID) storage {
	st := storage{length: -1, align: 'i', storage: 'x'}
	if info, ok := types.Lookup(oid); ok {
		st.length = info.Len
	}
	switch st.length {
	case 1:
		st.byValue, st.align, st.storage = true, 'c', 'p'
	case 2:
		st.byValue, st.align, st.storage = true, 's', 'p'
	case 4:
		st.byValue, st.align, st.storage = true, 'i', 'p'
	case 8:
		st.byValue, st.align, st.storage = true, 'd', 'p'
	case 12, 16:
		st.align, st.storage = 'd', 'p'
	case 64:
		st.align, st.storage = 'c', 'p'
	}
	switch oid {
	case types.Numeric:
		st.storage = 'm'
	case types.UUID:
		st.align = 'c'
	case types.Name:
		st.collation = 950
	case types.Text, types.Varchar, types.BPChar, types.TextArray, types.VarcharArray, types.BPCharArray:
		st.collation = 100
	case types.NameArray:
		st.collation = 950
	}
	return st
}

// typeEntry is a row of pg_type.
type typeEntry struct {
	oid       types.OID
	name      string
	schema    types.OID
	kind      string // typtype
	category  byte
	preferred bool
	delim     byte
	rel       types.OID
	elem      types.OID
	array     types.OID
	like      types.OID // the type whose values it has; 0: itself
	io        *typeIO
}

func (t *typeEntry) begin(w *rows) {
	like := t.like
	if like == 0 {
		like = t.oid
	}
	st, io := storageOf(like), t.io
	if io == nil {
		io = &typeIO{}
	}
	w.oid("oid", t.oid).text("typname", t.name).oid("typnamespace", t.schema).oid("typowner", catalog.BootstrapRoleOID)
	w.num("typlen", int64(st.length)).bool("typbyval", st.byValue).text("typtype", t.kind).text("typcategory", string(t.category))
	w.bool("typispreferred", t.preferred).bool("typisdefined", true).text("typdelim", string(t.delim))
	w.oid("typrelid", t.rel).oid("typelem", t.elem).oid("typarray", t.array)
	w.text("typalign", string(st.align)).text("typstorage", string(st.storage)).oid("typcollation", st.collation)
	w.oid("typinput", io.in).oid("typoutput", io.out).oid("typreceive", io.receive).oid("typsend", io.send)
	w.oid("typmodin", io.modIn).oid("typmodout", io.modOut).oid("typanalyze", io.analyze).oid("typsubscript", io.subscript)
}

func (t *typeEntry) row(w *rows) {
	t.begin(w)
	endType(w)
}

func endType(w *rows) {
	w.bool("typnotnull", false).num("typtypmod", -1).nums(0, "typbasetype", "typndims").end()
}

func arrayEntry(oid types.OID, name string, schema, elem types.OID) *typeEntry {
	return &typeEntry{oid: oid, name: "_" + name, schema: schema, kind: "b", category: 'A', delim: ',', elem: elem,
		like: types.TextArray, io: knownIO()[types.TextArray]}
}

func fillType(w *rows, s *source) {
	for _, t := range types.All() {
		kind := "b"
		if t.Category == 'P' {
			kind = "p"
		}
		e := typeEntry{oid: t.OID, name: t.Name, schema: catalog.PgCatalogOID, kind: kind, category: t.Category, preferred: t.Preferred,
			delim: t.Delim, elem: t.Elem, array: t.Array, io: knownIO()[t.OID]}
		e.row(w)
	}
	composite := func(oid types.OID, name string, schema, rel types.OID) {
		e := typeEntry{oid: oid, name: name, schema: schema, kind: "c", category: 'C', delim: ',', rel: rel, io: knownIO()[types.Record]}
		e.row(w)
	}
	for _, t := range s.cat.Tables() {
		composite(t.TypeOID, t.Name, t.Schema, t.OID)
	}
	for _, v := range s.cat.Views() {
		composite(v.TypeOID, v.Name, v.Schema, v.OID)
	}
	for _, e := range s.cat.Enums() {
		row := typeEntry{oid: e.OID, name: e.Name, schema: e.Schema, kind: "e", category: 'E', delim: ',',
			array: types.ArrayOf(e.OID), like: types.Int4, io: &enumIO}
		row.row(w)
		arrayEntry(types.ArrayOf(e.OID), e.Name, e.Schema, e.OID).row(w)
	}
	for _, d := range s.cat.Domains() {
		domainType(w, d)
		arrayEntry(d.ArrayOID, d.Name, d.Schema, d.OID).row(w)
	}
}

func domainType(w *rows, d *catalog.Domain) {
	io, category := domainIO, byte('U')
	if base, ok := types.Lookup(d.Base); ok {
		category = base.Category
	}
	if b := knownIO()[d.Base]; b != nil {
		io.out, io.send = b.out, b.send
	}
	row := typeEntry{oid: d.OID, name: d.Name, schema: d.Schema, kind: "d", category: category, delim: ',', array: d.ArrayOID, like: d.Base, io: &io}
	row.begin(w)
	base := d.Base
	if d.Parent != 0 {
		base = d.Parent
	}
	w.oid("typbasetype", base).num("typtypmod", int64(d.Mod)).bool("typnotnull", d.NotNull)
	if d.Default != "" {
		w.text("typdefault", d.Default)
	}
	endType(w)
}

func fillEnum(w *rows, s *source) {
	for _, e := range s.cat.Enums() {
		for i, l := range e.Labels {
			w.oid("oid", l.OID).oid("enumtypid", e.OID).num("enumsortorder", int64(i+1)).text("enumlabel", l.Name).end()
		}
	}
}

func oidList(args []types.OID) string {
	parts := make([]string, len(args))
	for i, a := range args {
		parts[i] = fmt.Sprint(a)
	}
	return strings.Join(parts, " ")
}

func procRow(w *rows, oid types.OID, name, kind string, args []types.OID, ret types.OID, set, strict bool, volatility functions.Volatility, defaults int) {
	w.oid("oid", oid).text("proname", name).oid("pronamespace", catalog.PgCatalogOID).oid("proowner", catalog.BootstrapRoleOID)
	w.oid("prolang", 12).num("procost", 1).num("prorows", 0).text("prokind", kind).bool("proretset", set).bool("proisstrict", strict)
	w.text("provolatile", string("isv"[volatility])).text("proparallel", "s").num("pronargs", int64(len(args))).num("pronargdefaults", int64(defaults))
	w.oid("prorettype", ret).array("proargtypes", oidList(args)).text("prosrc", name)
	w.bools(false, "prosecdef", "proleakproof").nums(0, "provariadic", "prosupport").end()
}

func fillProc(w *rows, _ *source) {
	for _, p := range ioProcs() {
		volatility := functions.Volatility(strings.IndexByte("isv", p.volatility))
		procRow(w, p.oid, p.name, "f", p.args, p.ret, false, true, volatility, 0)
	}
	for o := range functions.AllFunctions {
		if !o.Operator {
			procRow(w, o.OID, o.Name, "f", o.Args, o.Ret, false, !o.NotStrict, o.Volatility, o.Defaults)
		}
	}
	for a := range functions.AllAggregates {
		procRow(w, a.OID, a.Name, "a", a.Args, a.Ret, false, false, functions.Immutable, 0)
	}
	for f := range functions.AllSetReturning {
		ret := types.Record
		if len(f.Types) == 1 {
			ret = f.Types[0]
		}
		procRow(w, f.OID, f.Name, "f", f.Args, ret, true, true, functions.Immutable, f.Defaults)
	}
}
