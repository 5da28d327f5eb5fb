package config

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"
)

// notInFile are flags that make no sense in a configuration file.
var notInFile = []string{"config", "help"}

// flagName finds the names in the list of flags that --help prints.
var flagName = regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)`)

// ApplyFile reads a TOML file whose names are those of the flags and sets each
// flag that the command line does not.
//
// Errors name file, line and, for a name that does not exist, the nearest one that does.
func ApplyFile(path string, cmd *cobra.Command) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("configuration file: %w", err)
	}
	values := map[string]any{}
	if _, err := toml.Decode(string(text), &values); err != nil {
		var pe toml.ParseError
		if errors.As(err, &pe) {
			return fmt.Errorf("%s, line %d: %s", path, pe.Position.Line, pe.Message)
		}
		return fmt.Errorf("%s: %w", path, err)
	}
	names := make([]string, 0, len(values))
	for n := range values {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int { return lineOf(string(text), a) - lineOf(string(text), b) })
	for _, name := range names {
		if err := applyValue(cmd, name, values[name]); err != nil {
			return fmt.Errorf("%s, line %d: %w", path, lineOf(string(text), name), err)
		}
	}
	return nil
}

func applyValue(cmd *cobra.Command, name string, value any) error {
	f := cmd.Flags().Lookup(name)
	if f == nil || slices.Contains(notInFile, name) {
		return unknown(cmd, name)
	}
	var text string
	switch v := value.(type) {
	case string:
		text = v
	case bool, int64, float64:
		text = fmt.Sprint(v)
	default:
		return fmt.Errorf("%s is a single value: a string, a number, true or false", name)
	}
	if f.Changed {
		return nil // the command line wins
	}
	if err := f.Value.Set(text); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// unknown suggests the nearest name.
func unknown(cmd *cobra.Command, name string) error {
	best, least := "", len(name)/2+1
	for _, m := range flagName.FindAllStringSubmatch(cmd.Flags().FlagUsages(), -1) {
		if slices.Contains(notInFile, m[1]) {
			continue
		}
		if d := distance(strings.ReplaceAll(strings.ToLower(name), "_", "-"), m[1]); d < least {
			best, least = m[1], d
		}
	}
	if best == "" {
		return fmt.Errorf("there is no setting %q; the names are those of the flags of tsdb serve --help", name)
	}
	return fmt.Errorf("there is no setting %q; did you mean %s?", name, best)
}

// lineOf returns the line that sets a top-level name.
func lineOf(text, name string) int {
	n := 0
	for line := range strings.Lines(text) {
		n++
		key, _, _ := strings.Cut(line, "=")
		key, _, _ = strings.Cut(strings.Trim(strings.TrimSpace(key), `"'[]`), ".")
		if strings.TrimSpace(key) == name {
			return n
		}
	}
	return n
}

// distance is the number of letters to insert, delete or replace.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		last := row[0]
		row[0] = i + 1
		for j := range b {
			cost := last
			if a[i] != b[j] {
				cost = 1 + min(last, row[j], row[j+1])
			}
			last, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
