package main

// Google's protobuf library as the judge of the reader and writer in C. The message type is made here at run
// time: one field of every kind. "make" writes random messages, "judge" reads what C wrote from them.

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand"
	"os"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

type kind = descriptorpb.FieldDescriptorProto_Type

// number, type, repeated. tests/google/proto_copy.c has the same table.
var fields = []struct {
	number   int32
	kind     kind
	repeated bool
}{
	{1, descriptorpb.FieldDescriptorProto_TYPE_INT32, false}, {2, descriptorpb.FieldDescriptorProto_TYPE_INT64, false},
	{3, descriptorpb.FieldDescriptorProto_TYPE_UINT32, false}, {4, descriptorpb.FieldDescriptorProto_TYPE_UINT64, false},
	{5, descriptorpb.FieldDescriptorProto_TYPE_SINT32, false}, {6, descriptorpb.FieldDescriptorProto_TYPE_SINT64, false},
	{7, descriptorpb.FieldDescriptorProto_TYPE_BOOL, false}, {8, descriptorpb.FieldDescriptorProto_TYPE_FIXED32, false},
	{9, descriptorpb.FieldDescriptorProto_TYPE_FIXED64, false}, {10, descriptorpb.FieldDescriptorProto_TYPE_FLOAT, false},
	{11, descriptorpb.FieldDescriptorProto_TYPE_DOUBLE, false}, {12, descriptorpb.FieldDescriptorProto_TYPE_STRING, false},
	{13, descriptorpb.FieldDescriptorProto_TYPE_BYTES, false}, {14, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE, false},
	{15, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE, true}, {16, descriptorpb.FieldDescriptorProto_TYPE_INT64, true},
	{2047, descriptorpb.FieldDescriptorProto_TYPE_BYTES, true}, {536870911, descriptorpb.FieldDescriptorProto_TYPE_SINT64, true},
}

func messageType() (protoreflect.MessageType, error) {
	message := &descriptorpb.DescriptorProto{Name: proto.String("M")}
	for _, f := range fields {
		field := &descriptorpb.FieldDescriptorProto{Name: proto.String(fmt.Sprintf("f%d", f.number)), Number: proto.Int32(f.number),
			Type: f.kind.Enum(), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
		if f.repeated {
			field.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
		}
		if f.kind == descriptorpb.FieldDescriptorProto_TYPE_MESSAGE {
			field.TypeName = proto.String(".M")
		}
		message.Field = append(message.Field, field)
	}
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{Name: proto.String("m.proto"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{message}}, nil)
	if err != nil {
		return nil, err
	}
	return dynamicpb.NewMessageType(file.Messages().ByName("M")), nil
}

// oddNumber is mostly one at an edge.
func oddNumber(r *rand.Rand) uint64 {
	if r.Intn(3) == 0 {
		return r.Uint64() >> r.Intn(64)
	}
	edges := []uint64{0, 1, 127, 128, 16383, 16384, math.MaxInt32, 1 << 31, math.MaxUint32, math.MaxInt64, 1 << 63, math.MaxUint64}
	return edges[r.Intn(len(edges))]
}

func value(r *rand.Rand, f protoreflect.FieldDescriptor, depth int, kind protoreflect.MessageType) protoreflect.Value {
	n := oddNumber(r)
	switch f.Kind() {
	case protoreflect.Int32Kind, protoreflect.Sint32Kind:
		return protoreflect.ValueOfInt32(int32(n))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind:
		return protoreflect.ValueOfInt64(int64(n))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(n))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(n)
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(n&1 == 1)
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(math.Float32frombits(uint32(n)))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(math.Float64frombits(n))
	case protoreflect.StringKind:
		return protoreflect.ValueOfString([]string{"", "a", "\u00fc\u20ac", "line\nline\x00"}[r.Intn(4)])
	case protoreflect.BytesKind:
		bytes := make([]byte, []int{0, 1, 120, 127, 128, 20000}[r.Intn(6)])
		r.Read(bytes)
		return protoreflect.ValueOfBytes(bytes)
	default:
		return protoreflect.ValueOfMessage(random(r, kind, depth+1))
	}
}

