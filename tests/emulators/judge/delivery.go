package judge

// Receiving with Google's client: everything once, keys in order, also after a nack; leases, flow control, keep-alives.

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	google "cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
)

func init() {
	scenarios["all_once"] = allOnce
	scenarios["nack_in_order"] = nackInOrder
	scenarios["keys_stay_on_a_stream"] = keysStay
	scenarios["leases"] = leases
	scenarios["flow_control"] = flowControl
	scenarios["keep_alive"] = keepAlive
	scenarios["retry_policy"] = retryPolicy
	scenarios["server_ends_streams"] = serverEnds
	scenarios["acked_behind_a_nack_comes_again"] = ackedBehind
	scenarios["a_stream_that_closes_hands_over"] = handsOver
}

// publishAll publishes by Google's client, which batches.
func (j *judge) publishAll(count, keys int) {
	to := j.client.Publisher(topicName)
	to.EnableMessageOrdering = keys > 0
	defer to.Stop()
	results := []*google.PublishResult{}
	for i := range count {
		m := &google.Message{Data: []byte(strconv.Itoa(i))}
		if keys > 0 {
			m.OrderingKey = fmt.Sprintf("k%d", i%keys)
		}
		results = append(results, to.Publish(j.ctx, m))
	}
	for _, result := range results {
		_, err := result.Get(j.ctx)
		j.fine(err)
	}
}

// receive hands messages to `work` until it says that it has enough.
func (j *judge) receive(streams int, work func(m *google.Message) bool) {
	ctx, stop := context.WithTimeout(j.ctx, patience)
	defer stop()
	from := j.client.Subscriber(subName)
	from.ReceiveSettings.NumGoroutines = streams
	lock, isOver := sync.Mutex{}, false
	j.fine(from.Receive(ctx, func(_ context.Context, m *google.Message) {
		lock.Lock()
		defer lock.Unlock()
		defer j.catch(stop)
		if !isOver && work(m) {
			isOver = true
			stop()
		}
	}))
	j.pass()
	j.check(isOver, "not all came: %v", j.counts(subName))
}

// receiveUntil hands messages to `work` until `is`.
func (j *judge) receiveUntil(is func() bool, work func(m *google.Message)) {
	ctx, stop := context.WithTimeout(j.ctx, patience)
	defer stop()
	lock, ended := sync.Mutex{}, make(chan error, 1)
	go func() {
		ended <- j.client.Subscriber(subName).Receive(ctx, func(_ context.Context, m *google.Message) {
			lock.Lock()
			defer lock.Unlock()
			defer j.catch(stop)
			work(m)
		})
	}()
	j.until("what is received", func() bool { return ctx.Err() != nil || is() })
	stop()
	j.fine(<-ended)
	j.pass()
}

func allOnce(j *judge) {
	const count, keys = 10000, 50
	j.create(subName, settings{"enableMessageOrdering": true})
	j.publishAll(count, keys)
	last, got := map[string]int{}, 0
	j.receive(1, func(m *google.Message) bool {
		number, _ := strconv.Atoi(string(m.Data))
		was, has := last[m.OrderingKey]
		j.check(!has && number < keys || number == was+keys, "%s: %d behind %d", m.OrderingKey, number, was)
		last[m.OrderingKey] = number
		m.Ack()
		got++
		return got == count
	})
	j.until("all acknowledged", func() bool { return j.counts(subName)["backlog"] == 0 })
	j.hasCounts(subName, map[string]int{"acked": count, "delivered": count, "redelivered": 0, "outstanding": 0})
}

func nackInOrder(j *judge) {
	j.create(subName, settings{"enableMessageOrdering": true})
	j.publishAll(8, 1)
	order, wasNacked := "", false
	j.receive(1, func(m *google.Message) bool {
		order += string(m.Data)
		if string(m.Data) == "2" && !wasNacked {
			wasNacked = true
			m.Nack()
			return false
		}
		m.Ack()
		return strings.HasSuffix(order, "234567") && strings.Count(order, "2") == 2
	})
	// Those behind it are at the client already, which hands them on; with the one that was nacked all come again.
	j.check(strings.HasPrefix("01234567", order[:len(order)-6]), "came as %s", order)
}

