// Package judge tells whether the stand-in of Pub/Sub is right: Google's own client drives it, and pstest is asked the same.
package judge

// A scenario has a stand-in of its own, and fails with words.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"net"
	"net/http"
	"net/http/httptest"
	"sort"
	"sync/atomic"
	"time"

	google "cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"weir/tests/emulators/pubsub"
	"weir/tests/emulators/verdict"
)

const patience = 20 * time.Second

type judge struct {
	ctx     context.Context
	random  *rand.Rand
	target  string
	control *httptest.Server
	conn    *grpc.ClientConn
	sub     pubsubpb.SubscriberClient
	pub     pubsubpb.PublisherClient
	client  *google.Client
	failed  atomic.Pointer[error] // in a callback
}

var scenarios = map[string]func(*judge){}

func (j *judge) fail(format string, args ...any) { verdict.Wrong(format, args...) }

func (j *judge) check(is bool, format string, args ...any) {
	if !is {
		j.fail(format, args...)
	}
}

func (j *judge) fine(err error) { verdict.Must(err) }

func (j *judge) code(err error, want codes.Code) {
	j.check(status.Code(err) == want, "want %v, got %v", want, err)
}

// catch keeps the failure of a callback until pass.
func (j *judge) catch(stop func()) {
	if why := verdict.Found(recover()); why != nil {
		j.failed.CompareAndSwap(nil, &why)
		stop()
	}
}

func (j *judge) pass() {
	if why := j.failed.Load(); why != nil {
		j.fine(*why)
	}
}

// until waits for what comes by itself.
func (j *judge) until(what string, is func() bool) {
	for end := time.Now().Add(patience); !is(); time.Sleep(2 * time.Millisecond) {
		j.check(time.Now().Before(end), "waited in vain: %s", what)
	}
}

func dial(target string) (*grpc.ClientConn, error) {
	return grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)))
}

