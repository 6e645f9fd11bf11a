package bigquery

// Cells as others read them: the canonical text of a column, and the cells of REST.

import (
	"encoding/json"
	"strconv"
	"strings"
)

// canonical is the text of a whole column: a scalar's own, arrays and structs as JSON text. An array without elements
// that nobody gave is not told from NULL by BigQuery; it is given as "[]".
func canonical(f *field, value cell) any {
	if f.isRepeated() {
		items, _ := value.([]cell)
		return string(jsonList(f, items))
	}
	if value == nil {
		return nil
	}
	if f.kind.name == "STRUCT" {
		return string(jsonValue(f, value))
	}
	return value
}

func jsonList(f *field, items []cell) []byte {
	out := []byte{'['}
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, jsonValue(f, item)...)
	}
	return append(out, ']')
}

// Inside, numbers and truth are JSON's, all else is a string.
func jsonValue(f *field, value cell) []byte {
	if value == nil {
		return []byte("null")
	}
	if made, ok := value.(record); ok {
		out := []byte{'{'}
		for i, child := range f.fields {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, quote(child.name)...)
			out = append(out, ':')
			if child.isRepeated() {
				items, _ := made[child.key].([]cell)
				out = append(out, jsonList(child, items)...)
			} else {
				out = append(out, jsonValue(child, made[child.key])...)
			}
		}
		return append(out, '}')
	}
	said, _ := value.(string)
	if f.kind.isBare && !strings.ContainsAny(said, "NI") { // NaN and Infinity are no numbers of JSON
		return []byte(said)
	}
	return quote(said)
}

func quote(said string) []byte {
	out := &strings.Builder{}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.Encode(said)
	return []byte(strings.TrimSuffix(out.String(), "\n"))
}

// restCell is {"v":...} of tabledata.list.
func restCell(f *field, value cell, timestamps string) map[string]any {
	if f.isRepeated() {
		items, _ := value.([]cell)
		made := []any{}
		for _, item := range items {
			made = append(made, map[string]any{"v": restValue(f, item, timestamps)})
		}
		return map[string]any{"v": made}
	}
	return map[string]any{"v": restValue(f, value, timestamps)}
}

func restValue(f *field, value cell, timestamps string) any {
	if value == nil {
		return nil
	}
	if made, ok := value.(record); ok {
		cells := []any{}
		for _, child := range f.fields {
			cells = append(cells, restCell(child, made[child.key], timestamps))
		}
		return map[string]any{"f": cells}
	}
	if f.kind.name == "TIMESTAMP" {
		return restTimestamp(value.(string), timestamps)
	}
	return value
}

func restTimestamp(canonical, form string) string {
	micros := timestampMicros(canonical)
	switch form {
	case "INT64":
		return strconv.FormatInt(micros, 10)
	case "ISO8601_STRING":
		return strings.Replace(strings.TrimSuffix(canonical, "+00"), " ", "T", 1) + "Z"
	}
	return strings.ToUpper(strings.Replace(strconv.FormatFloat(float64(micros)/1e6, 'e', -1, 64), "e+0", "e", 1))
}
