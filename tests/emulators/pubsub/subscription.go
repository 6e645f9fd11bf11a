package pubsub

// A subscription: which of its messages waits, is out on a lease, or rests until it may be tried again.

import (
	"container/heap"
	"sync"
	"sync/atomic"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
)

type state uint8

const (
	waiting state = iota // for a stream to take it
	out                  // on a lease
	resting              // for the retry policy's time
	acked                // done, or kept behind an earlier one of its key
)

const nowhere = -1 // of an item that is due at no time

// item is a message of a subscription.
type item struct {
	*message
	key      *key   // nil: it has none, or the subscription has no order
	index    uint64 // in its key
	state    state
	token    uint32 // of its entry in a queue
	isBuried bool   // acknowledged because it went to the dead letters: it does not come again
	delivery uint32 // how often it was delivered: which ack id is the newest
	failures int32  // nacks and leases that ended
	holder   *stream
	ends     time.Time // of the lease
	due      time.Time // not after `ends`: a lease that is extended moves only when its old end has come
	place    int       // in `dues`
}

// counts are what a test asks about.
type counts struct {
	Published   int64 `json:"published"` // that passed the filter
	Filtered    int64 `json:"filtered"`
	Delivered   int64 `json:"delivered"`
	Redelivered int64 `json:"redelivered"`
	Acked       int64 `json:"acked"`    // messages, once each
	Reopened    int64 `json:"reopened"` // acked, but delivered again because an earlier one of the key was not
	AckedLate   int64 `json:"acked_late"`
	Nacked      int64 `json:"nacked"`
	Expired     int64 `json:"expired"`
	Extended    int64 `json:"extended"`
	Letters     int64 `json:"letters"`
	Dropped     int64 `json:"dropped"` // too old to be kept
	Opened      int64 `json:"opened"`  // streams
	Streams     int   `json:"streams"`
	Outstanding int   `json:"outstanding"`
	Most        int   `json:"most_outstanding"`
	Backlog     int   `json:"backlog"` // not acknowledged
}

type subscription struct {
	broker *Broker
	name   string
	number uint32
	lock   sync.Mutex
	config *pubsubpb.Subscription
	filter filter

	items   map[uint64]*item // not acknowledged, or acknowledged behind one of its key that is not
	keys    map[string]*key
	again   queue // was out; goes before
	ready   queue
	dues    dues
	streams []*stream
	kept    []*message // acknowledged and retained
	done    doneIDs    // of an exactly-once subscription
	until   time.Time  // a seek into the future: what is published before is acknowledged
	pruned  time.Time
	epoch   uint32 // how often it was sought
	isGone  bool
	buries  atomic.Bool // the dead-letter topic takes what comes

	perResponse int
	forgets     bool // an id that was acknowledged is invalid when it comes again
	log         *deliveryLog
	counts      counts
}

func newSubscription(b *Broker, config *pubsubpb.Subscription, f filter) *subscription {
	return &subscription{broker: b, name: config.Name, number: b.subNumber.Add(1), config: config, filter: f, items: map[uint64]*item{},
		keys: map[string]*key{}, perResponse: 100}
}

func (s *subscription) lockedConfig() *pubsubpb.Subscription {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.config
}

func (s *subscription) deadLetterTopic() string {
	return s.lockedConfig().GetDeadLetterPolicy().GetDeadLetterTopic()
}

// add takes what was just published.
func (s *subscription) add(messages []*message) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, m := range messages {
		s.addOne(m)
	}
	s.wake()
}

func (s *subscription) addOne(m *message) {
	if s.filter != nil && !s.filter(m.Attributes) {
		s.counts.Filtered++
		return
	}
	s.counts.Published++
	if m.publish.Before(s.until) {
		s.counts.Acked++
		s.keep(m)
		return
	}
	it := &item{message: m, place: nowhere}
	s.items[m.number] = it
	if m.OrderingKey != "" && s.config.EnableMessageOrdering {
		s.keyOf(m.OrderingKey).add(it)
		if it.key.rests {
			return
		}
	}
	s.ready.push(it)
}

// keep remembers an acknowledged message where the subscription says so.
func (s *subscription) keep(m *message) {
	if s.config.RetainAckedMessages {
		s.kept = append(s.kept, m)
	}
}

// next gives an item that the stream may have now, or nil, and the queue that it goes back to if there is no room.
func (s *subscription) next(st *stream) (*item, *queue) {
	if it := st.own.pop(); it != nil {
		it.key.queued--
		return it, &st.own
	}
	for {
		it := s.again.pop()
		if it == nil {
			it = s.ready.pop()
		}
		if it == nil || it.key == nil || it.key.goesTo(st, it) {
			return it, &s.again
		}
	}
}

