package pubsub

// StreamingPull: flow control, keep-alives, properties, and ends that the server makes.

import (
	"context"
	"io"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

const (
	responseBytes  = 2 << 20          // a response ends with the message that passes it
	silenceAllowed = 60 * time.Second // of a client
)

// stream is a client that pulls. Its fields are the subscription's lock's.
type stream struct {
	sub           *subscription
	client        string
	deadline      time.Duration // of leases
	room          int64         // messages; 0 no limit
	roomBytes     int64
	held          int64
	heldBytes     int64
	own           queue // of keys whose earlier messages it has
	heard         time.Time
	wantsAnswers  bool // protocol version 1: keep-alives are answered
	owesAnswer    bool
	sentProperty  bool // exactly-once, as last said
	confirmations []*pubsubpb.StreamingPullResponse
	err           error // how it ends; io.EOF: well
	isClosed      bool
	bell          chan struct{}
}

func (st *stream) ring() {
	select {
	case st.bell <- struct{}{}:
	default:
	}
}

func (st *stream) hasRoom(size int) bool {
	if st.room > 0 && st.held >= st.room {
		return false
	}
	// One that is larger than all the room goes alone.
	return st.roomBytes <= 0 || st.held == 0 || st.heldBytes+int64(size) <= st.roomBytes
}

func (st *stream) hold(it *item) {
	st.held++
	st.heldBytes += int64(it.size)
}

func (st *stream) release(it *item) {
	st.held--
	st.heldBytes -= int64(it.size)
	st.ring()
}

// end lets the call end with this status after what is being sent; the first one counts.
func (st *stream) end(err error) {
	if st.err == nil {
		st.err = err
	}
	st.ring()
}

func (st *stream) tick(now time.Time) {
	if now.Sub(st.heard) > silenceAllowed {
		st.end(status.Error(codes.Unavailable, "The service was unable to fulfill your request. Please try again. [code=8a75]"))
	}
}

func (s *subscription) open(in *pubsubpb.StreamingPullRequest) *stream {
	s.lock.Lock()
	defer s.lock.Unlock()
	st := &stream{sub: s, client: in.ClientId, deadline: time.Duration(in.StreamAckDeadlineSeconds) * time.Second,
		room: max(in.MaxOutstandingMessages, 0), roomBytes: max(in.MaxOutstandingBytes, 0), heard: s.broker.clock.now(),
		wantsAnswers: in.ProtocolVersion >= 1, bell: make(chan struct{}, 1)}
	s.streams = append(s.streams, st)
	s.counts.Opened++
	if s.isGone {
		st.end(notFound(s.name))
	}
	return st
}

// closeStream: what it holds stays on its leases; what waits for it goes to whoever comes.
func (s *subscription) closeStream(st *stream) {
	s.lock.Lock()
	defer s.lock.Unlock()
	st.isClosed = true
	var left []*item
	for it := st.own.pop(); it != nil; it = st.own.pop() {
		left = append(left, it)
	}
	for i := len(left) - 1; i >= 0; i-- {
		left[i].key.queued--
		s.again.pushFront(left[i])
	}
	for i := range s.streams {
		if s.streams[i] == st {
			s.streams = append(s.streams[:i:i], s.streams[i+1:]...)
			break
		}
	}
	s.wake()
}

// answer is what the stream has to send now, or nil.
func (s *subscription) answer(st *stream) (*pubsubpb.StreamingPullResponse, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if st.err != nil {
		return nil, st.err
	}
	if len(st.confirmations) > 0 {
		response := st.confirmations[0]
		st.confirmations = st.confirmations[1:]
		return response, nil
	}
	response := &pubsubpb.StreamingPullResponse{ReceivedMessages: s.take(st)}
	hasNews := st.sentProperty != s.config.EnableExactlyOnceDelivery
	if len(response.ReceivedMessages) == 0 && !st.owesAnswer && !hasNews {
		return nil, nil
	}
	st.owesAnswer, st.sentProperty = false, s.config.EnableExactlyOnceDelivery
	response.SubscriptionProperties = &pubsubpb.StreamingPullResponse_SubscriptionProperties{
		ExactlyOnceDeliveryEnabled: s.config.EnableExactlyOnceDelivery, MessageOrderingEnabled: s.config.EnableMessageOrdering}
	return response, nil
}

// hear takes a request behind the first one.
func (s *subscription) hear(st *stream, in *pubsubpb.StreamingPullRequest) {
	if err := checkLater(in); err != nil {
		s.lock.Lock()
		defer s.lock.Unlock()
		st.end(err)
		return
	}
	isEmpty := len(in.AckIds)+len(in.ModifyDeadlineAckIds) == 0
	s.lock.Lock()
	st.heard = s.broker.clock.now()
	if in.StreamAckDeadlineSeconds != 0 {
		st.deadline = time.Duration(in.StreamAckDeadlineSeconds) * time.Second
	}
	st.owesAnswer = st.owesAnswer || isEmpty && st.wantsAnswers
	st.ring()
	s.lock.Unlock()
	if !isEmpty {
		s.hearAcks(st, in)
	}
}

func (s *subscription) hearAcks(st *stream, in *pubsubpb.StreamingPullRequest) {
	acks, err := s.acknowledge(in.AckIds)
	changes := &outcome{}
	for i, id := range in.ModifyDeadlineAckIds {
		if err != nil {
			break
		}
		var one *outcome
		if one, err = s.modify([]string{id}, in.ModifyDeadlineSeconds[i]); err == nil {
			changes.merge(one)
		}
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if err != nil {
		st.end(err)
	} else if s.config.EnableExactlyOnceDelivery {
		st.confirmations = append(st.confirmations, confirmation(acks, changes))
		st.ring()
	}
}

// StreamingPull serves until the client, a fault or the server ends it.
func (b *Broker) StreamingPull(call pubsubpb.Subscriber_StreamingPullServer) error {
	first, err := call.Recv()
	if err != nil {
		return status.Error(codes.InvalidArgument, "The request has no subscription.")
	}
	if err := b.admit(call.Context(), "StreamingPull", first); err != nil {
		return err
	}
	s, err := b.subscription(first.Subscription)
	if err == nil {
		err = checkOpening(s.lockedConfig(), first)
	}
	if err != nil {
		return err
	}
	// The client knows by the headers that its stream is open, messages or not.
	if err := call.SendHeader(metadata.MD{}); err != nil {
		return err
	}
	st := s.open(first)
	defer s.closeStream(st)
	if len(first.AckIds)+len(first.ModifyDeadlineAckIds) > 0 {
		s.hearAcks(st, first)
	}
	go s.listen(st, call)
	return b.serve(st, call)
}

func (s *subscription) listen(st *stream, call pubsubpb.Subscriber_StreamingPullServer) {
	for {
		in, err := call.Recv()
		if err != nil {
			s.lock.Lock()
			st.end(io.EOF)
			s.lock.Unlock()
			return
		}
		s.hear(st, in)
	}
}

func (b *Broker) serve(st *stream, call pubsubpb.Subscriber_StreamingPullServer) error {
	amid := b.faults.amid(call.Context(), "StreamingPull", st.sub.name)
	var timeout <-chan time.Time
	if wait := amid.after(); wait > 0 {
		timeout = time.After(wait)
	}
	for {
		response, err := st.sub.answer(st)
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case response != nil:
			if err, goesOn := amid.strike(call.Context(), len(response.ReceivedMessages)); !goesOn {
				return err
			}
			if err := call.Send(response); err != nil {
				return err
			}
			continue
		}
		select {
		case <-st.bell:
		case <-timeout:
			return amid.end()
		case <-call.Context().Done():
			return status.FromContextError(context.Cause(call.Context())).Err()
		}
	}
}
