package session

import (
	"path/filepath"
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/exec/copyio"
	"tsdb/sql"
	"tsdb/sql/pgerr"
)

// copySpec is a COPY command after its options were checked.
type copySpec struct {
	o                       copyio.Options
	delimiter, quote        string
	escape                  string
	null                    *string
	force                   [3][]string // FORCE_QUOTE, FORCE_NOT_NULL, FORCE_NULL columns
	from                    bool
	quoteGiven, escapeGiven bool
}

var forceNames = [3]string{"FORCE_QUOTE", "FORCE_NOT_NULL", "FORCE_NULL"}

// formatByName are the values of FORMAT; formatByExtension what a server-side
// file's name says when FORMAT is not given.
var (
	formatByName = map[string]copyio.Format{"text": copyio.Text, "csv": copyio.CSV, "binary": copyio.Binary,
		"parquet": copyio.Parquet, "arrow": copyio.Arrow}
	formatByExtension = map[string]copyio.Format{".csv": copyio.CSV, ".bin": copyio.Binary, ".parquet": copyio.Parquet,
		".arrow": copyio.Arrow, ".feather": copyio.Arrow, ".txt": copyio.Text}
)

// copyOptions reads and checks the options of COPY in both syntaxes, which
// the grammar has already made one.
func copyOptions(st *sql.Statement, n *pg_query.CopyStmt) (*copySpec, error) {
	c := &copySpec{from: n.IsFrom}
	if n.Filename != "" {
		c.o.Format = formatByExtension[strings.ToLower(filepath.Ext(n.Filename))]
	}
	seen := map[string]bool{}
	for _, o := range n.Options {
		d := o.GetDefElem()
		pos := st.Position(d.GetLocation())
		if seen[d.Defname] {
			return nil, pgerr.New(pgerr.SyntaxError, "conflicting or redundant options").At(pos)
		}
		seen[d.Defname] = true
		if err := c.option(d, pos); err != nil {
			return nil, err
		}
	}
	if err := c.check(seen); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *copySpec) option(d *pg_query.DefElem, pos int) error {
	text := constText(d.GetArg())
	switch d.Defname {
	case "format":
		f, ok := formatByName[text]
		if !ok {
			return pgerr.New(pgerr.InvalidParameterValue, `COPY format "%s" not recognized`, text).At(pos)
		}
		c.o.Format = f
	case "delimiter":
		c.delimiter = text
		if len(text) != 1 {
			return pgerr.New(pgerr.FeatureNotSupported, "COPY delimiter must be a single one-byte character")
		}
	case "null":
		c.null = &text
	case "header":
		return c.header(d, text)
	case "quote":
		c.quote, c.quoteGiven = text, true
	case "escape":
		c.escape, c.escapeGiven = text, true
	case "force_quote", "force_not_null", "force_null":
		i := slices.Index(forceNames[:], strings.ToUpper(d.Defname))
		return c.forceColumns(i, d, pos)
	case "encoding":
		if _, err := checkClientEncoding(nil, text); err != nil {
			if pgerr.From(err).Code == pgerr.FeatureNotSupported {
				return err
			}
			return pgerr.New(pgerr.InvalidParameterValue, `argument to option "encoding" must be a valid encoding name`).At(pos)
		}
	case "freeze":
		if _, ok := parseBool(text); d.Arg != nil && !ok {
			return pgerr.New(pgerr.SyntaxError, "freeze requires a Boolean value")
		}
	default:
		return pgerr.New(pgerr.SyntaxError, `option "%s" not recognized`, d.Defname).At(pos)
	}
	return nil
}

func (c *copySpec) header(d *pg_query.DefElem, text string) error {
	if d.Arg == nil {
		c.o.Header = true
		return nil
	}
	if strings.EqualFold(text, "match") {
		if !c.from {
			return pgerr.New(pgerr.FeatureNotSupported, `cannot use "match" with HEADER in COPY TO`)
		}
		c.o.Header, c.o.HeaderMatch = true, true
		return nil
	}
	switch strings.ToLower(text) {
	case "true", "on", "1":
		c.o.Header = true
	case "false", "off", "0":
	default:
		return pgerr.New(pgerr.SyntaxError, `header requires a Boolean value or "match"`)
	}
	return nil
}

func (c *copySpec) forceColumns(i int, d *pg_query.DefElem, pos int) error {
	switch x := d.GetArg().GetNode().(type) {
	case *pg_query.Node_AStar:
		if i != 0 {
			return pgerr.New(pgerr.InvalidParameterValue, `argument to option "%s" must be a list of column names`, d.Defname).At(pos)
		}
		c.o.ForceQuoteAll = true
	case *pg_query.Node_List:
		for _, it := range x.List.Items {
			c.force[i] = append(c.force[i], it.GetString_().GetSval())
		}
	default:
		return pgerr.New(pgerr.InvalidParameterValue, `argument to option "%s" must be a list of column names`, d.Defname).At(pos)
	}
	return nil
}