func ackedBehind(j *judge) {
	j.create(subName, settings{"enableMessageOrdering": true})
	j.send(4, 1)
	got := j.pull(subName, 10)
	j.check(dataOf(got) == "0 1 2 3 ", "came %s", dataOf(got))
	j.fine(j.ack(subName, got[0], got[2]))
	j.fine(j.modify(subName, 0, got[1]))
	j.fine(j.ack(subName, got[3])) // void: it is to come again
	again := j.pull(subName, 10)
	j.check(dataOf(again) == "1 2 3 ", "came again %s", dataOf(again))
	j.hasCounts(subName, map[string]int{"reopened": 1, "acked": 1, "nacked": 1, "backlog": 3})
	j.fine(j.ack(subName, again...))
	j.hasCounts(subName, map[string]int{"acked": 4, "backlog": 0})
}

func keysStay(j *judge) {
	const count, keys, streams = 600, 12, 4
	j.create(subName, settings{"enableMessageOrdering": true})
	j.ask("set", map[string]any{"subscription": subName, "per_response": 3}, nil)
	opened := []pubsubpb.Subscriber_StreamingPullClient{}
	for range streams {
		opened = append(opened, j.open(&pubsubpb.StreamingPullRequest{MaxOutstandingMessages: 20}))
	}
	j.until("streams", func() bool { return j.counts(subName)["streams"] == streams })
	j.send(count, keys)
	lock, last, holder, held := sync.Mutex{}, map[string]int{}, map[string]int{}, map[string]int{}
	failed := make(chan string, streams)
	for which, stream := range opened {
		go func() {
			for {
				response, err := stream.Recv()
				if err != nil {
					failed <- ""
					return
				}
				lock.Lock()
				for _, m := range response.ReceivedMessages {
					key, number := m.Message.OrderingKey, 0
					fmt.Sscan(string(m.Message.Data), &number)
					if was, has := last[key]; has && number != was+keys || held[key] > 0 && holder[key] != which {
						failed <- fmt.Sprintf("%s: %d behind %d, on stream %d beside %d", key, number, was, which, holder[key])
					}
					last[key], holder[key] = number, which
					held[key]++
				}
				lock.Unlock()
				for _, m := range response.ReceivedMessages {
					lock.Lock()
					held[m.Message.OrderingKey]--
					lock.Unlock()
					if err := j.ack(subName, m); err != nil {
						failed <- err.Error()
					}
				}
			}
		}()
	}
	j.until("all acknowledged", func() bool { return len(failed) > 0 || j.counts(subName)["acked"] == count })
	for _, stream := range opened {
		j.fine(stream.CloseSend())
	}
	for range streams {
		if why := <-failed; why != "" {
			j.fail("%s", why)
		}
	}
	j.hasCounts(subName, map[string]int{"redelivered": 0})
}

func handsOver(j *judge) {
	j.create(subName, settings{"enableMessageOrdering": true})
	first := j.open(&pubsubpb.StreamingPullRequest{MaxOutstandingMessages: 2})
	j.until("the stream", func() bool { return j.counts(subName)["streams"] == 1 })
	j.send(6, 1)
	held := j.read(first, 2)
	second := j.open(&pubsubpb.StreamingPullRequest{})
	j.until("the second stream", func() bool { return j.counts(subName)["streams"] == 2 })
	j.fine(first.CloseSend())
	j.until("the stream is closed", func() bool { return j.counts(subName)["streams"] == 1 })
	// The later ones wait for those that the closed one has; acknowledged or not, these come first.
	j.hasCounts(subName, map[string]int{"delivered": 2})
	j.fine(j.ack(subName, held[0]))
	j.hasCounts(subName, map[string]int{"delivered": 2})
	j.fine(j.ack(subName, held[1]))
	got := j.read(second, 4)
	j.check(dataOf(held)+dataOf(got) == "0 1 2 3 4 5 ", "came %s and %s", dataOf(held), dataOf(got))
	j.send(2, 1)
	j.read(second, 2)
	j.fine(second.CloseSend())
	third := j.open(&pubsubpb.StreamingPullRequest{})
	j.until("the third alone", func() bool { c := j.counts(subName); return c["streams"] == 1 && c["opened"] == 3 })
	j.advance(11 * time.Second)
	again := j.read(third, 6)
	j.check(dataOf(again) == "2 3 4 5 0 1 ", "came again %s", dataOf(again))
}

