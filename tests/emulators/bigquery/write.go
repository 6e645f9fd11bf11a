package bigquery

// What one AppendRows request does to its table: everything, or nothing with the reasons.

import (
	"fmt"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// A link is a connection's hold on one stream.
type link struct {
	said      string // the name as it was sent
	name      streamName
	table     *table
	stream    *writeStream // nil: the default one
	message   protoreflect.MessageDescriptor
	binding   *binding
	bound     int // the version of the schema that the binding is of
	known     int // the version that the writer knows
	hasChange bool
}

// inBand says how a failure of the table or the stream itself is told: it must not end what others share.
func (a *appender) inBand() bool {
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	return a.isShared || a.s.settings.EntityInBand
}

func (a *appender) write(request *storagepb.AppendRowsRequest, f *fault) appendAnswer {
	l := a.current
	version, err := a.open(l)
	if err != nil {
		isEntity := err.storage == storagepb.StorageError_STREAM_FINALIZED || err.storage == storagepb.StorageError_INVALID_STREAM_TYPE
		l.table, l.message = nil, nil
		return a.failed(err, a.inBand() || isEntity)
	}
	if request.GetArrowRows() != nil {
		return a.failed(refuse(codes.Unimplemented, "This server takes no Arrow"), false)
	}
	a.takeMissing(request)
	if err := l.schema(request, version); err != nil {
		if err.storage == 0 && l.message == nil {
			return a.failed(err, false)
		}
		l.message = nil // a writer takes a sent schema for accepted: the next request without one ends the call
		return a.failed(err.about(err.storage, l.name.whole), true)
	}
	if err := a.s.checkOffset(l, request.GetOffset()); err != nil {
		return a.failed(err, true)
	}
	rows, err := a.decode(l, request.GetProtoRows().GetRows().GetSerializedRows(), f)
	if err != nil {
		return a.failed(err, true)
	}
	return a.keep(l, rows, request.GetOffset())
}

// open finds the table and the stream, and checks that they are those which the connection began with.
func (a *appender) open(l *link) (*schemaVersion, *failure) {
	s := a.s
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.now()
	if l.table != nil && !l.table.dropped.IsZero() && now.Sub(l.table.dropped) < seconds(s.settings.GhostTime) {
		return l.table.written(now), nil
	}
	t, err := s.tableOf(l.name)
	if err == nil && l.table != nil && l.table != t {
		err = s.missingTable(l.name) // it was dropped and made again: this connection is to the old one
	}
	if err == nil && !l.name.isDefault() {
		l.stream, err = s.streamOf(l.name)
		if err == nil && l.stream.isFinalized {
			err = refuse(codes.FailedPrecondition, "Stream has been finalized and cannot be appended.").about(storagepb.StorageError_STREAM_FINALIZED, l.name.whole)
		}
	}
	if err != nil {
		return nil, err
	}
	if l.stream != nil {
		l.stream.used = now
	}
	version := t.written(now)
	if l.table == nil {
		l.table, l.known = t, version.number
	}
	return version, nil
}

func (a *appender) takeMissing(request *storagepb.AppendRowsRequest) {
	a.missing.by = request.GetMissingValueInterpretations()
	if fallback := request.GetDefaultMissingValueInterpretation(); fallback != 0 {
		a.missing.fallback = fallback
	}
}

// schema takes a new one, or lays the known one beside a table that has changed.
func (l *link) schema(request *storagepb.AppendRowsRequest, version *schemaVersion) *failure {
	sent := request.GetProtoRows().GetWriterSchema()
	if sent == nil && l.message == nil {
		return refuse(codes.InvalidArgument, "Schema is missing in the first request of a stream: %s", l.name.whole)
	}
	if sent == nil && l.bound == version.number {
		return nil
	}
	message := l.message
	if sent != nil {
		made, err := compile(sent.GetProtoDescriptor())
		if err != nil {
			return err
		}
		message = made
	}
	if message.Fields().Len() == 0 {
		return refuse(codes.InvalidArgument, "The proto descriptor has no field: %s", l.name.whole)
	}
	made, err := bind(message, version.fields)
	if err != nil {
		l.message = message // it could be read: the failure is told in band
		return err
	}
	l.message, l.binding, l.bound = message, made, version.number
	return l.checkChange()
}

const notAChange = "The given value is not a valid CHANGE_TYPE."

func (l *link) checkChange() *failure {
	isChange := l.binding.change != nil
	if isChange && (len(l.table.primaryKey()) == 0 || !l.name.isDefault()) || !isChange && l.hasChange {
		return refuse(codes.InvalidArgument, notAChange)
	}
	l.hasChange = isChange
	return nil
}

func (s *Server) checkOffset(l *link, offset *wrapperspb.Int64Value) *failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	return l.offsetFits(offset)
}

