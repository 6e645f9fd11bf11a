package bigquery

// Write streams: their names, their lives, and the calls that make, finish and commit them.

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
)

const defaultStream = "_default"

type writeStream struct {
	name        string
	table       *table
	kind        storagepb.WriteStream_Type
	created     time.Time
	used        time.Time
	committed   time.Time
	next        int64 // offset of the row that is expected
	flushed     int64 // of a buffered stream: rows that are seen
	held        []*row
	isFinalized bool
}

var (
	tablePath  = regexp.MustCompile(`^projects/([^/]+)/datasets/([^/]+)/tables/([^/]+)$`)
	streamPath = regexp.MustCompile(`^(projects/([^/]+)/datasets/([^/]+)/tables/([^/]+))(?:/streams)?/([^/]+)$`)
)

// names of a stream, taken apart.
type streamName struct {
	whole, project, dataset, table, id string
}

func (n streamName) isDefault() bool { return n.id == defaultStream }

func readStreamName(said string) (streamName, *failure) {
	parts := streamPath.FindStringSubmatch(said)
	if parts == nil {
		return streamName{}, refuse(codes.InvalidArgument, "Invalid stream name: '%s'", said)
	}
	table, _, _ := strings.Cut(parts[4], "$")
	return streamName{whole: fmt.Sprintf("projects/%s/datasets/%s/tables/%s/streams/%s", parts[2], parts[3], parts[4], parts[5]),
		project: parts[2], dataset: parts[3], table: table, id: parts[5]}, nil
}

func (s *Server) missingTable(name streamName) *failure {
	return refuse(codes.NotFound, "Requested entity was not found.").about(storagepb.StorageError_TABLE_NOT_FOUND, name.whole)
}

// tableOf finds the table that a writer means, as far as the ways of writing know it.
func (s *Server) tableOf(name streamName) (*table, *failure) {
	t, err := s.table(name.project, name.dataset, name.table)
	if err != nil || t.visible.After(s.clock.now()) {
		return nil, s.missingTable(name)
	}
	if s.lacks("bigquery.tables.updateData", name.dataset, name.table) {
		return nil, refuse(codes.PermissionDenied, "Permission 'TABLES_UPDATE_DATA' denied on resource '%s' (or it may not exist).", t.path())
	}
	return t, nil
}

// streamOf finds a stream that was made; one without traffic for its time is gone.
func (s *Server) streamOf(name streamName) (*writeStream, *failure) {
	gone := refuse(codes.NotFound, "Requested entity was not found.").about(storagepb.StorageError_STREAM_NOT_FOUND, name.whole)
	if _, err := s.tableOf(name); err != nil {
		return nil, err
	}
	w := s.streams[name.whole]
	if w == nil || !w.table.dropped.IsZero() {
		return nil, gone
	}
	if now := s.clock.now(); now.Sub(w.used) > seconds(s.settings.StreamTime) {
		delete(s.streams, name.whole)
		return nil, gone
	}
	return w, nil
}

func (s *Server) proto(w *writeStream, full bool) *storagepb.WriteStream {
	made := &storagepb.WriteStream{Name: w.name, Type: w.kind, CreateTime: timestamppb.New(w.created),
		WriteMode: storagepb.WriteStream_INSERT, Location: text(w.table.dataset.meta["location"])}
	if !w.committed.IsZero() {
		made.CommitTime = timestamppb.New(w.committed)
	}
	if full {
		made.TableSchema = storageSchema(w.table.written(s.clock.now()).fields)
	}
	return made
}

// enter counts a unary call, checks where it was sent, and lets a fault end it.
func (s *Server) enter(ctx context.Context, method, about, param string) (*fault, *failure) {
	parts := streamPath.FindStringSubmatch(about)
	if parts == nil {
		parts = tablePath.FindStringSubmatch(about)
		if parts == nil {
			return nil, refuse(codes.InvalidArgument, "Invalid name: '%s'", about)
		}
		parts = []string{"", "", parts[1], parts[2], parts[3]}
	}
	dataset, table := parts[3], strings.Split(parts[4], "$")[0]
	s.counts.add(dataset+"."+table, method, 1)
	if err := s.pays(method, payerOf(ctx)); err != nil {
		return nil, err
	}
	f := s.faults.find(method, dataset, table, s.clock.now())
	if f != nil {
		s.counts.add(dataset+"."+table, method+" faults", 1)
		switch f.Kind {
		case "status", "in_band":
			return f, f.failure()
		case "abort", "close":
			s.wireOf(ctx).end(f.Kind == "abort")
			<-ctx.Done()
		case "hang":
			<-ctx.Done()
		}
		if ctx.Err() != nil {
			return f, refuse(codes.Canceled, "cancelled")
		}
	}
	return f, s.routed(ctx, parts[2], dataset, param)
}