func leases(j *judge) {
	j.create(subName, settings{"ackDeadlineSeconds": 20})
	j.send(3, 0)
	got := j.pull(subName, 10)
	j.fine(j.modify(subName, 60, got[0]))
	j.advance(15 * time.Second)
	j.check(len(j.pull(subName, 10)) == 0, "a lease ended early")
	j.advance(6 * time.Second)
	again := j.pull(subName, 10)
	j.check(len(again) == 2, "%d came again instead of 2", len(again))
	// One that was extended can be made shorter, too.
	j.fine(j.modify(subName, 1, got[0]))
	j.advance(2 * time.Second)
	j.check(dataOf(j.pull(subName, 10)) == "0 ", "the shortened one did not come")
	// An id of before may still do; one of another subscription or of nobody does not.
	j.fine(j.ack(subName, got[1]))
	j.hasCounts(subName, map[string]int{"acked": 1, "expired": 3, "backlog": 2})
	j.create(subName+"-other", nil)
	j.code(j.ack(subName+"-other", got[0]), codes.InvalidArgument)
	j.code(j.ack(subName, &pubsubpb.ReceivedMessage{AckId: "nonsense"}), codes.InvalidArgument)
	j.code(j.ack(subName), codes.InvalidArgument)
	j.code(j.modify(subName, 601, got[0]), codes.InvalidArgument)
}

func flowControl(j *judge) {
	j.create(subName, nil)
	j.send(20, 0)
	stream := j.open(&pubsubpb.StreamingPullRequest{MaxOutstandingMessages: 5})
	got := j.read(stream, 5)
	j.fine(j.ack(subName, got[0], got[1]))
	more := j.read(stream, 2)
	j.fine(j.modify(subName, 0, more[1])) // makes room as well
	j.read(stream, 1)
	j.hasCounts(subName, map[string]int{"outstanding": 5, "most_outstanding": 5})
	j.advance(11 * time.Second)
	j.until("leases that end make room", func() bool { return j.counts(subName)["delivered"] >= 13 })
	j.fine(stream.CloseSend())
	for i := range 4 {
		j.ask("publish", map[string]any{"topic": topicName, "messages": []any{map[string]any{"size": 1000 * (i + 1)}}}, nil)
	}
	j.create(subName+"-bytes", nil)
	for i := range 4 {
		j.ask("publish", map[string]any{"topic": topicName, "messages": []any{map[string]any{"size": 1000 * (i + 1)}}}, nil)
	}
	by := j.open(&pubsubpb.StreamingPullRequest{Subscription: subName + "-bytes", MaxOutstandingBytes: 3500})
	got = j.read(by, 2)
	j.fine(j.ack(subName+"-bytes", got...))
	got = j.read(by, 1)
	j.check(len(got[0].Message.Data) == 3000, "%d bytes came", len(got[0].Message.Data))
	j.hasCounts(subName+"-bytes", map[string]int{"outstanding": 1})
	// One larger than all the room goes alone.
	j.fine(j.ack(subName+"-bytes", got...))
	j.check(len(j.read(by, 1)[0].Message.Data) == 4000, "the large one did not come")
}

