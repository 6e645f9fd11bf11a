package bqclient

// Values of all types at their ends, missing ones, and changes by key.

import (
	"fmt"
	"math/big"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"cloud.google.com/go/bigquery/storage/managedwriter"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"weir/tests/emulators/verdict"
)

// typeRows are columns with what goes over protobuf, as JSON of the adapter's message, and the canonical text of it.
var typeRows = []struct {
	name string
	kind bigquery.FieldType
	many bool
	rows [][2]string
}{
	{"i", bigquery.IntegerFieldType, false, [][2]string{{`"-9223372036854775808"`, "-9223372036854775808"}, {`"9223372036854775807"`, "9223372036854775807"}}},
	{"f", bigquery.FloatFieldType, false, [][2]string{{"1e308", "1e+308"}, {`"NaN"`, "NaN"}, {`"-Infinity"`, "-Infinity"}, {"-0.0", "0.0"}, {"0.1", "0.1"}, {"100", "100.0"}}},
	{"b", bigquery.BooleanFieldType, false, [][2]string{{"true", "true"}, {"false", "false"}}},
	{"s", bigquery.StringFieldType, false, [][2]string{{`""`, ""}, {`"\u0000\ud83d\ude42"`, "\u0000\U0001F642"}}},
	{"y", bigquery.BytesFieldType, false, [][2]string{{`"AP8="`, "AP8="}}},
	{"d", bigquery.DateFieldType, false, [][2]string{{"-719162", "0001-01-01"}, {"2932896", "9999-12-31"}, {"0", "1970-01-01"}}},
	{"ts", bigquery.TimestampFieldType, false, [][2]string{{`"-62135596800000000"`, "0001-01-01 00:00:00+00"},
		{`"253402300799999999"`, "9999-12-31 23:59:59.999999+00"}, {`"-1"`, "1969-12-31 23:59:59.999999+00"}}},
	{"ti", bigquery.TimeFieldType, false, [][2]string{{packed(0, 0, 0, 23, 59, 59, 999999), "23:59:59.999999"}, {"0", "00:00:00"}}},
	{"dt", bigquery.DateTimeFieldType, false, [][2]string{{packed(9999, 12, 31, 23, 59, 59, 1), "9999-12-31T23:59:59.000001"}, {packed(1, 1, 1, 0, 0, 0, 0), "0001-01-01T00:00:00"}}},
	{"j", bigquery.JSONFieldType, false, [][2]string{{`"{\"a\": [1.50]}"`, `{"a": [1.50]}`}}},
	{"g", bigquery.GeographyFieldType, false, [][2]string{{`"POINT(1 2)"`, "POINT(1 2)"}}},
	{"l", bigquery.IntegerFieldType, true, [][2]string{{"[1,2]", "[1,2]"}, {"[]", "[]"}}},
}

// packed is the int64 of civil times, as JSON has it.
func packed(year, month, day, hour, minute, second, micros int64) string {
	return fmt.Sprintf("\"%d\"", (((year<<26)|(month<<22)|(day<<17)|(hour<<12)|(minute<<6)|second)<<20)|micros)
}

func judgeTypes(j *judge) {
	for _, one := range typeRows {
		schema := bigquery.Schema{{Name: one.name, Type: one.kind, Repeated: one.many}}
		j.table("t_"+one.name, schema)
		s := j.shape(schema)
		stream := j.stream("t_"+one.name, s, managedwriter.WithType(managedwriter.DefaultStream))
		expected, sent := [][]any{}, [][]byte{}
		for _, row := range one.rows {
			sent = append(sent, j.row(s, fmt.Sprintf(`{"%s":%s}`, one.name, row[0])))
			expected = append(expected, []any{row[1]})
		}
		if _, err := j.append(stream, sent); err != nil {
			verdict.IsTrue("values of "+one.name, false, err)
		}
		stream.Close()
		verdict.Equal("values of "+one.name, j.rows("t_"+one.name), expected)
	}
}

func judgeDecimals(j *judge) {
	schema := bigquery.Schema{{Name: "n", Type: bigquery.NumericFieldType}, {Name: "b", Type: bigquery.BigNumericFieldType}}
	j.table("t", schema)
	message := &descriptorpb.DescriptorProto{Name: proto.String("root")}
	for i, name := range []string{"n", "b"} {
		message.Field = append(message.Field, &descriptorpb.FieldDescriptorProto{Name: proto.String(name), Number: proto.Int32(int32(i + 1)),
			Type: descriptorpb.FieldDescriptorProto_TYPE_BYTES.Enum(), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()})
	}
	stream := j.stream("t", &shape{descriptor: message}, managedwriter.WithType(managedwriter.DefaultStream))
	defer stream.Close()
	largest := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(1))
	_, err := j.append(stream, [][]byte{decimalRow(big.NewInt(-1500000000), largest), decimalRow(big.NewInt(1), big.NewInt(0))})
	verdict.Must(err)
	verdict.Equal("rows", j.rows("t"), [][]any{{"-1.5", "578960446186580977117854925043439539266.34992332820282019728792003956564819967"}, {"0.000000001", "0"}})
	_, err = j.append(stream, [][]byte{decimalRow(new(big.Int).Exp(big.NewInt(10), big.NewInt(38), nil), big.NewInt(0))})
	j.code("too large", err, codes.InvalidArgument, 0)
}

