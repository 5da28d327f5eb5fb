package pgcatalog

import (
	_ "embed"
	"strings"

	"tsdb/colstore/vector"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

// keywords.txt lists PostgreSQL's key words: word, class, whether it can be a
// column's name without AS.
//
//go:embed keywords.txt
var keywordsText string

// listed hands out the rows of a batch that is known whole.
type listed struct {
	rows *vector.Batch
	next int
}

// Next implements functions.Rows.
func (l *listed) Next(out *vector.Batch, limit int) (bool, error) {
	n := min(limit, l.rows.N-l.next)
	for k := range n {
		for j, c := range l.rows.Cols {
			out.Cols[j].AppendFrom(c, l.next+k)
		}
	}
	l.next += n
	out.N += n
	return n > 0, nil
}

// relationRows is a function that returns what a relation of pg_catalog shows.
func relationRows(oid types.OID, name, doc string) functions.SetReturning {
	r := relations()["pg_catalog."+name]
	f := functions.SetReturning{OID: oid, Name: name, Doc: doc, Open: func(c *functions.Ctx, _ []*vector.Vector) (functions.Rows, error) {
		b, err := r.Rows(c)
		return &listed{rows: b}, err
	}}
	for _, c := range r.cols {
		f.Columns, f.Types = append(f.Columns, c.Name), append(f.Types, c.Type.OID)
	}
	return f
}

// noneOf is a function whose rows do not exist here.
func noneOf(oid types.OID, name string, args []types.OID, columns []string, ts []types.OID, doc string) functions.SetReturning {
	return functions.SetReturning{OID: oid, Name: name, Args: args, Columns: columns, Types: ts, Doc: doc,
		Open: func(*functions.Ctx, []*vector.Vector) (functions.Rows, error) {
			return &listed{rows: &vector.Batch{}}, nil
		}}
}

// keywordClasses are the words of pg_get_keywords for a class.
var keywordClasses = map[string]string{
	"U": "unreserved", "C": "unreserved (cannot be function or type name)",
	"T": "reserved (can be function or type name)", "R": "reserved",
}

var keywordColumns = []types.OID{types.Text, types.Char, types.Bool, types.Text, types.Text}

func openKeywords(*functions.Ctx, []*vector.Vector) (functions.Rows, error) {
	b := &vector.Batch{}
	for _, t := range keywordColumns {
		b.Cols = append(b.Cols, vector.New(types.T(t).Kind(), 512))
	}
	for line := range strings.Lines(keywordsText) {
		f := strings.Fields(line)
		bare, label := f[2] == "t", "requires AS"
		if bare {
			label = "can be bare label"
		}
		b.Cols[0].AppendString(f[0])
		b.Cols[1].AppendString(f[1])
		b.Cols[2].AppendBool(bare)
		b.Cols[3].AppendString(keywordClasses[f[1]])
		b.Cols[4].AppendString(label)
		b.N++
	}
	return &listed{rows: b}, nil
}

// openOptions splits name=value.
func openOptions(_ *functions.Ctx, args []*vector.Vector) (functions.Rows, error) {
	b := &vector.Batch{Cols: []*vector.Vector{vector.New(vector.Bytes, 0), vector.New(vector.Bytes, 0)}}
	if args[0].IsNull(0) {
		return &listed{rows: b}, nil
	}
	list := vector.New(vector.Bytes, 0)
	if err := functions.ArrayElements(list, args[0].Bytes(0)); err != nil {
		return nil, err
	}
	for i := range list.N {
		name, value, given := strings.Cut(string(list.Bytes(i)), "=")
		b.Cols[0].AppendString(name)
		if given {
			b.Cols[1].AppendString(value)
		} else {
			b.Cols[1].AppendNull()
		}
		b.N++
	}
	return &listed{rows: b}, nil
}

func init() {
	text, rc := types.Text, types.Regclass
	a := func(t ...types.OID) []types.OID { return t }
	functions.RegisterSetReturning(
		relationRows(2856, "pg_timezone_names", "Names of time zones"),
		relationRows(2599, "pg_timezone_abbrevs", "Abbreviations of time zones"),
		functions.SetReturning{OID: 1686, Name: "pg_get_keywords", Columns: []string{"word", "catcode", "barelabel", "catdesc", "baredesc"},
			Types: keywordColumns, Open: openKeywords, Doc: "Key words of the grammar"},
		functions.SetReturning{OID: 2289, Name: "pg_options_to_table", Args: a(types.TextArray), Columns: []string{"option_name", "option_value"},
			Types: a(text, text), Open: openOptions, Doc: "Names and values of a list of options"},
		noneOf(3425, "pg_partition_ancestors", a(rc), []string{"relid"}, a(rc), "Tables that a partition belongs to: there are no partitions"),
		noneOf(3423, "pg_partition_tree", a(rc), []string{"relid", "parentrelid", "isleaf", "level"}, a(rc, rc, types.Bool, types.Int4), "Partitions of a table: there are none"),
		noneOf(3035, "pg_listening_channels", nil, []string{"pg_listening_channels"}, a(text), "Channels that the session listens on: none"),
		noneOf(3082, "pg_available_extensions", nil, []string{"name", "default_version", "comment"}, a(types.Name, text, text), "Extensions that could be created: there are none"),
		noneOf(3083, "pg_available_extension_versions", nil,
			[]string{"name", "version", "superuser", "trusted", "relocatable", "schema", "requires", "comment"},
			a(types.Name, text, types.Bool, types.Bool, types.Bool, types.Name, types.NameArray, text), "Versions of extensions: there are none"),
		noneOf(1689, "aclexplode", a(types.ACLItemArray), []string{"grantor", "grantee", "privilege_type", "is_grantable"},
			a(types.Oid, types.Oid, text, types.Bool), "Privileges of an access list: none are recorded"),
	)
}
