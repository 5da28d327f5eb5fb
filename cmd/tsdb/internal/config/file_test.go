package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

func TestApplyFile(t *testing.T) {
	for _, c := range []struct{ text, want, listen string }{
		{"listen = '0.0.0.0:5433'\nmemory = \"1GiB\"\nmax-connections = 7\nrequire-password = true\nshutdown-grace = '3s'\n", "", "0.0.0.0:5433"},
		{"# nothing\n", "", "127.0.0.1:5433"},
		{"listen = 'x:1'\n\nmax_connections = 7\n", `line 3: there is no setting "max_connections"; did you mean max-connections?`, "x:1"},
		{"memroy = 1", `line 1: there is no setting "memroy"; did you mean memory?`, ""},
		{"color = 'red'", `line 1: there is no setting "color"; the names are those of the flags`, ""},
		{"config = 'other'", `there is no setting "config"`, ""},
		{"\n\nmemory = 'lots'", `line 3: memory: invalid size "lots"`, ""},
		{"\nlisten = ", "line 2: ", ""},
		{"[listen]\nport = 1", "line 1: listen is a single value", ""},
		{"max-connections = 'many'", "line 1: max-connections: ", ""},
		{"data = 'elsewhere'", "", "127.0.0.1:5433"},
	} {
		path := filepath.Join(t.TempDir(), "tsdb.toml")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := &cobra.Command{Use: "serve"}
		flags := cmd.Flags()
		memory := Size(1 << 30)
		listen, data := flags.String("listen", "127.0.0.1:5433", ""), flags.String("data", "", "")
		flags.Var(&memory, "memory", "")
		n := flags.Int("max-connections", 1000, "")
		strict := flags.Bool("require-password", false, "")
		grace := flags.Duration("shutdown-grace", time.Second, "")
		flags.String("config", "", "")
		if err := cmd.ParseFlags([]string{"--data", "here", "--config", path}); err != nil {
			t.Fatal(err)
		}
		err := ApplyFile(path, cmd)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path)) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
		if c.want == "" && *listen != c.listen || *data != "here" {
			t.Errorf("%q: listen %s, data %s", c.text, *listen, *data)
		}
		if strings.Contains(c.text, "1GiB") && (*n != 7 || !*strict || *grace != 3*time.Second) {
			t.Errorf("%q: %d, %v, %v", c.text, *n, *strict, *grace)
		}
	}
	if err := ApplyFile("/nonexistent/tsdb.toml", &cobra.Command{}); err == nil {
		t.Error("a file that does not exist is read")
	}
}
