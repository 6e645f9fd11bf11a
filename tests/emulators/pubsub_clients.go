package main

// Google's own client of Pub/Sub at work: it publishes a feed, reads a subscription to a file, and is what weir's source is
// measured beside.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	google "cloud.google.com/go/pubsub/v2"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"weir/tests/emulators/pubsub"
)

// pubsubFlags are those that all duties of a client have.
type pubsubFlags struct {
	*flag.FlagSet
	target, project *string
}

func newPubsubFlags(name string) pubsubFlags {
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	return pubsubFlags{set, set.String("target", os.Getenv("PUBSUB_EMULATOR_HOST"), "host:port"), set.String("project", "acme", "of short names")}
}

func (f pubsubFlags) client(ctx context.Context) (*google.Client, error) {
	return google.NewClient(ctx, *f.project, option.WithEndpoint(*f.target), option.WithoutAuthentication(), option.WithTelemetryDisabled(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
}

// publishMain publishes a feed's lines in their order; messages with a key go ordered.
func publishMain(args []string) error {
	flags := newPubsubFlags("publish")
	topic := flags.String("topic", "", "name")
	file := flags.String("file", "", "a feed: envelopes or bodies, one a line")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx := context.Background()
	made, err := flags.client(ctx)
	if err != nil {
		return err
	}
	defer made.Close()
	to := made.Publisher(*topic)
	to.EnableMessageOrdering = true
	to.PublishSettings.FlowControlSettings = google.FlowControlSettings{MaxOutstandingMessages: 20000, LimitExceededBehavior: google.FlowControlBlock}
	count, failures := 0, &firstError{}
	err = pubsub.EachLine(*file, func(line []byte) error {
		m, err := pubsub.ParseLine(line)
		if err != nil || len(bytes.TrimSpace(line)) == 0 {
			return err
		}
		count++
		result := to.Publish(ctx, &google.Message{Data: m.Data, Attributes: m.Attributes, OrderingKey: m.OrderingKey})
		failures.wait.Add(1)
		go func() {
			defer failures.wait.Done()
			_, err := result.Get(ctx)
			failures.set(err)
		}()
		return failures.get()
	})
	to.Stop()
	failures.wait.Wait()
	if err == nil {
		err = failures.get()
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"published": count})
}

type firstError struct {
	wait sync.WaitGroup
	err  atomic.Pointer[error]
}

func (f *firstError) set(err error) {
	if err != nil {
		f.err.CompareAndSwap(nil, &err)
	}
}

func (f *firstError) get() error {
	if at := f.err.Load(); at != nil {
		return *at
	}
	return nil
}

// envelope is a message as a line of a feed.
func envelope(m *google.Message) ([]byte, error) {
	made := map[string]any{"id": m.ID, "publish": m.PublishTime.UTC().Format(time.RFC3339Nano)}
	if m.OrderingKey != "" {
		made["key"] = m.OrderingKey
	}
	if len(m.Attributes) > 0 {
		made["attrs"] = m.Attributes
	}
	if utf8.Valid(m.Data) && json.Valid(m.Data) && !bytes.ContainsAny(m.Data, "\r\n") {
		made["data"] = json.RawMessage(m.Data)
	} else {
		made["data_b64"] = m.Data
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(made)
	return text.Bytes(), err
}

// receiveMain reads a subscription until so many messages came or none came for so long, and acknowledges them.
func receiveMain(args []string) error {
	flags := newPubsubFlags("receive")
	subscription := flags.String("subscription", "", "name")
	file := flags.String("file", "", "where the messages are written, as lines of a feed")
	count := flags.Int("count", 0, "messages to wait for; 0: until it is quiet")
	idle := flags.Duration("idle", time.Second, "quiet that ends it")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	made, err := flags.client(ctx)
	if err != nil {
		return err
	}
	defer made.Close()
	out, err := os.Create(*file)
	if err != nil {
		return err
	}
	lines, lock, got, failures := bufio.NewWriter(out), sync.Mutex{}, 0, &firstError{}
	quiet := time.AfterFunc(*idle, stop)
	if *count > 0 {
		quiet.Stop()
	}
	from := made.Subscriber(*subscription)
	err = from.Receive(ctx, func(_ context.Context, m *google.Message) {
		text, err := envelope(m)
		lock.Lock()
		defer lock.Unlock()
		if err == nil {
			_, err = lines.Write(text)
		}
		if failures.set(err); err != nil {
			stop()
			return
		}
		m.Ack()
		if got++; *count == 0 {
			quiet.Reset(*idle)
		} else if got == *count {
			stop()
		}
	})
	for _, one := range []error{failures.get(), lines.Flush(), out.Close()} {
		if err == nil {
			err = one
		}
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"received": got})
}

// pubsubBenchMain receives and acknowledges, and nothing else.
func pubsubBenchMain(args []string) error {
	flags := newPubsubFlags("pubsub-bench")
	subscription := flags.String("subscription", "bench", "name")
	count := flags.Int64("count", 1000000, "messages")
	outstanding := flags.Int("outstanding", 10000, "messages held at most")
	streams := flags.Int("streams", 1, "at once")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	made, err := flags.client(ctx)
	if err != nil {
		return err
	}
	defer made.Close()
	from := made.Subscriber(*subscription)
	from.ReceiveSettings.MaxOutstandingMessages, from.ReceiveSettings.NumGoroutines = *outstanding, *streams
	got, begun, cpu := atomic.Int64{}, time.Now(), cpuSeconds()
	wall, spent := 0.0, 0.0
	err = from.Receive(ctx, func(_ context.Context, m *google.Message) {
		m.Ack()
		if got.Add(1) == *count {
			wall, spent = time.Since(begun).Seconds(), cpuSeconds()-cpu
			stop()
		}
	})
	if err == nil && got.Load() < *count {
		err = fmt.Errorf("%d messages of %d came", got.Load(), *count)
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"messages": *count, "wall_s": wall, "cpu_s": spent,
		"messages_per_s": float64(*count) / wall, "cpu_s_per_million": spent / float64(*count) * 1e6})
}
