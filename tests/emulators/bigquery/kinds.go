package bigquery

// The types of columns: a table of what each takes, in text, numbers, bytes, and over protobuf.

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
)

// A cell is nil, a canonical text, a list of cells, or a record.
type cell = any

// A record holds its fields by lower-case name.
type record map[string]cell

// A kind without a function does not take that form.
type kind struct {
	name, legacy string
	pb           storagepb.TableFieldSchema_Type
	protos       string // protobuf types that may carry it
	fromText     func(f *field, text string) (string, error)
	fromInt      func(f *field, n int64) (string, error)
	fromReal     func(f *field, x float64) (string, error)
	fromBytes    func(f *field, bytes []byte) (string, error)
	fromNumber   func(f *field, text string) (string, error) // a number of JSON
	isBare       bool                                        // in JSON it stands without quotes
}

const integers = "int32 int64 uint32 uint64"

var kinds = []*kind{
	{name: "STRING", legacy: "STRING", pb: storagepb.TableFieldSchema_STRING, protos: "string enum StringValue", fromText: stringFromText, fromNumber: stringFromText},
	{name: "BYTES", legacy: "BYTES", pb: storagepb.TableFieldSchema_BYTES, protos: "bytes string BytesValue", fromText: bytesFromText, fromBytes: bytesFromBytes},
	{name: "INT64", legacy: "INTEGER", pb: storagepb.TableFieldSchema_INT64, protos: "int64 int32 uint32 enum Int64Value Int32Value UInt32Value",
		fromText: intFromText, fromInt: intFromInt, fromNumber: intFromText, isBare: true},
	{name: "FLOAT64", legacy: "FLOAT", pb: storagepb.TableFieldSchema_DOUBLE, protos: "double float DoubleValue FloatValue",
		fromText: realFromText, fromReal: realFromReal, fromNumber: realFromText, isBare: true},
	{name: "BOOL", legacy: "BOOLEAN", pb: storagepb.TableFieldSchema_BOOL, protos: "bool BoolValue " + integers, fromText: boolFromText, fromInt: boolFromInt, isBare: true},
	{name: "NUMERIC", legacy: "NUMERIC", pb: storagepb.TableFieldSchema_NUMERIC, protos: "string bytes float double BytesValue " + integers,
		fromText: numericType.fromText, fromInt: numericType.fromInt, fromReal: numericType.fromReal, fromBytes: numericType.fromBytes, fromNumber: numericType.fromText},
	{name: "BIGNUMERIC", legacy: "BIGNUMERIC", pb: storagepb.TableFieldSchema_BIGNUMERIC, protos: "string bytes float double BytesValue " + integers,
		fromText: bigType.fromText, fromInt: bigType.fromInt, fromReal: bigType.fromReal, fromBytes: bigType.fromBytes, fromNumber: bigType.fromText},
	{name: "DATE", legacy: "DATE", pb: storagepb.TableFieldSchema_DATE, protos: "int32 int64 string Int32Value", fromText: dateFromText, fromInt: dateFromInt},
	{name: "TIME", legacy: "TIME", pb: storagepb.TableFieldSchema_TIME, protos: "string int64 Int64Value", fromText: timeFromText, fromInt: timeFromInt},
	{name: "DATETIME", legacy: "DATETIME", pb: storagepb.TableFieldSchema_DATETIME, protos: "string int64 Int64Value", fromText: datetimeFromText, fromInt: datetimeFromInt},
	{name: "TIMESTAMP", legacy: "TIMESTAMP", pb: storagepb.TableFieldSchema_TIMESTAMP, protos: "int64 int32 uint32 Int64Value Timestamp",
		fromText: timestampFromText, fromInt: timestampFromInt, fromNumber: timestampFromNumber},
	{name: "INTERVAL", legacy: "INTERVAL", pb: storagepb.TableFieldSchema_INTERVAL, protos: "string Duration", fromText: intervalFromText},
	{name: "JSON", legacy: "JSON", pb: storagepb.TableFieldSchema_JSON, protos: "string StringValue", fromText: jsonFromText, fromNumber: jsonFromText},
	{name: "GEOGRAPHY", legacy: "GEOGRAPHY", pb: storagepb.TableFieldSchema_GEOGRAPHY, protos: "string StringValue", fromText: geographyFromText},
	{name: "RANGE", legacy: "RANGE", pb: storagepb.TableFieldSchema_RANGE, protos: "message", fromText: rangeFromText},
	{name: "STRUCT", legacy: "RECORD", pb: storagepb.TableFieldSchema_STRUCT, protos: "message"},
}

var kindsByName = func() map[string]*kind {
	by := map[string]*kind{}
	for _, k := range kinds {
		by[k.name], by[k.legacy] = k, k
	}
	return by
}()

func (k *kind) takesProto(word string) bool {
	for _, one := range strings.Fields(k.protos) {
		if one == word {
			return true
		}
	}
	return false
}

func stringFromText(f *field, text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", fmt.Errorf("Field %s: the string is not valid UTF-8", f.name)
	}
	if f.maxLength > 0 && int64(utf8.RuneCountInString(text)) > f.maxLength {
		return "", fmt.Errorf("Field %s: STRING(%d) has maximum length %d but got a value with length %d", f.name, f.maxLength, f.maxLength, utf8.RuneCountInString(text))
	}
	return text, nil
}

