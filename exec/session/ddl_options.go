package session

import (
	"encoding/binary"
	"slices"
	"strings"

	"tsdb/colstore/table"
	"tsdb/colstore/vector"
	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// Options of WITH (...), as DESIGN's table lists them.
var (
	tableOptions = []string{"layout", "time", "bucket", "conflict"}
	// laterOptions are known and belong to features that do not exist yet.
	laterOptions = []string{"retention", "row_key", "composite", "bucket_origin", "granularity", "timestamp_rounding", "cell_ts",
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

// options reads WITH (...) and fixes layout, time column, bucket and conflict.
func (b *tableBuilder) options() error {
	given := map[string]string{}
	for _, o := range b.stmt.Options {
		d := o.GetDefElem()
		name, value := d.GetDefname(), constText(d.GetArg())
		switch {
		case isStorageParameter(d.GetDefnamespace(), name):
			b.s.storageParameterNotice(name)
			continue
		case name == "oids" && d.GetDefnamespace() == "":
			if value != "false" && value != "off" {
				return pgerr.New(pgerr.FeatureNotSupported, "tables declared WITH OIDS are not supported")
			}
			continue
		case slices.Contains(laterOptions, name):
			return pgerr.Unsupported(`option "%s"`, name)
		case d.GetDefnamespace() != "" || !slices.Contains(tableOptions, name):
			return pgerr.New(pgerr.InvalidParameterValue, `unrecognized parameter "%s"`, name).
				WithHint("Options are %s.", strings.Join(tableOptions, ", "))
		}
		if _, dup := given[name]; dup {
			return pgerr.New(pgerr.InvalidParameterValue, `parameter "%s" specified more than once`, name)
		}
		given[name] = value
		b.t.Options = append(b.t.Options, catalog.Option{Name: name, Value: value})
	}
	if err := b.chooseLayout(given); err != nil {
		return err
	}
	return b.conflict(given)
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
	width, err := bucketWidth(text)
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

// bucketWidth reads an interval as microseconds; a month counts 30 days.
func bucketWidth(text string) (int64, error) {
	v := vector.New(vector.Fixed16, 1)
	const hint = "Give a positive interval, such as '1 day'."
	if err := types.ParseText(v, types.T(types.Interval), []byte(text), &types.Context{}); err != nil {
		return 0, invalidOption("bucket", text, hint)
	}
	us, days, months := intervalFields(v.F16[0])
	const day = 86400 * 1000000
	total := us + (int64(days)+int64(months)*30)*day
	const longest = 1000 * 366 * day
	if total <= 0 || total > longest {
		return 0, invalidOption("bucket", text, hint)
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
