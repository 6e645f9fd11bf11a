package bqclient

// Descriptors that a writer makes by hand: every protobuf type that a column takes, those that it does not take, names that
// only an option can carry, and what is wrong in a nested message.

import (
	"fmt"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"cloud.google.com/go/bigquery/storage/managedwriter"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"weir/tests/emulators/verdict"
)

type protoType = descriptorpb.FieldDescriptorProto_Type

const (
	asText    = descriptorpb.FieldDescriptorProto_TYPE_STRING
	asBytes   = descriptorpb.FieldDescriptorProto_TYPE_BYTES
	asInt64   = descriptorpb.FieldDescriptorProto_TYPE_INT64
	asInt32   = descriptorpb.FieldDescriptorProto_TYPE_INT32
	asUint32  = descriptorpb.FieldDescriptorProto_TYPE_UINT32
	asUint64  = descriptorpb.FieldDescriptorProto_TYPE_UINT64
	asDouble  = descriptorpb.FieldDescriptorProto_TYPE_DOUBLE
	asFloat   = descriptorpb.FieldDescriptorProto_TYPE_FLOAT
	asBool    = descriptorpb.FieldDescriptorProto_TYPE_BOOL
	asMessage = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
)

func part(name string, number int32, kind protoType) *descriptorpb.FieldDescriptorProto {
	return &descriptorpb.FieldDescriptorProto{Name: proto.String(name), Number: proto.Int32(number), Type: kind.Enum(),
		Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
}

// shapeOf compiles a descriptor for our side, as the server does for its own.
func (j *judge) shapeOf(message *descriptorpb.DescriptorProto) *shape {
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{Name: proto.String("forms.proto"), Syntax: proto.String("proto2"),
		MessageType: []*descriptorpb.DescriptorProto{message}}, protoregistry.GlobalFiles)
	verdict.Must(err)
	return &shape{message: file.Messages().Get(0), descriptor: message}
}

// The column's type, the field's, its value in JSON; what is stored, or "" where the row is bad, or "-" where the schema is.
var forms = []struct {
	kind   bigquery.FieldType
	as     protoType
	given  string
	stored string
}{
	{bigquery.IntegerFieldType, asInt32, "-5", "-5"}, {bigquery.IntegerFieldType, asUint32, "4294967295", "4294967295"},
	{bigquery.IntegerFieldType, asUint64, "1", "-"}, {bigquery.IntegerFieldType, asText, `"1"`, "-"}, {bigquery.IntegerFieldType, asDouble, "1", "-"},
	{bigquery.FloatFieldType, asFloat, "0.5", "0.5"}, {bigquery.FloatFieldType, asInt64, "1", "-"},
	{bigquery.BooleanFieldType, asInt64, "2", "true"}, {bigquery.BooleanFieldType, asText, `"true"`, "-"},
	{bigquery.BytesFieldType, asText, `"a"`, "YQ=="}, {bigquery.StringFieldType, asBytes, `"YQ=="`, "-"},
	{bigquery.DateFieldType, asText, `"2020-02-29"`, "2020-02-29"}, {bigquery.DateFieldType, asText, `"2019-02-29"`, ""},
	{bigquery.DateFieldType, asInt64, "-719163", ""}, {bigquery.DateFieldType, asInt32, "2932897", ""},
	{bigquery.TimeFieldType, asText, `"01:02:03.5"`, "01:02:03.500000"}, {bigquery.TimeFieldType, asText, `"25:00:00"`, ""},
	{bigquery.DateTimeFieldType, asText, `"2020-01-01 01:02:03"`, "2020-01-01T01:02:03"}, {bigquery.DateTimeFieldType, asInt64, "1", ""},
	{bigquery.TimestampFieldType, asInt32, "1000000", "1970-01-01 00:00:01+00"}, {bigquery.TimestampFieldType, asInt64, "253402300800000000", ""},
	{bigquery.TimestampFieldType, asText, `"2020-01-01T00:00:00Z"`, "-"},
	{bigquery.NumericFieldType, asText, `"-1.500"`, "-1.5"}, {bigquery.NumericFieldType, asDouble, "0.25", "0.25"}, {bigquery.NumericFieldType, asInt64, "7", "7"},
	{bigquery.NumericFieldType, asUint64, "18446744073709551615", "18446744073709551615"}, {bigquery.NumericFieldType, asText, `"1e29"`, ""},
	{bigquery.BigNumericFieldType, asText, `"1e-38"`, "0.00000000000000000000000000000000000001"}, {bigquery.BigNumericFieldType, asText, `"x"`, ""},
	{bigquery.IntervalFieldType, asText, `"1-2 3 4:5:6"`, "1-2 3 4:5:6"}, {bigquery.IntervalFieldType, asText, `"soon"`, ""},
	{bigquery.JSONFieldType, asText, `"[1]"`, "[1]"}, {bigquery.JSONFieldType, asText, `"["`, ""},
	{bigquery.GeographyFieldType, asText, `"POINT(0 0)"`, "POINT(0 0)"}, {bigquery.GeographyFieldType, asText, `"here"`, ""},
	{bigquery.RecordFieldType, asText, `"{}"`, "-"},
}

