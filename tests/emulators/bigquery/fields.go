package bigquery

// A table's schema: read from REST's form, checked, given back in both tongues.

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

const (
	columnsMax = 10000
	nestingMax = 15
)

type field struct {
	name, key   string // as given, and in lower case
	kind        *kind
	mode        string
	description string
	fields      []*field
	maxLength   int64
	precision   int64
	scale       int64
	halfEven    bool
	picoseconds bool
	fallback    string // defaultValueExpression
	element     *field // of a RANGE
	raw         map[string]any
}

func (f *field) isRepeated() bool { return f.mode == "REPEATED" }

var (
	plainName      = regexp.MustCompile(`^[\pL\pN\pM\p{Pc}\p{Pd} &%=+:'<>#|]{1,300}$`)
	forbiddenNames = []string{"_TABLE_", "_FILE_", "_PARTITION", "_ROW_TIMESTAMP", "__ROOT__", "_COLIDENTIFIER",
		"_CHANGE_SEQUENCE_NUMBER", "_CHANGE_TYPE", "_CHANGE_TIMESTAMP"}
)

func checkColumnName(name string) *failure {
	if !plainName.MatchString(name) {
		return fail("invalid", "Invalid field name \"%s\". Fields must contain the allowed characters, and be at most 300 characters long.", name)
	}
	for _, prefix := range forbiddenNames {
		if strings.HasPrefix(strings.ToUpper(name), prefix) {
			return fail("invalid", "Invalid field name \"%s\". Fields should not start with the prefix %s.", name, prefix)
		}
	}
	return nil
}

func list(value any) []any {
	items, _ := value.([]any)
	return items
}

func object(value any) map[string]any {
	made, _ := value.(map[string]any)
	return made
}

func text(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case string:
		return value
	}
	return fmt.Sprint(value)
}

func integer(value any) int64 {
	n, _ := strconv.ParseInt(text(value), 10, 64)
	return n
}

// readSchema makes fields of "schema.fields".
func readSchema(items []any) ([]*field, *failure) {
	count := 0
	return readFields(items, 1, &count)
}

func readFields(items []any, depth int, count *int) ([]*field, *failure) {
	made, seen := []*field{}, map[string]bool{}
	if depth > nestingMax {
		return nil, fail("invalid", "Schema has nesting of more than %d levels", nestingMax)
	}
	for _, item := range items {
		f, err := readField(object(item), depth, count)
		if err != nil {
			return nil, err
		}
		if seen[f.key] {
			return nil, fail("invalid", "Duplicate field name: %s", f.name)
		}
		seen[f.key] = true
		made = append(made, f)
		if *count++; *count > columnsMax {
			return nil, fail("invalid", "Too many columns: %d. Schema may not have more than %d columns.", *count, columnsMax)
		}
	}
	return made, nil
}

func readField(raw map[string]any, depth int, count *int) (*field, *failure) {
	f := &field{raw: raw, name: text(raw["name"]), mode: strings.ToUpper(text(raw["mode"])), description: text(raw["description"]),
		maxLength: integer(raw["maxLength"]), precision: integer(raw["precision"]), scale: integer(raw["scale"]),
		halfEven: text(raw["roundingMode"]) == "ROUND_HALF_EVEN", picoseconds: text(raw["timestampPrecision"]) == "12",
		fallback: text(raw["defaultValueExpression"]), kind: kindsByName[strings.ToUpper(text(raw["type"]))]}
	f.key = strings.ToLower(f.name)
	if err := checkColumnName(f.name); err != nil {
		return nil, err
	}
	if f.mode == "" {
		f.mode = "NULLABLE"
	}
	if f.mode != "NULLABLE" && f.mode != "REQUIRED" && f.mode != "REPEATED" {
		return nil, fail("invalid", "Invalid value for mode: %s is not a valid value", f.mode)
	}
	if f.kind == nil {
		return nil, fail("invalid", "Invalid value for type: %s is not a valid value", text(raw["type"]))
	}
	if len(f.description) > 1024 {
		return nil, fail("invalid", "Description of field %s is longer than 1024 characters", f.name)
	}
	return f, f.readMore(depth, count)
}

// readMore reads what hangs on the type.
func (f *field) readMore(depth int, count *int) *failure {
	var err *failure
	switch f.kind.name {
	case "STRUCT":
		f.fields, err = readFields(list(f.raw["fields"]), depth+1, count)
		if err == nil && len(f.fields) == 0 {
			err = fail("invalid", "Field %s is type RECORD but has no schema", f.name)
		}
	case "RANGE":
		element := kindsByName[strings.ToUpper(text(object(f.raw["rangeElementType"])["type"]))]
		if element == nil || element.name != "DATE" && element.name != "DATETIME" && element.name != "TIMESTAMP" {
			return fail("invalid", "Field %s is type RANGE but has no element type DATE, DATETIME or TIMESTAMP", f.name)
		}
		f.element = &field{name: f.name, kind: element}
	case "NUMERIC", "BIGNUMERIC":
		most, whole := int64(9), int64(29)
		if f.kind.name == "BIGNUMERIC" {
			most, whole = 38, 38
		}
		if f.precision != 0 && (f.scale < 0 || f.scale > most || f.precision < max(1, f.scale) || f.precision > f.scale+whole) {
			err = fail("invalid", "Field %s has precision %d and scale %d, which %s does not allow", f.name, f.precision, f.scale, f.kind.name)
		}
	}
	if err == nil && f.fallback != "" {
		if _, wrong := f.evaluate(); wrong != nil {
			err = fail("invalid", "Invalid default value expression for column %s: %v", f.name, wrong)
		}
	}
	return err
}

// rest is the field as REST gives it back, with the legacy names of types.
func (f *field) rest() map[string]any {
	made := map[string]any{}
	for name, value := range f.raw {
		made[name] = value
	}
	made["name"], made["type"], made["mode"] = f.name, f.kind.legacy, f.mode
	if f.kind.name == "STRUCT" {
		made["fields"] = restFields(f.fields)
	}
	return made
}

func restFields(fields []*field) []any {
	made := []any{}
	for _, f := range fields {
		made = append(made, f.rest())
	}
	return made
}

var modes = map[string]storagepb.TableFieldSchema_Mode{
	"NULLABLE": storagepb.TableFieldSchema_NULLABLE, "REQUIRED": storagepb.TableFieldSchema_REQUIRED, "REPEATED": storagepb.TableFieldSchema_REPEATED,
}

func storageSchema(fields []*field) *storagepb.TableSchema {
	return &storagepb.TableSchema{Fields: storageFields(fields)}
}

func storageFields(fields []*field) []*storagepb.TableFieldSchema {
	made := []*storagepb.TableFieldSchema{}
	for _, f := range fields {
		one := &storagepb.TableFieldSchema{Name: f.name, Type: f.kind.pb, Mode: modes[f.mode], Fields: storageFields(f.fields),
			Description: f.description, MaxLength: f.maxLength, Precision: f.precision, Scale: f.scale, DefaultValueExpression: f.fallback}
		if f.element != nil {
			one.RangeElementType = &storagepb.TableFieldSchema_FieldElementType{Type: f.element.kind.pb}
		}
		if f.picoseconds {
			one.TimestampPrecision = wrapperspb.Int64(12)
		}
		made = append(made, one)
	}
	return made
}

func find(fields []*field, name string) *field {
	key := strings.ToLower(name)
	for _, f := range fields {
		if f.key == key {
			return f
		}
	}
	return nil
}
