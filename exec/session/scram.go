package session

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"regexp"

	"github.com/xdg-go/stringprep"
)

// Parameters of SCRAM-SHA-256, PostgreSQL's defaults.
const (
	scramIterations = 4096
	scramSalt       = 16
)

// scramVerifier computes what is kept of a password:
// SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>.
func scramVerifier(password string) (string, error) {
	salt := make([]byte, scramSalt)
	if _, err := rand.Read(salt); err != nil {
		return "", err
	}
	return scramVerifierFor(password, salt, scramIterations)
}

func scramVerifierFor(password string, salt []byte, iterations int) (string, error) {
	salted, err := pbkdf2.Key(sha256.New, normalPassword(password), salt, iterations, sha256.Size)
	if err != nil {
		return "", err
	}
	stored := sha256.Sum256(mac(salted, "Client Key"))
	enc := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", iterations, enc(salt), enc(stored[:]), enc(mac(salted, "Server Key"))), nil
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// normalPassword is the prepared form of a password; one that cannot be
// prepared is used as it is, as PostgreSQL and its clients do.
func normalPassword(p string) string {
	if n, err := stringprep.SASLprep.Prepare(p); err == nil {
		return n
	}
	return p
}

var verifierForm = regexp.MustCompile(`^SCRAM-SHA-256\$[0-9]+:[A-Za-z0-9+/=]+\$[A-Za-z0-9+/=]{44}:[A-Za-z0-9+/=]{44}$`)

func isVerifier(s string) bool { return verifierForm.MatchString(s) }
