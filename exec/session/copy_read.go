package session

import (
	"context"
	"io"
	"slices"

	"tsdb/colstore/vector"
	"tsdb/exec/copyio"
)

// aheadBatches is how many batches a COPY reads ahead of those being stored:
// enough that neither side waits for the other's hiccups, few enough that wide
// rows do not take much memory.
const aheadBatches = 2

// copied is a batch of input, or how the input ended.
type copied struct {
	batch *vector.Batch // nil: the end
	lines copyio.Lines
	err   error
	panic any
}

// copyRows stores what in reads. While it does, another goroutine reads on; it
// has ended when copyRows returns. cancel ends its wait for a client.
func (s *Session) copyRows(ctx context.Context, cancel context.CancelCauseFunc, w *writer, f *filler, in copyio.Reader) error {
	var from copied
	w.where = func(i int) string { return "COPY " + w.t.Name + ", line " + itoa(from.lines.Of(i)) }
	store := func() error {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		full, err := f.fill(from.batch)
		if err != nil {
			return err
		}
		if f.computes() {
			return w.append(full)
		}
		return w.appendOwned(full)
	}
	// Most COPYs of a client end with their first batch.
	for from = readCopied(in); ; from = readCopied(in) {
		if from.err != nil || from.batch == nil {
			return from.err
		}
		if err := store(); err != nil {
			return err
		}
		if from.batch.N == copyio.MaxRows {
			break
		}
	}
	ahead := make(chan copied, aheadBatches)
	go readAhead(ctx, in, ahead)
	defer func() {
		cancel(nil)
		for range ahead { // until the goroutine has ended
		}
	}()
	for from = range ahead {
		if from.panic != nil {
			panic(from.panic)
		}
		if from.err != nil || from.batch == nil {
			return from.err
		}
		if err := store(); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// computes reports whether some columns are not of the input, so that their
// memory is used again.
func (f *filler) computes() bool {
	return len(f.source) == 0 || slices.Min(f.source) < 0
}

// appendOwned is append of rows whose memory storage may keep.
func (w *writer) appendOwned(b *vector.Batch) error {
	if err := w.prepare(b.Cols, b.N); err != nil {
		return err
	}
	ctx, stop := w.s.withLockTimeout(w.ctx)
	defer stop()
	n, err := w.tx.AppendOwned(ctx, w.t.Storage.ID, &w.out)
	if err != nil {
		return w.located(err)
	}
	w.added += n
	return w.noteWritten(&w.out)
}

func readCopied(in copyio.Reader) copied {
	b, err := in.Next()
	return copied{batch: b, lines: in.Lines(), err: err}
}

// readAhead sends batches until the end of the input, an error or the end of ctx.
func readAhead(ctx context.Context, in copyio.Reader, out chan<- copied) {
	defer close(out)
	defer func() {
		if p := recover(); p != nil {
			out <- copied{panic: p}
		}
	}()
	for {
		c := readCopied(in)
		select {
		case out <- c:
		case <-ctx.Done():
			return
		}
		if c.err != nil || c.batch == nil {
			return
		}
	}
}

// streamReader reads a client's stream to its end, also where the rows end
// before it: the client may still fail it, and the wait for that belongs to
// the statement.
type streamReader struct {
	copyio.Reader
	stream io.Reader
}

// Next implements copyio.Reader.
func (r *streamReader) Next() (*vector.Batch, error) {
	b, err := r.Reader.Next()
	if b == nil && err == nil {
		_, err = io.Copy(io.Discard, r.stream)
	}
	return b, err
}
