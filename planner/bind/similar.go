package bind

import "tsdb/sql/pgerr"

// maxFuzzyDistance is how many edits away a column may be to be hinted at.
const maxFuzzyDistance = 3

// nearest collects the columns whose names resemble a missing one, by
// PostgreSQL's rule: at most two equally near ones are worth a hint.
type nearest struct {
	distance               int
	firstTable, firstCol   string
	secondTable, secondCol string
	hidden                 string // a relation that has the column but cannot be referenced
}

func (m *nearest) try(it *item, rel, col string) {
	penalty := 0
	if rel != "" {
		penalty = editDistance(rel, it.alias)
		if penalty > maxFuzzyDistance {
			return
		}
	}
	for i := range it.cols {
		name := it.cols[i].name
		if name == col && penalty == 0 {
			*m = nearest{distance: -1, hidden: it.alias}
			return
		}
		d := editDistance(name, col)
		if d > len(col)/2 {
			continue
		}
		m.note(d+penalty, it.alias, name)
	}
}

func (m *nearest) note(d int, table, col string) {
	switch {
	case d < m.distance:
		*m = nearest{distance: d, firstTable: table, firstCol: col}
	case d > m.distance:
	case m.secondCol != "":
		*m = nearest{distance: d - 1}
	case m.firstCol != "":
		m.secondTable, m.secondCol = table, col
	case d <= maxFuzzyDistance:
		m.firstTable, m.firstCol = table, col
	}
}

func (m *nearest) hint(e *pgerr.Error, col string) *pgerr.Error {
	switch {
	case m.hidden != "":
		return e.WithHint("There is a column named \"%s\" in table \"%s\", but it cannot be referenced from this part of the query.", col, m.hidden)
	case m.secondCol != "":
		return e.WithHint("Perhaps you meant to reference the column \"%s.%s\" or the column \"%s.%s\".",
			m.firstTable, m.firstCol, m.secondTable, m.secondCol)
	case m.firstCol != "":
		return e.WithHint("Perhaps you meant to reference the column \"%s.%s\".", m.firstTable, m.firstCol)
	}
	return e
}

// editDistance is Levenshtein's: insertions, deletions and substitutions count one each.
func editDistance(a, b string) int {
	ra, rb := []rune(a), []rune(b)
	row := make([]int, len(rb)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range ra {
		diag := row[0]
		row[0] = i + 1
		for j, y := range rb {
			cost := diag
			if x != y {
				cost++
			}
			diag = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(rb)]
}
