package bqclient

// Tables that change while somebody writes to them.

import (
	"strings"

	"cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"cloud.google.com/go/bigquery/storage/managedwriter"
	"google.golang.org/grpc/codes"

	"weir/tests/emulators/verdict"
)

var wider = append(append(bigquery.Schema{}, idAndName...), &bigquery.FieldSchema{Name: "more", Type: bigquery.StringFieldType})

func (j *judge) widen(t *bigquery.Table) {
	_, err := t.Update(j.ctx, bigquery.TableMetadataToUpdate{Schema: wider}, "")
	verdict.Must(err)
}

// hasNews appends a row and says whether the answer shows a new schema.
func (j *judge) hasNews(stream *managedwriter.ManagedStream, row []byte) bool {
	result, err := stream.AppendRows(j.ctx, [][]byte{row})
	verdict.Must(err)
	response, err := result.FullResponse(j.ctx)
	verdict.Must(err)
	if response.GetUpdatedSchema() != nil {
		verdict.Equal("columns", len(response.GetUpdatedSchema().GetFields()), 3)
	}
	return response.GetUpdatedSchema() != nil
}

func judgeSchemaChange(j *judge) {
	t := j.table("t", idAndName)
	s, wide := j.shape(idAndName), j.shape(wider)
	stream := j.stream("t", s, managedwriter.WithType(managedwriter.DefaultStream))
	defer stream.Close()
	row := j.row(s, `{"id":1}`)
	verdict.Equal("news before", j.hasNews(stream, row), false)
	verdict.Must(j.control("POST", "settings", map[string]any{"schema_delay_s": 60}, nil))
	j.widen(t)
	meta, err := t.Metadata(j.ctx)
	verdict.Must(err)
	verdict.Equal("REST knows it at once", len(meta.Schema), 3)
	verdict.Equal("news too early", j.hasNews(stream, row), false)
	late := j.stream("t", wide, managedwriter.WithType(managedwriter.DefaultStream))
	defer late.Close()
	more := [][]byte{j.row(wide, `{"id":2,"more":"x"}`)}
	_, err = j.append(late, more)
	j.code("a column that is not known yet", err, codes.InvalidArgument, storagepb.StorageError_SCHEMA_MISMATCH_EXTRA_FIELDS)
	errs := j.rowErrors(t.Inserter().Put(j.ctx, saver("", map[string]bigquery.Value{"id": 3, "more": "y"})))
	verdict.Equal("nor to insertAll", errs, map[int]string{0: "invalid more"})
	verdict.Must(j.control("POST", "clock", map[string]any{"advance_s": 61}, nil))
	verdict.Equal("news", j.hasNews(stream, row), true)
	verdict.Equal("news twice", j.hasNews(stream, row), false)
	_, err = j.append(stream, more, managedwriter.UpdateSchemaDescriptor(wide.descriptor))
	verdict.Must(err)
	verdict.Must(t.Inserter().Put(j.ctx, saver("", map[string]bigquery.Value{"id": 3, "more": "y"})))
	rows := j.rows("t")
	verdict.Equal("rows", rows[len(rows)-2:], [][]any{{"2", nil, "x"}, {"3", nil, "y"}})
}

func judgeRemade(j *judge) {
	t := j.table("t", idAndName)
	s := j.shape(idAndName)
	stream := j.stream("t", s, managedwriter.WithType(managedwriter.DefaultStream))
	defer stream.Close()
	row := [][]byte{j.row(s, `{"id":1}`)}
	_, err := j.append(stream, row)
	verdict.Must(err)
	verdict.Must(t.Delete(j.ctx))
	_, err = j.append(stream, row)
	j.code("a dropped table", err, codes.NotFound, storagepb.StorageError_TABLE_NOT_FOUND)
	j.table("t", wider)
	again := j.stream("t", s, managedwriter.WithType(managedwriter.DefaultStream))
	defer again.Close()
	_, err = j.append(again, row)
	verdict.Must(err)
	verdict.Equal("rows of the new one", j.rows("t"), [][]any{{"1", nil, nil}})
	verdict.Must(j.control("POST", "settings", map[string]any{"ghost_s": 60}, nil))
	verdict.Must(t.Delete(j.ctx))
	j.table("t", idAndName)
	_, err = j.append(again, row)
	verdict.Must(err)
	said := struct {
		Lost int `json:"lost_rows"`
	}{}
	verdict.Must(j.control("GET", "state", nil, &said))
	verdict.Equal("rows for a ghost", said.Lost, 1)
	verdict.Equal("rows of the newest", len(j.rows("t")), 0)
}

func judgeDropped(j *judge) {
	j.table("t", idAndName)
	j.table("other", idAndName)
	s := j.shape(idAndName)
	row := [][]byte{j.row(s, `{"id":1}`)}
	stream, other := j.stream("t", s, managedwriter.WithType(managedwriter.DefaultStream)), j.stream("other", s, managedwriter.WithType(managedwriter.DefaultStream))
	defer stream.Close()
	defer other.Close()
	j.fault(map[string]any{"kind": "drop", "table": j.dataset.DatasetID + ".t", "method": "AppendRows", "skip": 2, "times": 1})
	for range 2 {
		_, err := j.append(stream, row)
		verdict.Must(err)
	}
	_, err := j.append(stream, row)
	j.code("dropped in mid-stream", err, codes.NotFound, storagepb.StorageError_TABLE_NOT_FOUND)
	_, err = j.append(other, row)
	verdict.Must(err)
	verdict.Must(j.dataset.DeleteWithContents(j.ctx))
	_, err = j.append(other, row)
	j.code("no dataset any more", err, codes.NotFound, storagepb.StorageError_TABLE_NOT_FOUND)
}

