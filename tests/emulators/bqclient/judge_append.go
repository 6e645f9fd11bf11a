package bqclient

import (
	"errors"
	"fmt"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"cloud.google.com/go/bigquery/storage/managedwriter"
	"cloud.google.com/go/bigquery/storage/managedwriter/adapt"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"weir/tests/emulators/verdict"
)

// A shape is a writer's schema as Google's adapter makes it of a table's.
type shape struct {
	message    protoreflect.MessageDescriptor
	descriptor *descriptorpb.DescriptorProto
}

func (j *judge) shape(schema bigquery.Schema) *shape {
	converted, err := adapt.BQSchemaToStorageTableSchema(schema)
	verdict.Must(err)
	made, err := adapt.StorageSchemaToProto2Descriptor(converted, "root")
	verdict.Must(err)
	message, ok := made.(protoreflect.MessageDescriptor)
	verdict.IsTrue("a message", ok)
	descriptor, err := adapt.NormalizeDescriptor(message)
	verdict.Must(err)
	return &shape{message: message, descriptor: descriptor}
}

// row serializes what is given as JSON.
func (j *judge) row(s *shape, json string) []byte {
	message := dynamicpb.NewMessage(s.message)
	verdict.Must(protojson.Unmarshal([]byte(json), message))
	bytes, err := proto.Marshal(message)
	verdict.Must(err)
	return bytes
}

func (j *judge) stream(table string, s *shape, options ...managedwriter.WriterOption) *managedwriter.ManagedStream {
	made, err := j.write.NewManagedStream(j.ctx, append([]managedwriter.WriterOption{
		managedwriter.WithDestinationTable(managedwriter.TableParentFromParts(project, j.dataset.DatasetID, table)),
		managedwriter.WithSchemaDescriptor(s.descriptor)}, options...)...)
	verdict.Must(err)
	return made
}

// append waits for the answer: the offset, or -1 where there is none.
func (j *judge) append(stream *managedwriter.ManagedStream, rows [][]byte, options ...managedwriter.AppendOption) (int64, error) {
	result, err := stream.AppendRows(j.ctx, rows, options...)
	if err != nil {
		return -1, err
	}
	return result.GetResult(j.ctx)
}

func (j *judge) code(what string, err error, code codes.Code, storage storagepb.StorageError_StorageErrorCode) {
	said := status.Convert(errors.Unwrap(err))
	if _, ok := status.FromError(err); ok {
		said = status.Convert(err)
	}
	verdict.IsTrue(what, err != nil && said.Code() == code, err)
	for _, detail := range said.Details() {
		if one, ok := detail.(*storagepb.StorageError); ok {
			verdict.Equal(what, one.GetCode(), storage)
			return
		}
	}
	verdict.IsTrue(what+": no StorageError", storage == 0, said.Details())
}

func judgeDefault(j *judge) {
	j.table("t", idAndName)
	s := j.shape(idAndName)
	stream := j.stream("t", s, managedwriter.WithType(managedwriter.DefaultStream))
	defer stream.Close()
	for i := range 3 {
		offset, err := j.append(stream, [][]byte{j.row(s, fmt.Sprintf(`{"id":%d,"name":"n%d"}`, i, i)), j.row(s, fmt.Sprintf(`{"id":%d}`, -i))})
		verdict.Must(err)
		verdict.Equal("no offset", offset, int64(managedwriter.NoStreamOffset))
	}
	verdict.Equal("rows", j.rows("t"), [][]any{{"0", "n0"}, {"0", nil}, {"1", "n1"}, {"-1", nil}, {"2", "n2"}, {"-2", nil}})
	missing, err := j.write.NewManagedStream(j.ctx, managedwriter.WithDestinationTable(managedwriter.TableParentFromParts(project, j.dataset.DatasetID, "none")),
		managedwriter.WithSchemaDescriptor(s.descriptor), managedwriter.WithType(managedwriter.DefaultStream))
	if err == nil {
		_, err = j.append(missing, [][]byte{j.row(s, `{"id":1}`)})
	}
	j.code("a table that is not there", err, codes.NotFound, storagepb.StorageError_TABLE_NOT_FOUND)
}

func judgeCommitted(j *judge) {
	j.table("t", idAndName)
	s := j.shape(idAndName)
	stream := j.stream("t", s, managedwriter.WithType(managedwriter.CommittedStream))
	defer stream.Close()
	one := [][]byte{j.row(s, `{"id":1}`), j.row(s, `{"id":2}`)}
	offset, err := j.append(stream, one, managedwriter.WithOffset(0))
	verdict.Must(err)
	verdict.Equal("first", offset, int64(0))
	_, err = j.append(stream, one, managedwriter.WithOffset(0))
	j.code("again", err, codes.AlreadyExists, storagepb.StorageError_OFFSET_ALREADY_EXISTS)
	_, err = j.append(stream, one, managedwriter.WithOffset(5))
	j.code("a gap", err, codes.OutOfRange, storagepb.StorageError_OFFSET_OUT_OF_RANGE)
	offset, err = j.append(stream, one, managedwriter.WithOffset(2))
	verdict.Must(err)
	verdict.Equal("second", offset, int64(2))
	count, err := stream.Finalize(j.ctx)
	verdict.Must(err)
	verdict.Equal("rows of the stream", count, int64(4))
	_, err = j.append(stream, one, managedwriter.WithOffset(4))
	j.code("finalized", err, codes.FailedPrecondition, storagepb.StorageError_STREAM_FINALIZED)
	verdict.Equal("rows", len(j.rows("t")), 4)
}

func judgeBadRows(j *judge) {
	j.table("t", idAndName)
	s := j.shape(idAndName)
	stream := j.stream("t", s, managedwriter.WithType(managedwriter.DefaultStream))
	defer stream.Close()
	loose := j.shape(bigquery.Schema{{Name: "id", Type: bigquery.IntegerFieldType}, {Name: "name", Type: bigquery.BytesFieldType}})
	bad := [][]byte{j.row(s, `{"id":1}`), {0xff}, j.row(loose, `{"id":2,"name":"/w=="}`), j.row(loose, `{"name":"eA=="}`)}
	result, err := stream.AppendRows(j.ctx, bad)
	verdict.Must(err)
	response, err := result.FullResponse(j.ctx)
	j.code("bad rows", err, codes.InvalidArgument, 0)
	indexes := []int64{}
	for _, one := range response.GetRowErrors() {
		indexes = append(indexes, one.GetIndex())
	}
	verdict.Equal("which", indexes, []int64{1, 2, 3})
	verdict.Equal("nothing written", len(j.rows("t")), 0)
	_, err = j.append(stream, bad[:1])
	verdict.Must(err)
	verdict.Equal("the good one", j.rows("t"), [][]any{{"1", nil}})
}