func judgeForms(j *judge) {
	for i, one := range forms {
		name, schema := fmt.Sprintf("t%d", i), bigquery.Schema{{Name: "v", Type: one.kind}}
		if one.kind == bigquery.RecordFieldType {
			schema[0].Schema = bigquery.Schema{{Name: "x", Type: bigquery.StringFieldType}}
		}
		j.table(name, schema)
		s := j.shapeOf(&descriptorpb.DescriptorProto{Name: proto.String("Row"), Field: []*descriptorpb.FieldDescriptorProto{part("v", 1, one.as)}})
		stream := j.stream(name, s, managedwriter.WithType(managedwriter.DefaultStream))
		result, err := stream.AppendRows(j.ctx, [][]byte{j.row(s, `{"v":`+one.given+`}`)})
		verdict.Must(err)
		response, err := result.FullResponse(j.ctx)
		what := fmt.Sprintf("%s as %s: %s", one.kind, one.as, one.given)
		if one.stored == "" || one.stored == "-" {
			j.code(what, err, codes.InvalidArgument, 0)
			verdict.Equal(what+": row errors", len(response.GetRowErrors()), map[string]int{"": 1, "-": 0}[one.stored])
		} else if err != nil {
			verdict.IsTrue(what, false, err)
		} else {
			verdict.Equal(what, j.rows(name), [][]any{{one.stored}})
		}
		stream.Close()
	}
}

func judgeNested(j *judge) {
	j.table("t", bigquery.Schema{{Name: "gr\u00f6\u00dfe in %", Type: bigquery.IntegerFieldType},
		{Name: "r", Type: bigquery.RecordFieldType, Repeated: true, Schema: bigquery.Schema{{Name: "A", Type: bigquery.StringFieldType, Required: true}}},
		{Name: "p", Type: bigquery.RangeFieldType, RangeElementType: &bigquery.RangeElementType{Type: bigquery.DateFieldType}}})
	options := &descriptorpb.FieldOptions{}
	proto.SetExtension(options, storagepb.E_ColumnName, "gr\u00f6\u00dfe in %")
	odd, list, span := part("col_1", 1, asInt64), part("R", 2, asMessage), part("p", 3, asMessage)
	odd.Options, list.TypeName, span.TypeName = options, proto.String("Row.Inner"), proto.String("Row.Span")
	list.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
	message := &descriptorpb.DescriptorProto{Name: proto.String("Row"), Field: []*descriptorpb.FieldDescriptorProto{odd, list, span},
		NestedType: []*descriptorpb.DescriptorProto{{Name: proto.String("Inner"), Field: []*descriptorpb.FieldDescriptorProto{part("a", 1, asText)}},
			{Name: proto.String("Span"), Field: []*descriptorpb.FieldDescriptorProto{part("start", 1, asInt32), part("end", 2, asInt32)}}}}
	s := j.shapeOf(message)
	stream := j.stream("t", s, managedwriter.WithType(managedwriter.DefaultStream))
	defer stream.Close()
	_, err := j.append(stream, [][]byte{j.row(s, `{"col1":5,"R":[{"a":"x"},{"a":""}],"p":{"start":1}}`)})
	verdict.Must(err)
	verdict.Equal("rows", j.rows("t"), [][]any{{"5", `[{"A":"x"},{"A":""}]`, "[1970-01-02, UNBOUNDED)"}})
	for _, bad := range []string{`{"R":[{}]}`, `{"p":{"start":2,"end":1}}`} {
		_, err := j.append(stream, [][]byte{j.row(s, bad)})
		j.code(bad, err, codes.InvalidArgument, 0)
	}
	wide := proto.Clone(message).(*descriptorpb.DescriptorProto)
	wide.NestedType[0].Field = append(wide.NestedType[0].Field, part("none", 2, asText))
	other := j.stream("t", j.shapeOf(wide), managedwriter.WithType(managedwriter.DefaultStream))
	defer other.Close()
	_, err = j.append(other, [][]byte{j.row(s, `{"col1":6}`)})
	j.code("a nested field that no column has", err, codes.InvalidArgument, storagepb.StorageError_SCHEMA_MISMATCH_EXTRA_FIELDS)
	result, err := stream.AppendRows(j.ctx, [][]byte{{0x78, 1}}) // field 15
	verdict.Must(err)
	response, err := result.FullResponse(j.ctx)
	j.code("a field that the descriptor has not", err, codes.InvalidArgument, 0)
	verdict.Equal("row errors", len(response.GetRowErrors()), 1)
	verdict.Equal("rows", len(j.rows("t")), 1)
}
