package pgcatalog

import (
	"fmt"
	"strings"

	"tsdb/colstore/table"
	"tsdb/sql/catalog"
)

// storage returns what looks into storage, nil if the session cannot.
func (s *source) storage() StorageLister {
	if s.ctx == nil {
		return nil
	}
	l, _ := s.ctx.Session.(StorageLister)
	return l
}

// fillSegments writes a row per segment; segment is NULL for rows that are not
// in one yet.
func fillSegments(w *rows, s *source) {
	l := s.storage()
	if l == nil {
		return
	}
	for _, t := range s.cat.Tables() {
		list, err := l.Segments(t)
		if err != nil {
			w.err = err
			return
		}
		for i := range list {
			g := &list[i]
			if g.ID == 0 && g.Rows == 0 {
				continue
			}
			segmentRow(w, s, t, g)
		}
	}
}

func segmentRow(w *rows, s *source, t *catalog.Table, g *table.SegmentInfo) {
	w.text("schema_name", s.schemaName(t.Schema)).text("table_name", t.Name)
	if g.ID != 0 {
		w.num("segment", int64(g.ID)).num("min_sequence", int64(g.MinSequence)).num("max_sequence", int64(g.MaxSequence))
	}
	if g.BucketWidth > 0 {
		w.num("bucket_start", g.BucketStart).num("bucket_end", g.BucketStart+g.BucketWidth)
	}
	w.num("rows", g.Rows).num("deleted", g.Deleted).num("blocks", g.Blocks).num("bytes", g.Bytes)
	w.ratio("bytes_per_row", g.Bytes, g.Rows)
	if g.MinTime <= g.MaxTime && t.Storage.Time >= 0 {
		w.num("min_time", g.MinTime).num("max_time", g.MaxTime)
	}
	w.end()
}

// fillChunks writes a row per column of a segment.
func fillChunks(w *rows, s *source) {
	l := s.storage()
	if l == nil {
		return
	}
	for _, t := range s.cat.Tables() {
		list, err := l.Chunks(t)
		if err != nil {
			w.err = err
			return
		}
		names := map[table.ColumnID]string{}
		for _, c := range t.Columns {
			names[c.ID] = c.Name
		}
		for i := range list {
			c := &list[i]
			w.text("schema_name", s.schemaName(t.Schema)).text("table_name", t.Name)
			if n, ok := names[c.Column]; ok { // else a dropped column, or one of storage's own
				w.text("column_name", n)
			}
			w.num("segment", int64(c.Segment)).num("rows", c.Rows).num("nulls", c.Nulls).num("parts", c.Parts)
			w.num("bytes", c.Bytes).ratio("bytes_per_row", c.Bytes, c.Rows)
			w.text("encodings", encodingText(c.Encodings)).end()
		}
	}
}

// encodingText prints how many blocks have each encoding: for 12, constant 1.
func encodingText(list []table.EncodingCount) string {
	parts := make([]string, len(list))
	for i, e := range list {
		parts[i] = fmt.Sprintf("%s %d", e.Name, e.Blocks)
	}
	return strings.Join(parts, ", ")
}

// fillWrites writes one row: what writing has cost since the start.
func fillWrites(w *rows, s *source) {
	l := s.storage()
	if l == nil {
		return
	}
	x := l.WriteStats()
	w.num("rows", x.Rows).num("logical_bytes", x.LogicalBytes).num("log_bytes", x.LogBytes).num("flush_bytes", x.FlushBytes)
	w.num("compact_bytes", x.CompactBytes).num("ingest_bytes", x.IngestBytes)
	w.ratio("write_amplification", x.LogBytes+x.FlushBytes+x.CompactBytes+x.IngestBytes, x.LogicalBytes)
	w.num("flushes", x.Flushes).num("compactions", x.Compactions).num("log_syncs", x.LogSyncs)
	w.num("deleted_rows", x.DeletedRows).num("expired_rows", x.ExpiredRows).num("swept_segments", x.SweptSegments).end()
}
