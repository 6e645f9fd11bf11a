package judge

// Each kind of fault does what its row says, to a client of Google's own library.

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	google "cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func init() {
	scenarios["faults_of_calls"] = faultsOfCalls
	scenarios["faults_of_streams"] = faultsOfStreams
	scenarios["faults_of_frames"] = faultsOfFrames
	scenarios["resets_cost_no_window"] = resetsCostNoWindow
	scenarios["large_messages"] = largeMessages
	scenarios["any_fault_loses_nothing"] = anyFault
}

func (j *judge) clear() { j.ask("clear", map[string]any{}, nil) }

func faultsOfCalls(j *judge) {
	j.create(subName, nil)
	j.send(1, 0)
	got := j.pull(subName, 1)
	for _, code := range []string{"RESOURCE_EXHAUSTED", "UNAVAILABLE", "UNAUTHENTICATED", "PERMISSION_DENIED", "INTERNAL", "NOT_FOUND"} {
		j.fault("status", "ModifyAckDeadline", map[string]any{"code": code, "times": 1, "resource": subName})
		j.check(strings.ReplaceAll(strings.ToUpper(status.Code(j.modify(subName, 30, got...)).String()), "_", "") == strings.ReplaceAll(code, "_", ""), "not %s", code)
		j.fine(j.modify(subName, 30, got...))
	}
	j.fault("status", "Acknowledge", map[string]any{"code": "RESOURCE_EXHAUSTED", "retry_ms": 1500, "reason": "RATE_LIMIT_EXCEEDED", "times": 1})
	details := status.Convert(j.ack(subName, got...)).Details()
	j.check(len(details) == 2 && details[0].(*errdetails.ErrorInfo).Reason == "RATE_LIMIT_EXCEEDED" &&
		details[1].(*errdetails.RetryInfo).RetryDelay.AsDuration() == 1500*time.Millisecond, "details %v", details)
	begun := time.Now()
	j.fault("late", "ModifyAckDeadline", map[string]any{"ms": 100, "times": 1})
	j.fine(j.modify(subName, 30, got...))
	j.check(time.Since(begun) >= 100*time.Millisecond, "it was not late")
	for _, kind := range []string{"hang", "hang_done", "freeze"} {
		j.fault(kind, "ModifyAckDeadline", map[string]any{"times": 1})
		ctx, stop := context.WithTimeout(j.ctx, 60*time.Millisecond)
		_, err := j.sub.ModifyAckDeadline(ctx, &pubsubpb.ModifyAckDeadlineRequest{Subscription: subName, AckIds: idsOf(got), AckDeadlineSeconds: 30})
		stop()
		j.code(err, codes.DeadlineExceeded)
		j.clear()
	}
	j.fault("lost", "Acknowledge", map[string]any{"times": 1})
	j.code(j.ack(subName, got...), codes.Unavailable)
	j.hasCounts(subName, map[string]int{"acked": 1})
}

func faultsOfStreams(j *judge) {
	j.create(subName, nil)
	j.ask("set", map[string]any{"subscription": subName, "per_response": 10}, nil)
	j.send(100, 0)
	j.fault("status", "StreamingPull", map[string]any{"code": "PERMISSION_DENIED", "times": 1})
	_, err := j.open(&pubsubpb.StreamingPullRequest{}).Recv()
	j.code(err, codes.PermissionDenied)
	j.fault("status", "StreamingPull", map[string]any{"code": "UNAUTHENTICATED", "times": 1, "after_messages": 30})
	stream := j.open(&pubsubpb.StreamingPullRequest{})
	j.read(stream, 30)
	_, err = stream.Recv()
	j.code(err, codes.Unauthenticated)
	j.fault("end", "StreamingPull", map[string]any{"code": "OK", "times": 1, "ms": 30})
	stream = j.open(&pubsubpb.StreamingPullRequest{})
	for err = nil; err == nil; _, err = stream.Recv() {
	}
	j.check(err.Error() == "EOF", "ended with %v", err)
}

