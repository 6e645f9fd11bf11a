package pubsub

// Seeking to a time or to a snapshot, and snapshots.

import (
	"context"
	"slices"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

const epochBits = 16 // of a delivery's number, below the number of seeks

// backlog is what is not acknowledged, in the order of publishing.
func (s *subscription) backlog() []*message {
	var made []*message
	for _, it := range s.items {
		if it.state != acked {
			made = append(made, it.message)
		}
	}
	slices.SortFunc(made, byNumber)
	return made
}

func byNumber(a, b *message) int {
	if a.number < b.number {
		return -1
	}
	return 1
}

// seek lets exactly these messages be what is not acknowledged. Leases given out before are void.
func (s *subscription) seek(messages []*message, until time.Time) {
	s.lock.Lock()
	defer s.lock.Unlock()
	keep := map[uint64]bool{}
	for _, m := range messages {
		keep[m.number] = true
	}
	gone := []*message{}
	for number, it := range s.items {
		s.letGo(it)
		it.token++
		if !keep[number] && it.state != acked {
			gone = append(gone, it.message)
		}
	}
	slices.SortFunc(gone, byNumber)
	s.counts.Acked += int64(len(gone))
	s.kept = slices.DeleteFunc(s.kept, func(m *message) bool { return keep[m.number] })
	for _, m := range gone {
		s.keep(m)
	}
	s.restart(messages, until)
}

// restart begins anew with these messages. Ack ids count on, so that none of before is taken for one of after.
func (s *subscription) restart(messages []*message, until time.Time) {
	old := s.items
	s.items, s.keys, s.again, s.ready, s.dues = map[uint64]*item{}, map[string]*key{}, queue{}, queue{}, nil
	for _, st := range s.streams {
		st.own = queue{}
	}
	s.until = time.Time{}
	s.epoch++
	published, filtered := s.counts.Published, s.counts.Filtered
	for _, m := range messages {
		s.addOne(m)
		if it := s.items[m.number]; it != nil {
			it.delivery = s.epoch << epochBits
			if was := old[m.number]; was != nil {
				it.failures = was.failures
			}
		}
	}
	s.counts.Published, s.counts.Filtered = published, filtered
	s.until = until
	s.done = doneIDs{}
	s.wake()
}

// since gives what is known of the subscription from a time on: not acknowledged, kept by it, or kept by its topic.
func (b *Broker) since(s *subscription, from time.Time) []*message {
	t, _ := b.topic(s.lockedConfig().Topic)
	all := []*message{}
	if t != nil {
		t.lock.Lock()
		all = append(all, t.kept...)
		t.lock.Unlock()
	}
	s.lock.Lock()
	all = append(append(all, s.kept...), s.backlog()...)
	s.lock.Unlock()
	all = slices.DeleteFunc(all, func(m *message) bool { return m.publish.Before(from) })
	slices.SortFunc(all, byNumber)
	return slices.CompactFunc(all, func(a, b *message) bool { return a.number == b.number })
}

func (b subscriber) Seek(_ context.Context, in *pubsubpb.SeekRequest) (*pubsubpb.SeekResponse, error) {
	s, err := b.subscription(in.Subscription)
	if err != nil {
		return nil, err
	}
	switch target := in.Target.(type) {
	case *pubsubpb.SeekRequest_Time:
		s.seek(b.since(s, target.Time.AsTime()), target.Time.AsTime())
	case *pubsubpb.SeekRequest_Snapshot:
		return &pubsubpb.SeekResponse{}, b.seekSnapshot(s, target.Snapshot)
	default:
		return nil, invalid("The request has no target to seek to.")
	}
	return &pubsubpb.SeekResponse{}, nil
}

func (b subscriber) seekSnapshot(s *subscription, name string) error {
	b.lock.RLock()
	snap := b.snapshots[name]
	b.lock.RUnlock()
	if snap == nil {
		return notFound(name)
	}
	t, err := b.topic(s.lockedConfig().Topic)
	if err != nil || snap.config.Topic != s.lockedConfig().Topic {
		return invalid("The snapshot and the subscription are not of the same topic.")
	}
	t.lock.Lock()
	messages := slices.Clone(snap.messages)
	t.lock.Unlock()
	s.seek(messages, time.Time{})
	return nil
}

func (b subscriber) CreateSnapshot(_ context.Context, in *pubsubpb.CreateSnapshotRequest) (*pubsubpb.Snapshot, error) {
	if err := checkName(in.Name, "snapshots"); err != nil {
		return nil, err
	}
	b.lock.Lock()
	defer b.lock.Unlock()
	s := b.subs[in.Subscription]
	if s == nil {
		return nil, notFound(in.Subscription)
	}
	if b.snapshots[in.Name] != nil {
		return nil, exists(in.Name)
	}
	t := b.topics[s.lockedConfig().Topic]
	if t == nil {
		return nil, status.Error(codes.FailedPrecondition, "The topic of the subscription is deleted.")
	}
	t.lock.Lock()
	defer t.lock.Unlock()
	s.lock.Lock()
	defer s.lock.Unlock()
	now, messages := b.clock.now(), s.backlog()
	ends := now.Add(snapshotLives)
	if len(messages) > 0 {
		ends = messages[0].publish.Add(snapshotLives)
	}
	if ends.Sub(now) < time.Hour {
		return nil, status.Error(codes.FailedPrecondition, "The snapshot would expire in less than an hour: its oldest message is too old.")
	}
	config := &pubsubpb.Snapshot{Name: in.Name, Topic: s.config.Topic, ExpireTime: timestamppb.New(ends), Labels: in.Labels}
	snap := &snapshot{config: config, messages: messages}
	b.snapshots[in.Name], t.snapshots[in.Name] = snap, snap
	return config, nil
}

func (b subscriber) GetSnapshot(_ context.Context, in *pubsubpb.GetSnapshotRequest) (*pubsubpb.Snapshot, error) {
	b.lock.RLock()
	defer b.lock.RUnlock()
	if s := b.snapshots[in.Snapshot]; s != nil {
		return s.config, nil
	}
	return nil, notFound(in.Snapshot)
}

func (b subscriber) ListSnapshots(_ context.Context, in *pubsubpb.ListSnapshotsRequest) (*pubsubpb.ListSnapshotsResponse, error) {
	b.lock.RLock()
	defer b.lock.RUnlock()
	names, next := page(b.snapshots, in.Project+"/snapshots/", in.PageToken, in.PageSize)
	out := &pubsubpb.ListSnapshotsResponse{NextPageToken: next}
	for _, name := range names {
		out.Snapshots = append(out.Snapshots, b.snapshots[name].config)
	}
	return out, nil
}

func (b subscriber) UpdateSnapshot(_ context.Context, in *pubsubpb.UpdateSnapshotRequest) (*pubsubpb.Snapshot, error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	s := b.snapshots[in.GetSnapshot().GetName()]
	if s == nil {
		return nil, notFound(in.GetSnapshot().GetName())
	}
	changed := proto.Clone(s.config).(*pubsubpb.Snapshot)
	if err := change(changed, in.Snapshot, in.UpdateMask.GetPaths(), "labels", "expire_time"); err != nil {
		return nil, err
	}
	s.config = changed
	return changed, nil
}

func (b subscriber) DeleteSnapshot(_ context.Context, in *pubsubpb.DeleteSnapshotRequest) (*emptypb.Empty, error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	s := b.snapshots[in.Snapshot]
	if s == nil {
		return nil, notFound(in.Snapshot)
	}
	b.dropSnapshot(in.Snapshot, s)
	return &emptypb.Empty{}, nil
}