func keepAlive(j *judge) {
	j.create(subName, nil)
	stream := j.open(&pubsubpb.StreamingPullRequest{ProtocolVersion: 1})
	for range 3 {
		j.fine(stream.Send(&pubsubpb.StreamingPullRequest{}))
		response, err := stream.Recv()
		j.fine(err)
		j.check(len(response.ReceivedMessages) == 0 && response.SubscriptionProperties != nil, "answered %v", response)
		j.advance(40 * time.Second)
	}
	j.advance(30 * time.Second)
	_, err := stream.Recv()
	j.code(err, codes.Unavailable)
	for _, in := range []*pubsubpb.StreamingPullRequest{{Subscription: subName}, {MaxOutstandingMessages: 1}, {ClientId: "x"},
		{StreamAckDeadlineSeconds: 9}, {AckIds: []string{"nonsense"}}, {ModifyDeadlineSeconds: []int32{1}}} {
		stream := j.open(&pubsubpb.StreamingPullRequest{})
		j.fine(stream.Send(in))
		_, err := stream.Recv()
		j.code(err, codes.InvalidArgument)
	}
	short := j.open(&pubsubpb.StreamingPullRequest{StreamAckDeadlineSeconds: 601})
	_, err = short.Recv()
	j.code(err, codes.InvalidArgument)
	// A deadline that is sent again counts from then on.
	stream = j.open(&pubsubpb.StreamingPullRequest{ProtocolVersion: 1})
	j.fine(stream.Send(&pubsubpb.StreamingPullRequest{StreamAckDeadlineSeconds: 50}))
	_, err = stream.Recv()
	j.fine(err)
	j.send(1, 0)
	j.read(stream, 1)
	j.advance(40 * time.Second)
	j.hasCounts(subName, map[string]int{"expired": 0})
	j.advance(11 * time.Second)
	j.hasCounts(subName, map[string]int{"expired": 1})
}

func retryPolicy(j *judge) {
	j.create(subName, settings{"retryPolicy": settings{"minimumBackoff": "10s", "maximumBackoff": "30s"}, "enableMessageOrdering": true})
	j.send(3, 1)
	for _, wait := range []time.Duration{10, 20, 30, 30} {
		got := j.pull(subName, 10)
		j.check(dataOf(got) == "0 1 2 ", "came %s", dataOf(got))
		j.fine(j.modify(subName, 0, got[0]))
		j.advance((wait - 1) * time.Second)
		j.check(len(j.pull(subName, 10)) == 0, "came before %d s", wait)
		j.advance(2 * time.Second)
	}
	j.send(1, 1) // while it rests no later one passes
	got := j.pull(subName, 10)
	j.fine(j.modify(subName, 0, got[0]))
	j.send(1, 1)
	j.check(len(j.pull(subName, 10)) == 0, "a later one of the key passed")
	j.advance(31 * time.Second)
	j.check(dataOf(j.pull(subName, 10)) == "0 1 2 0 0 ", "not in order")
}

func serverEnds(j *judge) {
	j.create(subName, nil)
	for _, code := range []codes.Code{codes.Unavailable, codes.Unauthenticated} {
		stream := j.open(&pubsubpb.StreamingPullRequest{})
		j.until("the stream", func() bool { return j.counts(subName)["streams"] == 1 })
		name := map[codes.Code]string{codes.Unavailable: "UNAVAILABLE", codes.Unauthenticated: "UNAUTHENTICATED"}[code]
		j.ask("end_streams", map[string]any{"subscription": subName, "code": name}, nil)
		_, err := stream.Recv()
		j.code(err, code)
		j.until("no stream", func() bool { return j.counts(subName)["streams"] == 0 })
	}
	// One that ends every 50 ms loses nothing: Google's client comes back.
	j.fault("end", "StreamingPull", map[string]any{"ms": 50, "code": "OK"})
	j.publishAll(3000, 0)
	got := map[string]bool{}
	j.receive(1, func(m *google.Message) bool {
		got[string(m.Data)] = true
		m.Ack()
		if len(got) < 1000 {
			time.Sleep(200 * time.Microsecond)
		}
		return len(got) == 3000
	})
	j.check(j.counts(subName)["opened"] > 4, "the stream did not end: %v", j.counts(subName))
}