func faultsOfFrames(j *judge) {
	want := map[string][]codes.Code{"cut": {codes.Unavailable}, "reset": {codes.Internal}, "goaway": {codes.Unavailable, codes.OK}}
	j.create(subName, settings{"ackDeadlineSeconds": 600})
	for kind, allowed := range want {
		// Of a call with one answer, and of a stream after some messages.
		j.ask("publish", map[string]any{"topic": topicName, "messages": []any{map[string]any{"size": 30000}, map[string]any{"size": 30000}}}, nil)
		j.fault(kind, "Pull", map[string]any{"times": 1})
		_, err := j.sub.Pull(j.ctx, &pubsubpb.PullRequest{Subscription: subName, MaxMessages: 1, ReturnImmediately: true})
		j.check(allowed[0] == status.Code(err) || allowed[len(allowed)-1] == status.Code(err), "%s: %v", kind, err)
		j.clear()
		j.until(kind+": it goes on", func() bool {
			_, err := j.sub.GetSubscription(j.ctx, &pubsubpb.GetSubscriptionRequest{Subscription: subName})
			return err == nil
		})
		j.ask("set", map[string]any{"subscription": subName, "per_response": 1}, nil)
		j.ask("publish", map[string]any{"topic": topicName, "messages": []any{map[string]any{"size": 40000}, map[string]any{"size": 40000}, map[string]any{"size": 40000}}}, nil)
		j.fault(kind, "StreamingPull", map[string]any{"times": 1, "after_messages": 2})
		stream := j.open(&pubsubpb.StreamingPullRequest{})
		read := 0
		for err = nil; err == nil; read++ {
			_, err = stream.Recv()
		}
		j.check(status.Code(err) == allowed[0], "%s of a stream after %d: %v", kind, read, err)
		j.clear()
	}
	j.create(subName+"-drip", nil)
	j.fault("drip", "Pull", map[string]any{"times": 1, "bytes": 1000, "ms": 5})
	j.ask("publish", map[string]any{"topic": topicName, "messages": []any{map[string]any{"size": 20000}}}, nil)
	begun := time.Now()
	j.pull(subName+"-drip", 1)
	j.check(time.Since(begun) > 80*time.Millisecond, "it did not drip: %v", time.Since(begun))
	j.clear()
	j.fault("freeze", "GetSubscription", map[string]any{"times": 1, "ms": 100})
	begun = time.Now()
	_, err := j.sub.GetSubscription(j.ctx, &pubsubpb.GetSubscriptionRequest{Subscription: subName})
	j.check(err == nil && time.Since(begun) > 90*time.Millisecond, "frozen for %v: %v", time.Since(begun), err)
}

// resetsCostNoWindow: what the stand-in hides from the client of a reset stream is given back to its own window.
func resetsCostNoWindow(j *judge) {
	j.create(subName, settings{"ackDeadlineSeconds": 600})
	for range 60 {
		j.ask("publish", map[string]any{"topic": topicName, "messages": []any{map[string]any{"size": 1000000}}}, nil)
	}
	j.fault("reset", "Pull", map[string]any{"times": 60, "h2_code": 8})
	for range 60 {
		_, err := j.sub.Pull(j.ctx, &pubsubpb.PullRequest{Subscription: subName, MaxMessages: 1, ReturnImmediately: true})
		j.code(err, codes.Canceled)
		j.code(err, codes.Canceled)
	}
	j.send(1, 0)
	j.check(len(j.pull(subName, 1)) == 1, "the connection is stuck")
}

func largeMessages(j *judge) {
	j.create(subName, nil)
	j.publishSizes(10_000_000-100, 1, 5_000_000)
	got := j.read(j.open(&pubsubpb.StreamingPullRequest{}), 3)
	j.check(len(got[0].Message.Data) == 10_000_000-100 && bytes.Count(got[2].Message.Data, []byte("x")) == 5_000_000, "not what was published")
	_, err := j.pub.Publish(j.ctx, &pubsubpb.PublishRequest{Topic: topicName, Messages: []*pubsubpb.PubsubMessage{{Data: make([]byte, 10_000_001)}}})
	j.code(err, codes.InvalidArgument)
}

func (j *judge) publishSizes(sizes ...int) {
	for _, size := range sizes {
		to := j.client.Publisher(topicName)
		_, err := to.Publish(j.ctx, &google.Message{Data: bytes.Repeat([]byte("x"), size)}).Get(j.ctx)
		to.Stop()
		j.fine(err)
	}
}

// anyFault: random rows one after another while Google's client receives keys in order; in the end all was acknowledged, and
// no message came before the earlier ones of its key had come.
func anyFault(j *judge) {
	const count, keys = 3000, 20
	j.ask("clock", map[string]any{"scale": 10}, nil) // leases of what was lost on its way end within a second
	j.create(subName, settings{"enableMessageOrdering": true})
	j.publishAll(count, keys)
	kinds := []map[string]any{
		{"kind": "status", "method": "StreamingPull", "code": "UNAVAILABLE", "times": 1}, {"kind": "end", "method": "StreamingPull", "ms": 20, "times": 1},
		{"kind": "cut", "method": "StreamingPull", "after_messages": 150, "times": 1}, {"kind": "reset", "method": "StreamingPull", "after_messages": 100, "times": 1},
		{"kind": "goaway", "method": "ModifyAckDeadline", "times": 1}, {"kind": "lost", "method": "Acknowledge", "times": 1},
		{"kind": "late_done", "method": "Acknowledge", "ms": 20, "times": 1}, {"kind": "status", "method": "Acknowledge", "code": "UNAVAILABLE", "times": 1},
	}
	for range 12 {
		j.ask("fault", kinds[j.random.Intn(len(kinds))], nil)
	}
	next, got := map[string]int{}, map[string]bool{}
	j.receiveUntil(func() bool { return j.counts(subName)["backlog"] == 0 }, func(m *google.Message) {
		number := 0
		fmt.Sscan(string(m.Data), &number)
		j.check(number/keys <= next[m.OrderingKey], "%d of %s came before %d", number/keys, m.OrderingKey, next[m.OrderingKey])
		next[m.OrderingKey] = max(next[m.OrderingKey], number/keys+1)
		if got[string(m.Data)] = true; j.random.Intn(300) == 0 {
			m.Nack()
		} else {
			m.Ack()
		}
		if j.random.Intn(400) == 0 {
			j.advance(11 * time.Second)
		}
	})
	j.check(len(got) == count, "%d of %d came", len(got), count)
}
