package functions

import (
	"sort"

	"tsdb/sql/types"
)

// The tables of everything that is registered. Filled by init functions of this
// package and of sql/pgcatalog, read only afterwards.
var (
	functionsByName  = map[string][]*Overload{}
	operatorsBySign  = map[string][]*Overload{}
	aggregatesByName = map[string][]*Aggregate{}
	returningByName  = map[string][]*SetReturning{}
	nextOID          = types.OID(70000)
)

// RegisterFunctions adds functions and operators. Only init functions call it. An
// overload without an OID gets PostgreSQL's if oids.tsv has it, else one from 70000 up.
func RegisterFunctions(os ...Overload) {
	for i := range os {
		o := &os[i]
		if o.OID == 0 && o.Operator {
			o.OID = oidOf('o', o.Name, o.Args)
		} else if o.OID == 0 {
			o.OID = oidOf('f', o.Name, o.Args)
		}
		if o.Operator {
			operatorsBySign[o.Name] = append(operatorsBySign[o.Name], o)
		} else {
			functionsByName[o.Name] = append(functionsByName[o.Name], o)
		}
	}
}

// RegisterAggregates adds aggregates. Only init functions call it.
func RegisterAggregates(as ...Aggregate) {
	for i := range as {
		a := &as[i]
		if a.OID == 0 {
			a.OID = oidOf('f', a.Name, a.Args)
		}
		aggregatesByName[a.Name] = append(aggregatesByName[a.Name], a)
	}
}

// RegisterSetReturning adds set-returning functions. Only init functions call it.
func RegisterSetReturning(fs ...SetReturning) {
	for i := range fs {
		f := &fs[i]
		if f.OID == 0 {
			f.OID = oidOf('f', f.Name, f.Args)
		}
		returningByName[f.Name] = append(returningByName[f.Name], f)
	}
}

// Functions returns the overloads of a function name (lower case), nil if there is none.
func Functions(name string) []*Overload { return functionsByName[name] }

// Aggregates returns the overloads of an aggregate name.
func Aggregates(name string) []*Aggregate { return aggregatesByName[name] }

// SetReturningFunctions returns the overloads of a set-returning function name.
func SetReturningFunctions(name string) []*SetReturning { return returningByName[name] }

// AllFunctions calls f for each function overload, by name, until f returns false.
func AllFunctions(f func(*Overload) bool) { eachSorted(functionsByName, f) }

// AllOperators calls f for each operator overload, by symbol, until f returns false.
func AllOperators(f func(*Overload) bool) { eachSorted(operatorsBySign, f) }

// AllAggregates calls f for each aggregate overload, by name, until f returns false.
func AllAggregates(f func(*Aggregate) bool) { eachSorted(aggregatesByName, f) }

// AllSetReturning calls f for each set-returning overload, by name, until f returns false.
func AllSetReturning(f func(*SetReturning) bool) { eachSorted(returningByName, f) }

func eachSorted[T any](m map[string][]T, f func(T) bool) {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		for _, o := range m[n] {
			if !f(o) {
				return
			}
		}
	}
}
