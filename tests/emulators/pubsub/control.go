package pubsub

// What tests do and ask, as JSON over HTTP: POST /WORD with an object, answered by an object.

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
)

const lineBytes = 64 << 20

// controlRequest has the members of all words; each reads its own.
type controlRequest struct {
	Fault
	Topic        string           `json:"topic"`
	Subscription string           `json:"subscription"`
	Settings     json.RawMessage  `json:"settings"` // of a subscription, as REST has them
	File         string           `json:"file"`
	Lines        []string         `json:"lines"`
	Messages     []controlMessage `json:"messages"`
	Permissions  []string         `json:"permissions"`
	Scale        float64          `json:"scale"`
	AdvanceMS    int64            `json:"advance_ms"`
	PerResponse  int              `json:"per_response"`
	Forgets      *bool            `json:"forgets"`
	Log          *bool            `json:"log"`
}

type controlMessage struct {
	Data       string            `json:"data"`
	Attributes map[string]string `json:"attributes"`
	Key        string            `json:"key"`
	Size       int               `json:"size"` // bytes of data, made up
}

var controls = map[string]func(b *Broker, in *controlRequest) (any, error){
	"create":  (*Broker).doCreate,
	"publish": (*Broker).doPublish,
	"counts":  (*Broker).doCounts,
	"fault":   (*Broker).doFault,
	"faults":  func(b *Broker, _ *controlRequest) (any, error) { return b.faults.said(), nil },
	"clear":   func(b *Broker, in *controlRequest) (any, error) { b.faults.clear(in.ID); return nil, nil },
	"clock":   (*Broker).doClock,
	"deny": func(b *Broker, in *controlRequest) (any, error) {
		b.access.set(in.Resource, in.Permissions, true)
		return nil, nil
	},
	"grant": func(b *Broker, in *controlRequest) (any, error) {
		b.access.set(in.Resource, in.Permissions, false)
		return nil, nil
	},
	"calls":       func(b *Broker, _ *controlRequest) (any, error) { return b.calls.said(), nil },
	"clear_calls": func(b *Broker, _ *controlRequest) (any, error) { b.calls.clear(); return nil, nil },
	"end_streams": (*Broker).doEndStreams,
	"set":         (*Broker).doSet,
	"log":         (*Broker).doLog,
	"resend":      (*Broker).doResend,
}

func (b *Broker) Control() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		word := strings.TrimPrefix(request.URL.Path, "/")
		work, is := controls[word]
		in := &controlRequest{}
		if err := json.NewDecoder(request.Body).Decode(in); !is || err != nil {
			say(w, 400, map[string]any{"error": "no such word, or no object: " + word})
			return
		}
		out, err := work(b, in)
		if err != nil {
			say(w, 400, map[string]any{"error": status.Convert(err).Message()})
			return
		}
		if out == nil {
			out = map[string]any{}
		}
		say(w, 200, out)
	})
}

// doCreate makes a topic, if it is not there, and a subscription to it.
func (b *Broker) doCreate(in *controlRequest) (any, error) {
	config := &pubsubpb.Subscription{}
	if len(in.Settings) > 0 {
		if err := protojson.Unmarshal(in.Settings, config); err != nil {
			return nil, err
		}
	}
	if _, err := b.topic(in.Topic); err != nil {
		if _, err := (publisher{Broker: b}).CreateTopic(nil, &pubsubpb.Topic{Name: in.Topic}); err != nil {
			return nil, err
		}
	}
	if in.Subscription == "" {
		return nil, nil
	}
	config.Name, config.Topic = in.Subscription, in.Topic
	_, err := subscriber{Broker: b}.CreateSubscription(nil, config)
	return nil, err
}

