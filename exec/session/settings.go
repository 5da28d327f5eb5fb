package session

import (
	"maps"
	"slices"
	"strings"

	"tsdb/sql/pgcatalog"
	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

// settingValues are the values that differ from the defaults, by lower-case
// name. The maps are replaced, never changed, so that a savepoint keeps them
// by keeping this struct.
type settingValues struct {
	session map[string]string
	local   map[string]string // SET LOCAL: until the end of the transaction
}

// value returns the kept value of a setting, known or custom.
func (s *Session) value(lname string) (string, bool) {
	switch lname {
	case "transaction_isolation":
		return s.isolation(), true
	case "transaction_read_only":
		return onOff(s.readOnly()), true
	}
	for _, m := range []map[string]string{s.vals.local, s.vals.session, s.reset} {
		if v, ok := m[lname]; ok {
			return v, true
		}
	}
	if p, ok := parameters[lname]; ok {
		return p.boot, true
	}
	return "", false
}

func (s *Session) mustValue(lname string) string {
	v, _ := s.value(lname)
	return v
}

func (s *Session) boolValue(lname string) bool { return s.mustValue(lname) == "on" }

func (s *Session) intValue(lname string) int64 {
	var n int64
	for i, c := range []byte(s.mustValue(lname)) {
		if i == 0 && c == '-' {
			return -1
		}
		n = n*10 + int64(c-'0')
	}
	return n
}

// show returns what SHOW prints.
func (s *Session) show(name string) (value string, err error) {
	lname := strings.ToLower(name)
	v, ok := s.value(lname)
	if !ok {
		return "", unrecognized(name)
	}
	if p, ok := parameters[lname]; ok {
		v = p.show(v)
	}
	return v, nil
}

func unrecognized(name string) error {
	return pgerr.New(pgerr.UndefinedObject, `unrecognized configuration parameter "%s"`, name)
}

// lookup finds the parameter that may be set under this name; custom names
// (with a dot) get a parameter of their own.
func lookup(name string) (*parameter, error) {
	if p, ok := parameters[strings.ToLower(name)]; ok {
		return p, nil
	}
	if !strings.Contains(name, ".") {
		return nil, unrecognized(name)
	}
	if !validCustomName(name) {
		return nil, pgerr.New(pgerr.InvalidName, `invalid configuration parameter name "%s"`, name).
			WithDetail("Custom parameter names must be two or more simple identifiers separated by dots.")
	}
	if strings.HasPrefix(strings.ToLower(name), "tsdb.") {
		return nil, pgerr.New(pgerr.InvalidName, `invalid configuration parameter name "%s"`, name).
			WithDetail(`"tsdb" is a reserved prefix.`)
	}
	return &parameter{name: name, typ: stringParam, context: "user"}, nil
}

func validCustomName(name string) bool {
	for part := range strings.SplitSeq(name, ".") {
		if part == "" {
			return false
		}
		for i, c := range []byte(part) {
			letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
			if !letter && (i == 0 || c != '$' && (c < '0' || c > '9')) {
				return false
			}
		}
	}
	return true
}

// mayChange checks a parameter's context against the session.
func (s *Session) mayChange(p *parameter) error {
	switch p.context {
	case "internal":
		return pgerr.New(pgerr.CantChangeRuntimeParam, `parameter "%s" cannot be changed`, p.name)
	case "postmaster":
		return pgerr.New(pgerr.CantChangeRuntimeParam, `parameter "%s" cannot be changed without restarting the server`, p.name)
	case "sighup":
		return pgerr.New(pgerr.CantChangeRuntimeParam, `parameter "%s" cannot be changed now`, p.name)
	case "superuser":
		if !s.superuser() {
			return pgerr.New(pgerr.InsufficientPrivilege, `permission denied to set parameter "%s"`, p.name)
		}
	}
	return nil
}

// set changes a setting; local limits it to the transaction.
func (s *Session) set(name, value string, local bool) error {
	p, err := lookup(name)
	if err != nil {
		return err
	}
	if err := s.mayChange(p); err != nil {
		return err
	}
	value, err = p.canonical(s, value)
	if err != nil {
		return err
	}
	s.assign(p, value, local)
	return nil
}

func (s *Session) assign(p *parameter, value string, local bool) {
	lname := strings.ToLower(p.name)
	switch lname {
	case "transaction_isolation", "transaction_read_only":
		return // kept in the transaction by the check
	}
	if local {
		s.vals.local = with(s.vals.local, lname, value)
	} else {
		s.vals.session = with(s.vals.session, lname, value)
		s.vals.local = without(s.vals.local, lname)
	}
	s.derive()
}

func with(m map[string]string, k, v string) map[string]string {
	n := make(map[string]string, len(m)+1)
	maps.Copy(n, m)
	n[k] = v
	return n
}

func without(m map[string]string, k string) map[string]string {
	if _, ok := m[k]; !ok {
		return m
	}
	n := maps.Clone(m)
	delete(n, k)
	return n
}

// resetSetting is RESET name and SET name TO DEFAULT.
func (s *Session) resetSetting(name string, local bool) error {
	p, err := lookup(name)
	if err != nil {
		return err
	}
	if err := s.mayChange(p); err != nil {
		return err
	}
	lname := strings.ToLower(p.name)
	if s.tx != nil {
		switch lname {
		case "transaction_isolation":
			return s.setIsolation(s.mustValue("default_transaction_isolation"))
		case "transaction_read_only":
			return s.setReadOnly(s.boolValue("default_transaction_read_only"))
		}
	}
	if local {
		def, ok := s.reset[lname]
		if !ok {
			def = p.boot
		}
		s.vals.local = with(s.vals.local, lname, def)
	} else {
		s.vals.session = without(s.vals.session, lname)
		s.vals.local = without(s.vals.local, lname)
	}
	s.derive()
	return nil
}

// resetAll is RESET ALL: everything but who the session is.
func (s *Session) resetAll() {
	keep := map[string]string{}
	for _, n := range []string{"role", "session_authorization", "is_superuser"} {
		if v, ok := s.vals.session[n]; ok {
			keep[n] = v
		}
	}
	s.vals = settingValues{session: keep}
	s.derive()
}

// derive recomputes what other parts read often from the settings.
func (s *Session) derive() {
	c := &s.tctx
	c.Zone, _, _ = loadZone(s.mustValue("timezone"))
	c.DateStyle, c.DateOrder = dateStyleOf(s.mustValue("datestyle"))
	c.IntervalStyle = types.IntervalStyle(max(0, slices.Index(intervalStyles, s.mustValue("intervalstyle"))))
	c.ExtraFloatDigits = int(s.intValue("extra_float_digits"))
	if v := s.mustValue("extra_float_digits"); strings.HasPrefix(v, "-") {
		c.ExtraFloatDigits = -int(parseBound(v[1:]))
	}
	c.ByteaEscape = s.mustValue("bytea_output") == "escape"
	s.pathNames = splitIdentifiers(s.mustValue("search_path"))
	s.mu.Lock()
	s.application = s.mustValue("application_name")
	s.mu.Unlock()
	s.settingsKey = strings.Join([]string{s.mustValue("search_path"), s.mustValue("timezone"), s.mustValue("datestyle"),
		s.mustValue("intervalstyle"), s.mustValue("extra_float_digits"), s.mustValue("bytea_output"), s.currentUser(),
		s.mustValue("tsdb.pruning")}, "\x00")
}

var intervalStyles = []string{"postgres", "postgres_verbose", "sql_standard", "iso_8601"}

// reportChanges sends ParameterStatus for the reported settings whose value
// differs from what the client knows; PostgreSQL does so before ReadyForQuery.
func (s *Session) reportChanges() {
	for _, lname := range reportNames {
		v := s.mustValue(lname)
		if s.known[lname] != v {
			s.known[lname] = v
			if s.client != nil {
				s.client.ParameterStatus(parameters[lname].name, v)
			}
		}
	}
}

// ListSettings implements pgcatalog.SettingsLister.
func (s *Session) ListSettings() []pgcatalog.Setting {
	out := make([]pgcatalog.Setting, 0, len(parameterNames))
	for _, n := range parameterNames {
		p := parameters[n]
		if p.hidden {
			continue
		}
		reset, ok := s.reset[n]
		if !ok {
			reset = p.boot
		}
		out = append(out, pgcatalog.Setting{Name: p.name, Value: s.mustValue(n), Unit: p.unit, Description: p.doc,
			Context: p.context, Type: paramTypeNames[p.typ], Boot: p.boot, Reset: reset})
	}
	return out
}
