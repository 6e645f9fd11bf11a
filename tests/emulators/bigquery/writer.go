package bigquery

// The writer's schema: a DescriptorProto, compiled by the rules of proto2 and laid beside the table's columns.

import (
	"fmt"
	"strings"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	_ "google.golang.org/protobuf/types/known/durationpb"
	_ "google.golang.org/protobuf/types/known/timestamppb"
	_ "google.golang.org/protobuf/types/known/wrapperspb"
)

const (
	changeTypeName = "_change_type"
	sequenceName   = "_change_sequence_number"
)

// A binding is what a writer's message has of a table's record.
type binding struct {
	message  protoreflect.MessageDescriptor
	fields   []*field // of the table, all of them
	bound    []boundField
	change   protoreflect.FieldDescriptor // _CHANGE_TYPE, only at the top
	sequence protoreflect.FieldDescriptor
}

type boundField struct {
	from   protoreflect.FieldDescriptor
	to     *field
	nested *binding // of a STRUCT
}

// compile makes a descriptor of what the writer sent. It refers to nothing but itself and Google's wrappers.
func compile(sent *descriptorpb.DescriptorProto) (protoreflect.MessageDescriptor, *failure) {
	if sent == nil || sent.GetName() == "" {
		return nil, refuse(codes.InvalidArgument, "Invalid proto schema: the descriptor has no name")
	}
	file := &descriptorpb.FileDescriptorProto{Name: proto.String("writer.proto"), Syntax: proto.String("proto2"),
		Dependency:  []string{"google/protobuf/wrappers.proto", "google/protobuf/timestamp.proto", "google/protobuf/duration.proto"},
		MessageType: []*descriptorpb.DescriptorProto{proto.Clone(sent).(*descriptorpb.DescriptorProto)}}
	made, err := protodesc.NewFile(file, protoregistry.GlobalFiles)
	if err != nil {
		return nil, refuse(codes.InvalidArgument, "Invalid proto schema: %v", err)
	}
	return made.Messages().Get(0), nil
}

func columnName(fd protoreflect.FieldDescriptor) string {
	if options, ok := fd.Options().(*descriptorpb.FieldOptions); ok && options != nil && proto.HasExtension(options, storagepb.E_ColumnName) {
		return proto.GetExtension(options, storagepb.E_ColumnName).(string)
	}
	return string(fd.Name())
}

func bind(message protoreflect.MessageDescriptor, fields []*field) (*binding, *failure) {
	return bindAt(message, fields, "", 0)
}

func bindAt(message protoreflect.MessageDescriptor, fields []*field, path string, depth int) (*binding, *failure) {
	b, all, seen := &binding{message: message, fields: fields}, message.Fields(), map[string]bool{}
	if depth > nestingMax {
		return nil, refuse(codes.InvalidArgument, "Invalid proto schema: messages are nested in more than %d levels", nestingMax)
	}
	for i := range all.Len() {
		fd := all.Get(i)
		name := columnName(fd)
		if path == "" && b.takeChange(fd, name) {
			continue
		}
		f := find(fields, name)
		if f == nil {
			return nil, extraField(path + name)
		}
		if seen[f.key] {
			return nil, refuse(codes.InvalidArgument, "Invalid proto schema: column %s is there twice", path+name)
		}
		seen[f.key] = true
		one, err := bindField(fd, f, path, depth)
		if err != nil {
			return nil, err
		}
		b.bound = append(b.bound, one)
	}
	return b, nil
}

func extraField(path string) *failure {
	err := refuse(codes.InvalidArgument, "Schema mismatch due to extra fields in user schema: %s.", path)
	err.storage = storagepb.StorageError_SCHEMA_MISMATCH_EXTRA_FIELDS
	return err
}

func (b *binding) takeChange(fd protoreflect.FieldDescriptor, name string) bool {
	switch strings.ToLower(name) {
	case changeTypeName:
		b.change = fd
	case sequenceName:
		b.sequence = fd
	default:
		return false
	}
	return true
}

func bindField(fd protoreflect.FieldDescriptor, f *field, path string, depth int) (boundField, *failure) {
	one := boundField{from: fd, to: f}
	name := path + string(fd.Name())
	if fd.IsMap() || fd.Kind() == protoreflect.GroupKind {
		return one, refuse(codes.InvalidArgument, "Invalid proto schema: field %s is a map or a group", name)
	}
	if fd.IsList() != f.isRepeated() {
		return one, refuse(codes.InvalidArgument, "The proto field mismatched with BigQuery field at %s, the proto field mode %s, BigQuery field mode %s",
			name, fd.Cardinality(), f.mode)
	}
	word := protoWord(fd)
	takes := f.kind.takesProto(word)
	if isOwn := fd.Message() != nil && word == "message"; isOwn && f.kind.name == "STRUCT" {
		nested, err := bindAt(fd.Message(), f.fields, name+".", depth+1)
		one.nested = nested
		return one, err
	}
	if word == "string" && f.kind.name == "TIMESTAMP" && f.picoseconds {
		takes = true
	}
	if !takes {
		return one, refuse(codes.InvalidArgument, "The proto field mismatched with BigQuery field at %s, the proto field type %s, BigQuery field type %s",
			name, word, f.kind.legacy)
	}
	return one, nil
}

// protoWord is a protobuf type as the table of kinds names it: a scalar, "message", or the name of one of Google's.
func protoWord(fd protoreflect.FieldDescriptor) string {
	if fd.Kind() != protoreflect.MessageKind {
		return fd.Kind().String()
	}
	name := string(fd.Message().FullName())
	if own, ok := strings.CutPrefix(name, "google.protobuf."); ok && fd.Message().ParentFile().Path() != "writer.proto" {
		return own
	}
	return "message"
}

// A missing column of the table is looked for once a request, not once a row.
func (b *binding) has(f *field) bool {
	for _, one := range b.bound {
		if one.to == f {
			return true
		}
	}
	return false
}

func fieldPath(path string, f *field) string {
	if path == "" {
		return f.name
	}
	return fmt.Sprintf("%s.%s", path, f.name)
}