func judgeShared(j *judge) {
	s := j.shape(idAndName)
	client, err := managedwriter.NewClient(j.ctx, project, j.writerOptions(managedwriter.WithMultiplexing())...)
	verdict.Must(err)
	defer client.Close()
	streams := []*managedwriter.ManagedStream{}
	for _, name := range []string{"a", "b"} {
		j.table(name, idAndName)
		made, err := client.NewManagedStream(j.ctx, managedwriter.WithType(managedwriter.DefaultStream), managedwriter.WithSchemaDescriptor(s.descriptor),
			managedwriter.WithDestinationTable(managedwriter.TableParentFromParts(project, j.dataset.DatasetID, name)))
		verdict.Must(err)
		streams = append(streams, made)
	}
	before := j.count("connections")
	for i := range 6 {
		_, err := j.append(streams[i%2], [][]byte{j.row(s, `{"id":`+strings.Repeat("1", i+1)+`}`)})
		verdict.Must(err)
	}
	verdict.Equal("rows of a", j.rows("a"), [][]any{{"1", nil}, {"111", nil}, {"11111", nil}})
	verdict.Equal("rows of b", j.rows("b"), [][]any{{"11", nil}, {"1111", nil}, {"111111", nil}})
	verdict.Equal("connections", j.count("connections")-before, 1)
	verdict.Must(j.dataset.Table("b").Delete(j.ctx))
	_, err = j.append(streams[1], [][]byte{j.row(s, `{"id":1}`)})
	j.code("a dropped one", err, codes.NotFound, storagepb.StorageError_TABLE_NOT_FOUND)
	_, err = j.append(streams[0], [][]byte{j.row(s, `{"id":1}`)})
	verdict.Must(err)
	verdict.Equal("connections", j.count("connections")-before, 1)
}

func (j *judge) count(name string) int {
	said := struct{ All map[string]int }{}
	verdict.Must(j.control("GET", "counts", nil, &said))
	return said.All[name]
}

func judgeHeld(j *judge) {
	j.table("t", idAndName)
	s := j.shape(idAndName)
	rows := [][]byte{j.row(s, `{"id":1}`), j.row(s, `{"id":2}`)}
	pending := j.stream("t", s, managedwriter.WithType(managedwriter.PendingStream))
	defer pending.Close()
	_, err := j.append(pending, rows)
	verdict.Must(err)
	verdict.Equal("pending", len(j.rows("t")), 0)
	_, err = pending.Finalize(j.ctx)
	verdict.Must(err)
	commit := &storagepb.BatchCommitWriteStreamsRequest{Parent: managedwriter.TableParentFromParts(project, j.dataset.DatasetID, "t"),
		WriteStreams: []string{pending.StreamName()}}
	done, err := j.write.BatchCommitWriteStreams(j.ctx, commit)
	verdict.Must(err)
	verdict.IsTrue("committed", done.GetCommitTime() != nil && len(done.GetStreamErrors()) == 0, done)
	verdict.Equal("rows", len(j.rows("t")), 2)
	done, err = j.write.BatchCommitWriteStreams(j.ctx, commit)
	verdict.Must(err)
	verdict.Equal("twice", done.GetStreamErrors()[0].GetCode(), storagepb.StorageError_STREAM_ALREADY_COMMITTED)
	buffered := j.stream("t", s, managedwriter.WithType(managedwriter.BufferedStream))
	defer buffered.Close()
	_, err = j.append(buffered, rows)
	verdict.Must(err)
	_, err = buffered.FlushRows(j.ctx, 0)
	verdict.Must(err)
	verdict.Equal("one is flushed", len(j.rows("t")), 3)
	_, err = buffered.FlushRows(j.ctx, 7)
	j.code("too far", err, codes.OutOfRange, storagepb.StorageError_OFFSET_OUT_OF_RANGE)
}

func judgeTime(j *judge) {
	j.table("t", idAndName)
	s := j.shape(idAndName)
	row := [][]byte{j.row(s, `{"id":1}`)}
	stream := j.stream("t", s, managedwriter.WithType(managedwriter.CommittedStream))
	defer stream.Close()
	_, err := j.append(stream, row, managedwriter.WithOffset(0))
	verdict.Must(err)
	before := j.count("connections")
	verdict.Must(j.control("POST", "clock", map[string]any{"advance_s": 601}, nil))
	for j.count("open") > 0 {
		verdict.Must(j.ctx.Err())
	}
	_, err = j.append(stream, row, managedwriter.WithOffset(1))
	if err != nil { // the client may tell the end of an idle connection as the failure of the next append
		_, err = j.append(stream, row, managedwriter.WithOffset(1))
	}
	verdict.Must(err)
	verdict.Equal("connections", j.count("connections")-before, 1)
	verdict.Must(j.control("POST", "clock", map[string]any{"advance_s": 4 * 86400}, nil))
	_, err = j.write.GetWriteStream(j.ctx, &storagepb.GetWriteStreamRequest{Name: stream.StreamName()})
	j.code("a stream that nobody used for days", err, codes.NotFound, storagepb.StorageError_STREAM_NOT_FOUND)
	full, err := j.write.GetWriteStream(j.ctx, &storagepb.GetWriteStreamRequest{View: storagepb.WriteStreamView_FULL,
		Name: managedwriter.TableParentFromParts(project, j.dataset.DatasetID, "t") + "/streams/_default"})
	verdict.Must(err)
	verdict.Equal("location", full.GetLocation(), "EU")
	verdict.Equal("columns", len(full.GetTableSchema().GetFields()), 2)
}
