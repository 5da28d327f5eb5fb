package session

import (
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"tsdb/sql/catalog"
	"tsdb/sql/pgerr"
)

func noRole(name string) error {
	return pgerr.New(pgerr.UndefinedObject, `role "%s" does not exist`, name)
}

// roleOf resolves a role specification.
func (s *Session) roleOf(spec *pg_query.RoleSpec) (*catalog.Role, error) {
	name := spec.GetRolename()
	switch spec.GetRoletype() {
	case pg_query.RoleSpecType_ROLESPEC_CURRENT_USER, pg_query.RoleSpecType_ROLESPEC_CURRENT_ROLE:
		name = s.currentUser()
	case pg_query.RoleSpecType_ROLESPEC_SESSION_USER:
		name = s.SessionUser()
	case pg_query.RoleSpecType_ROLESPEC_PUBLIC:
		name = "public"
	}
	r, ok := s.catalog().Role(name)
	if !ok {
		return nil, noRole(name)
	}
	return r, nil
}

func (s *Session) createRole(n *pg_query.CreateRoleStmt) error {
	me, _ := s.catalog().Role(s.currentUser())
	if me == nil || !me.Superuser && !me.CreateRole {
		return pgerr.New(pgerr.InsufficientPrivilege, "permission denied to create role")
	}
	if n.Role == "public" || n.Role == "none" {
		return pgerr.New(pgerr.ReservedName, `role name "%s" is reserved`, n.Role)
	}
	if strings.HasPrefix(n.Role, "pg_") {
		return pgerr.New(pgerr.ReservedName, `role name "%s" is reserved`, n.Role).
			WithDetail(`Role names starting with "pg_" are reserved.`)
	}
	r := &catalog.Role{Name: n.Role, Inherit: true, Login: n.StmtType == pg_query.RoleStmtType_ROLESTMT_USER}
	if err := s.roleOptions(r, n.Options); err != nil {
		return err
	}
	if r.Superuser && !me.Superuser {
		return pgerr.New(pgerr.InsufficientPrivilege, "must be superuser to create superusers")
	}
	if _, ok := s.tx.local.Role(n.Role); ok {
		return pgerr.New(pgerr.DuplicateObject, `role "%s" already exists`, n.Role)
	}
	oid, err := s.e.newOID()
	if err != nil {
		return err
	}
	r.OID = oid
	s.tx.local = s.tx.local.WithRole(r)
	return nil
}

func (s *Session) alterRole(n *pg_query.AlterRoleStmt) error {
	old, err := s.roleOf(n.Role)
	if err != nil {
		return err
	}
	me, _ := s.catalog().Role(s.currentUser())
	r := *old
	if err := s.roleOptions(&r, n.Options); err != nil {
		return err
	}
	switch {
	case me == nil:
		return noRole(s.currentUser())
	case me.Superuser:
	case old.Superuser || r.Superuser:
		return pgerr.New(pgerr.InsufficientPrivilege, "must be superuser to alter superuser roles or change superuser attribute")
	case me.CreateRole:
	case me.OID != old.OID || !onlyPassword(n.Options):
		return pgerr.New(pgerr.InsufficientPrivilege, "permission denied")
	}
	s.tx.local = s.tx.local.WithRole(&r)
	return nil
}

func onlyPassword(options []*pg_query.Node) bool {
	return !slices.ContainsFunc(options, func(o *pg_query.Node) bool { return o.GetDefElem().GetDefname() != "password" })
}

// roleOptions applies LOGIN, SUPERUSER, PASSWORD and kin.
func (s *Session) roleOptions(r *catalog.Role, options []*pg_query.Node) error {
	seen := map[string]bool{}
	for _, o := range options {
		d := o.GetDefElem()
		name := d.GetDefname()
		if seen[name] {
			return pgerr.New(pgerr.SyntaxError, "conflicting or redundant options")
		}
		seen[name] = true
		on := constText(d.GetArg()) == "true" || constText(d.GetArg()) == "1"
		switch name {
		case "superuser":
			r.Superuser = on
		case "canlogin":
			r.Login = on
		case "createdb":
			r.CreateDB = on
		case "createrole":
			r.CreateRole = on
		case "inherit":
			r.Inherit = on
		case "isreplication":
			r.Replication = on
		case "bypassrls":
			r.BypassRLS = on
		case "password":
			if err := s.setPassword(r, d); err != nil {
				return err
			}
		case "sysid":
			s.notice(pgerr.Notice("SYSID can no longer be specified"))
		case "connectionlimit":
			if constText(d.GetArg()) != "-1" {
				return pgerr.Unsupported("CONNECTION LIMIT")
			}
		case "validUntil":
			return pgerr.Unsupported("VALID UNTIL")
		default:
			return pgerr.Unsupported("role membership")
		}
	}
	return nil
}

func (s *Session) setPassword(r *catalog.Role, d *pg_query.DefElem) error {
	if d.GetArg() == nil { // PASSWORD NULL
		r.Verifier = ""
		return nil
	}
	password := constText(d.GetArg())
	switch {
	case password == "":
		s.notice(pgerr.Notice("empty string is not a valid password, clearing password"))
		r.Verifier = ""
		return nil
	case isVerifier(password):
		r.Verifier = password
		return nil
	case len(password) == 35 && strings.HasPrefix(password, "md5"):
		return pgerr.Unsupported("an MD5 password")
	}
	v, err := scramVerifier(password)
	if err != nil {
		return err
	}
	r.Verifier = v
	return nil
}

func (s *Session) dropRole(n *pg_query.DropRoleStmt) error {
	me, _ := s.catalog().Role(s.currentUser())
	if me == nil || !me.Superuser && !me.CreateRole {
		return pgerr.New(pgerr.InsufficientPrivilege, "permission denied to drop role")
	}
	for _, spec := range n.Roles {
		r, err := s.roleOf(spec.GetRoleSpec())
		if err != nil {
			if !n.MissingOk {
				return err
			}
			s.notice(pgerr.Notice(`role "%s" does not exist, skipping`, spec.GetRoleSpec().GetRolename()))
			continue
		}
		if err := s.mayDropRole(r, me); err != nil {
			return err
		}
		s.tx.local = s.tx.local.WithoutRole(r.Name)
	}
	return nil
}

func (s *Session) mayDropRole(r, me *catalog.Role) error {
	switch {
	case r.OID == me.OID:
		return pgerr.New(pgerr.ObjectInUse, "current user cannot be dropped")
	case r.Name == s.SessionUser():
		return pgerr.New(pgerr.ObjectInUse, "session user cannot be dropped")
	case r.OID == catalog.BootstrapRoleOID:
		return pgerr.New(pgerr.DependentObjectsStillExist, "cannot drop role %s because it is required by the database system", r.Name)
	case r.Superuser && !me.Superuser:
		return pgerr.New(pgerr.InsufficientPrivilege, "must be superuser to drop superusers")
	}
	var owned []string
	for _, ref := range s.ownedBy(r.OID) {
		owned = append(owned, "owner of "+s.describe(ref))
	}
	if len(owned) > 0 {
		return pgerr.New(pgerr.DependentObjectsStillExist, `role "%s" cannot be dropped because some objects depend on it`, r.Name).
			WithDetail("%s", strings.Join(owned, "\n"))
	}
	return nil
}
