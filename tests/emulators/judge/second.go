package judge

// A second opinion: Google's pstest is asked the same about filters and ordering.

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"

	google "cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"cloud.google.com/go/pubsub/v2/pstest"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func init() {
	scenarios["filters_as_pstest"] = filtersAsPstest
	scenarios["filters_refused"] = filtersRefused
	scenarios["ordering_as_pstest"] = orderingAsPstest
}

// other is pstest beside the stand-in.
type other struct {
	server *pstest.Server
	pub    pubsubpb.PublisherClient
	sub    pubsubpb.SubscriberClient
	close  func()
}

func (j *judge) other() *other {
	server := pstest.NewServer()
	conn, err := dial(server.Addr)
	j.fine(err)
	o := &other{server, pubsubpb.NewPublisherClient(conn), pubsubpb.NewSubscriberClient(conn), func() { conn.Close(); server.Close() }}
	_, err = o.pub.CreateTopic(j.ctx, &pubsubpb.Topic{Name: topicName})
	j.fine(err)
	return o
}

var filters = []string{
	`attributes:a`,
	`attributes:"a"`,
	`attributes.a = "x"`,
	`attributes.a != "x"`,
	`NOT attributes:a`,
	`-attributes:a`,
	`hasPrefix(attributes.a, "x")`,
	`NOT hasPrefix(attributes.b, "")`,
	`attributes:a AND attributes:b`,
	`attributes.a = "x" OR attributes.b = "y"`,
	`attributes:a AND attributes:b AND NOT attributes.c = "z"`,
	`(attributes.a = "x" OR attributes.b = "y") AND attributes:c`,
	`attributes.a = "" OR NOT (attributes:b AND attributes:c)`,
	`attributes.a = "xx" OR (attributes.c != "z" AND hasPrefix(attributes.b, "y"))`,
}

func (j *judge) randomAttributes() map[string]string {
	values := []string{"", "x", "xx", "y", "yz", "z", `x "quoted"`}
	made := map[string]string{"n": fmt.Sprint(j.random.Int())}
	for _, key := range []string{"a", "b", "c", "a/b"} {
		if j.random.Intn(2) == 0 {
			made[key] = values[j.random.Intn(len(values))]
		}
	}
	return made
}

// drained are the bodies that come without acknowledging, sorted; pstest has not all of them at once.
func (j *judge) drained(sub pubsubpb.SubscriberClient, name string) string {
	var got []string
	for empty := 0; empty < 2; {
		out, err := sub.Pull(j.ctx, &pubsubpb.PullRequest{Subscription: name, MaxMessages: 1000, ReturnImmediately: true})
		j.fine(err)
		if len(out.ReceivedMessages) == 0 {
			empty++
		}
		for _, m := range out.ReceivedMessages {
			got = append(got, string(m.Message.Data))
		}
	}
	sort.Strings(got)
	return strings.Join(got, " ")
}

func filtersAsPstest(j *judge) {
	o := j.other()
	defer o.close()
	j.create(subName, nil)
	names := []string{}
	for i, filter := range filters {
		name := fmt.Sprintf("%s-%d", subName, i)
		names = append(names, name)
		for _, sub := range []pubsubpb.SubscriberClient{j.sub, o.sub} {
			_, err := sub.CreateSubscription(j.ctx, &pubsubpb.Subscription{Name: name, Topic: topicName, Filter: filter, AckDeadlineSeconds: 60})
			j.check(err == nil, "%s: %v", filter, err)
		}
	}
	in := &pubsubpb.PublishRequest{Topic: topicName}
	for i := range 100 {
		in.Messages = append(in.Messages, &pubsubpb.PubsubMessage{Data: fmt.Appendf(nil, "%02d", i), Attributes: j.randomAttributes()})
	}
	for _, pub := range []pubsubpb.PublisherClient{j.pub, o.pub} {
		_, err := pub.Publish(j.ctx, in)
		j.fine(err)
	}
	passed := 0
	for i, name := range names {
		ours, theirs := j.drained(j.sub, name), j.drained(o.sub, name)
		j.check(ours == theirs, "%s:\n%s, but pstest has\n%s", filters[i], ours, theirs)
		passed += len(strings.Fields(ours))
	}
	j.check(passed > 100 && passed < 100*len(filters), "%d messages passed: these filters filter nothing", passed)
}

