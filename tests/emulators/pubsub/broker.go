// Package pubsub is a stand-in of Google's Pub/Sub over its own protobuf types, in memory: what weir needs of it, done as
// the documentation says the service does it, with faults by table.
package pubsub

// Topics, subscriptions and snapshots by name, and how a message gets from one to the other.

import (
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
)

const (
	deletedTopic  = "_deleted-topic_"
	tickEvery     = 10 * time.Millisecond
	firstID       = 15_000_000_000_000_000 // ids are as long as the service's
	snapshotLives = 7 * 24 * time.Hour
)

// message is one that was published; its subscriptions share it.
type message struct {
	*pubsubpb.PubsubMessage
	number  uint64 // in the order of publishing
	publish time.Time
	size    int
}

type topic struct {
	lock      sync.Mutex // keeps messages in one order for all subscriptions
	config    *pubsubpb.Topic
	subs      map[string]*subscription
	snapshots map[string]*snapshot
	kept      []*message // by message_retention_duration
	published int64
}

// snapshot holds what was not acknowledged when it was made, and all that was published since.
type snapshot struct {
	config   *pubsubpb.Snapshot
	messages []*message
}

type Broker struct {
	lock      sync.RWMutex // of the maps; never taken while a topic's or subscription's is held
	topics    map[string]*topic
	subs      map[string]*subscription
	snapshots map[string]*snapshot
	clock     *clock
	faults    *faults
	access    *access
	calls     *calls
	number    atomic.Uint64
	subNumber atomic.Uint32
}

func NewBroker() *Broker {
	b := &Broker{topics: map[string]*topic{}, subs: map[string]*subscription{}, snapshots: map[string]*snapshot{},
		clock: newClock(), faults: newFaults(), access: newAccess(), calls: newCalls()}
	go b.run()
	return b
}

// run does what time brings: leases that end, backoffs that are over, messages and snapshots too old to keep.
func (b *Broker) run() {
	for range time.Tick(tickEvery) {
		b.tick()
	}
}

func (b *Broker) tick() {
	now := b.clock.now()
	b.lock.RLock()
	subs := make([]*subscription, 0, len(b.subs))
	for _, s := range b.subs {
		subs = append(subs, s)
	}
	b.lock.RUnlock()
	for _, s := range subs {
		b.lookAhead(s)
		b.bury(s, s.tick(now))
	}
	b.expireSnapshots(now)
}

func (b *Broker) expireSnapshots(now time.Time) {
	b.lock.Lock()
	defer b.lock.Unlock()
	for name, s := range b.snapshots {
		if now.After(s.config.ExpireTime.AsTime()) {
			b.dropSnapshot(name, s)
		}
	}
}

// dropSnapshot needs the broker's lock.
func (b *Broker) dropSnapshot(name string, s *snapshot) {
	delete(b.snapshots, name)
	if t := b.topics[s.config.Topic]; t != nil {
		t.lock.Lock()
		delete(t.snapshots, name)
		t.lock.Unlock()
	}
}

func (b *Broker) topic(name string) (*topic, error) {
	b.lock.RLock()
	defer b.lock.RUnlock()
	if t := b.topics[name]; t != nil {
		return t, nil
	}
	return nil, notFound(name)
}

func (b *Broker) subscription(name string) (*subscription, error) {
	b.lock.RLock()
	defer b.lock.RUnlock()
	if s := b.subs[name]; s != nil {
		return s, nil
	}
	return nil, notFound(name)
}

// publish hands the messages to all subscriptions of the topic, in one order, and gives their ids.
func (b *Broker) publish(t *topic, messages []*pubsubpb.PubsubMessage) []string {
	t.lock.Lock()
	defer t.lock.Unlock()
	now := b.clock.now()
	made := make([]*message, len(messages))
	ids := make([]string, len(messages))
	for i, m := range messages {
		number := b.number.Add(1)
		ids[i] = strconv.FormatUint(firstID+number, 10)
		m.MessageId, m.PublishTime = ids[i], timestamppb.New(now)
		made[i] = &message{PubsubMessage: m, number: number, publish: now, size: proto.Size(m)}
	}
	for _, s := range t.subs {
		s.add(made)
	}
	for _, s := range t.snapshots {
		s.messages = append(s.messages, made...)
	}
	if t.config.MessageRetentionDuration != nil {
		t.kept = kept(append(t.kept, made...), now.Add(-t.config.MessageRetentionDuration.AsDuration()))
	}
	t.published += int64(len(made))
	return ids
}

// kept leaves out what was published before `since`.
func kept(messages []*message, since time.Time) []*message {
	begin := 0
	for begin < len(messages) && messages[begin].publish.Before(since) {
		begin++
	}
	return messages[begin:]
}

// bury publishes what a subscription gave up on to its dead-letter topic.
func (b *Broker) bury(s *subscription, letters []*pubsubpb.PubsubMessage) {
	if len(letters) == 0 {
		return
	}
	if t, err := b.topic(s.deadLetterTopic()); err == nil {
		b.publish(t, letters)
	}
}

// lookAhead finds out, before the subscription's lock is taken, whether Pub/Sub itself may forward its dead letters: the
// topic is there, and the service's own account may publish to it and acknowledge here.
func (b *Broker) lookAhead(s *subscription) {
	name := s.deadLetterTopic()
	if name == "" {
		return
	}
	_, err := b.topic(name)
	s.buries.Store(err == nil && b.access.agentMay("pubsub.topics.publish", name) &&
		b.access.agentMay("pubsub.subscriptions.consume", s.name))
}