// take gives what fits into one response.
func (s *subscription) take(st *stream) []*pubsubpb.ReceivedMessage {
	var taken []*pubsubpb.ReceivedMessage
	size := 0
	for len(taken) < s.perResponse && size < responseBytes && st.hasRoom(0) {
		it, from := s.next(st)
		if it == nil {
			break
		}
		if !st.hasRoom(it.size) {
			from.pushFront(it)
			if from == &st.own {
				it.key.queued++
			}
			break
		}
		size += it.size
		taken = append(taken, s.deliver(it, st))
	}
	return taken
}

func (s *subscription) deliver(it *item, st *stream) *pubsubpb.ReceivedMessage {
	it.state = out
	it.delivery++
	it.holder = st
	it.ends = s.broker.clock.now().Add(st.deadline)
	it.due = it.ends
	heap.Push(&s.dues, it)
	st.hold(it)
	if it.key != nil {
		it.key.delivered(it, st)
	}
	s.counts.Delivered++
	s.counts.Outstanding++
	s.counts.Most = max(s.counts.Most, s.counts.Outstanding)
	if it.delivery > 1 {
		s.counts.Redelivered++
	}
	s.log.add("deliver", it)
	r := &pubsubpb.ReceivedMessage{AckId: ackID(s.number, it.number, it.delivery), Message: it.PubsubMessage}
	if s.config.DeadLetterPolicy != nil {
		r.DeliveryAttempt = it.failures + 1
	}
	return r
}

// letGo takes an item off its lease, or out of its rest.
func (s *subscription) letGo(it *item) {
	if it.place != nowhere {
		heap.Remove(&s.dues, it.place)
	}
	if it.state == out {
		it.holder.release(it)
		it.holder = nil
		s.counts.Outstanding--
		if it.key != nil {
			it.key.out--
		}
	}
}

// ack ends a message's life in the subscription.
func (s *subscription) ack(it *item) {
	s.letGo(it)
	it.state = acked
	it.token++
	s.counts.Acked++
	s.log.add("ack", it)
	if s.config.EnableExactlyOnceDelivery {
		s.done.add(it.number, it.delivery)
	}
	if it.key != nil {
		it.key.settle(s)
	} else {
		s.forget(it)
	}
}

func (s *subscription) forget(it *item) {
	delete(s.items, it.number)
	s.keep(it.message)
}

// fail is a nack, or a lease that ended: the message comes again, after a while if there is a retry policy, or goes to
// the dead letters, which are given back: they are published when the lock is let go.
func (s *subscription) fail(it *item, now time.Time) *pubsubpb.PubsubMessage {
	it.failures++
	s.letGo(it)
	it.state = waiting
	if it.key != nil {
		it.key.rewind(s, it)
	}
	if letter := s.letter(it); letter != nil {
		s.counts.Letters++
		s.counts.Acked--
		it.isBuried = true
		s.ack(it)
		if it.key != nil {
			it.key.pushRest(s)
		}
		return letter
	}
	if wait := backoff(s.config.RetryPolicy, it.failures); wait > 0 {
		it.state, it.due = resting, now.Add(wait)
		it.token++
		heap.Push(&s.dues, it)
		if it.key != nil {
			it.key.rests = true
		}
		return nil
	}
	s.push(it)
	return nil
}

// push makes a message deliverable again, with the later ones of its key.
func (s *subscription) push(it *item) {
	it.state = waiting
	if it.key != nil {
		it.key.rests = false
		it.key.pushRest(s)
	} else {
		s.again.push(it)
	}
}

func backoff(policy *pubsubpb.RetryPolicy, failures int32) time.Duration {
	if policy == nil {
		return 0
	}
	least, most := 10*time.Second, 600*time.Second
	if policy.MinimumBackoff != nil {
		least = policy.MinimumBackoff.AsDuration()
	}
	if policy.MaximumBackoff != nil {
		most = policy.MaximumBackoff.AsDuration()
	}
	for ; failures > 1 && least < most; failures-- {
		least *= 2
	}
	return min(least, most)
}

// tick gives the dead letters of what has become due.
func (s *subscription) tick(now time.Time) []*pubsubpb.PubsubMessage {
	s.lock.Lock()
	defer s.lock.Unlock()
	var letters []*pubsubpb.PubsubMessage
	hasNew := false
	for it := s.dues.first(now); it != nil; it = s.dues.first(now) {
		if it.state == out && it.ends.After(now) {
			it.due = it.ends
			heap.Fix(&s.dues, it.place)
			continue
		}
		hasNew = true
		if it.state == resting {
			heap.Pop(&s.dues)
			s.push(it)
			continue
		}
		s.counts.Expired++
		s.log.add("expire", it)
		if letter := s.fail(it, now); letter != nil {
			letters = append(letters, letter)
		}
	}
	s.prune(now)
	for _, st := range s.streams {
		st.tick(now)
	}
	if hasNew {
		s.wake()
	}
	return letters
}

func (s *subscription) wake() {
	for _, st := range s.streams {
		st.ring()
	}
}