func connect(ctx context.Context, target string) (*google.Client, error) {
	return google.NewClient(ctx, "acme", option.WithEndpoint(target), option.WithoutAuthentication(), option.WithTelemetryDisabled(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
}

// run plays a scenario; gives why it failed, or nil.
func run(work func(*judge), seed int64) (failed error) {
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	broker := pubsub.NewBroker()
	go broker.Serve(listener, nil)
	j := &judge{ctx: ctx, random: rand.New(rand.NewSource(seed)), target: listener.Addr().String(), control: httptest.NewServer(broker.Control())}
	defer j.control.Close()
	defer func() {
		if why := verdict.Found(recover()); why != nil {
			failed = why
		}
	}()
	j.conn, err = dial(j.target)
	j.fine(err)
	defer j.conn.Close()
	j.sub, j.pub = pubsubpb.NewSubscriberClient(j.conn), pubsubpb.NewPublisherClient(j.conn)
	j.client, err = connect(ctx, j.target)
	j.fine(err)
	defer j.client.Close()
	work(j)
	return nil
}

// Main plays the named scenarios, or all.
func Main(names []string, seed int64, out io.Writer) error {
	if len(names) == 0 {
		for name := range scenarios {
			names = append(names, name)
		}
		sort.Strings(names)
	}
	failed := 0
	for _, name := range names {
		work, is := scenarios[name]
		if !is {
			return fmt.Errorf("there is no scenario %s", name)
		}
		begun := time.Now()
		if err := run(work, seed); err != nil {
			failed++
			fmt.Fprintf(out, "FAIL %s: %v\n", name, err)
			continue
		}
		fmt.Fprintf(out, "ok   %s (%.1f s)\n", name, time.Since(begun).Seconds())
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d scenarios failed (seed %d)", failed, len(names), seed)
	}
	return nil
}

// ask says a word to the control; what is answered goes into `out`.
func (j *judge) ask(word string, in map[string]any, out any) {
	text, _ := json.Marshal(in)
	answer, err := http.Post(j.control.URL+"/"+word, "application/json", bytes.NewReader(text))
	j.fine(err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	j.fine(err)
	j.check(answer.StatusCode == 200, "%s: %s", word, body)
	if out != nil {
		j.fine(json.Unmarshal(body, out))
	}
}

const (
	topicName = "projects/acme/topics/t-1"
	subName   = "projects/acme/subscriptions/s-1"
)

type settings = map[string]any

func (j *judge) create(sub string, s settings) {
	if s == nil {
		s = settings{}
	}
	j.ask("create", map[string]any{"topic": topicName, "subscription": sub, "settings": s}, nil)
}

// send publishes messages with data 0..count-1 that are of `keys` keys in turn (0: none).
func (j *judge) send(count, keys int) []string {
	in := &pubsubpb.PublishRequest{Topic: topicName}
	for i := range count {
		m := &pubsubpb.PubsubMessage{Data: fmt.Appendf(nil, "%d", i)}
		if keys > 0 {
			m.OrderingKey = fmt.Sprintf("k%d", i%keys)
		}
		in.Messages = append(in.Messages, m)
	}
	out, err := j.pub.Publish(j.ctx, in)
	j.fine(err)
	return out.MessageIds
}

func (j *judge) advance(by time.Duration) {
	j.ask("clock", map[string]any{"advance_ms": by.Milliseconds()}, nil)
}

func (j *judge) counts(sub string) map[string]int {
	made := map[string]int{}
	j.ask("counts", map[string]any{"subscription": sub}, &made)
	return made
}

func (j *judge) hasCounts(sub string, want map[string]int) {
	got := j.counts(sub)
	for name, value := range want {
		j.check(got[name] == value, "%s is %d, not %d: %v", name, got[name], value, got)
	}
}

func (j *judge) fault(kind, method string, more map[string]any) {
	in := map[string]any{"kind": kind, "method": method}
	for name, value := range more {
		in[name] = value
	}
	j.ask("fault", in, nil)
}

// pull takes what there is, with a short wait for none.
func (j *judge) pull(sub string, count int) []*pubsubpb.ReceivedMessage {
	out, err := j.sub.Pull(j.ctx, &pubsubpb.PullRequest{Subscription: sub, MaxMessages: int32(count), ReturnImmediately: true})
	j.fine(err)
	return out.ReceivedMessages
}

func idsOf(messages []*pubsubpb.ReceivedMessage) []string {
	ids := []string{}
	for _, m := range messages {
		ids = append(ids, m.AckId)
	}
	return ids
}

func dataOf(messages []*pubsubpb.ReceivedMessage) string {
	text := ""
	for _, m := range messages {
		text += string(m.Message.Data) + " "
	}
	return text
}

func (j *judge) ack(sub string, messages ...*pubsubpb.ReceivedMessage) error {
	_, err := j.sub.Acknowledge(j.ctx, &pubsubpb.AcknowledgeRequest{Subscription: sub, AckIds: idsOf(messages)})
	return err
}

func (j *judge) modify(sub string, seconds int32, messages ...*pubsubpb.ReceivedMessage) error {
	_, err := j.sub.ModifyAckDeadline(j.ctx, &pubsubpb.ModifyAckDeadlineRequest{Subscription: sub, AckIds: idsOf(messages), AckDeadlineSeconds: seconds})
	return err
}

// open begins a stream with a first request.
func (j *judge) open(in *pubsubpb.StreamingPullRequest) pubsubpb.Subscriber_StreamingPullClient {
	stream, err := j.sub.StreamingPull(j.ctx)
	j.fine(err)
	if in.Subscription == "" {
		in.Subscription = subName
	}
	if in.StreamAckDeadlineSeconds == 0 {
		in.StreamAckDeadlineSeconds = 10
	}
	j.fine(stream.Send(in))
	return stream
}

// read takes `count` messages off a stream.
func (j *judge) read(stream pubsubpb.Subscriber_StreamingPullClient, count int) []*pubsubpb.ReceivedMessage {
	var got []*pubsubpb.ReceivedMessage
	for len(got) < count {
		response, err := stream.Recv()
		j.fine(err)
		got = append(got, response.ReceivedMessages...)
	}
	j.check(len(got) == count, "%d messages instead of %d", len(got), count)
	return got
}
