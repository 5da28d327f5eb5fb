package bind_test

import (
	"testing"

	"tsdb/planner/logical"
	"tsdb/planner/scalar"
)

// TestFormat compares conditions with what PostgreSQL 15's EXPLAIN printed of
// them; none needs constant folding.
func TestFormat(t *testing.T) {
	env := testEnv()
	for _, c := range [][2]string{
		{`delay > 5 and origin = 'SEA'`, `((delay > 5) AND (origin = 'SEA'::text))`},
		{`origin like 'a%' or not ok`, `((origin ~~ 'a%'::text) OR (NOT ok))`},
		{`note is null and ok is not true`, `((note IS NULL) AND (ok IS NOT TRUE))`},
		{`origin in ('a', 'it''s')`, `(origin = ANY ('{a,it''s}'::text[]))`},
		{`distance not in (1, 2)`, `(distance <> ALL ('{1,2}'::integer[]))`},
		{`price = 1.50`, `(price = 1.50)`},
		{`distance = -5`, `(distance = '-5'::integer)`},
		{`id > 5`, `(id > 5)`},
		{`case when distance > 1 then ok else false end`, `CASE WHEN (distance > 1) THEN ok ELSE false END`},
		{`coalesce(origin, 'x') = 'x'`, `(COALESCE(origin, 'x'::text) = 'x'::text)`},
		{`greatest(distance, 5) = 5`, `(GREATEST(distance, 5) = 5)`},
		{`at at time zone 'UTC' > '2020-01-01'`, `((at AT TIME ZONE 'UTC'::text) > '2020-01-01 00:00:00'::timestamp without time zone)`},
		{`distance is distinct from 5`, `(distance IS DISTINCT FROM 5)`},
		{`distance is not distinct from 5`, `(NOT (distance IS DISTINCT FROM 5))`},
		{`-distance > 3`, `((- distance) > 3)`},
		{`origin::varchar(2) = 'x'`, `(((origin)::character varying(2))::text = 'x'::text)`},
		{`price::text = '5'`, `((price)::text = '5'::text)`},
		{`dest = 'x'`, `((dest)::text = 'x'::text)`},
		{`tags[1] = 'x'`, `(tags[1] = 'x'::text)`},
		{`array[origin, 'x'] = tags`, `(ARRAY[origin, 'x'::text] = tags)`},
		{`distance = any ('{1,2}')`, `(distance = ANY ('{1,2}'::integer[]))`},
		{`origin > all (tags)`, `(origin > ALL (tags))`},
		{`at - interval '1 day' > '2020-01-01 00:00:00+00'`, `((at - '1 day'::interval) > '2020-01-01 00:00:00+00'::timestamp with time zone)`},
		{`date_trunc('day', at) = '2020-01-01 00:00:00+00'`, `(date_trunc('day'::text, at) = '2020-01-01 00:00:00+00'::timestamp with time zone)`},
		{`origin ~ E'a\\b'`, `(origin ~ 'a\b'::text)`},
		{`delay > 2.5`, `((delay)::numeric > 2.5)`},
	} {
		b, err := bindText(env, "select 1 from flights where "+c[0])
		if err != nil {
			t.Errorf("%s: %v", c[0], err)
			continue
		}
		cond := b.Root.(*logical.Project).Input.(*logical.Filter).Cond
		if got := scalar.Format(cond); got != c[1] {
			t.Errorf("%s\n got %s\nwant %s", c[0], got, c[1])
		}
	}
}
