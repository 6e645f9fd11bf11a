package bigquery

// Default values of columns: literals and the functions that stand there in practice.

import (
	"crypto/rand"
	"fmt"
	"regexp"
	"strings"
	"time"
)

var typedLiteral = regexp.MustCompile(`(?is)^(DATE|TIME|DATETIME|TIMESTAMP|NUMERIC|BIGNUMERIC|JSON|INTERVAL|BYTES|B|R)?\s*(['"])(.*)['"]$`)

// evaluate gives the cell of the field's default expression.
func (f *field) evaluate() (cell, error) {
	said := strings.TrimSpace(f.fallback)
	word := strings.ToUpper(strings.TrimSuffix(said, "()"))
	switch {
	case said == "" || word == "NULL":
		return nil, nil
	case f.isRepeated():
		if said == "[]" {
			return []cell{}, nil
		}
		return nil, fmt.Errorf("%s is not known to this server as an array", said)
	case word == "GENERATE_UUID":
		bytes := make([]byte, 16)
		rand.Read(bytes)
		return fmt.Sprintf("%x-%x-%x-%x-%x", bytes[:4], bytes[4:6], bytes[6:8], bytes[8:10], bytes[10:]), nil
	case word == "SESSION_USER":
		return "tests@example.com", nil
	case strings.HasPrefix(word, "CURRENT_"):
		return f.current(word)
	}
	if f.kind.fromText == nil {
		return nil, fmt.Errorf("%s is not known to this server", said)
	}
	if quoted := typedLiteral.FindStringSubmatch(said); quoted != nil {
		return f.kind.fromText(f, quoted[3])
	}
	if f.kind.name == "STRING" || f.kind.name == "BYTES" {
		return nil, fmt.Errorf("%s is no text", said)
	}
	return f.kind.fromText(f, said)
}

func (f *field) current(word string) (cell, error) {
	now := time.Now().UTC()
	forms := map[string]string{"CURRENT_TIMESTAMP": "2006-01-02 15:04:05.000000", "CURRENT_DATETIME": "2006-01-02T15:04:05.000000",
		"CURRENT_DATE": "2006-01-02", "CURRENT_TIME": "15:04:05.000000"}
	form := forms[word]
	if form == "" || word != "CURRENT_"+f.kind.name || f.kind.fromText == nil {
		return nil, fmt.Errorf("%s is not a value of %s", f.fallback, f.kind.name)
	}
	return f.kind.fromText(f, now.Format(form))
}