func copyBad(format string, args ...any) error {
	return pgerr.New(pgerr.InvalidParameterValue, format, args...)
}

func copyFeature(format string, args ...any) error {
	return pgerr.New(pgerr.FeatureNotSupported, format, args...)
}

// check verifies that the options agree and fills the defaults.
func (c *copySpec) check(seen map[string]bool) error {
	if c.o.Format >= copyio.Binary {
		return c.checkBinary(seen)
	}
	csv := c.o.Format == copyio.CSV
	if c.delimiter == "" {
		c.delimiter = "\t"
		if csv {
			c.delimiter = ","
		}
	}
	if c.null == nil {
		def := `\N`
		if csv {
			def = ""
		}
		c.null = &def
	}
	if c.delimiter == "\n" || c.delimiter == "\r" {
		return copyBad("COPY delimiter cannot be newline or carriage return")
	}
	if strings.ContainsAny(*c.null, "\r\n") {
		return copyBad("COPY null representation cannot use newline or carriage return")
	}
	if !csv && strings.Contains(`\.abcdefghijklmnopqrstuvwxyz0123456789`, c.delimiter) {
		return copyBad(`COPY delimiter cannot be "%s"`, c.delimiter)
	}
	if err := c.checkCSV(csv); err != nil {
		return err
	}
	if strings.Contains(*c.null, c.delimiter) {
		return copyFeature("COPY delimiter must not appear in the NULL specification")
	}
	if csv && strings.Contains(*c.null, c.quote) {
		return copyFeature("CSV quote character must not appear in the NULL specification")
	}
	c.o.Delimiter, c.o.Null = c.delimiter[0], *c.null
	if csv {
		c.o.Quote, c.o.Escape = c.quote[0], c.escape[0]
	}
	return nil
}

func (c *copySpec) checkBinary(seen map[string]bool) error {
	name := "BINARY"
	switch c.o.Format {
	case copyio.Parquet:
		name = "PARQUET"
	case copyio.Arrow:
		name = "ARROW"
	}
	switch {
	case seen["delimiter"]:
		return pgerr.New(pgerr.SyntaxError, "cannot specify DELIMITER in %s mode", name)
	case seen["null"]:
		return pgerr.New(pgerr.SyntaxError, "cannot specify NULL in %s mode", name)
	case c.o.Header:
		return copyFeature("cannot specify HEADER in %s mode", name)
	}
	return c.checkCSV(false)
}

func (c *copySpec) checkCSV(csv bool) error {
	if !csv {
		for i, what := range []string{"force quote", "force not null", "force null"} {
			if c.force[i] != nil || i == 0 && c.o.ForceQuoteAll {
				return copyFeature("COPY %s available only in CSV mode", what)
			}
		}
		if c.quoteGiven {
			return copyFeature("COPY quote available only in CSV mode")
		}
		if c.escapeGiven {
			return copyFeature("COPY escape available only in CSV mode")
		}
		return nil
	}
	if !c.quoteGiven {
		c.quote = `"`
	}
	if len(c.quote) != 1 {
		return copyFeature("COPY quote must be a single one-byte character")
	}
	if c.quote == c.delimiter {
		return copyBad("COPY delimiter and quote must be different")
	}
	if !c.escapeGiven {
		c.escape = c.quote
	}
	if len(c.escape) != 1 {
		return copyFeature("COPY escape must be a single one-byte character")
	}
	if c.from && (c.force[0] != nil || c.o.ForceQuoteAll) {
		return copyFeature("COPY force quote only available using COPY TO")
	}
	if !c.from && c.force[1] != nil {
		return copyFeature("COPY force not null only available using COPY FROM")
	}
	if !c.from && c.force[2] != nil {
		return copyFeature("COPY force null only available using COPY FROM")
	}
	return nil
}

// resolveForce turns the column names of FORCE_* into flags per column.
func (c *copySpec) resolveForce(cols []copyio.Column) error {
	for i, names := range c.force {
		if names == nil {
			continue
		}
		flags := make([]bool, len(cols))
		for _, n := range names {
			at := slices.IndexFunc(cols, func(col copyio.Column) bool { return col.Name == n })
			if at < 0 {
				return pgerr.New(pgerr.InvalidColumnReference, `%s column "%s" not referenced by COPY`, forceNames[i], n)
			}
			flags[at] = true
		}
		switch i {
		case 0:
			c.o.ForceQuote = flags
		case 1:
			c.o.ForceNotNull = flags
		case 2:
			c.o.ForceNull = flags
		}
	}
	return nil
}
