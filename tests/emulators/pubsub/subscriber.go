package pubsub

// The Subscriber service, but for StreamingPull (stream.go) and snapshots (seek.go).

import (
	"context"
	"slices"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
)

const (
	pullWaits = 5 * time.Second // for a first message
	idsBytes  = 512 << 10       // of one Acknowledge or ModifyAckDeadline
)

type subscriber struct {
	pubsubpb.UnimplementedSubscriberServer
	*Broker
}

func (b subscriber) StreamingPull(call pubsubpb.Subscriber_StreamingPullServer) error {
	return b.Broker.StreamingPull(call)
}

// change copies what the mask names, if all of it may change.
func change(to, from proto.Message, paths []string, may ...string) error {
	if len(paths) == 0 {
		return invalid("The update_mask in the request must be set, and must contain a non-empty paths list.")
	}
	for _, path := range paths {
		field := to.ProtoReflect().Descriptor().Fields().ByTextName(path)
		if field == nil || !slices.Contains(may, path) {
			return invalid("The field '%s' cannot be changed, or there is none of that name.", path)
		}
		if from.ProtoReflect().Has(field) {
			to.ProtoReflect().Set(field, from.ProtoReflect().Get(field))
		} else {
			to.ProtoReflect().Clear(field)
		}
	}
	return nil
}

// change makes a new copy of the configuration: who holds the old one goes on reading it.
func (s *subscription) change(work func(*pubsubpb.Subscription)) {
	s.lock.Lock()
	defer s.lock.Unlock()
	config := proto.Clone(s.config).(*pubsubpb.Subscription)
	work(config)
	s.config = config
	s.wake()
}

func (s *subscription) endStreams(err error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, st := range s.streams {
		st.end(err)
	}
}

func (b subscriber) CreateSubscription(_ context.Context, in *pubsubpb.Subscription) (*pubsubpb.Subscription, error) {
	config := proto.Clone(in).(*pubsubpb.Subscription)
	if err := checkName(config.Name, "subscriptions"); err != nil {
		return nil, err
	}
	f, err := checkSubscription(config)
	if err != nil {
		return nil, err
	}
	b.lock.Lock()
	defer b.lock.Unlock()
	t := b.topics[config.Topic]
	if t == nil {
		return nil, notFound(config.Topic)
	}
	if b.subs[config.Name] != nil {
		return nil, exists(config.Name)
	}
	if letters := config.DeadLetterPolicy.GetDeadLetterTopic(); letters != "" && b.topics[letters] == nil {
		return nil, notFound(letters)
	}
	config.State = pubsubpb.Subscription_ACTIVE
	t.lock.Lock()
	defer t.lock.Unlock()
	config.TopicMessageRetentionDuration = t.config.MessageRetentionDuration
	s := newSubscription(b.Broker, config, f)
	b.subs[config.Name], t.subs[config.Name] = s, s
	return config, nil
}

func (b subscriber) GetSubscription(_ context.Context, in *pubsubpb.GetSubscriptionRequest) (*pubsubpb.Subscription, error) {
	s, err := b.subscription(in.Subscription)
	if err != nil {
		return nil, err
	}
	return s.lockedConfig(), nil
}

func (b subscriber) UpdateSubscription(_ context.Context, in *pubsubpb.UpdateSubscriptionRequest) (*pubsubpb.Subscription, error) {
	s, err := b.subscription(in.GetSubscription().GetName())
	if err != nil {
		return nil, err
	}
	changed := proto.Clone(s.lockedConfig()).(*pubsubpb.Subscription)
	if err := change(changed, in.Subscription, in.UpdateMask.GetPaths(), "push_config", "ack_deadline_seconds", "retain_acked_messages",
		"message_retention_duration", "labels", "expiration_policy", "dead_letter_policy", "retry_policy",
		"enable_exactly_once_delivery", "bigquery_config", "cloud_storage_config"); err != nil {
		return nil, err
	}
	if _, err := checkSubscription(changed); err != nil {
		return nil, err
	}
	s.change(func(config *pubsubpb.Subscription) { proto.Reset(config); proto.Merge(config, changed) })
	if err := notPulled(changed); err != nil {
		s.endStreams(err)
	}
	return changed, nil
}

func (b subscriber) ModifyPushConfig(_ context.Context, in *pubsubpb.ModifyPushConfigRequest) (*emptypb.Empty, error) {
	s, err := b.subscription(in.Subscription)
	if err != nil {
		return nil, err
	}
	s.change(func(config *pubsubpb.Subscription) { config.PushConfig = in.PushConfig })
	if err := notPulled(s.lockedConfig()); err != nil {
		s.endStreams(err)
	}
	return &emptypb.Empty{}, nil
}

