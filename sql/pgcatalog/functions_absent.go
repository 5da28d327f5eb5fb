package pgcatalog

import (
	"tsdb/colstore/vector"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// Functions about objects that do not exist here: rules, triggers, partitions,
// functions of users, extended statistics, text search. They answer as
// PostgreSQL does when there is no such object.
func init() {
	oid, text, i4, b, rc := types.Oid, types.Text, types.Int4, types.Bool, types.Regclass
	a := func(t ...types.OID) []types.OID { return t }
	none := textKernel(null)
	functions.RegisterFunctions(
		fn(1662, "pg_get_triggerdef", a(oid), text, none, "Definition of a trigger: there are none"),
		fn(2730, "pg_get_triggerdef", a(oid, b), text, none, "Definition of a trigger: there are none"),
		fn(1573, "pg_get_ruledef", a(oid), text, none, "Definition of a rule: there are none"),
		fn(2504, "pg_get_ruledef", a(oid, b), text, none, "Definition of a rule: there are none"),
		fn(3352, "pg_get_partkeydef", a(oid), text, none, "Partition key of a table: there are none"),
		fn(3408, "pg_get_partition_constraintdef", a(oid), text, none, "Bounds of a partition: there are none"),
		fn(2098, "pg_get_functiondef", a(oid), text, none, "Definition of a function: those of users do not exist"),
		fn(6197, "pg_get_function_sqlbody", a(oid), text, none, "Body of an SQL function: there are none"),
		fn(3808, "pg_get_function_arg_default", a(oid, i4), text, none, "Default of a function's argument"),
		fn(3415, "pg_get_statisticsobjdef", a(oid), text, none, "Definition of extended statistics: there are none"),
		fn(3034, "pg_relation_filepath", a(rc), text, none, "File of a relation: tables have none of their own"),
		fn(3943, "acldefault", a(types.Char, oid), types.ACLItemArray, none, "Default privileges of an object: not recorded"),
		fn(2093, "pg_conversion_is_visible", a(oid), b, unknownObject, "Whether the search path finds a conversion"),
		fn(2083, "pg_opclass_is_visible", a(oid), b, unknownObject, "Whether the search path finds an operator class"),
		fn(3829, "pg_opfamily_is_visible", a(oid), b, unknownObject, "Whether the search path finds an operator family"),
		fn(3403, "pg_statistics_obj_is_visible", a(oid), b, unknownObject, "Whether the search path finds extended statistics"),
		fn(3756, "pg_ts_parser_is_visible", a(oid), b, unknownObject, "Whether the search path finds a text search parser"),
		fn(3757, "pg_ts_dict_is_visible", a(oid), b, unknownObject, "Whether the search path finds a text search dictionary"),
		fn(3758, "pg_ts_config_is_visible", a(oid), b, unknownObject, "Whether the search path finds a text search configuration"),
		fn(3768, "pg_ts_template_is_visible", a(oid), b, unknownObject, "Whether the search path finds a text search template"),
		fn(3298, "row_security_active", a(oid), b, boolKernel(no), "Whether row security is active for a table"),
		fn(638, "pg_index_column_has_property", a(rc, i4, text), b, boolKernel(indexColumnProperty), "Whether a column of an index has a property"),
		fn(2999, "pg_relation_filenode", a(rc), oid, filenode, "Number of a relation's storage"),
		fn(3537, "pg_describe_object", a(oid, oid, i4), text, textKernel(describeObject), "Words for an object of the catalog"),
	)
}

// indexColumnProperty knows the properties of a B-tree, which is how all
// indexes are described.
func indexColumnProperty(s *source, args []*vector.Vector, i int) (value, ok bool) {
	o, found := s.object(oidAt(args[0], i))
	n := int(args[1].I32[i&args[1].Mask()])
	if !found || o.index == nil || n < 1 || n > o.index.width() {
		return false, false
	}
	key := n <= len(o.index.columns)
	desc, first := false, false
	if key {
		desc, first = o.index.columns[n-1].Desc, o.index.columns[n-1].NullsFirst
	}
	switch string(args[2].Bytes(i)) {
	case "asc":
		value = !desc
	case "desc":
		value = desc
	case "nulls_first":
		value = first
	case "nulls_last":
		value = !first
	case "orderable", "search_array", "search_nulls":
		value = true
	case "returnable":
		return true, true
	case "distance_orderable":
	default:
		return false, false
	}
	return value && key, true
}

func filenode(c *functions.Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	s := newSource(c)
	for i := range n {
		if out.IsNull(i) {
			continue
		}
		o, ok := s.object(oidAt(args[0], i))
		if !ok || o.view != nil {
			out.SetNull(i)
			continue
		}
		out.U32[i] = o.oid
	}
	return nil
}

// describeObject has words for relations and their columns.
func describeObject(s *source, args []*vector.Vector, i int) (string, bool) {
	o, ok := s.object(oidAt(args[1], i))
	if !ok || oidAt(args[0], i) != relations()["pg_catalog.pg_class"].oid {
		return "", false
	}
	words := map[byte]string{'r': "table ", 'v': "view ", 'm': "materialized view ", 'S': "sequence ", 'i': "index "}[o.kind] + s.relationText(o)
	if num := int(args[2].I32[i&args[2].Mask()]); num != 0 {
		for _, a := range s.attributes(o) {
			if a.num == num {
				return "column " + QuoteIdent(a.name) + " of " + words, true
			}
		}
	}
	return words, true
}

// unknownObject answers NULL: no object of the kind is in the catalog.
func unknownObject(_ *functions.Ctx, out *vector.Vector, _ []*vector.Vector, n int) error {
	out.Valid = vector.NewBitmap(n, false)
	return nil
}
