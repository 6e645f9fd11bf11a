package pubsub

// Acknowledging and extending: what each id is worth. Without exactly-once delivery Google promises nothing for an id whose
// lease is over and says nothing about it either; with it every id has an answer.

import (
	"container/heap"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
)

const (
	invalidID   = "PERMANENT_FAILURE_INVALID_ACK_ID"
	unorderedID = "TRANSIENT_FAILURE_UNORDERED_ACK_ID"
	serviceID   = "TRANSIENT_FAILURE_SERVICE_UNAVAILABLE"
)

// outcome is what became of the ids of a call: those that failed, with why.
type outcome struct {
	fine   []string
	failed map[string]string
}

func (o *outcome) fail(id, why string) {
	if o.failed == nil {
		o.failed = map[string]string{}
	}
	o.failed[id] = why
}

func (o *outcome) merge(other *outcome) {
	o.fine = append(o.fine, other.fine...)
	for id, why := range other.failed {
		o.fail(id, why)
	}
}

// err is the answer of a unary call: a status whose ErrorInfo names each id that failed.
func (o *outcome) err(what string) error {
	if o == nil || len(o.failed) == 0 {
		return nil
	}
	code, text := codes.FailedPrecondition, "Some acknowledgement ids failed: "+what
	for _, why := range o.failed {
		if why == serviceID {
			code = codes.Unavailable
		}
	}
	made, err := status.New(code, text).WithDetails(protoadapt.MessageV1Of(&errdetails.ErrorInfo{
		Reason: "EXACTLY_ONCE_ACKID_FAILURE", Domain: "pubsub.googleapis.com", Metadata: o.failed}))
	if err != nil {
		return err
	}
	return made.Err()
}

func (o *outcome) with(why string) []string {
	var ids []string
	for id, was := range o.failed {
		if was == why {
			ids = append(ids, id)
		}
	}
	return ids
}

func confirmation(acks, changes *outcome) *pubsubpb.StreamingPullResponse {
	response := &pubsubpb.StreamingPullResponse{}
	if len(acks.fine)+len(acks.failed) > 0 {
		response.AcknowledgeConfirmation = &pubsubpb.StreamingPullResponse_AcknowledgeConfirmation{AckIds: acks.fine,
			InvalidAckIds: acks.with(invalidID), UnorderedAckIds: acks.with(unorderedID), TemporaryFailedAckIds: acks.with(serviceID)}
	}
	if len(changes.fine)+len(changes.failed) > 0 {
		response.ModifyAckDeadlineConfirmation = &pubsubpb.StreamingPullResponse_ModifyAckDeadlineConfirmation{AckIds: changes.fine,
			InvalidAckIds: changes.with(invalidID), TemporaryFailedAckIds: changes.with(serviceID)}
	}
	return response
}

// each runs `work` on every id, under the lock. The item is nil if the message is not there any more.
func (s *subscription) each(ids []string, work func(id string, it *item, number uint64, delivery uint32)) error {
	for _, id := range ids {
		if subscription, _, _, isWell := parseAckID(id); !isWell || subscription != s.number {
			return invalid("You have passed an invalid ack ID to the service (ack_id=%.40s).", id)
		}
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, id := range ids {
		_, number, delivery, _ := parseAckID(id)
		work(id, s.items[number], number, delivery)
	}
	return nil
}

func (s *subscription) acknowledge(ids []string) (*outcome, error) {
	done := &outcome{}
	err := s.each(ids, func(id string, it *item, number uint64, delivery uint32) {
		if s.config.EnableExactlyOnceDelivery {
			s.ackOnce(done, id, it, number, delivery)
		} else if it != nil && it.isOn(delivery) {
			s.ack(it)
		} else if it != nil && it.state != acked && it.key == nil && delivery>>epochBits == s.epoch {
			// Its lease is over, but it "may succeed": here it does, unless the order of its key would break or a seek
			// came between.
			s.counts.AckedLate++
			s.ack(it)
		}
	})
	return done, err
}

// isOn tells whether this delivery is the newest and its lease not over.
func (it *item) isOn(delivery uint32) bool { return it.state == out && it.delivery == delivery }

func (s *subscription) ackOnce(done *outcome, id string, it *item, number uint64, delivery uint32) {
	switch {
	case !s.forgets && s.done.has(number, delivery):
		done.fine = append(done.fine, id)
	case it == nil || !it.isOn(delivery):
		done.fail(id, invalidID)
	case it.key != nil && it.index != it.key.base:
		done.fail(id, unorderedID)
	default:
		s.ack(it)
		done.fine = append(done.fine, id)
	}
}

// modify extends leases; 0 seconds hands the messages back.
func (s *subscription) modify(ids []string, seconds int32) (*outcome, error) {
	if seconds < 0 || seconds > 600 {
		return nil, invalid("The ack deadline must be between 0 and 600 seconds, not %d.", seconds)
	}
	s.broker.lookAhead(s)
	done := &outcome{}
	now := s.broker.clock.now()
	var letters []*pubsubpb.PubsubMessage
	err := s.each(ids, func(id string, it *item, number uint64, delivery uint32) {
		if it == nil || !it.isOn(delivery) {
			if s.config.EnableExactlyOnceDelivery {
				done.fail(id, invalidID)
			}
			return
		}
		done.fine = append(done.fine, id)
		if seconds > 0 {
			s.extend(it, now.Add(time.Duration(seconds)*time.Second))
			return
		}
		s.counts.Nacked++
		s.log.add("nack", it)
		if letter := s.fail(it, now); letter != nil {
			letters = append(letters, letter)
		}
	})
	if seconds == 0 {
		s.lock.Lock()
		s.wake()
		s.lock.Unlock()
	}
	s.broker.bury(s, letters)
	return done, err
}

func (s *subscription) extend(it *item, ends time.Time) {
	s.counts.Extended++
	it.ends = ends
	if ends.Before(it.due) {
		it.due = ends
		heap.Fix(&s.dues, it.place)
	}
}
