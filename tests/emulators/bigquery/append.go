package bigquery

// AppendRows: one goroutine reads and does the work, the other answers in order, late if that is asked for.

import (
	"context"
	"sync/atomic"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

const (
	appendBytesMax = 20 * 1000 * 1000
	answersMax     = 10000 // that wait to be sent
)

// An appendAnswer is a response, or how the call ends, or what becomes of the connection.
type appendAnswer struct {
	response *storagepb.AppendRowsResponse
	end      *failure
	fault    *fault // hang, lost, cut, abort, close
	due      time.Time
	request  int
}

type appender struct {
	s         *Server
	call      storagepb.BigQueryWrite_AppendRowsServer
	answers   chan appendAnswer
	current   *link
	isShared  bool // it has written to more than one stream
	missing   missing
	requests  int
	lastHeard atomic.Int64 // of the server's clock, in ns
	inFlight  atomic.Int64
}

func (s *Server) AppendRows(call storagepb.BigQueryWrite_AppendRowsServer) error {
	a := &appender{s: s, call: call, answers: make(chan appendAnswer, answersMax)}
	a.hear()
	if err := s.pays("AppendRows", payerOf(call.Context())); err != nil {
		return err.status().Err()
	}
	s.counts.add("", "connections", 1)
	s.counts.add("", "open", 1)
	defer s.counts.add("", "open", -1)
	go a.read()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case one, ok := <-a.answers:
			if !ok {
				return nil
			}
			if done, err := a.send(one); done {
				return err
			}
		case <-tick.C:
			if a.isIdle() {
				return a.idleEnd().status().Err()
			}
		case <-call.Context().Done():
			return call.Context().Err()
		}
	}
}

func (a *appender) hear() { a.lastHeard.Store(a.s.clock.now().UnixNano()) }

func (a *appender) isIdle() bool {
	a.s.mu.Lock()
	most := seconds(a.s.settings.IdleTime)
	a.s.mu.Unlock()
	return a.s.clock.now().UnixNano()-a.lastHeard.Load() > int64(most)
}

func (a *appender) idleEnd() *failure {
	return refuse(codes.Aborted, "Closing the stream because it has been inactive for %d seconds.", int(a.s.settings.IdleTime))
}

func (a *appender) read() {
	defer close(a.answers)
	for {
		request, err := a.call.Recv()
		if err != nil {
			return
		}
		a.hear()
		a.inFlight.Add(1)
		a.requests++
		one := a.take(request)
		one.request = a.requests
		select {
		case a.answers <- one:
		case <-a.call.Context().Done():
			return
		}
		if one.end != nil {
			return
		}
	}
}

// send gives one answer; done ends the call.
func (a *appender) send(one appendAnswer) (done bool, err error) {
	ctx := a.call.Context()
	a.waitUntil(ctx, one.due)
	a.inFlight.Add(-1)
	if one.fault != nil {
		wire := a.s.wireOf(ctx)
		switch one.fault.Kind {
		case "abort", "close", "lost":
			wire.end(one.fault.Kind == "abort")
		case "cut":
			wire.cutAfter(max(one.fault.Bytes, 12))
			a.call.Send(one.response)
			wire.cutSoon()
		case "hang":
			select {
			case <-ctx.Done():
			case <-one.fault.lifted: // the server that hung is another one now, and its calls have ended
				return true, status.Error(codes.Unavailable, "the server goes away")
			}
		}
		<-ctx.Done()
		return true, ctx.Err()
	}
	if one.end != nil {
		return true, one.end.status().Err()
	}
	if err := a.call.Send(one.response); err != nil {
		return true, err
	}
	return false, nil
}

func (a *appender) waitUntil(ctx context.Context, due time.Time) {
	if length := time.Until(due); !due.IsZero() && length > 0 {
		wait(ctx.Done(), length)
	}
}

// take does the work of one request.
func (a *appender) take(request *storagepb.AppendRowsRequest) appendAnswer {
	received := time.Now()
	if err := a.turn(request); err != nil {
		return a.failed(err, a.current != nil && err.storage != 0)
	}
	l := a.current
	key := l.name.dataset + "." + l.name.table
	a.s.counts.add(key, "AppendRows", 1)
	a.s.counts.add(key, "bytes", int64(proto.Size(request)))
	a.s.counts.most(key, "most in flight", a.inFlight.Load())
	f := a.s.faults.find("AppendRows", l.name.dataset, l.name.table, a.s.clock.now())
	if f != nil {
		a.s.counts.add(key, "AppendRows faults", 1)
		switch f.Kind {
		case "status":
			return a.failed(f.failure(), false)
		case "in_band":
			return a.failed(f.failure(), true)
		case "hang", "abort", "close":
			return appendAnswer{fault: f}
		case "drop":
			a.s.dropNamed(l.name.project, l.name.dataset, l.name.table)
		}
	}
	made := a.write(request, f)
	made.due = a.due(received, f)
	if f != nil && (f.Kind == "lost" || f.Kind == "cut") && made.end == nil {
		made.fault = f
	}
	return made
}

func (a *appender) due(received time.Time, f *fault) time.Time {
	a.s.mu.Lock()
	delay := a.s.settings.AnswerDelay
	a.s.mu.Unlock()
	if f != nil && f.Kind == "slow" {
		delay = f.Delay
	}
	if delay == 0 {
		return time.Time{}
	}
	return received.Add(seconds(delay / 1000))
}

// failed says it in band, where the connection goes on, or ends the call.
func (a *appender) failed(err *failure, inBand bool) appendAnswer {
	key := ""
	if a.current != nil {
		key = a.current.name.dataset + "." + a.current.name.table
	}
	a.s.counts.add(key, "AppendRows "+statusWord(err.code), 1)
	if !inBand {
		return appendAnswer{end: err}
	}
	response := &storagepb.AppendRowsResponse{Response: &storagepb.AppendRowsResponse_Error{Error: err.status().Proto()}, RowErrors: err.rows}
	if a.current != nil {
		response.WriteStream = a.current.name.whole
	}
	return appendAnswer{response: response}
}

// turn makes the request's stream the current one.
func (a *appender) turn(request *storagepb.AppendRowsRequest) *failure {
	if size := proto.Size(request); size > appendBytesMax {
		return refuse(codes.InvalidArgument, "AppendRows request too large: %d limit %d", size, appendBytesMax)
	}
	said := request.GetWriteStream()
	if said == "" && (a.current == nil || a.isShared || a.s.settings.RejectsUnnamed) {
		return refuse(codes.InvalidArgument, "write_stream is missing in the request")
	}
	if said == "" || a.current != nil && a.current.said == said {
		return nil
	}
	name, err := readStreamName(said)
	if err != nil {
		return err
	}
	if a.current == nil {
		if err := a.s.routed(a.call.Context(), name.project, name.dataset, "write_stream"); err != nil {
			return err
		}
	} else {
		if !name.isDefault() || !a.current.name.isDefault() {
			return refuse(codes.InvalidArgument, "Only default streams may share a connection: %s", name.whole)
		}
		a.isShared = true
	}
	a.current = &link{said: said, name: name}
	return nil
}