func filtersRefused(j *judge) {
	j.create(subName, nil)
	for _, filter := range []string{`attributes`, `attributes.a`, `attributes.a = x`, `attributes.a == "x"`, `attributes:a AND`, `AND attributes:a`,
		`attributes:a OR attributes:b AND attributes:c`, `(attributes:a`, `attributes:a)`, `hasPrefix(attributes.a)`, `data = "x"`,
		`attributes.a = "x`, `attributes.a < "x"`, `attributes:a attributes:b`, strings.Repeat("NOT ", 64) + "attributes:a"} {
		_, err := j.sub.CreateSubscription(j.ctx, &pubsubpb.Subscription{Name: subName + "-f", Topic: topicName, Filter: filter})
		j.check(status.Code(err) == codes.InvalidArgument, "%s is taken: %v", filter, err)
	}
}

func init() { scenarios["filter_of_quoted_keys"] = filterOfQuotedKeys }

// filterOfQuotedKeys: pstest has neither such keys nor escapes.
func filterOfQuotedKeys(j *judge) {
	j.create(subName, settings{"filter": `attributes."a/b" = "x \"quoted\""`})
	for _, value := range []string{`x "quoted"`, "x", ""} {
		j.ask("publish", map[string]any{"topic": topicName, "messages": []any{map[string]any{"data": value + ".", "attributes": map[string]string{"a/b": value}}}}, nil)
	}
	got := j.pull(subName, 10)
	j.check(dataOf(got) == `x "quoted". `, "came %s", dataOf(got))
	j.hasCounts(subName, map[string]int{"filtered": 2, "backlog": 1})
}

// orderOf is what Google's client is handed of each key, with message 7 nacked once: what came between the nack and its
// second coming was on its way, and does not count.
func (j *judge) orderOf(client *google.Client, pub pubsubpb.PublisherClient, count, keys int) map[string]string {
	ctx, stop := context.WithTimeout(j.ctx, patience)
	defer stop()
	in := &pubsubpb.PublishRequest{Topic: topicName}
	for i := range count {
		in.Messages = append(in.Messages, &pubsubpb.PubsubMessage{Data: fmt.Appendf(nil, "%d", i), OrderingKey: fmt.Sprintf("k%d", i%keys)})
	}
	_, err := pub.Publish(ctx, in)
	j.fine(err)
	lock, order := sync.Mutex{}, map[string]string{}
	before := (*string)(nil) // of the key, when 7 was nacked
	quiet := time.AfterFunc(3*time.Second, stop)
	j.fine(client.Subscriber(subName).Receive(ctx, func(_ context.Context, m *google.Message) {
		lock.Lock()
		defer lock.Unlock()
		quiet.Reset(600 * time.Millisecond)
		data := string(m.Data)
		if data == "7" && before == nil {
			now := order[m.OrderingKey]
			before = &now
			m.Nack()
			return
		}
		if data == "7" && before != nil {
			order[m.OrderingKey] = *before
		}
		order[m.OrderingKey] += data + " "
		m.Ack()
	}))
	return order
}

func orderingAsPstest(j *judge) {
	const count, keys = 30, 3
	o := j.other()
	defer o.close()
	j.create(subName, settings{"enableMessageOrdering": true})
	_, err := o.sub.CreateSubscription(j.ctx, &pubsubpb.Subscription{Name: subName, Topic: topicName, EnableMessageOrdering: true, AckDeadlineSeconds: 60})
	j.fine(err)
	client, err := connect(j.ctx, o.server.Addr)
	j.fine(err)
	defer client.Close()
	ours, theirs := j.orderOf(j.client, j.pub, count, keys), j.orderOf(client, o.pub, count, keys)
	for key := range keys {
		name := fmt.Sprintf("k%d", key)
		j.check(ours[name] == theirs[name] && ours[name] != "", "%s: %s, but pstest has %s", name, ours[name], theirs[name])
	}
}
