package logical

// Width returns len(n.Columns()) without making the columns: a join chain of
// thousands of tables asks for it at every level.
func Width(n Node) int {
	w := 0
	for {
		switch x := n.(type) {
		case *Join:
			switch {
			case x.Kind == Mark:
				w++
			case !LeftOnly(x.Kind):
				w += Width(x.Right)
			}
			n = x.Left
		case *Filter:
			n = x.Input
		case *Sort:
			n = x.Input
		case *Limit:
			n = x.Input
		case *DistinctRows:
			n = x.Input
		case *With:
			n = x.Body
		case *ProjectSet:
			w += x.added()
			n = x.Input
		case *Scan:
			if x.Output != nil {
				return w + len(x.Output)
			}
			return w + len(x.Cols)
		default:
			return w + len(n.Columns())
		}
	}
}
