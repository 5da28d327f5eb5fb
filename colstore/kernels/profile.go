package kernels

// Profile is what one pass over integers tells of the forms that fit them.
type Profile struct {
	Lo, Hi         int64
	DiffLo, DiffHi int64 // bounds of the differences of neighbours
	DiffsOverflow  bool  // some difference does not fit; the bounds mean nothing then
	Changes        int   // neighbours that differ
	overflow       int64
}

// ProfileOf returns the profile of vals, which is not empty.
func ProfileOf(vals []int64) Profile {
	p := Profile{Lo: vals[0], Hi: vals[0]}
	if len(vals) == 1 {
		return p
	}
	p.DiffLo = vals[1] - vals[0]
	p.DiffHi = p.DiffLo
	done := simdProfile(&p, vals)
	p.extend(vals, done)
	p.DiffsOverflow = p.overflow < 0
	return p
}

// extend takes the values from i on into the profile, i >= 1.
func (p *Profile) extend(vals []int64, i int) {
	q := *p
	last := vals[i-1]
	for _, x := range vals[i:] {
		d := x - last
		q.overflow |= (x ^ last) & (x ^ d)
		q.Lo, q.Hi = min(q.Lo, x), max(q.Hi, x)
		q.DiffLo, q.DiffHi = min(q.DiffLo, d), max(q.DiffHi, d)
		if d != 0 {
			q.Changes++
		}
		last = x
	}
	*p = q
}