// leave does what a fault does after the work.
func (s *Server) leave(ctx context.Context, f *fault) {
	if f == nil {
		return
	}
	switch f.Kind {
	case "lost":
		s.wireOf(ctx).end(false)
		<-ctx.Done()
	case "cut":
		s.wireOf(ctx).cutAfter(max(f.Bytes, 12))
		s.wireOf(ctx).cutSoon()
	case "slow":
		wait(ctx.Done(), seconds(f.Delay/1000))
	}
}

func (s *Server) wireOf(ctx context.Context) *wire {
	if from, ok := peer.FromContext(ctx); ok {
		return s.wires.find(from.Addr.String())
	}
	return nil
}

// routed wants the header that leads a call to its region; without it the call ends in the US, which knows nothing of others.
func (s *Server) routed(ctx context.Context, project, dataset, param string) *failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, err := s.dataset(project, dataset)
	if err != nil || d.meta["location"] == "US" {
		return nil
	}
	sent, _ := metadata.FromIncomingContext(ctx)
	for _, said := range sent.Get("x-goog-request-params") {
		if strings.Contains(said, param+"=") || strings.Contains(said, "write_location=") {
			return nil
		}
	}
	s.counts.add("", "unrouted", 1)
	if !s.settings.WantsRouting {
		return nil
	}
	return refuse(codes.NotFound, "Requested entity was not found in US: dataset %s is elsewhere and x-goog-request-params names no %s", dataset, param)
}

func (s *Server) CreateWriteStream(ctx context.Context, request *storagepb.CreateWriteStreamRequest) (*storagepb.WriteStream, error) {
	f, err := s.enter(ctx, "CreateWriteStream", request.GetParent(), "parent")
	if err != nil {
		return nil, err.status().Err()
	}
	made, err := s.createStream(request)
	if err != nil {
		return nil, err.status().Err()
	}
	s.leave(ctx, f)
	return made, nil
}

func (s *Server) createStream(request *storagepb.CreateWriteStreamRequest) (*storagepb.WriteStream, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind := request.GetWriteStream().GetType()
	if kind == storagepb.WriteStream_TYPE_UNSPECIFIED {
		return nil, refuse(codes.InvalidArgument, "Stream type is not specified")
	}
	name, err := readStreamName(request.GetParent() + "/streams/new")
	if err != nil {
		return nil, err
	}
	t, err := s.tableOf(name)
	if err != nil {
		return nil, err
	}
	s.next++
	w := &writeStream{name: fmt.Sprintf("%s/streams/Cic%08x", request.GetParent(), s.next), table: t, kind: kind, created: s.clock.now(), used: s.clock.now()}
	s.streams[w.name] = w
	t.streams[w.name] = w
	return s.proto(w, true), nil
}

func (s *Server) GetWriteStream(ctx context.Context, request *storagepb.GetWriteStreamRequest) (*storagepb.WriteStream, error) {
	f, err := s.enter(ctx, "GetWriteStream", request.GetName(), "name")
	if err == nil {
		var made *storagepb.WriteStream
		if made, err = s.getStream(request); err == nil {
			s.leave(ctx, f)
			return made, nil
		}
	}
	return nil, err.status().Err()
}

func (s *Server) getStream(request *storagepb.GetWriteStreamRequest) (*storagepb.WriteStream, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, err := readStreamName(request.GetName())
	if err != nil {
		return nil, err
	}
	full := request.GetView() == storagepb.WriteStreamView_FULL
	if name.isDefault() {
		t, err := s.tableOf(name)
		if err != nil {
			return nil, err
		}
		return s.proto(&writeStream{name: name.whole, table: t, kind: storagepb.WriteStream_COMMITTED, created: t.created}, full), nil
	}
	w, err := s.streamOf(name)
	if err != nil {
		return nil, err
	}
	return s.proto(w, full), nil
}

func (s *Server) FinalizeWriteStream(ctx context.Context, request *storagepb.FinalizeWriteStreamRequest) (*storagepb.FinalizeWriteStreamResponse, error) {
	f, err := s.enter(ctx, "FinalizeWriteStream", request.GetName(), "name")
	var count int64
	if err == nil {
		count, err = s.finalize(request.GetName())
	}
	if err != nil {
		return nil, err.status().Err()
	}
	s.leave(ctx, f)
	return &storagepb.FinalizeWriteStreamResponse{RowCount: count}, nil
}

