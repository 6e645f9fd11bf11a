package pubsub

// What Google refuses, in words like its own.

import (
	"regexp"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"
)

const (
	publishMessages = 1000
	publishBytes    = 10_000_000
	attributesMax   = 100
	attributeKey    = 256
	attributeValue  = 1024
	orderingKeyMax  = 1024
)

var resourceName = regexp.MustCompile(`^projects/[a-z0-9:.-]{3,}/(topics|subscriptions|snapshots)/([A-Za-z][A-Za-z0-9._~+%-]{2,254})$`)

func invalid(format string, args ...any) error {
	return status.Errorf(codes.InvalidArgument, format, args...)
}

func notFound(name string) error {
	made, err := status.Newf(codes.NotFound, "Resource not found (resource=%s).", lastPart(name)).WithDetails(
		protoadapt.MessageV1Of(&errdetails.ResourceInfo{ResourceType: "pubsub.googleapis.com", ResourceName: name}))
	if err != nil {
		return err
	}
	return made.Err()
}

func exists(name string) error {
	return status.Errorf(codes.AlreadyExists, "Resource already exists in the project (resource=%s).", lastPart(name))
}

func lastPart(name string) string {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '/' {
			return name[i+1:]
		}
	}
	return name
}

func checkName(name, kind string) error {
	parts := resourceName.FindStringSubmatch(name)
	if parts == nil || parts[1] != kind || len(parts[2]) >= 4 && parts[2][:4] == "goog" {
		return invalid("Invalid [%s] name: (name=%s)", kind, name)
	}
	return nil
}

func within(what string, d *durationpb.Duration, least, most time.Duration) error {
	if d != nil && (d.AsDuration() < least || d.AsDuration() > most) {
		return invalid("%s must be between %v and %v, not %v.", what, least, most, d.AsDuration())
	}
	return nil
}

// checkSubscription fills in what is left open, and gives the filter.
func checkSubscription(s *pubsubpb.Subscription) (filter, error) {
	const day = 24 * time.Hour
	if s.AckDeadlineSeconds == 0 {
		s.AckDeadlineSeconds = 10
	}
	if s.AckDeadlineSeconds < 10 || s.AckDeadlineSeconds > 600 {
		return nil, invalid("Invalid ack deadline given (ack_deadline_secs=%d): it is between 10 and 600.", s.AckDeadlineSeconds)
	}
	if s.MessageRetentionDuration == nil {
		s.MessageRetentionDuration = durationpb.New(7 * day)
	}
	if s.ExpirationPolicy == nil {
		s.ExpirationPolicy = &pubsubpb.ExpirationPolicy{Ttl: durationpb.New(31 * day)}
	}
	if p := s.DeadLetterPolicy; p != nil {
		if p.MaxDeliveryAttempts == 0 {
			p.MaxDeliveryAttempts = defaultTries
		}
		if p.MaxDeliveryAttempts < 5 || p.MaxDeliveryAttempts > 100 {
			return nil, invalid("max_delivery_attempts must be between 5 and 100, not %d.", p.MaxDeliveryAttempts)
		}
	}
	for _, err := range []error{
		within("message_retention_duration", s.MessageRetentionDuration, 10*time.Minute, 31*day),
		within("expiration_policy.ttl", s.ExpirationPolicy.GetTtl(), day, 1<<62),
		within("retry_policy.minimum_backoff", s.RetryPolicy.GetMinimumBackoff(), 0, 600*time.Second),
		within("retry_policy.maximum_backoff", s.RetryPolicy.GetMaximumBackoff(), 0, 600*time.Second),
	} {
		if err != nil {
			return nil, err
		}
	}
	return parseFilter(s.Filter)
}

// notPulled says why a subscription cannot be pulled from, if so.
func notPulled(s *pubsubpb.Subscription) error {
	switch {
	case s.Detached:
		return status.Error(codes.FailedPrecondition, "The subscription is detached.")
	case s.PushConfig.GetPushEndpoint() != "":
		return status.Error(codes.FailedPrecondition, "The subscription is a push subscription: messages cannot be pulled from it.")
	case s.BigqueryConfig != nil || s.CloudStorageConfig != nil:
		return status.Error(codes.FailedPrecondition, "The subscription exports its messages: they cannot be pulled from it.")
	}
	return nil
}

func checkOpening(s *pubsubpb.Subscription, in *pubsubpb.StreamingPullRequest) error {
	if in.StreamAckDeadlineSeconds < 10 || in.StreamAckDeadlineSeconds > 600 {
		return invalid("stream_ack_deadline_seconds must be between 10 and 600, not %d.", in.StreamAckDeadlineSeconds)
	}
	if len(in.ModifyDeadlineSeconds) != len(in.ModifyDeadlineAckIds) {
		return invalid("modify_deadline_seconds and modify_deadline_ack_ids must have the same length.")
	}
	return notPulled(s)
}

func checkLater(in *pubsubpb.StreamingPullRequest) error {
	switch {
	case in.Subscription != "":
		return invalid("The subscription must be set in the first request only.")
	case in.MaxOutstandingMessages != 0 || in.MaxOutstandingBytes != 0:
		return invalid("Flow control must be set in the first request only.")
	case in.ClientId != "":
		return invalid("The client id must be set in the first request only.")
	case in.StreamAckDeadlineSeconds != 0 && (in.StreamAckDeadlineSeconds < 10 || in.StreamAckDeadlineSeconds > 600):
		return invalid("stream_ack_deadline_seconds must be between 10 and 600, not %d.", in.StreamAckDeadlineSeconds)
	case len(in.ModifyDeadlineSeconds) != len(in.ModifyDeadlineAckIds):
		return invalid("modify_deadline_seconds and modify_deadline_ack_ids must have the same length.")
	}
	return nil
}

func checkPublish(in *pubsubpb.PublishRequest) error {
	if len(in.Messages) == 0 || len(in.Messages) > publishMessages {
		return invalid("The value for message_count is %d: it must be between 1 and %d.", len(in.Messages), publishMessages)
	}
	size := 0
	for _, m := range in.Messages {
		size += len(m.Data)
		if err := checkMessage(m); err != nil {
			return err
		}
	}
	if size > publishBytes {
		return invalid("The request has %d bytes of messages: at most %d are taken.", size, publishBytes)
	}
	return nil
}

func checkMessage(m *pubsubpb.PubsubMessage) error {
	if len(m.Data) == 0 && len(m.Attributes) == 0 {
		return invalid("Some messages in the request are empty: a message needs data or an attribute.")
	}
	if len(m.Attributes) > attributesMax || len(m.OrderingKey) > orderingKeyMax {
		return invalid("A message has %d attributes and an ordering key of %d bytes: %d and %d are allowed.", len(m.Attributes),
			len(m.OrderingKey), attributesMax, orderingKeyMax)
	}
	for key, value := range m.Attributes {
		if key == "" || len(key) > attributeKey || len(value) > attributeValue || len(key) > 4 && key[:4] == "goog" {
			return invalid("An attribute's key or value is not allowed (key=%.40s).", key)
		}
	}
	return nil
}
