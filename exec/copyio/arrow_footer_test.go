package copyio

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// TestArrowLengths puts an absurd length into every word of an Arrow file's
// footer: the reader must not allocate what it says.
func TestArrowLengths(t *testing.T) {
	f := arrowFile(t, manyRows(50, 50)...)
	whole := make([]byte, f.Len())
	if _, err := f.ReadAt(whole, 0); err != nil {
		t.Fatal(err)
	}
	if err := checkFooter(f); err != nil {
		t.Fatal(err)
	}
	n := int(binary.LittleEndian.Uint32(whole[len(whole)-arrowTail:]))
	refused := 0
	for at := len(whole) - arrowTail - n; at+4 <= len(whole); at += 4 {
		b := bytes.Clone(whole)
		binary.LittleEndian.PutUint32(b[at:], 0x7000000)
		if err := checkFooter(bytes.NewReader(b)); err != nil {
			refused++
			continue
		}
		r, err := NewFileReader(bytes.NewReader(b), "t", []Column{{"s", tText}, {"k", tInt8}, {"d", tNumeric}}, Arrow)
		if err == nil {
			r.Next() // rows or an error
		}
	}
	if refused < 10 {
		t.Errorf("%d damaged footers refused", refused)
	}
}