func (s *Server) finalize(said string) (int64, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, err := readStreamName(said)
	if err == nil && name.isDefault() {
		err = refuse(codes.InvalidArgument, "The default stream cannot be finalized.").about(storagepb.StorageError_INVALID_STREAM_TYPE, name.whole)
	}
	if err != nil {
		return 0, err
	}
	w, err := s.streamOf(name)
	if err != nil {
		return 0, err
	}
	w.isFinalized = true
	return w.next, nil
}

func (s *Server) FlushRows(ctx context.Context, request *storagepb.FlushRowsRequest) (*storagepb.FlushRowsResponse, error) {
	f, err := s.enter(ctx, "FlushRows", request.GetWriteStream(), "write_stream")
	if err == nil {
		err = s.flush(request)
	}
	if err != nil {
		return nil, err.status().Err()
	}
	s.leave(ctx, f)
	return &storagepb.FlushRowsResponse{Offset: request.GetOffset().GetValue()}, nil
}

// flush shows all rows up to an offset, that one included.
func (s *Server) flush(request *storagepb.FlushRowsRequest) *failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, err := readStreamName(request.GetWriteStream())
	if err != nil {
		return err
	}
	w, err := s.streamOf(name)
	if err != nil {
		return err
	}
	if w.kind != storagepb.WriteStream_BUFFERED {
		return refuse(codes.InvalidArgument, "Only a BUFFERED stream can be flushed.").about(storagepb.StorageError_INVALID_STREAM_TYPE, name.whole)
	}
	upTo := request.GetOffset().GetValue() + 1
	if upTo > w.next {
		return refuse(codes.OutOfRange, "Offset %d is beyond stream, which has %d rows", upTo-1, w.next).about(storagepb.StorageError_OFFSET_OUT_OF_RANGE, name.whole)
	}
	if upTo > w.flushed {
		w.table.add(w.held[:upTo-w.flushed], 0)
		w.held, w.flushed = w.held[upTo-w.flushed:], upTo
	}
	return nil
}

func (s *Server) BatchCommitWriteStreams(ctx context.Context, request *storagepb.BatchCommitWriteStreamsRequest) (*storagepb.BatchCommitWriteStreamsResponse, error) {
	f, err := s.enter(ctx, "BatchCommitWriteStreams", request.GetParent(), "parent")
	if err != nil {
		return nil, err.status().Err()
	}
	made := s.commit(request.GetWriteStreams())
	s.leave(ctx, f)
	return made, nil
}

// commit shows the rows of all streams, or of none.
func (s *Server) commit(names []string) *storagepb.BatchCommitWriteStreamsResponse {
	s.mu.Lock()
	defer s.mu.Unlock()
	made, streams := &storagepb.BatchCommitWriteStreamsResponse{}, []*writeStream{}
	for _, said := range names {
		w, err := s.committable(said)
		if err != nil {
			made.StreamErrors = append(made.StreamErrors, &storagepb.StorageError{Code: err.storage, Entity: said, ErrorMessage: err.message})
			continue
		}
		streams = append(streams, w)
	}
	if len(made.StreamErrors) > 0 {
		return made
	}
	now := s.clock.now()
	for _, w := range streams {
		w.table.add(w.held, 0)
		w.held, w.committed = nil, now
	}
	made.CommitTime = timestamppb.New(now)
	return proto.Clone(made).(*storagepb.BatchCommitWriteStreamsResponse)
}

func (s *Server) committable(said string) (*writeStream, *failure) {
	name, err := readStreamName(said)
	if err != nil {
		return nil, err.about(storagepb.StorageError_STREAM_NOT_FOUND, said)
	}
	w, err := s.streamOf(name)
	switch {
	case err != nil:
		return nil, err
	case w.kind != storagepb.WriteStream_PENDING:
		return nil, refuse(codes.InvalidArgument, "Only PENDING streams can be committed.").about(storagepb.StorageError_INVALID_STREAM_TYPE, said)
	case !w.isFinalized:
		return nil, refuse(codes.InvalidArgument, "The stream is not finalized.").about(storagepb.StorageError_INVALID_STREAM_STATE, said)
	case !w.committed.IsZero():
		return nil, refuse(codes.AlreadyExists, "The stream is committed already.").about(storagepb.StorageError_STREAM_ALREADY_COMMITTED, said)
	}
	return w, nil
}
