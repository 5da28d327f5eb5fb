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

func typeRow(w *rows, oid types.OID, name string, schema types.OID, kind string, category byte, preferred bool, delim byte, rel, elem, array types.OID) {
	st := storageOf(oid)
	w.oid("oid", oid).text("typname", name).oid("typnamespace", schema).oid("typowner", catalog.BootstrapRoleOID)
	w.num("typlen", int64(st.length)).bool("typbyval", st.byValue).text("typtype", kind).text("typcategory", string(category))
	w.bool("typispreferred", preferred).bool("typisdefined", true).text("typdelim", string(delim))
	w.oid("typrelid", rel).oid("typelem", elem).oid("typarray", array)
	w.text("typalign", string(st.align)).text("typstorage", string(st.storage)).oid("typcollation", st.collation)
	w.bool("typnotnull", false).num("typtypmod", -1)
	w.nums(0, "typbasetype", "typndims", "typsubscript", "typinput", "typoutput", "typreceive", "typsend", "typmodin", "typmodout", "typanalyze")
	w.end()
}

func fillType(w *rows, s *source) {
	for _, t := range types.All() {
		kind := "b"
		if t.Category == 'P' {
			kind = "p"
		}
		typeRow(w, t.OID, t.Name, catalog.PgCatalogOID, kind, t.Category, t.Preferred, t.Delim, 0, t.Elem, t.Array)
	}
	for _, t := range s.cat.Tables() {
		typeRow(w, t.TypeOID, t.Name, t.Schema, "c", 'C', false, ',', t.OID, 0, 0)
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
