package pgcatalog

import (
	"cmp"
	"slices"
	"time"

	"tsdb/colstore/vector"
	"tsdb/sql/catalog"
	"tsdb/sql/functions"
	"tsdb/sql/types"
)

func fillOperator(w *rows, _ *source) {
	for o := range functions.AllOperators {
		w.oid("oid", o.OID).text("oprname", o.Name).oid("oprnamespace", catalog.PgCatalogOID).oid("oprowner", catalog.BootstrapRoleOID)
		if len(o.Args) == 1 {
			w.text("oprkind", "l").oid("oprleft", 0).oid("oprright", o.Args[0])
		} else {
			w.text("oprkind", "b").oid("oprleft", o.Args[0]).oid("oprright", o.Args[1])
		}
		w.oid("oprresult", o.Ret).bools(false, "oprcanmerge", "oprcanhash")
		w.nums(0, "oprcom", "oprnegate", "oprcode", "oprrest", "oprjoin").end()
	}
}

// castOIDBase numbers the rows of pg_cast, which have no OID of their own here.
const castOIDBase = 1 << 30

func fillCast(w *rows, _ *source) {
	casts := slices.SortedFunc(functions.AllCasts, func(a, b *functions.Cast) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	for i, c := range casts {
		method := "f"
		if c.Make == nil {
			method = "b"
		}
		w.oid("oid", castOIDBase+uint32(i)).oid("castsource", c.From).oid("casttarget", c.To).oid("castfunc", 0)
		w.text("castcontext", string("iae"[c.Context])).text("castmethod", method).end()
	}
}

// seconds is an interval of that many seconds.
func seconds(n int) [16]byte { return types.IntervalValue{Micros: int64(n) * 1e6}.Encode() }

func (w *rows) fixed(name string, v [16]byte) *rows {
	if c := w.col(name); c != nil && c.Kind == vector.Fixed16 {
		c.AppendFixed16(v)
	}
	return w
}

func (s *source) now() time.Time {
	if s.ctx != nil && s.ctx.Now != 0 {
		return time.UnixMicro(s.ctx.Now)
	}
	return time.UnixMicro(0)
}

func fillTimezoneNames(w *rows, s *source) {
	now := s.now()
	for _, name := range types.ZoneNames() {
		loc, ok := types.LoadZone(name)
		if !ok {
			continue
		}
		t := now.In(loc)
		abbrev, offset := t.Zone()
		w.text("name", name).text("abbrev", abbrev).fixed("utc_offset", seconds(offset)).bool("is_dst", t.IsDST()).end()
	}
}

func fillTimezoneAbbrevs(w *rows, s *source) {
	now := s.now()
	for _, a := range types.Abbrevs() {
		offset, dst := a.Offset, a.DST
		if a.Zone != "" {
			loc, ok := types.LoadZone(a.Zone)
			if !ok {
				continue
			}
			t := now.In(loc)
			_, offset = t.Zone()
			dst = t.IsDST()
		}
		w.text("abbrev", a.Name).fixed("utc_offset", seconds(offset)).bool("is_dst", dst).end()
	}
}