func (l *link) offsetFits(offset *wrapperspb.Int64Value) *failure {
	switch {
	case offset == nil:
		return nil
	case l.stream == nil:
		return refuse(codes.InvalidArgument, "Offset can not be specified when appending to the default stream.").about(storagepb.StorageError_INVALID_STREAM_TYPE, l.name.whole)
	case offset.GetValue() < l.stream.next:
		return refuse(codes.AlreadyExists, "The offset is within stream, expected offset %d, received %d.", l.stream.next, offset.GetValue()).
			about(storagepb.StorageError_OFFSET_ALREADY_EXISTS, l.name.whole)
	case offset.GetValue() > l.stream.next:
		return refuse(codes.OutOfRange, "The offset is beyond stream, expected offset %d, received %d.", l.stream.next, offset.GetValue()).
			about(storagepb.StorageError_OFFSET_OUT_OF_RANGE, l.name.whole)
	}
	return nil
}

// decode reads all rows. One that is bad spoils the request, and every bad one is named.
func (a *appender) decode(l *link, serialized [][]byte, f *fault) ([]*decodedRow, *failure) {
	d := &decoder{binding: l.binding, missing: a.missing, takesUnknown: a.s.settings.TakesUnknown}
	rows, bad := []*decodedRow{}, []*storagepb.RowError{}
	for i, bytes := range serialized {
		one, err := d.row(bytes)
		if err == nil && l.binding.change != nil {
			err = l.table.checkChangeRow(one)
		}
		if err == nil && f != nil && f.Kind == "row" && f.hitsRow(i, one.cells, l.binding.fields) {
			err = fmt.Errorf("%s", f.rowMessage())
		}
		if err != nil {
			bad = append(bad, &storagepb.RowError{Index: int64(i), Code: storagepb.RowError_FIELDS_ERROR, Message: err.Error()})
			continue
		}
		rows = append(rows, one)
	}
	if len(bad) == 0 {
		return rows, nil
	}
	a.s.counts.add(l.name.dataset+"."+l.name.table, "bad rows", int64(len(bad)))
	err := refuse(codes.InvalidArgument, "Errors found while processing rows. Please refer to the row_errors field for details. The list may not be complete because of the size limitations.")
	err.about(0, l.name.whole)
	err.rows = bad[:min(len(bad), a.s.settings.RowErrorsMax)]
	return nil, err
}

// keep writes the rows and says where they begin.
func (a *appender) keep(l *link, rows []*decodedRow, offset *wrapperspb.Int64Value) appendAnswer {
	s := a.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := l.offsetFits(offset); err != nil { // another connection may have been faster
		return a.failed(err, true)
	}
	if l.stream != nil && l.stream.isFinalized { // while its rows were read; nothing lands behind the count that was told
		return a.failed(refuse(codes.FailedPrecondition, "Stream has been finalized and cannot be appended.").about(storagepb.StorageError_STREAM_FINALIZED, l.name.whole), true)
	}
	now, result := s.clock.now(), &storagepb.AppendRowsResponse_AppendResult{}
	s.counts.add(l.name.dataset+"."+l.name.table, "rows", int64(len(rows)))
	switch {
	case !l.table.dropped.IsZero():
		l.table.lost += int64(len(rows))
	case l.binding.change != nil:
		s.next++
		l.table.beginUpserts()
		for _, one := range rows {
			l.table.apply(one, s.next, now, &s.settings)
		}
	case l.stream == nil:
		l.append(rows, func(made []*row, bytes int) { l.table.add(made, bytes) }, &row{arrived: now})
	default:
		result.Offset = wrapperspb.Int64(l.stream.next)
		l.append(rows, l.stream.take, &row{arrived: now, stream: l.stream.name, offset: l.stream.next})
	}
	response := &storagepb.AppendRowsResponse{WriteStream: l.name.whole, Response: &storagepb.AppendRowsResponse_AppendResult_{AppendResult: result}}
	if version := l.table.written(now); version.number > l.known {
		if countFields(version.fields) > countFields(l.table.versionOf(l.known).fields) {
			response.UpdatedSchema = storageSchema(version.fields)
			s.counts.add(l.name.dataset+"."+l.name.table, "updated_schema", 1)
		}
		l.known = version.number
	}
	return appendAnswer{response: response}
}

// append makes rows in the likeness of `first`, whose offset counts on.
func (l *link) append(rows []*decodedRow, take func(made []*row, bytes int), first *row) {
	made, bytes := make([]*row, len(rows)), 0
	for i, one := range rows {
		copied := *first
		copied.cells, copied.offset = l.table.arrange(one.cells), first.offset+int64(i)
		made[i] = &copied
		bytes += one.bytes
	}
	take(made, bytes)
}

// take keeps rows of a stream: seen at once, or held back.
func (w *writeStream) take(rows []*row, bytes int) {
	w.next += int64(len(rows))
	if w.kind == storagepb.WriteStream_COMMITTED {
		w.table.add(rows, bytes)
	} else {
		w.held = append(w.held, rows...)
	}
}

func (t *table) versionOf(number int) *schemaVersion {
	for _, one := range t.schemas {
		if one.number == number {
			return one
		}
	}
	return t.schemas[0]
}
