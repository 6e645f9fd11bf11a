package pubsub

// Dead letters, and what remembers: acknowledged ids of exactly-once subscriptions, messages kept for a seek, a log of
// deliveries for tests.

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
)

const (
	doneMax      = 200_000
	logMax       = 200_000
	pruneEvery   = time.Second
	defaultTries = 5
)

// letter is the message for the dead-letter topic, once it was delivered as often as the policy says; else nil.
func (s *subscription) letter(it *item) *pubsubpb.PubsubMessage {
	policy := s.config.DeadLetterPolicy
	if policy == nil || it.failures < max(policy.MaxDeliveryAttempts, defaultTries) || !s.buries.Load() {
		return nil
	}
	attributes := maps.Clone(it.Attributes)
	if attributes == nil {
		attributes = map[string]string{}
	}
	parts := strings.Split(s.config.Name, "/")
	attributes["CloudPubSubDeadLetterSourceDeliveryCount"] = strconv.Itoa(int(it.failures))
	attributes["CloudPubSubDeadLetterSourceSubscription"] = parts[3]
	attributes["CloudPubSubDeadLetterSourceSubscriptionProject"] = parts[1]
	attributes["CloudPubSubDeadLetterSourceTopicPublishTime"] = it.publish.UTC().Format("2006-01-02T15:04:05.999-07:00")
	return &pubsubpb.PubsubMessage{Data: it.Data, Attributes: attributes, OrderingKey: it.OrderingKey}
}

// doneIDs knows which id acknowledged a message, for a while: the same one may come again when its answer was lost.
type doneIDs struct {
	deliveries map[uint64]uint32
	order      []uint64
}

func (d *doneIDs) add(number uint64, delivery uint32) {
	if d.deliveries == nil {
		d.deliveries = map[uint64]uint32{}
	}
	d.deliveries[number] = delivery
	d.order = append(d.order, number)
	if len(d.order) > doneMax {
		delete(d.deliveries, d.order[0])
		d.order = d.order[1:]
	}
}

func (d *doneIDs) has(number uint64, delivery uint32) bool {
	was, is := d.deliveries[number]
	return is && was == delivery
}

func retention(config *pubsubpb.Subscription) time.Duration {
	return config.MessageRetentionDuration.AsDuration()
}

// prune drops what is older than the subscription's retention.
func (s *subscription) prune(now time.Time) {
	if now.Sub(s.pruned) < pruneEvery {
		return
	}
	s.pruned = now
	since := now.Add(-retention(s.config))
	s.kept = kept(s.kept, since)
	for _, it := range s.items {
		if it.publish.Before(since) && it.state != acked {
			s.counts.Dropped++
			s.counts.Acked--
			s.ack(it)
		}
	}
}

type logged struct {
	What     string `json:"what"`
	ID       string `json:"id"`
	Key      string `json:"key,omitempty"`
	Delivery uint32 `json:"delivery"`
}

// deliveryLog is what happened to messages, in order; nil logs nothing.
type deliveryLog struct {
	events []logged
}

func (l *deliveryLog) add(what string, it *item) {
	if l != nil && len(l.events) < logMax {
		l.events = append(l.events, logged{what, it.MessageId, it.OrderingKey, it.delivery})
	}
}