func (b subscriber) ListSubscriptions(_ context.Context, in *pubsubpb.ListSubscriptionsRequest) (*pubsubpb.ListSubscriptionsResponse, error) {
	b.lock.RLock()
	defer b.lock.RUnlock()
	names, next := page(b.subs, in.Project+"/subscriptions/", in.PageToken, in.PageSize)
	out := &pubsubpb.ListSubscriptionsResponse{NextPageToken: next}
	for _, name := range names {
		out.Subscriptions = append(out.Subscriptions, b.subs[name].lockedConfig())
	}
	return out, nil
}

func (b subscriber) DeleteSubscription(_ context.Context, in *pubsubpb.DeleteSubscriptionRequest) (*emptypb.Empty, error) {
	b.lock.Lock()
	s := b.subs[in.Subscription]
	if s == nil {
		b.lock.Unlock()
		return nil, notFound(in.Subscription)
	}
	delete(b.subs, in.Subscription)
	t := b.topics[s.lockedConfig().Topic]
	b.lock.Unlock()
	if t != nil {
		t.lock.Lock()
		delete(t.subs, in.Subscription)
		t.lock.Unlock()
	}
	s.lock.Lock()
	s.isGone = true
	s.lock.Unlock()
	s.endStreams(notFound(in.Subscription))
	return &emptypb.Empty{}, nil
}

// Pull waits for a first message, for a while.
func (b subscriber) Pull(ctx context.Context, in *pubsubpb.PullRequest) (*pubsubpb.PullResponse, error) {
	s, err := b.subscription(in.Subscription)
	if err == nil {
		err = notPulled(s.lockedConfig())
	}
	if err == nil && in.MaxMessages <= 0 {
		err = invalid("max_messages must be greater than 0, not %d.", in.MaxMessages)
	}
	if err != nil {
		return nil, err
	}
	st := s.open(&pubsubpb.StreamingPullRequest{StreamAckDeadlineSeconds: s.lockedConfig().AckDeadlineSeconds,
		MaxOutstandingMessages: int64(in.MaxMessages)})
	defer s.closeStream(st)
	for wait := time.After(pullWaits); ; {
		s.lock.Lock()
		taken, err := s.take(st), st.err
		s.lock.Unlock()
		if len(taken) > 0 || err != nil || in.ReturnImmediately {
			return &pubsubpb.PullResponse{ReceivedMessages: taken}, err
		}
		select {
		case <-st.bell:
		case <-wait:
			return &pubsubpb.PullResponse{}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func checkIDs(ids []string) error {
	size := 0
	for _, id := range ids {
		size += len(id) + 2
	}
	if len(ids) == 0 {
		return invalid("No ack ids specified.")
	}
	if size > idsBytes {
		return invalid("Request payload size exceeds the limit: %d bytes.", idsBytes)
	}
	return nil
}

func (b subscriber) Acknowledge(_ context.Context, in *pubsubpb.AcknowledgeRequest) (*emptypb.Empty, error) {
	s, err := b.subscription(in.Subscription)
	if err == nil {
		err = checkIDs(in.AckIds)
	}
	if err != nil {
		return nil, err
	}
	well, failed := b.sift(s, "Acknowledge", in.AckIds)
	done, err := s.acknowledge(well)
	if err != nil {
		return nil, err
	}
	done.merge(failed)
	return &emptypb.Empty{}, done.err("acknowledge")
}

func (b subscriber) ModifyAckDeadline(_ context.Context, in *pubsubpb.ModifyAckDeadlineRequest) (*emptypb.Empty, error) {
	s, err := b.subscription(in.Subscription)
	if err == nil {
		err = checkIDs(in.AckIds)
	}
	if err != nil {
		return nil, err
	}
	well, failed := b.sift(s, "ModifyAckDeadline", in.AckIds)
	done, err := s.modify(well, in.AckDeadlineSeconds)
	if err != nil {
		return nil, err
	}
	done.merge(failed)
	return &emptypb.Empty{}, done.err("modify the deadline of")
}

// sift takes out the ids that a fault is meant for; those of a subscription without exactly-once delivery cannot fail alone.
func (b *Broker) sift(s *subscription, method string, all []string) ([]string, *outcome) {
	failed := &outcome{}
	if !s.lockedConfig().EnableExactlyOnceDelivery {
		return all, failed
	}
	for _, row := range b.faults.meet(method, s.name, ids) {
		well := []string{}
		for i, id := range all {
			if every := max(row.Every, 1); i%every == every-1 {
				reason := row.Reason
				if reason == "" {
					reason = serviceID
				}
				failed.fail(id, reason)
			} else {
				well = append(well, id)
			}
		}
		all = well
	}
	return all, failed
}