func random(r *rand.Rand, kind protoreflect.MessageType, depth int) protoreflect.Message {
	m := kind.New()
	all := m.Descriptor().Fields()
	for i := range all.Len() {
		f := all.Get(i)
		if r.Intn(3) == 0 || (f.Kind() == protoreflect.MessageKind && depth > 3) {
			continue
		}
		if f.IsList() {
			list := m.Mutable(f).List()
			for range r.Intn(4) {
				list.Append(value(r, f, depth, kind))
			}
		} else {
			m.Set(f, value(r, f, depth, kind))
		}
	}
	return m
}

// damaged is the message's bytes with a byte changed, cut off or put in.
func damaged(r *rand.Rand, bytes []byte) []byte {
	made := append([]byte{}, bytes...)
	if len(made) == 0 {
		return []byte{byte(r.Intn(256))}
	}
	at := r.Intn(min(len(made), 60))
	switch r.Intn(3) {
	case 0:
		made[at] ^= byte(1 << r.Intn(8))
	case 1:
		made = made[:at]
	default:
		made = append(made[:at], append([]byte{byte(r.Intn(256))}, made[at:]...)...)
	}
	return made
}

// isWhole is Google's word on whether the bytes are fields, one behind the other.
func isWhole(bytes []byte) bool {
	for len(bytes) > 0 {
		number, _, n := protowire.ConsumeField(bytes)
		if n < 0 || number > protowire.MaxValidNumber {
			return false
		}
		bytes = bytes[n:]
	}
	return true
}

func writeFrame(w io.Writer, bytes []byte) {
	binary.Write(w, binary.BigEndian, uint32(len(bytes)))
	w.Write(bytes)
}

func readFrame(r io.Reader) ([]byte, error) {
	var len uint32
	if err := binary.Read(r, binary.BigEndian, &len); err != nil {
		return nil, err
	}
	bytes := make([]byte, len)
	_, err := io.ReadFull(r, bytes)
	return bytes, err
}

// protoMake writes to the file: per message its bytes, and damaged bytes with a verdict in front (1 whole, 0 broken).
func protoMake(r *rand.Rand, kind protoreflect.MessageType, count int, name string) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer file.Close()
	w := bufio.NewWriter(file)
	for range count {
		bytes, err := proto.Marshal(random(r, kind, 0).Interface())
		if err != nil {
			return err
		}
		writeFrame(w, bytes)
		bad := damaged(r, bytes)
		verdict := byte(0)
		if isWhole(bad) {
			verdict = 1
		}
		writeFrame(w, append([]byte{verdict}, bad...))
	}
	return w.Flush()
}

// protoJudge compares what C has written with the messages it was given.
func protoJudge(r *rand.Rand, kind protoreflect.MessageType, count int, name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewReader(file)
	for i := range count {
		expected := random(r, kind, 0)
		plain, _ := proto.Marshal(expected.Interface())
		damaged(r, plain) // keeps the random numbers in step
		bytes, err := readFrame(in)
		if err != nil {
			return err
		}
		got := kind.New()
		if err := proto.Unmarshal(bytes, got.Interface()); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
		if !proto.Equal(expected.Interface(), got.Interface()) {
			return fmt.Errorf("message %d differs", i)
		}
	}
	fmt.Println(count, "messages are equal")
	return nil
}

// protoMain: make|judge SEED COUNT FILE
func protoMain(args []string) error {
	if len(args) != 4 {
		return fmt.Errorf("proto make|judge SEED COUNT FILE")
	}
	kind, err := messageType()
	if err != nil {
		return err
	}
	seed, _ := strconv.ParseInt(args[1], 10, 64)
	count, _ := strconv.Atoi(args[2])
	r := rand.New(rand.NewSource(seed))
	if args[0] == "make" {
		return protoMake(r, kind, count, args[3])
	}
	return protoJudge(r, kind, count, args[3])
}
