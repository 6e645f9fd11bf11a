package pubsub

// Figures of a subscription: for Cloud Monitoring's answers and for tests.

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// oldest is the publish time of the oldest message that is not acknowledged. Needs the lock.
func (s *subscription) oldest() (time.Time, int) {
	var oldest time.Time
	count := 0
	for _, it := range s.items {
		if it.state == acked {
			continue
		}
		if count++; count == 1 || it.publish.Before(oldest) {
			oldest = it.publish
		}
	}
	return oldest, count
}

func (s *subscription) figure(metric string, now time.Time) (int64, bool) {
	s.lock.Lock()
	defer s.lock.Unlock()
	oldest, count := s.oldest()
	switch metric {
	case "num_undelivered_messages":
		return int64(count), true
	case "oldest_unacked_message_age":
		if count == 0 {
			return 0, true
		}
		return int64(now.Sub(oldest).Seconds()), true
	}
	return 0, false
}

func series(project, name, metric string, value int64, now time.Time) any {
	at := now.UTC().Format(time.RFC3339)
	id := strings.TrimPrefix(project, "projects/")
	return map[string]any{
		"metric":     map[string]any{"type": "pubsub.googleapis.com/subscription/" + metric},
		"resource":   map[string]any{"type": "pubsub_subscription", "labels": map[string]any{"project_id": id, "subscription_id": lastPart(name)}},
		"metricKind": "GAUGE", "valueType": "INT64",
		"points": []any{map[string]any{"interval": map[string]any{"startTime": at, "endTime": at},
			"value": map[string]any{"int64Value": strconv.FormatInt(value, 10)}}},
	}
}

// said are the counts of now.
func (s *subscription) said() counts {
	s.lock.Lock()
	defer s.lock.Unlock()
	made := s.counts
	_, made.Backlog = s.oldest()
	made.Streams = len(s.streams)
	return made
}

// outOldestFirst are the messages on leases, in the order of publishing. Needs the lock.
func (s *subscription) outOldestFirst() []*item {
	var made []*item
	for _, it := range s.items {
		if it.state == out {
			made = append(made, it)
		}
	}
	slices.SortFunc(made, func(a, b *item) int { return byNumber(a.message, b.message) })
	return made
}

// orEOF is how a stream ends well, when the status is OK.
func orEOF(err error) error {
	if err == nil {
		return io.EOF
	}
	return err
}
