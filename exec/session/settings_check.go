package session

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"tsdb/sql/pgerr"
	"tsdb/sql/types"
)

func checkApplicationName(_ *Session, v string) (string, error) {
	out := []byte(v)
	if len(out) > 63 {
		out = out[:63]
	}
	for i, c := range out {
		if c < 32 || c > 126 {
			out[i] = '?'
		}
	}
	return string(out), nil
}

// otherEncodings are encodings that PostgreSQL knows and tsdb does not convert.
var otherEncodings = map[string]string{"latin1": "LATIN1", "iso88591": "LATIN1", "sqlascii": "SQL_ASCII", "win1252": "WIN1252",
	"windows1252": "WIN1252", "win1251": "WIN1251", "windows1251": "WIN1251", "latin9": "LATIN9", "iso885915": "LATIN9",
	"koi8r": "KOI8R", "eucjp": "EUC_JP", "sjis": "SJIS", "shiftjis": "SJIS", "gbk": "GBK", "gb18030": "GB18030", "big5": "BIG5",
	"euckr": "EUC_KR", "euccn": "EUC_CN", "latin2": "LATIN2", "win1250": "WIN1250"}

func checkClientEncoding(_ *Session, v string) (string, error) {
	key := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(v))
	if key == "utf8" || key == "unicode" {
		return "UTF8", nil
	}
	if name, ok := otherEncodings[key]; ok {
		return "", pgerr.New(pgerr.FeatureNotSupported, "conversion between %s and UTF8 is not supported", name)
	}
	return "", parameters["client_encoding"].invalid(v)
}

func checkConformingStrings(_ *Session, v string) (string, error) {
	if v != "on" {
		return "", pgerr.Unsupported("standard_conforming_strings = off")
	}
	return v, nil
}

func checkPasswordEncryption(_ *Session, v string) (string, error) {
	if v != "scram-sha-256" {
		return "", pgerr.Unsupported("password_encryption = %s", v)
	}
	return v, nil
}

func checkIsolation(_ *Session, v string) (string, error) {
	if v == "serializable" {
		return "", pgerr.Unsupported("ISOLATION LEVEL SERIALIZABLE")
	}
	return v, nil
}

func checkTransactionIsolation(s *Session, v string) (string, error) {
	if _, err := checkIsolation(s, v); err != nil {
		return "", err
	}
	if s.tx == nil || v == s.isolation() {
		return v, nil
	}
	if s.tx.queried {
		return "", pgerr.New(pgerr.ActiveSQLTransaction, "SET TRANSACTION ISOLATION LEVEL must be called before any query")
	}
	if len(s.tx.saves) > 0 {
		return "", pgerr.New(pgerr.ActiveSQLTransaction, "SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction")
	}
	return v, s.setIsolation(v)
}

func checkTransactionReadOnly(s *Session, v string) (string, error) {
	if s.tx == nil {
		return v, nil
	}
	if v == "off" && s.tx.readOnly && s.tx.queried {
		return "", pgerr.New(pgerr.ActiveSQLTransaction, "transaction read-write mode must be set before any query")
	}
	return v, s.setReadOnly(v == "on")
}

func checkRole(s *Session, v string) (string, error) {
	if v == "none" {
		return v, nil
	}
	role, ok := s.catalog().Role(v)
	if !ok {
		return "", pgerr.New(pgerr.InvalidParameterValue, `role "%s" does not exist`, v)
	}
	if session, ok := s.catalog().Role(s.user); v != s.user && (!ok || !session.Superuser) {
		return "", pgerr.New(pgerr.InsufficientPrivilege, `permission denied to set role "%s"`, role.Name)
	}
	return v, nil
}

func checkSessionAuthorization(s *Session, v string) (string, error) {
	if _, ok := s.catalog().Role(v); !ok {
		return "", pgerr.New(pgerr.InvalidParameterValue, `role "%s" does not exist`, v)
	}
	if login, ok := s.catalog().Role(s.user); v != s.user && (!ok || !login.Superuser) {
		return "", pgerr.New(pgerr.InsufficientPrivilege, "permission denied to set session authorization")
	}
	return v, nil
}

// checkDateStyle reads a list of key words over the current value.
func checkDateStyle(s *Session, v string) (string, error) {
	style, order := s.tctx.DateStyle, s.tctx.DateOrder
	haveStyle, haveOrder := false, false
	bad := func(detail string) (string, error) {
		e := parameters["datestyle"].invalid(v)
		e.Detail = detail
		return "", e
	}
	for word := range strings.SplitSeq(v, ",") {
		w := strings.ToUpper(strings.Trim(strings.TrimSpace(word), `"`))
		newStyle, newOrder := style, order
		isStyle := true
		switch {
		case w == "ISO":
			newStyle = types.StyleISO
		case w == "SQL":
			newStyle = types.StyleSQL
		case strings.HasPrefix(w, "POSTGRES"):
			newStyle = types.StylePostgres
		case w == "GERMAN":
			newStyle = types.StyleGerman
		case w == "YMD":
			newOrder, isStyle = types.OrderYMD, false
		case w == "DMY" || strings.HasPrefix(w, "EURO"):
			newOrder, isStyle = types.OrderDMY, false
		case w == "MDY" || w == "US" || strings.HasPrefix(w, "NONEURO"):
			newOrder, isStyle = types.OrderMDY, false
		case w == "DEFAULT":
			style, order = types.StyleISO, types.OrderMDY
			continue
		default:
			return bad(fmt.Sprintf(`Unrecognized key word: "%s".`, strings.TrimSpace(word)))
		}
		if isStyle && haveStyle && newStyle != style || !isStyle && haveOrder && newOrder != order {
			return bad(`Conflicting "datestyle" specifications.`)
		}
		if isStyle {
			style, haveStyle = newStyle, true
			if style == types.StyleGerman && !haveOrder {
				order = types.OrderDMY
			}
		} else {
			order, haveOrder = newOrder, true
		}
	}
	return styleNames[style] + ", " + orderNames[order], nil
}