func bytesFromBytes(f *field, bytes []byte) (string, error) {
	if f.maxLength > 0 && int64(len(bytes)) > f.maxLength {
		return "", fmt.Errorf("Field %s: BYTES(%d) has maximum length %d but got a value with length %d", f.name, f.maxLength, f.maxLength, len(bytes))
	}
	return base64.StdEncoding.EncodeToString(bytes), nil
}

func bytesFromText(f *field, text string) (string, error) {
	for _, form := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		if bytes, err := form.DecodeString(text); err == nil {
			return bytesFromBytes(f, bytes)
		}
	}
	return "", fmt.Errorf("Could not decode base64 string to bytes. Field: %s; Value: %.100s", f.name, text)
}

func intFromInt(_ *field, n int64) (string, error) { return strconv.FormatInt(n, 10), nil }

func intFromText(_ *field, text string) (string, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return strconv.FormatInt(n, 10), nil
	}
	// 1.0 and 1e3 are whole too, as far as a double is exact.
	if x, err := strconv.ParseFloat(text, 64); err == nil && x == math.Trunc(x) && math.Abs(x) <= 1<<53 {
		return strconv.FormatInt(int64(x), 10), nil
	}
	return "", fmt.Errorf("Cannot convert value to integer (bad value): %.100s", text)
}

func realFromReal(_ *field, x float64) (string, error) {
	switch {
	case math.IsNaN(x):
		return "NaN", nil
	case math.IsInf(x, 1):
		return "Infinity", nil
	case math.IsInf(x, -1):
		return "-Infinity", nil
	case x == 0: // minus zero is not kept
		return "0.0", nil
	}
	return realText(x), nil
}

// The shortest text that gives the same number, as Python writes it.
func realText(x float64) string {
	text := strconv.FormatFloat(x, 'e', -1, 64)
	exponent := number(strings.TrimLeft(text[strings.IndexByte(text, 'e')+1:], "+"))
	if exponent < -4 || exponent >= 16 {
		return text
	}
	text = strconv.FormatFloat(x, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

func realFromText(f *field, text string) (string, error) {
	x, err := strconv.ParseFloat(strings.ToLower(strings.TrimSpace(text)), 64)
	if err != nil || strings.Contains(text, "x") || strings.Contains(text, "_") {
		return "", fmt.Errorf("Cannot convert value to floating point (bad value): %.100s", text)
	}
	return realFromReal(f, x)
}

func boolFromText(_ *field, text string) (string, error) {
	if low := strings.ToLower(text); low == "true" || low == "false" {
		return low, nil
	}
	return "", fmt.Errorf("Cannot convert value to boolean (bad value): %.100s", text)
}

func boolFromInt(_ *field, n int64) (string, error) { return strconv.FormatBool(n != 0), nil }

// A number in insertAll is seconds.
func timestampFromNumber(f *field, text string) (string, error) {
	whole, err := (&decimalType{name: "TIMESTAMP", scale: 6, limit: numericType.limit, below: numericType.below}).fromText(&field{}, text)
	if err != nil {
		return "", fmt.Errorf("Timestamp field value is out of range: %s", text)
	}
	seconds, fraction, _ := strings.Cut(whole, ".")
	n, err := strconv.ParseInt(seconds+(fraction + "000000")[:6], 10, 64)
	if err != nil {
		return "", fmt.Errorf("Timestamp field value is out of range: %s", text)
	}
	return timestampText(n)
}

const jsonDepthMax = 500

func jsonFromText(f *field, text string) (string, error) {
	if !utf8.ValidString(text) || !json.Valid([]byte(text)) {
		return "", fmt.Errorf("Invalid JSON literal: %.100s Field: %s", text, f.name)
	}
	depth, isInside := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case isInside && c == '\\':
			i++
		case c == '"':
			isInside = !isInside
		case !isInside && (c == '{' || c == '['):
			depth++
		case !isInside && (c == '}' || c == ']'):
			depth--
		}
		if depth > jsonDepthMax {
			return "", fmt.Errorf("Invalid JSON literal: max nesting has been exceeded while trying to parse next scalar Field: %s", f.name)
		}
	}
	return text, nil
}

var geographyForm = regexp.MustCompile(`(?i)^\s*(POINT|LINESTRING|POLYGON|MULTIPOINT|MULTILINESTRING|MULTIPOLYGON|GEOMETRYCOLLECTION|FULLGLOBE)\b`)

// Neither shapes nor coordinates are looked at: only whether it can be one at all.
func geographyFromText(f *field, text string) (string, error) {
	isHex := len(text) >= 10 && len(text)%2 == 0 && strings.Trim(text, "0123456789abcdefABCDEF") == ""
	isJSON := strings.HasPrefix(text, "{") && json.Valid([]byte(text)) && strings.Contains(text, "\"type\"")
	isText := geographyForm.MatchString(text) && strings.Count(text, "(") == strings.Count(text, ")")
	if !isHex && !isJSON && !isText {
		return "", fmt.Errorf("Unable to parse geography value. Field: %s; Value: %.100s", f.name, text)
	}
	return text, nil
}
