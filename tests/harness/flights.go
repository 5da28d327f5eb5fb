package harness

import (
	"bufio"
	"context"
	"io"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// FlightsCSV streams the flights of a Parquet file as CSV (date, delay,
// distance, origin, destination): how PostgreSQL gets the rows that tsdb reads
// from the file itself. Close the reader.
func FlightsCSV(t testing.TB, path string) io.ReadCloser {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	pf, err := file.NewParquetReader(f)
	if err != nil {
		t.Fatal(err)
	}
	fr, err := pqarrow.NewFileReader(pf, pqarrow.ArrowReadProperties{BatchSize: 1 << 16}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	rr, err := fr.GetRecordReader(context.Background(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	go func() {
		b := bufio.NewWriterSize(w, 1<<20)
		for rr.Next() {
			writeFlights(b, rr.RecordBatch())
		}
		b.Flush()
		w.CloseWithError(io.EOF)
		f.Close()
	}()
	return r
}

func writeFlights(b *bufio.Writer, rec arrow.RecordBatch) {
	date, delay := rec.Column(0).(*array.Timestamp), rec.Column(1).(*array.Int64)
	distance := rec.Column(2).(*array.Int64)
	origin, destination := rec.Column(3).(array.StringLike), rec.Column(4).(array.StringLike)
	var line []byte
	for i := 0; i < int(rec.NumRows()); i++ {
		line = time.UnixMicro(int64(date.Value(i))).UTC().AppendFormat(line[:0], "2006-01-02 15:04:05.999999")
		line = append(line, ',')
		if delay.IsValid(i) {
			line = strconv.AppendInt(line, delay.Value(i), 10)
		}
		line = append(line, ',')
		line = strconv.AppendInt(line, distance.Value(i), 10)
		line = append(line, ',')
		line = append(append(line, origin.Value(i)...), ',')
		line = append(append(line, destination.Value(i)...), '\n')
		b.Write(line)
	}
}