var (
	styleNames = [...]string{"ISO", "Postgres", "SQL", "German"}
	orderNames = [...]string{"MDY", "DMY", "YMD"}
)

func dateStyleOf(v string) (types.DateStyle, types.DateOrder) {
	a, b, _ := strings.Cut(v, ", ")
	var style types.DateStyle
	var order types.DateOrder
	for i, n := range styleNames {
		if n == a {
			style = types.DateStyle(i)
		}
	}
	for i, n := range orderNames {
		if n == b {
			order = types.DateOrder(i)
		}
	}
	return style, order
}

func checkTimeZone(_ *Session, v string) (string, error) {
	_, name, ok := loadZone(v)
	if !ok {
		return "", parameters["timezone"].invalid(v)
	}
	return name, nil
}

// loadZone finds a time zone by its name in any case, by a number of hours
// east of Greenwich, or by POSIX's "<name>offset" with the offset counted west.
func loadZone(v string) (loc *time.Location, name string, ok bool) {
	v = strings.TrimSpace(v)
	if v == "" {
		return nil, "", false
	}
	if hours, err := strconv.ParseFloat(v, 64); err == nil {
		if hours < -168 || hours > 168 {
			return nil, "", false
		}
		return offsetZone(int(hours * 3600))
	}
	for _, n := range []string{v, strings.ToUpper(v), zoneCase(v)} {
		if n == "Local" || strings.Contains(n, "..") {
			continue
		}
		if loc, err := time.LoadLocation(n); err == nil {
			return loc, n, true
		}
	}
	return posixZone(v)
}

// zoneCase spells a zone's name as the database does: America/New_York,
// America/Port-au-Prince is found only as written.
func zoneCase(v string) string {
	b := []byte(strings.ToLower(v))
	start := true
	for i, c := range b {
		if start && c >= 'a' && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
		start = c == '/' || c == '_' || c == '-'
	}
	return string(b)
}

// offsetZone is a fixed zone with the name that PostgreSQL gives it.
func offsetZone(east int) (*time.Location, string, bool) {
	sign, posix, abs := "+", "-", east
	if east < 0 {
		sign, posix, abs = "-", "+", -east
	}
	t := fmt.Sprintf("%02d", abs/3600)
	if abs%3600 != 0 {
		t += fmt.Sprintf(":%02d", abs/60%60)
		if abs%60 != 0 {
			t += fmt.Sprintf(":%02d", abs%60)
		}
	}
	return time.FixedZone(sign+t, east), "<" + sign + t + ">" + posix + t, true
}

func posixZone(v string) (*time.Location, string, bool) {
	rest, abbr := v, ""
	if strings.HasPrefix(v, "<") {
		end := strings.IndexByte(v, '>')
		if end < 0 {
			return nil, "", false
		}
		abbr, rest = v[1:end], v[end+1:]
	} else {
		n := 0
		for n < len(v) && (v[n] >= 'a' && v[n] <= 'z' || v[n] >= 'A' && v[n] <= 'Z') {
			n++
		}
		if n < 3 {
			return nil, "", false
		}
		abbr, rest = v[:n], v[n:]
	}
	sign := -1 // POSIX counts west of Greenwich
	if strings.HasPrefix(rest, "-") {
		sign, rest = 1, rest[1:]
	} else {
		rest = strings.TrimPrefix(rest, "+")
	}
	sec, scale := 0, 3600
	parts := strings.Split(rest, ":")
	if len(parts) > 3 {
		return nil, "", false
	}
	for _, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 || n > 167 {
			return nil, "", false
		}
		sec += n * scale
		scale /= 60
	}
	return time.FixedZone(abbr, sign*sec), v, true
}

func checkSearchPath(_ *Session, v string) (string, error) {
	if _, ok := parseIdentifiers(v); !ok {
		return "", parameters["search_path"].invalid(v).WithDetail("List syntax is invalid.")
	}
	return v, nil
}

func splitIdentifiers(v string) []string {
	out, _ := parseIdentifiers(v)
	return out
}

// parseIdentifiers splits a comma list of identifiers, quoted or folded to lower case.
func parseIdentifiers(v string) (out []string, ok bool) {
	v = strings.TrimSpace(v)
	if v == "" {
		return nil, true
	}
	for {
		var id string
		if strings.HasPrefix(v, `"`) {
			end := 1
			for {
				q := strings.IndexByte(v[end:], '"')
				if q < 0 {
					return nil, false
				}
				id += v[end : end+q]
				end += q + 1
				if end >= len(v) || v[end] != '"' {
					break
				}
				id += `"`
				end++
			}
			v = v[end:]
		} else {
			end := strings.IndexAny(v, ", \t\n")
			if end < 0 {
				end = len(v)
			}
			if end == 0 {
				return nil, false
			}
			id, v = strings.ToLower(v[:end]), v[end:]
		}
		out = append(out, id)
		v = strings.TrimLeft(v, " \t\n")
		if v == "" {
			return out, true
		}
		if v[0] != ',' {
			return nil, false
		}
		v = strings.TrimLeft(v[1:], " \t\n")
	}
}
