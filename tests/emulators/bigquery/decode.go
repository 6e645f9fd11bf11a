package bigquery

// Serialized rows into cells.

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// missing says what a column that is not in a row becomes.
type missing struct {
	by       map[string]storagepb.AppendRowsRequest_MissingValueInterpretation
	fallback storagepb.AppendRowsRequest_MissingValueInterpretation
}

func (m missing) of(f *field) storagepb.AppendRowsRequest_MissingValueInterpretation {
	for name, one := range m.by {
		if strings.EqualFold(name, f.name) {
			return one
		}
	}
	return m.fallback
}

// A decodedRow of CDC has a change type; a DELETE needs its key only.
type decodedRow struct {
	cells    record
	change   string
	sequence string
	bytes    int
}

type decoder struct {
	binding      *binding
	missing      missing
	takesUnknown bool
}

func (d *decoder) row(bytes []byte) (*decodedRow, error) {
	message := dynamicpb.NewMessage(d.binding.message)
	if err := (proto.UnmarshalOptions{}).Unmarshal(bytes, message); err != nil {
		return nil, fmt.Errorf("Failed to parse the row: %s", strings.ReplaceAll(err.Error(), "\u00a0", " "))
	}
	made := &decodedRow{bytes: len(bytes)}
	if d.binding.change != nil {
		made.change = message.Get(d.binding.change).String()
	}
	if d.binding.sequence != nil && message.Has(d.binding.sequence) {
		made.sequence = message.Get(d.binding.sequence).String()
	}
	cells, err := d.record(d.binding, message, "", made.change == "DELETE")
	made.cells = cells
	return made, err
}

func (d *decoder) record(b *binding, message protoreflect.Message, path string, isDelete bool) (record, error) {
	if len(message.GetUnknown()) > 0 && !d.takesUnknown {
		return nil, fmt.Errorf("The row has fields that are not in the writer's schema")
	}
	made := record{}
	for _, one := range b.bound {
		if !message.Has(one.from) {
			continue
		}
		value, err := d.column(one, message.Get(one.from), fieldPath(path, one.to))
		if err != nil {
			return nil, err
		}
		made[one.to.key] = value
	}
	for _, f := range b.fields {
		if _, isThere := made[f.key]; isThere {
			continue
		}
		if f.isRepeated() {
			made[f.key] = []cell{}
		}
		if path == "" && f.fallback != "" && d.missing.of(f) == storagepb.AppendRowsRequest_DEFAULT_VALUE {
			made[f.key], _ = f.evaluate()
		}
		if f.mode == "REQUIRED" && made[f.key] == nil && !isDelete {
			return nil, fmt.Errorf("The required field %s is missing", fieldPath(path, f))
		}
	}
	return made, nil
}

func (d *decoder) column(one boundField, value protoreflect.Value, path string) (cell, error) {
	if !one.from.IsList() {
		return d.value(one, value, path)
	}
	items, made := value.List(), []cell{}
	for i := range items.Len() {
		item, err := d.value(one, items.Get(i), path)
		if err != nil {
			return nil, err
		}
		made = append(made, item)
	}
	return made, nil
}

func (d *decoder) value(one boundField, value protoreflect.Value, path string) (cell, error) {
	if one.nested != nil {
		return d.record(one.nested, value.Message(), path, false)
	}
	made, err := convert(one.to, one.from, value)
	if err != nil {
		return nil, fmt.Errorf("Field %s: %v", path, err)
	}
	return made, nil
}

// convert reads one scalar, whichever protobuf type carries it.
func convert(f *field, fd protoreflect.FieldDescriptor, value protoreflect.Value) (cell, error) {
	if fd.Kind() == protoreflect.MessageKind {
		return convertMessage(f, fd, value.Message())
	}
	switch said := value.Interface().(type) {
	case string:
		if !utf8.ValidString(said) {
			return nil, fmt.Errorf("the string is not valid UTF-8")
		}
		if f.kind.name == "BYTES" {
			return f.kind.fromBytes(f, []byte(said))
		}
		return f.kind.fromText(f, said)
	case []byte:
		return f.kind.fromBytes(f, said)
	case bool:
		return fmt.Sprint(said), nil
	case float32:
		return f.kind.fromReal(f, float64(said))
	case float64:
		return f.kind.fromReal(f, said)
	case protoreflect.EnumNumber:
		return convertEnum(f, fd, said)
	}
	return convertInteger(f, value)
}

func convertInteger(f *field, value protoreflect.Value) (cell, error) {
	switch n := value.Interface().(type) {
	case int32:
		return f.kind.fromInt(f, int64(n))
	case int64:
		return f.kind.fromInt(f, n)
	case uint32:
		return f.kind.fromInt(f, int64(n))
	case uint64: // only where a decimal or a truth value is meant
		if f.kind.name == "BOOL" {
			return fmt.Sprint(n != 0), nil
		}
		return f.kind.fromText(f, fmt.Sprint(n))
	}
	return nil, fmt.Errorf("it cannot be read")
}

func convertEnum(f *field, fd protoreflect.FieldDescriptor, n protoreflect.EnumNumber) (cell, error) {
	if f.kind.name != "STRING" {
		return f.kind.fromInt(f, int64(n))
	}
	value := fd.Enum().Values().ByNumber(n)
	if value == nil {
		return nil, fmt.Errorf("%d is no value of %s", n, fd.Enum().Name())
	}
	return string(value.Name()), nil
}

// convertMessage reads Google's wrappers, times, and the two ends of a RANGE.
func convertMessage(f *field, fd protoreflect.FieldDescriptor, message protoreflect.Message) (cell, error) {
	by := func(name protoreflect.Name) protoreflect.Value {
		return message.Get(message.Descriptor().Fields().ByName(name))
	}
	switch word := protoWord(fd); {
	case strings.HasSuffix(word, "Value"):
		inner := message.Descriptor().Fields().ByName("value")
		return convert(f, inner, message.Get(inner))
	case word == "Timestamp":
		return timestampText(by("seconds").Int()*1000000 + by("nanos").Int()/1000)
	case word == "Duration":
		return intervalText(0, 0, (time.Duration(by("seconds").Int())*time.Second + time.Duration(by("nanos").Int())).Microseconds())
	}
	ends := [2]cell{}
	for i, name := range []protoreflect.Name{"start", "end"} {
		inner := message.Descriptor().Fields().ByName(name)
		if inner == nil || !message.Has(inner) {
			continue
		}
		if !f.element.kind.takesProto(protoWord(inner)) {
			return nil, fmt.Errorf("the %s of a RANGE of %s cannot be %s", name, f.element.kind.name, protoWord(inner))
		}
		made, err := convert(f.element, inner, message.Get(inner))
		if err != nil {
			return nil, err
		}
		ends[i] = made
	}
	return rangeOf(ends[0], ends[1])
}
