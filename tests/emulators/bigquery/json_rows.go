package bigquery

// Rows of insertAll: JSON into cells, with every failure that a row has.

import (
	"encoding/json"
	"fmt"
	"strings"
)

type jsonReader struct {
	errors  []rowFailure
	ignores bool // unknown members
}

func readRecord(fields []*field, given map[string]any, prefix string, ignores bool) (record, []rowFailure) {
	r := &jsonReader{ignores: ignores}
	made := r.record(fields, given, prefix)
	if len(r.errors) == 0 && prefix == "" && rowSize(given) > rowBytesMax {
		r.fail(false, "", "Maximum allowed row size exceeded. Allowed: %d Row size: %d", rowBytesMax, rowSize(given))
	}
	return made, r.errors
}

func rowSize(given map[string]any) int {
	size := 0
	for name, value := range given {
		size += len(name)
		if said, ok := value.(string); ok {
			size += len(said)
		}
	}
	return size
}

func (r *jsonReader) fail(isSchema bool, location, format string, args ...any) {
	r.errors = append(r.errors, rowFailure{"invalid", location, fmt.Sprintf(format, args...), isSchema})
}

func (r *jsonReader) record(fields []*field, given map[string]any, prefix string) record {
	made, by := record{}, map[string]any{}
	for name, value := range given {
		f := find(fields, name)
		if f == nil && !r.ignores {
			r.fail(true, prefix+strings.ToLower(name), "no such field: %s.", prefix+strings.ToLower(name))
		}
		if f != nil {
			by[f.key] = value
		}
	}
	for _, f := range fields {
		value, isGiven := by[f.key]
		if !isGiven && f.fallback != "" {
			made[f.key], _ = f.evaluate()
		} else {
			made[f.key] = r.column(f, value, prefix+f.key)
		}
		if made[f.key] == nil && f.mode == "REQUIRED" && (value == nil || !isGiven) {
			r.fail(false, "", "Missing required field: Msg_0_CLOUD_QUERY_TABLE.%s.", prefix+f.key)
		}
	}
	return made
}

func (r *jsonReader) column(f *field, value any, path string) cell {
	items, isList := value.([]any)
	switch {
	case value == nil && f.isRepeated():
		return []cell{}
	case value == nil:
		return nil
	case f.isRepeated() && !isList:
		r.fail(true, path, "Repeated field must be imported as a JSON array. Field: %s.", path)
		return nil
	case !f.isRepeated() && isList && f.kind.name != "JSON":
		r.fail(true, path, "Array specified for non-repeated field: %s.", path)
		return nil
	case !f.isRepeated():
		return r.value(f, value, path)
	}
	made := []cell{}
	for i, item := range items {
		if item == nil {
			r.fail(false, path, "Only optional fields can be set to NULL. Field: %s; Value: NULL", path)
			continue
		}
		made = append(made, r.value(f, item, fmt.Sprintf("%s[%d]", path, i)))
	}
	return made
}

func (r *jsonReader) value(f *field, value any, path string) cell {
	inner, isObject := value.(map[string]any)
	switch {
	case f.kind.name == "STRUCT" && isObject:
		return r.record(f.fields, inner, path+".")
	case f.kind.name == "STRUCT":
		r.fail(true, path, "This field: %s is a record.", path)
		return nil
	case f.kind.name == "RANGE" && isObject:
		return r.ends(f, inner, path)
	case isObject && f.kind.name != "JSON":
		r.fail(true, path, "This field: %s is not a record.", path)
		return nil
	}
	made, err := scalar(f, value)
	if err != nil {
		r.fail(false, path, "%v", err)
		return nil
	}
	return made
}

// scalar reads a value that is no record.
func scalar(f *field, value any) (string, error) {
	switch value := value.(type) {
	case string:
		return f.kind.fromText(f, value)
	case json.Number:
		if f.kind.fromNumber != nil {
			return f.kind.fromNumber(f, value.String())
		}
	case bool:
		if f.kind.name == "BOOL" || f.kind.name == "STRING" || f.kind.name == "JSON" {
			return fmt.Sprint(value), nil
		}
	default: // an object or an array in a column of JSON
		bytes, _ := json.Marshal(value)
		return f.kind.fromText(f, string(bytes))
	}
	return "", fmt.Errorf("Cannot convert value to %s (bad value): %v", strings.ToLower(f.kind.legacy), value)
}

func (r *jsonReader) ends(f *field, given map[string]any, path string) cell {
	ends := [2]cell{}
	for i, name := range []string{"start", "end"} {
		if given[name] == nil {
			continue
		}
		made, err := scalar(f.element, given[name])
		if err != nil {
			r.fail(false, path+"."+name, "%v", err)
			return nil
		}
		ends[i] = made
	}
	made, err := rangeOf(ends[0], ends[1])
	if err != nil {
		r.fail(false, path, "%v", err)
		return nil
	}
	return made
}
