package session

import (
	"encoding/binary"
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// Options of WITH (...).
var (
	tableOptions = []string{"layout", "time", "bucket", "conflict", "retention"}
	// laterOptions are known and belong to features that do not exist yet.
	laterOptions = []string{"row_key", "composite", "bucket_origin", "granularity", "timestamp_rounding", "cell_ts",
		"gc", "gc_visibility", "max_row_bytes", "expected_rate", "on_decode_error", "payload", "message", "rollup"}
	laterLayouts = []string{"event_columns", "event_cells", "row_blob", "row_columns", "bucket_blob"}
	// storageParameters are PostgreSQL's own, besides autovacuum_*.
	storageParameters = []string{"fillfactor", "parallel_workers", "toast_tuple_target", "log_autovacuum_min_duration",
		"vacuum_index_cleanup", "vacuum_truncate", "user_catalog_table"}
)

func isStorageParameter(namespace, name string) bool {
	return namespace == "toast" || slices.Contains(storageParameters, name) || strings.HasPrefix(name, "autovacuum_")
}

func (s *Session) storageParameterNotice(name string) {
	s.notice(pgerr.Notice(`storage parameter "%s" of PostgreSQL is accepted and has no effect`, name))
}

// options reads WITH (...) and fixes layout, time column, bucket, conflict and
// retention.
func (b *tableBuilder) options() error {
	given, err := b.readOptions(b.stmt.Options)
	if err != nil {
		return err
	}
	if err := b.chooseLayout(given); err != nil {
		return err
	}
	return b.alterable(given)
}

// readOptions checks the names of options and notes those of tsdb's own.
func (b *tableBuilder) readOptions(list []*pg_query.Node) (map[string]string, error) {
	given := map[string]string{}
	for _, o := range list {
		d := o.GetDefElem()
		name, value := d.GetDefname(), constText(d.GetArg())
		switch {
		case isStorageParameter(d.GetDefnamespace(), name):
			b.s.storageParameterNotice(name)
			continue
		case name == "oids" && d.GetDefnamespace() == "":
			if value != "false" && value != "off" {
				return nil, pgerr.New(pgerr.FeatureNotSupported, "tables declared WITH OIDS are not supported")
			}
			continue
		case slices.Contains(laterOptions, name):
			return nil, pgerr.Unsupported(`option "%s"`, name)
		case d.GetDefnamespace() != "" || !slices.Contains(tableOptions, name):
			return nil, pgerr.New(pgerr.InvalidParameterValue, `unrecognized parameter "%s"`, name).
				WithHint("Options are %s.", strings.Join(tableOptions, ", "))
		}
		if _, dup := given[name]; dup {
			return nil, pgerr.New(pgerr.InvalidParameterValue, `parameter "%s" specified more than once`, name)
		}
		given[name] = value
		b.t.Options = slices.DeleteFunc(b.t.Options, func(o catalog.Option) bool { return o.Name == name })
		b.t.Options = append(b.t.Options, catalog.Option{Name: name, Value: value})
	}
	return given, nil
}

// alterable fixes the options that ALTER TABLE may change.
func (b *tableBuilder) alterable(given map[string]string) error {
	if err := b.conflict(given); err != nil {
		return err
	}
	return b.retention(given)
}

// setOptions is ALTER TABLE ... SET (...).
func (b *tableBuilder) setOptions(list []*pg_query.Node) error {
	given, err := b.readOptions(list)
	if err != nil {
		return err
	}
	for _, name := range []string{"layout", "time", "bucket"} {
		if _, ok := given[name]; ok {
			return fixedOption(name)
		}
	}
	return b.alterable(given)
}

// resetOptions is ALTER TABLE ... RESET (...).
func (b *tableBuilder) resetOptions(list []*pg_query.Node) error {
	for _, o := range list {
		name := o.GetDefElem().GetDefname()
		switch name {
		case "conflict":
			b.t.Storage.Conflict = table.ConflictError
		case "retention":
			b.t.Storage.Retention = 0
		case "layout", "time", "bucket":
			return fixedOption(name)
		default:
			if !isStorageParameter(o.GetDefElem().GetDefnamespace(), name) && !slices.Contains(laterOptions, name) {
				return pgerr.New(pgerr.InvalidParameterValue, `unrecognized parameter "%s"`, name).
					WithHint("Options are %s.", strings.Join(tableOptions, ", "))
			}
		}
		b.t.Options = slices.DeleteFunc(b.t.Options, func(o catalog.Option) bool { return o.Name == name })
	}
	return nil
}

func fixedOption(name string) error {
	return pgerr.Unsupported(`changing option "%s" of a table`, name).
		WithHint("Create another table WITH (%s = ...) and copy the rows with INSERT ... SELECT.", name)
}

// retention reads how long rows stay; a month counts 30 days.
func (b *tableBuilder) retention(given map[string]string) error {
	text, ok := given["retention"]
	if !ok {
		return nil
	}
	s := &b.t.Storage
	switch {
	case s.Layout == table.RowStore:
		return retentionNeedsColumnar()
	case s.Time < 0:
		return pgerr.New(pgerr.InvalidParameterValue, `option "retention" needs a time column`).
			WithHint("The table has no date or timestamp column.")
	}
	var err error
	s.Retention, err = positiveInterval("retention", text, "Give a positive interval, such as '90 days'.")
	return err
}

func retentionNeedsColumnar() error {
	return pgerr.Unsupported(`option "retention" in layout "row"`).
		WithHint("Use WITH (layout = 'columnar'), or delete rows with DELETE.")
}

func invalidOption(name, value, hint string) error {
	return pgerr.New(pgerr.InvalidParameterValue, `invalid value for parameter "%s": "%s"`, name, value).WithHint("%s", hint)
}

func isTime(t types.Type) bool {
	return t.OID == types.Date || t.OID == types.Timestamp || t.OID == types.TimestampTZ
}

// timeColumn applies the rule: the option, else the last date or timestamp of
// the primary key, else the first of the table, else none (-1).
func (b *tableBuilder) timeColumn(given map[string]string) (col int, inKey bool, err error) {
	pk := b.t.PrimaryKey()
	col = -1
	if name, ok := given["time"]; ok {
		col = b.t.ColumnIndex(name)
		if col < 0 {
			return -1, false, pgerr.New(pgerr.UndefinedColumn, `column "%s" named in option "time" does not exist`, name)
		}
		if !isTime(b.t.Columns[col].Type) {
			return -1, false, pgerr.New(pgerr.DatatypeMismatch, `time column "%s" is of type %s`, name, types.FormatType(b.t.Columns[col].Type)).
				WithHint("The time column is a date, timestamp or timestamp with time zone.")
		}
		return col, pk != nil && slices.Contains(pk.Columns, col), nil
	}
	if pk != nil {
		for _, c := range slices.Backward(pk.Columns) {
			if isTime(b.t.Columns[c].Type) {
				return c, true, nil
			}
		}
	}
	for i := range b.t.Columns {
		if isTime(b.t.Columns[i].Type) {
			return i, false, nil
		}
	}
	return -1, false, nil
}

func (b *tableBuilder) chooseLayout(given map[string]string) error {
	s := &b.t.Storage
	s.Time = -1
	pk := b.t.PrimaryKey()
	col, inKey, err := b.timeColumn(given)
	if err != nil {
		return err
	}
	_, timeGiven := given["time"]
	layout, layoutGiven := given["layout"]
	if !layoutGiven {
		layout = "columnar"
		if pk != nil && !inKey && !timeGiven {
			layout = "row"
		}
	}
	switch layout {
	case "columnar":
		if pk != nil && col >= 0 && !inKey {
			name := b.t.Columns[col].Name
			return pgerr.New(pgerr.InvalidTableDefinition, `primary key of columnar table "%s" must contain the time column "%s"`, b.t.Name, name).
				WithHint(`Add "%s" to the primary key, or keep the rows in place: WITH (layout = 'row').`, name)
		}
		return b.columnar(given, col)
	case "row":
		return b.rowLayout(given)
	}
	if slices.Contains(laterLayouts, layout) {
		return pgerr.Unsupported(`layout "%s"`, layout)
	}
	return invalidOption("layout", layout, "Available values: columnar, row.")
}

func (b *tableBuilder) columnar(given map[string]string, timeCol int) error {
	s := &b.t.Storage
	s.Layout, s.Time = table.Columnar, timeCol
	if timeCol >= 0 && b.t.Columns[timeCol].Type.OID == types.Date {
		s.TimeUnit = table.Days
	}
	text, ok := given["bucket"]
	if !ok {
		return nil
	}
	if timeCol < 0 {
		return pgerr.New(pgerr.InvalidParameterValue, `option "bucket" needs a time column`).
			WithHint("The table has no date or timestamp column.")
	}
	width, err := positiveInterval("bucket", text, "Give a positive interval, such as '1 day'.")
	if err != nil {
		return err
	}
	s.Bucket = width
	return nil
}

func (b *tableBuilder) rowLayout(given map[string]string) error {
	for _, name := range []string{"time", "bucket"} {
		if _, ok := given[name]; ok {
			return pgerr.New(pgerr.InvalidParameterValue, `option "%s" does not apply to layout "row"`, name)
		}
	}
	if b.t.PrimaryKey() == nil {
		return pgerr.New(pgerr.InvalidTableDefinition, `layout "row" needs a primary key`).
			WithHint("Rows of this layout are found and overwritten by their key.")
	}
	b.t.Storage.Layout = table.RowStore
	return nil
}

// positiveInterval reads an interval as microseconds; a month counts 30 days.
func positiveInterval(option, text, hint string) (int64, error) {
	v := vector.New(vector.Fixed16, 1)
	if err := types.ParseText(v, types.T(types.Interval), []byte(text), &types.Context{}); err != nil {
		return 0, invalidOption(option, text, hint)
	}
	us, days, months := intervalFields(v.F16[0])
	const day = 86400 * 1000000
	total := us + (int64(days)+int64(months)*30)*day
	const longest = 1000 * 366 * day
	if total <= 0 || total > longest {
		return 0, invalidOption(option, text, hint)
	}
	return total, nil
}

// intervalFields splits the stored form of an interval.
func intervalFields(b [16]byte) (us int64, days, months int32) {
	return int64(binary.LittleEndian.Uint64(b[:8])), int32(binary.LittleEndian.Uint32(b[8:12])),
		int32(binary.LittleEndian.Uint32(b[12:]))
}

func (b *tableBuilder) conflict(given map[string]string) error {
	v, ok := given["conflict"]
	if !ok {
		return nil
	}
	switch v {
	case "error":
		b.t.Storage.Conflict = table.ConflictError
	case "replace":
		b.t.Storage.Conflict = table.ConflictReplace
	case "ignore":
		b.t.Storage.Conflict = table.ConflictIgnore
	default:
		return invalidOption("conflict", v, "Available values: error, replace, ignore.")
	}
	if v != "error" && b.t.PrimaryKey() == nil {
		return pgerr.New(pgerr.InvalidParameterValue, `option "conflict" needs a primary key`)
	}
	return nil
}
