package pubsub

// The Publisher service.

import (
	"context"
	"sort"
	"strings"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
)

type publisher struct {
	pubsubpb.UnimplementedPublisherServer
	*Broker
}

func (b publisher) CreateTopic(_ context.Context, in *pubsubpb.Topic) (*pubsubpb.Topic, error) {
	if err := checkName(in.Name, "topics"); err != nil {
		return nil, err
	}
	b.lock.Lock()
	defer b.lock.Unlock()
	if b.topics[in.Name] != nil {
		return nil, exists(in.Name)
	}
	config := proto.Clone(in).(*pubsubpb.Topic)
	config.State = pubsubpb.Topic_ACTIVE
	b.topics[in.Name] = &topic{config: config, subs: map[string]*subscription{}, snapshots: map[string]*snapshot{}}
	return config, nil
}

func (b publisher) GetTopic(_ context.Context, in *pubsubpb.GetTopicRequest) (*pubsubpb.Topic, error) {
	t, err := b.topic(in.Topic)
	if err != nil {
		return nil, err
	}
	return t.lockedConfig(), nil
}

func (t *topic) lockedConfig() *pubsubpb.Topic {
	t.lock.Lock()
	defer t.lock.Unlock()
	return t.config
}

func (b publisher) UpdateTopic(_ context.Context, in *pubsubpb.UpdateTopicRequest) (*pubsubpb.Topic, error) {
	t, err := b.topic(in.GetTopic().GetName())
	if err != nil {
		return nil, err
	}
	t.lock.Lock()
	defer t.lock.Unlock()
	changed := proto.Clone(t.config).(*pubsubpb.Topic)
	if err := change(changed, in.Topic, in.UpdateMask.GetPaths(), "labels", "message_retention_duration"); err != nil {
		return nil, err
	}
	t.config = changed
	return changed, nil
}

func (b publisher) DeleteTopic(_ context.Context, in *pubsubpb.DeleteTopicRequest) (*emptypb.Empty, error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	t := b.topics[in.Topic]
	if t == nil {
		return nil, notFound(in.Topic)
	}
	delete(b.topics, in.Topic)
	t.lock.Lock()
	defer t.lock.Unlock()
	for _, s := range t.subs {
		s.change(func(config *pubsubpb.Subscription) { config.Topic = deletedTopic })
	}
	for _, s := range t.snapshots {
		s.config.Topic = deletedTopic
	}
	return &emptypb.Empty{}, nil
}

func (b publisher) Publish(_ context.Context, in *pubsubpb.PublishRequest) (*pubsubpb.PublishResponse, error) {
	t, err := b.topic(in.Topic)
	if err == nil {
		err = checkPublish(in)
	}
	if err != nil {
		return nil, err
	}
	return &pubsubpb.PublishResponse{MessageIds: b.publish(t, in.Messages)}, nil
}

// page cuts a sorted list of names; the token is the name it begins behind.
func page[T any](all map[string]T, prefix, token string, size int32) (names []string, next string) {
	for name := range all {
		if strings.HasPrefix(name, prefix) && name > token {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	if size > 0 && int(size) < len(names) {
		names = names[:size]
		next = names[size-1]
	}
	return names, next
}

func (b publisher) ListTopics(_ context.Context, in *pubsubpb.ListTopicsRequest) (*pubsubpb.ListTopicsResponse, error) {
	b.lock.RLock()
	defer b.lock.RUnlock()
	names, next := page(b.topics, in.Project+"/topics/", in.PageToken, in.PageSize)
	out := &pubsubpb.ListTopicsResponse{NextPageToken: next}
	for _, name := range names {
		out.Topics = append(out.Topics, b.topics[name].lockedConfig())
	}
	return out, nil
}

func (b publisher) ListTopicSubscriptions(_ context.Context, in *pubsubpb.ListTopicSubscriptionsRequest) (
	*pubsubpb.ListTopicSubscriptionsResponse, error) {
	t, err := b.topic(in.Topic)
	if err != nil {
		return nil, err
	}
	t.lock.Lock()
	defer t.lock.Unlock()
	names, next := page(t.subs, "", in.PageToken, in.PageSize)
	return &pubsubpb.ListTopicSubscriptionsResponse{Subscriptions: names, NextPageToken: next}, nil
}

func (b publisher) ListTopicSnapshots(_ context.Context, in *pubsubpb.ListTopicSnapshotsRequest) (
	*pubsubpb.ListTopicSnapshotsResponse, error) {
	t, err := b.topic(in.Topic)
	if err != nil {
		return nil, err
	}
	t.lock.Lock()
	defer t.lock.Unlock()
	names, next := page(t.snapshots, "", in.PageToken, in.PageSize)
	return &pubsubpb.ListTopicSnapshotsResponse{Snapshots: names, NextPageToken: next}, nil
}

func (b publisher) DetachSubscription(_ context.Context, in *pubsubpb.DetachSubscriptionRequest) (
	*pubsubpb.DetachSubscriptionResponse, error) {
	s, err := b.subscription(in.Subscription)
	if err != nil {
		return nil, err
	}
	s.change(func(config *pubsubpb.Subscription) { config.Detached = true })
	s.endStreams(notPulled(s.lockedConfig()))
	s.seek(nil, b.clock.now())
	if t, err := b.topic(s.lockedConfig().Topic); err == nil {
		t.lock.Lock()
		delete(t.subs, s.name)
		t.lock.Unlock()
	}
	return &pubsubpb.DetachSubscriptionResponse{}, nil
}
