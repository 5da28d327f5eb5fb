package bind_test

import (
	"testing"

	"tsdb/planner/bind"
	"tsdb/sql"
	"tsdb/sql/pgerr"
)

func bindErr(env *bind.Env, q string) error {
	sts, err := sql.Parse(q)
	if err != nil {
		return err
	}
	_, err = bind.Bind(env, sts[0], nil)
	return err
}

func wantError(t *testing.T, env *bind.Env, q, code, message string, position int) {
	t.Helper()
	if len(q) > 100 {
		t.Logf("%s...", q[:100])
	}
	err := bindErr(env, q)
	if err == nil {
		t.Errorf("%.100s: no error", q)
		return
	}
	e := pgerr.From(err)
	if string(e.Code) != code || e.Message != message || e.Position != position {
		t.Errorf("%.100s:\n got %s %s @%d\nwant %s %s @%d", q, e.Code, e.Message, e.Position, code, message, position)
	}
}