// ParseLine makes a message of a feed's line: an envelope, or the body itself.
func ParseLine(line []byte) (*pubsubpb.PubsubMessage, error) {
	body := bytes.TrimSpace(line)
	members := map[string]json.RawMessage{}
	if json.Unmarshal(body, &members) != nil || !isEnvelope(members) {
		return &pubsubpb.PubsubMessage{Data: bytes.Clone(body)}, nil
	}
	m := &pubsubpb.PubsubMessage{Data: members["data"]}
	if text, is := members["data_b64"]; is {
		if err := json.Unmarshal(text, &m.Data); err != nil {
			return nil, err
		}
	}
	if text, is := members["attrs"]; is {
		if err := json.Unmarshal(text, &m.Attributes); err != nil {
			return nil, err
		}
	}
	if text, is := members["key"]; is {
		if err := json.Unmarshal(text, &m.OrderingKey); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func isEnvelope(members map[string]json.RawMessage) bool {
	for name := range members {
		switch name {
		case "id", "key", "attrs", "publish", "data", "data_b64":
		default:
			return false
		}
	}
	return members["data"] != nil || members["data_b64"] != nil
}

func (b *Broker) doPublish(in *controlRequest) (any, error) {
	t, err := b.topic(in.Topic)
	if err != nil {
		return nil, err
	}
	var messages []*pubsubpb.PubsubMessage
	add := func(line []byte) error {
		m, err := ParseLine(line)
		if err == nil && len(bytes.TrimSpace(line)) > 0 {
			messages = append(messages, m)
		}
		return err
	}
	for _, line := range in.Lines {
		if err := add([]byte(line)); err != nil {
			return nil, err
		}
	}
	for _, m := range in.Messages {
		made := &pubsubpb.PubsubMessage{Data: []byte(m.Data), Attributes: m.Attributes, OrderingKey: m.Key}
		if m.Size > 0 {
			made.Data = bytes.Repeat([]byte{'x'}, m.Size)
		}
		messages = append(messages, made)
	}
	if in.File != "" {
		if err := EachLine(in.File, add); err != nil {
			return nil, err
		}
	}
	for _, m := range messages {
		if err := checkMessage(m); err != nil {
			return nil, err
		}
	}
	ids := b.publish(t, messages)
	if in.File != "" {
		return map[string]any{"count": len(ids)}, nil
	}
	return map[string]any{"count": len(ids), "ids": ids}, nil
}

// EachLine runs `work` on each line of a file.
func EachLine(name string, work func(line []byte) error) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, lineBytes)
	for lines.Scan() {
		if err := work(lines.Bytes()); err != nil {
			return err
		}
	}
	return lines.Err()
}

func (b *Broker) doCounts(in *controlRequest) (any, error) {
	if in.Subscription != "" {
		s, err := b.subscription(in.Subscription)
		if err != nil {
			return nil, err
		}
		return s.said(), nil
	}
	b.lock.RLock()
	defer b.lock.RUnlock()
	all := map[string]counts{}
	for name, s := range b.subs {
		all[name] = s.said()
	}
	return all, nil
}

func (b *Broker) doFault(in *controlRequest) (any, error) {
	row := in.Fault
	id, err := b.faults.add(&row)
	return map[string]any{"id": id}, err
}

func (b *Broker) doClock(in *controlRequest) (any, error) {
	if in.Scale > 0 {
		b.clock.set(in.Scale)
	}
	b.clock.advance(time.Duration(in.AdvanceMS) * time.Millisecond)
	b.tick()
	return map[string]any{"now": b.clock.now().UTC().Format(time.RFC3339Nano)}, nil
}

// doEndStreams ends all streams, or those of one subscription, with a code.
func (b *Broker) doEndStreams(in *controlRequest) (any, error) {
	row := in.Fault
	if row.Code == "" {
		row.Code = "UNAVAILABLE"
	}
	b.lock.RLock()
	defer b.lock.RUnlock()
	ended := 0
	for name, s := range b.subs {
		if in.Subscription == "" || in.Subscription == name {
			ended += s.said().Streams
			s.endStreams(orEOF(row.err()))
		}
	}
	return map[string]any{"ended": ended}, nil
}

func (b *Broker) doSet(in *controlRequest) (any, error) {
	s, err := b.subscription(in.Subscription)
	if err != nil {
		return nil, err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if in.PerResponse > 0 {
		s.perResponse = in.PerResponse
	}
	if in.Forgets != nil {
		s.forgets = *in.Forgets
	}
	if in.Log != nil && *in.Log {
		s.log = &deliveryLog{}
	}
	return nil, nil
}

func (b *Broker) doLog(in *controlRequest) (any, error) {
	s, err := b.subscription(in.Subscription)
	if err != nil {
		return nil, err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.log == nil {
		return nil, invalid("the subscription has no log: set it")
	}
	return append([]logged{}, s.log.events...), nil
}

// doResend lets all that is out come again, as after leases that ended: what the service may do at any time.
func (b *Broker) doResend(in *controlRequest) (any, error) {
	s, err := b.subscription(in.Subscription)
	if err != nil {
		return nil, err
	}
	b.lookAhead(s)
	s.lock.Lock()
	var letters []*pubsubpb.PubsubMessage
	count := 0
	now := b.clock.now()
	for _, it := range s.outOldestFirst() {
		if it.state != out {
			continue
		}
		count++
		s.counts.Expired++
		if letter := s.fail(it, now); letter != nil {
			letters = append(letters, letter)
		}
	}
	s.wake()
	s.lock.Unlock()
	b.bury(s, letters)
	return map[string]any{"count": count}, nil
}
