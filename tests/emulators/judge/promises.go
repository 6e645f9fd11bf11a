package judge

// What subscriptions promise beyond delivery: exactly once, dead letters, seeks, snapshots, retention; and what is refused.

import (
	"context"
	"sync"
	"time"

	google "cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

func init() {
	scenarios["exactly_once_by_the_client"] = exactlyOnce
	scenarios["exactly_once_ids"] = exactlyOnceIDs
	scenarios["exactly_once_on_the_stream"] = exactlyOnceOnStream
	scenarios["dead_letters"] = deadLetters
	scenarios["seek"] = seek
	scenarios["snapshots"] = snapshots
	scenarios["retention"] = retention
	scenarios["refused"] = refused
	scenarios["updates"] = updates
}

func exactlyOnce(j *judge) {
	const count = 500
	j.create(subName, settings{"enableExactlyOnceDelivery": true})
	j.publishAll(count, 0)
	j.fault("ids", "Acknowledge", map[string]any{"every": 3, "times": 2})
	j.fault("lost", "Acknowledge", map[string]any{"skip": 2, "times": 1})
	lock, seen, results := sync.Mutex{}, map[string]int{}, []*google.AckResult{}
	j.receive(1, func(m *google.Message) bool {
		lock.Lock()
		defer lock.Unlock()
		seen[m.ID]++
		results = append(results, m.AckWithResult())
		return len(seen) == count
	})
	for _, result := range results {
		ctx, stop := context.WithTimeout(j.ctx, patience)
		was, err := result.Get(ctx)
		stop()
		j.check(err == nil && was == google.AcknowledgeStatusSuccess, "acknowledged with %v, %v", was, err)
	}
	j.hasCounts(subName, map[string]int{"acked": count, "delivered": count, "redelivered": 0, "backlog": 0})
}

// reasons are what an error says of single ids.
func reasons(err error) map[string]string {
	for _, detail := range status.Convert(err).Details() {
		if info, is := detail.(*errdetails.ErrorInfo); is {
			return info.Metadata
		}
	}
	return nil
}

func exactlyOnceIDs(j *judge) {
	j.create(subName, settings{"enableExactlyOnceDelivery": true, "enableMessageOrdering": true})
	j.send(3, 1)
	got := j.pull(subName, 10)
	err := j.ack(subName, got[0], got[2])
	j.code(err, codes.FailedPrecondition)
	said := reasons(err)
	j.check(len(said) == 1 && said[got[2].AckId] == "TRANSIENT_FAILURE_UNORDERED_ACK_ID", "said %v", said)
	j.fine(j.ack(subName, got[0])) // again, as after an answer that was lost
	j.advance(11 * time.Second)
	for _, err := range []error{j.ack(subName, got[1], got[2]), j.modify(subName, 30, got[1], got[2])} {
		said = reasons(err)
		j.check(len(said) == 2 && said[got[1].AckId] == "PERMANENT_FAILURE_INVALID_ACK_ID", "said %v of %v", said, err)
	}
	again := j.pull(subName, 10)
	j.check(dataOf(again) == "1 2 ", "came again %s", dataOf(again))
	j.check(len(reasons(j.ack(subName, got[1]))) == 1, "an old id counted")
	j.fine(j.ack(subName, again...))
	j.ask("set", map[string]any{"subscription": subName, "forgets": true}, nil)
	j.check(len(reasons(j.ack(subName, again...))) == 2, "an id was not forgotten")
	j.hasCounts(subName, map[string]int{"acked": 3, "backlog": 0})
}

func exactlyOnceOnStream(j *judge) {
	j.create(subName, settings{"enableExactlyOnceDelivery": true})
	stream := j.open(&pubsubpb.StreamingPullRequest{})
	j.send(2, 0)
	var got []*pubsubpb.ReceivedMessage
	for len(got) < 2 {
		response, err := stream.Recv()
		j.fine(err)
		j.check(response.SubscriptionProperties.GetExactlyOnceDeliveryEnabled(), "it does not say that it is exactly once")
		got = append(got, response.ReceivedMessages...)
	}
	j.fine(j.modify(subName, 0, got[1]))
	j.fine(stream.Send(&pubsubpb.StreamingPullRequest{AckIds: idsOf(got), ModifyDeadlineAckIds: []string{got[1].AckId}, ModifyDeadlineSeconds: []int32{20}}))
	for {
		response, err := stream.Recv()
		j.fine(err)
		if acks := response.AcknowledgeConfirmation; acks != nil {
			j.check(len(acks.AckIds) == 1 && acks.AckIds[0] == got[0].AckId && len(acks.InvalidAckIds) == 1, "acks: %v", acks)
			j.check(len(response.ModifyAckDeadlineConfirmation.GetInvalidAckIds()) == 1, "changes: %v", response)
			return
		}
	}
}

func deadLetters(j *judge) {
	letters := "projects/acme/topics/letters"
	j.ask("create", map[string]any{"topic": letters, "subscription": subName + "-letters"}, nil)
	j.create(subName, settings{"deadLetterPolicy": settings{"deadLetterTopic": letters, "maxDeliveryAttempts": 5}})
	to := j.client.Publisher(topicName)
	defer to.Stop()
	_, err := to.Publish(j.ctx, &google.Message{Data: []byte("bad"), Attributes: map[string]string{"k": "v"}}).Get(j.ctx)
	j.fine(err)
	attempts := []int{}
	j.receive(1, func(m *google.Message) bool {
		attempts = append(attempts, *m.DeliveryAttempt)
		m.Nack()
		return len(attempts) == 5
	})
	for i, attempt := range attempts {
		j.check(attempt == i+1, "attempts %v", attempts)
	}
	var got []*pubsubpb.ReceivedMessage
	j.until("the letter", func() bool { got = append(got, j.pull(subName+"-letters", 10)...); return len(got) > 0 })
	a := got[0].Message.Attributes
	j.check(len(got) == 1 && string(got[0].Message.Data) == "bad" && a["k"] == "v" && a["CloudPubSubDeadLetterSourceDeliveryCount"] == "5" &&
		a["CloudPubSubDeadLetterSourceSubscription"] == "s-1" && a["CloudPubSubDeadLetterSourceSubscriptionProject"] == "acme" &&
		a["CloudPubSubDeadLetterSourceTopicPublishTime"] != "", "the letter is %v", got)
	j.hasCounts(subName, map[string]int{"backlog": 0, "letters": 1, "nacked": 5, "acked": 0})
	// While Pub/Sub's own account may not publish, the message comes on and on.
	j.ask("deny", map[string]any{"resource": "agent " + letters, "permissions": []string{"pubsub.topics.publish"}}, nil)
	j.send(1, 0)
	for i := range 8 {
		got := j.pull(subName, 10)
		j.check(len(got) == 1 && got[0].DeliveryAttempt == int32(i+1), "came %v", got)
		j.advance(11 * time.Second)
	}
	j.ask("grant", map[string]any{"resource": "agent " + letters, "permissions": []string{"pubsub.topics.publish"}}, nil)
	j.pull(subName, 10)
	j.advance(11 * time.Second)
	j.until("the second letter", func() bool { return len(j.pull(subName+"-letters", 10)) > 0 })
}

func seek(j *judge) {
	j.create(subName, settings{"retainAckedMessages": true})
	j.create(subName+"-plain", nil)
	var middle time.Time
	for i := range 3 {
		j.send(2, 0)
		j.advance(time.Minute)
		if i == 0 {
			var now struct{ Now time.Time }
			j.ask("clock", map[string]any{}, &now)
			middle = now.Now
		}
		j.advance(time.Second)
	}
	to := func(sub string, at time.Time) {
		_, err := j.sub.Seek(j.ctx, &pubsubpb.SeekRequest{Subscription: sub, Target: &pubsubpb.SeekRequest_Time{Time: timestamppb.New(at)}})
		j.fine(err)
	}
	for _, sub := range []string{subName, subName + "-plain"} {
		j.fine(j.ack(sub, j.pull(sub, 10)...))
		j.check(len(j.pull(sub, 10)) == 0, "more came")
		to(sub, middle)
	}
	j.check(dataOf(j.pull(subName, 10)) == "0 1 0 1 ", "not those since the middle")
	j.check(len(j.pull(subName+"-plain", 10)) == 0, "what was not kept came")
	to(subName, middle.Add(-time.Hour))
	again := j.pull(subName, 10)
	j.check(len(again) == 6, "%d came", len(again))
	to(subName, middle)
	j.fine(j.ack(subName, again...)) // ids of before the seek are void
	j.hasCounts(subName, map[string]int{"backlog": 4})
	to(subName, middle.Add(24*time.Hour))
	j.send(1, 0)
	j.hasCounts(subName, map[string]int{"backlog": 0})
}

func snapshots(j *judge) {
	name := "projects/acme/snapshots/snap"
	j.create(subName, settings{"enableMessageOrdering": true})
	j.send(3, 1)
	j.fine(j.ack(subName, j.pull(subName, 1)...))
	_, err := j.sub.CreateSnapshot(j.ctx, &pubsubpb.CreateSnapshotRequest{Name: name, Subscription: subName})
	j.fine(err)
	_, err = j.sub.CreateSnapshot(j.ctx, &pubsubpb.CreateSnapshotRequest{Name: name, Subscription: subName})
	j.code(err, codes.AlreadyExists)
	j.send(2, 1)
	j.fine(j.ack(subName, j.pull(subName, 10)...))
	j.hasCounts(subName, map[string]int{"backlog": 0})
	target := &pubsubpb.SeekRequest{Subscription: subName, Target: &pubsubpb.SeekRequest_Snapshot{Snapshot: name}}
	_, err = j.sub.Seek(j.ctx, target)
	j.fine(err)
	j.check(dataOf(j.pull(subName, 10)) == "1 2 0 1 ", "not the snapshot's")
	_, err = j.sub.DeleteSnapshot(j.ctx, &pubsubpb.DeleteSnapshotRequest{Snapshot: name})
	j.fine(err)
	_, err = j.sub.Seek(j.ctx, target)
	j.code(err, codes.NotFound)
	// One that would live for less than an hour is not made; one that is over is gone.
	_, err = j.sub.CreateSnapshot(j.ctx, &pubsubpb.CreateSnapshotRequest{Name: name, Subscription: subName})
	j.fine(err)
	j.advance(6*24*time.Hour + 23*time.Hour + 30*time.Minute)
	_, err = j.sub.CreateSnapshot(j.ctx, &pubsubpb.CreateSnapshotRequest{Name: name + "-2", Subscription: subName})
	j.code(err, codes.FailedPrecondition)
	j.advance(time.Hour)
	_, err = j.sub.GetSnapshot(j.ctx, &pubsubpb.GetSnapshotRequest{Snapshot: name})
	j.code(err, codes.NotFound)
}

func retention(j *judge) {
	j.create(subName, settings{"messageRetentionDuration": "600s", "enableMessageOrdering": true})
	j.send(4, 2)
	j.advance(5 * time.Minute)
	j.send(2, 2)
	j.advance(6 * time.Minute)
	j.until("old messages go", func() bool { return j.counts(subName)["dropped"] == 4 })
	j.check(dataOf(j.pull(subName, 10)) == "0 1 ", "not the new ones")
}

func refused(j *judge) {
	j.create(subName, nil)
	at := func(s *pubsubpb.Subscription) error {
		s.Name, s.Topic = subName+"-bad", topicName
		_, err := j.sub.CreateSubscription(j.ctx, s)
		return err
	}
	for _, s := range []*pubsubpb.Subscription{{AckDeadlineSeconds: 9}, {AckDeadlineSeconds: 601}, {MessageRetentionDuration: durationpb.New(time.Minute)},
		{RetryPolicy: &pubsubpb.RetryPolicy{MinimumBackoff: durationpb.New(601 * time.Second)}}, {Filter: "nonsense"},
		{DeadLetterPolicy: &pubsubpb.DeadLetterPolicy{DeadLetterTopic: topicName, MaxDeliveryAttempts: 4}}} {
		j.code(at(s), codes.InvalidArgument)
	}
	j.code(at(&pubsubpb.Subscription{DeadLetterPolicy: &pubsubpb.DeadLetterPolicy{DeadLetterTopic: topicName + "-none"}}), codes.NotFound)
	j.fine(at(&pubsubpb.Subscription{PushConfig: &pubsubpb.PushConfig{PushEndpoint: "https://example.com"}}))
	_, err := j.open(&pubsubpb.StreamingPullRequest{Subscription: subName + "-bad"}).Recv()
	j.code(err, codes.FailedPrecondition)
	_, err = j.sub.Pull(j.ctx, &pubsubpb.PullRequest{Subscription: subName + "-none", MaxMessages: 1})
	j.code(err, codes.NotFound)
	_, err = j.sub.CreateSubscription(j.ctx, &pubsubpb.Subscription{Name: subName, Topic: topicName})
	j.code(err, codes.AlreadyExists)
	_, err = j.pub.Publish(j.ctx, &pubsubpb.PublishRequest{Topic: topicName, Messages: []*pubsubpb.PubsubMessage{{}}})
	j.code(err, codes.InvalidArgument)
	_, err = j.pub.CreateTopic(j.ctx, &pubsubpb.Topic{Name: "projects/acme/topics/goog-no"})
	j.code(err, codes.InvalidArgument)
	stream := j.open(&pubsubpb.StreamingPullRequest{})
	j.until("the stream", func() bool { return j.counts(subName)["streams"] == 1 })
	_, err = j.pub.DetachSubscription(j.ctx, &pubsubpb.DetachSubscriptionRequest{Subscription: subName})
	j.fine(err)
	_, err = stream.Recv()
	j.code(err, codes.FailedPrecondition)
	_, err = j.sub.DeleteSubscription(j.ctx, &pubsubpb.DeleteSubscriptionRequest{Subscription: subName})
	j.fine(err)
	_, err = j.open(&pubsubpb.StreamingPullRequest{}).Recv()
	j.code(err, codes.NotFound)
	j.ask("create", map[string]any{"topic": topicName, "subscription": subName}, nil)
	j.ask("deny", map[string]any{"resource": subName, "permissions": []string{"pubsub.subscriptions.consume"}}, nil)
	_, err = j.open(&pubsubpb.StreamingPullRequest{}).Recv()
	j.code(err, codes.PermissionDenied)
}

func updates(j *judge) {
	j.create(subName, nil)
	stream := j.open(&pubsubpb.StreamingPullRequest{})
	j.until("the stream", func() bool { return j.counts(subName)["streams"] == 1 })
	change := func(s *pubsubpb.Subscription, path string) error {
		s.Name = subName
		_, err := j.sub.UpdateSubscription(j.ctx, &pubsubpb.UpdateSubscriptionRequest{Subscription: s, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{path}}})
		return err
	}
	j.fine(change(&pubsubpb.Subscription{EnableExactlyOnceDelivery: true}, "enable_exactly_once_delivery"))
	response, err := stream.Recv()
	j.fine(err)
	j.check(response.SubscriptionProperties.GetExactlyOnceDeliveryEnabled(), "an open stream is not told: %v", response)
	j.code(change(&pubsubpb.Subscription{EnableMessageOrdering: true}, "enable_message_ordering"), codes.InvalidArgument)
	j.code(change(&pubsubpb.Subscription{AckDeadlineSeconds: 5}, "ack_deadline_seconds"), codes.InvalidArgument)
	j.fine(change(&pubsubpb.Subscription{PushConfig: &pubsubpb.PushConfig{PushEndpoint: "https://example.com"}}, "push_config"))
	_, err = stream.Recv()
	j.code(err, codes.FailedPrecondition)
}