// decimalRow is a row of two columns in little-endian bytes of two's complement.
func decimalRow(values ...*big.Int) []byte {
	row := []byte{}
	for i, value := range values {
		bytes := make([]byte, 32)
		number := new(big.Int).Set(value)
		if value.Sign() < 0 {
			number.Add(number, new(big.Int).Lsh(big.NewInt(1), 256))
		}
		number.FillBytes(bytes)
		for from, to := 0, 31; from < to; from, to = from+1, to-1 {
			bytes[from], bytes[to] = bytes[to], bytes[from]
		}
		row = append(row, byte(i+1)<<3|2, 32)
		row = append(row, bytes...)
	}
	return row
}

func judgeMissing(j *judge) {
	schema := bigquery.Schema{{Name: "id", Type: bigquery.IntegerFieldType}, {Name: "a", Type: bigquery.StringFieldType, DefaultValueExpression: "'d'"},
		{Name: "n", Type: bigquery.IntegerFieldType, DefaultValueExpression: "7"}}
	t := j.table("t", schema)
	s := j.shape(schema)
	row := [][]byte{j.row(s, `{"id":1}`)}
	stream := j.stream("t", s, managedwriter.WithType(managedwriter.DefaultStream))
	defer stream.Close()
	_, err := j.append(stream, row)
	verdict.Must(err)
	_, err = j.append(stream, row, managedwriter.UpdateMissingValueInterpretations(map[string]storagepb.AppendRowsRequest_MissingValueInterpretation{
		"a": storagepb.AppendRowsRequest_DEFAULT_VALUE}))
	verdict.Must(err)
	_, err = j.append(stream, row, managedwriter.UpdateMissingValueInterpretations(nil),
		managedwriter.UpdateDefaultMissingValueInterpretation(storagepb.AppendRowsRequest_DEFAULT_VALUE))
	verdict.Must(err)
	verdict.Must(t.Inserter().Put(j.ctx, saver("", map[string]bigquery.Value{"id": 1})))
	verdict.Must(t.Inserter().Put(j.ctx, saver("", map[string]bigquery.Value{"id": 1, "a": nil})))
	verdict.Equal("rows", j.rows("t"), [][]any{{"1", nil, nil}, {"1", "d", nil}, {"1", "d", "7"}, {"1", "d", "7"}, {"1", nil, "7"}})
}

var changed = bigquery.Schema{{Name: "id", Type: bigquery.IntegerFieldType, Required: true}, {Name: "name", Type: bigquery.StringFieldType, Required: true}}

// changeShape has the two fields that no table has.
func (j *judge) changeShape() *shape {
	return j.shape(append(append(bigquery.Schema{}, bigquery.Schema{{Name: "id", Type: bigquery.IntegerFieldType}, {Name: "name", Type: bigquery.StringFieldType}}...),
		&bigquery.FieldSchema{Name: "_CHANGE_TYPE", Type: bigquery.StringFieldType}, &bigquery.FieldSchema{Name: "_CHANGE_SEQUENCE_NUMBER", Type: bigquery.StringFieldType}))
}

func judgeChanges(j *judge) {
	t := j.dataset.Table("t")
	verdict.Must(t.Create(j.ctx, &bigquery.TableMetadata{Schema: changed,
		TableConstraints: &bigquery.TableConstraints{PrimaryKey: &bigquery.PrimaryKey{Columns: []string{"id"}}}}))
	s := j.changeShape()
	stream := j.stream("t", s, managedwriter.WithType(managedwriter.DefaultStream))
	defer stream.Close()
	change := func(id int, name, kind, sequence string) []byte {
		if kind == "DELETE" {
			return j.row(s, fmt.Sprintf(`{"id":%d,"_CHANGE_TYPE":"%s","_CHANGE_SEQUENCE_NUMBER":"%s"}`, id, kind, sequence))
		}
		return j.row(s, fmt.Sprintf(`{"id":%d,"name":"%s","_CHANGE_TYPE":"%s","_CHANGE_SEQUENCE_NUMBER":"%s"}`, id, name, kind, sequence))
	}
	put := func(rows ...[]byte) {
		_, err := j.append(stream, rows)
		verdict.Must(err)
	}
	put(change(1, "a", "UPSERT", "77"), change(2, "x", "UPSERT", "BA/FFFFFFFF"), change(1, "b", "UPSERT", "7B"), change(1, "old", "UPSERT", "A"))
	put(change(2, "y", "UPSERT", "ABC"), change(2, "z", "UPSERT", "FFF/B"), change(2, "late", "UPSERT", "FFF/A"), change(3, "c", "UPSERT", "1"))
	verdict.Equal("the largest number stands", j.rows("t"), [][]any{{"1", "b"}, {"2", "z"}, {"3", "c"}})
	put(change(3, "", "DELETE", "5"), change(3, "older", "UPSERT", "4"))
	verdict.Equal("deleted", j.rows("t"), [][]any{{"1", "b"}, {"2", "z"}})
	verdict.Must(j.control("POST", "settings", map[string]any{"idle_s": 1000000}, nil))
	verdict.Must(j.control("POST", "clock", map[string]any{"advance_s": 200000}, nil))
	put(change(3, "older", "UPSERT", "4"))
	verdict.Equal("a forgotten delete", len(j.rows("t")), 3)
	for _, bad := range [][]byte{change(4, "n", "INSERT", "1"), change(4, "n", "UPSERT", "G"), change(4, "n", "upsert", "1"),
		j.row(s, `{"name":"n","_CHANGE_TYPE":"DELETE"}`)} {
		_, err := j.append(stream, [][]byte{bad})
		j.code("a bad change", err, codes.InvalidArgument, 0)
	}
	j.table("plain", changed)
	other := j.stream("plain", s, managedwriter.WithType(managedwriter.DefaultStream))
	defer other.Close()
	_, err := j.append(other, [][]byte{change(1, "a", "UPSERT", "1")})
	j.code("a table without a key", err, codes.InvalidArgument, 0)
}
