package functions

import (
	"context"
	"time"

	"tsdb/colstore/vector"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// sessionText makes a function that asks the session for one string.
func sessionText(f func(s Session) string) Kernel {
	return func(c *Ctx, out *vector.Vector, _ []*vector.Vector, n int) error {
		if c.Session == nil {
			return errNoSession()
		}
		word := f(c.Session)
		for i := 0; i < n; i++ {
			out.Data = append(out.Data, word...)
			endRow(out)
		}
		return nil
	}
}

func errNoSession() error {
	return pgerr.New(pgerr.InternalError, "there is no session to ask")
}

// currentSchema is the first schema of the search path that a user named.
func currentSchema(c *Ctx, out *vector.Vector, _ []*vector.Vector, n int) error {
	if c.Session == nil {
		return errNoSession()
	}
	for i := 0; i < n; i++ {
		found := false
		for _, s := range c.Session.SearchPath() {
			if s != "pg_catalog" {
				out.Data = append(out.Data, s...)
				found = true
				break
			}
		}
		if !found {
			setNull(out, i, n)
		}
		endRow(out)
	}
	return nil
}

func currentSchemas(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	if c.Session == nil {
		return errNoSession()
	}
	names := vector.New(vector.Bytes, 4)
	for i := 0; i < n; i++ {
		if live(out, i) {
			names.Reset(vector.Bytes)
			for _, s := range c.Session.SearchPath() {
				if s != "pg_catalog" || args[0].Bool(i) {
					names.AppendString(s)
				}
			}
			out.Data = AppendArray(out.Data, types.Name, names, 0, names.N)
		}
		endRow(out)
	}
	return nil
}

func currentSetting(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	if c.Session == nil {
		return errNoSession()
	}
	for i := 0; i < n; i++ {
		if live(out, i) {
			name := str(args[0], i)
			v, ok := c.Session.Setting(name)
			switch {
			case ok:
				out.Data = append(out.Data, v...)
			case len(args) > 1 && args[1].Bool(i):
				setNull(out, i, n)
			default:
				return pgerr.New(pgerr.UndefinedObject, "unrecognized configuration parameter \"%s\"", name)
			}
		}
		endRow(out)
	}
	return nil
}

// setConfig sets a setting and returns its new value.
func setConfig(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	if c.Session == nil {
		return errNoSession()
	}
	for i := 0; i < n; i++ {
		if args[0].IsNull(i) {
			return pgerr.New(pgerr.NullValueNotAllowed, "SET requires parameter name")
		}
		name, value := str(args[0], i), ""
		if !args[1].IsNull(i) {
			value = str(args[1], i)
		}
		local := !args[2].IsNull(i) && args[2].Bool(i)
		if err := c.Session.SetSetting(name, value, local); err != nil {
			return err
		}
		if v, ok := c.Session.Setting(name); ok {
			value = v
		}
		out.Data = append(out.Data, value...)
		endRow(out)
	}
	return nil
}

func backendPID(c *Ctx, out *vector.Vector, _ []*vector.Vector, n int) error {
	if c.Session == nil {
		return errNoSession()
	}
	for i := range out.I32[:n] {
		out.I32[i] = c.Session.BackendPID()
	}
	return nil
}

// typeOf is pg_typeof: the type the binder gave the argument.
func typeOf(in []types.Type) Kernel {
	return func(_ *Ctx, out *vector.Vector, _ []*vector.Vector, n int) error {
		for i := range out.U32[:n] {
			out.U32[i] = in[0].Shown().OID
		}
		return nil
	}
}

// maxSleep bounds pg_sleep, so that a statement cannot hold a connection for ever.
const maxSleep = 24 * time.Hour

func sleep(c *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
	for i := 0; i < n; i++ {
		if live(out, i) {
			d := min(maxSleep, time.Duration(min(args[0].F64[i&args[0].Mask()], maxSleep.Seconds())*float64(time.Second)))
			if err := wait(c, d); err != nil {
				return err
			}
		}
		endRow(out)
	}
	return nil
}

func wait(c *Ctx, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	running := c.Running
	if running == nil {
		running = context.Background()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-running.Done():
		return context.Cause(running)
	}
}

func versionText(s Session) string {
	v, _ := s.Setting("server_version")
	t, ok := s.Setting("tsdb.version")
	if !ok {
		t = "unknown"
	}
	return "PostgreSQL " + v + " (tsdb " + t + ")"
}

func countNulls(nulls bool) Kernel {
	return func(_ *Ctx, out *vector.Vector, args []*vector.Vector, n int) error {
		for i := range out.I32[:n] {
			k := int32(0)
			for _, a := range args {
				if a.IsNull(i) == nulls {
					k++
				}
			}
			out.I32[i] = k
		}
		return nil
	}
}

func init() {
	t, name := types.Text, types.Name
	ask := func(fnName string, ret types.OID, f func(Session) string, doc string) {
		RegisterFunctions(fn(fnName, ret, sessionText(f)).stable().fails().doc(doc))
	}
	ask("version", t, versionText, "Version of the server.")
	ask("current_user", name, Session.CurrentUser, "Role whose rights count.")
	ask("user", name, Session.CurrentUser, "Role whose rights count.")
	ask("current_role", name, Session.CurrentUser, "Role whose rights count.")
	ask("session_user", name, Session.SessionUser, "Role that connected.")
	ask("current_database", name, Session.Database, "Name of the database.")
	ask("current_catalog", name, Session.Database, "Name of the database.")
	RegisterFunctions(
		fn("current_schema", name, currentSchema).stable().fails().doc("First schema of the search path."),
		fn("current_schemas", types.NameArray, currentSchemas, types.Bool).stable().fails().doc("Schemas of the search path."),
		fn("current_setting", t, currentSetting, t).stable().fails().doc("Value of a setting."),
		fn("current_setting", t, currentSetting, t, types.Bool).stable().fails().doc("Value of a setting, NULL if there is none."),
		fn("set_config", t, setConfig, t, t, types.Bool).volatile().takesNulls().fails().doc("Changes a setting."),
		fn("pg_backend_pid", types.Int4, backendPID).stable().fails().doc("Number of the session."),
		fn("pg_sleep", types.Void, sleep, types.Float8).volatile().fails().doc("Waits a number of seconds."),
		boundFn("pg_typeof", types.Regtype, typeOf, types.Any).stable().takesNulls().doc("Type of the argument."),
		fn("num_nulls", types.Int4, countNulls(true), types.Any).variadic().takesNulls().doc("Number of arguments that are NULL."),
		fn("num_nonnulls", types.Int4, countNulls(false), types.Any).variadic().takesNulls().doc("Number of arguments that are not NULL."),
	)
}
