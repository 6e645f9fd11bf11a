package pubsub

// REST: the same calls as JSON over HTTP/1.1, by a table of paths; and the two figures of Cloud Monitoring.

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"

	"cloud.google.com/go/iam/apiv1/iampb"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// route is a call of REST: what its path names goes into `field`.
type route struct {
	verb   string
	path   *regexp.Regexp
	method string
	field  string // of the request, for the resource in the path; "" the request is the resource
	make   func() proto.Message
	call   func(context.Context, *Broker, proto.Message) (proto.Message, error)
}

func on[In proto.Message, Out proto.Message](verb, path, method, field string, empty func() In,
	call func(b *Broker, ctx context.Context, in In) (Out, error)) route {
	return route{verb, regexp.MustCompile("^/v1/(" + path + ")$"), method, field, func() proto.Message { return empty() },
		func(ctx context.Context, b *Broker, in proto.Message) (proto.Message, error) {
			return call(b, ctx, in.(In))
		}}
}

func of[T any]() *T { return new(T) }

func asSubscriber[In, Out any](call func(subscriber, context.Context, In) (Out, error)) func(*Broker, context.Context, In) (Out, error) {
	return func(b *Broker, ctx context.Context, in In) (Out, error) { return call(subscriber{Broker: b}, ctx, in) }
}

func asPublisher[In, Out any](call func(publisher, context.Context, In) (Out, error)) func(*Broker, context.Context, In) (Out, error) {
	return func(b *Broker, ctx context.Context, in In) (Out, error) { return call(publisher{Broker: b}, ctx, in) }
}

const (
	aProject      = "projects/[^/]+"
	aTopic        = "projects/[^/]+/topics/[^/:]+"
	aSubscription = "projects/[^/]+/subscriptions/[^/:]+"
	aSnapshot     = "projects/[^/]+/snapshots/[^/:]+"
)

var routes = []route{
	on("PUT", aSubscription, "CreateSubscription", "name", of[pubsubpb.Subscription], asSubscriber(subscriber.CreateSubscription)),
	on("GET", aSubscription, "GetSubscription", "subscription", of[pubsubpb.GetSubscriptionRequest], asSubscriber(subscriber.GetSubscription)),
	on("PATCH", aSubscription, "UpdateSubscription", "", of[pubsubpb.UpdateSubscriptionRequest], asSubscriber(subscriber.UpdateSubscription)),
	on("DELETE", aSubscription, "DeleteSubscription", "subscription", of[pubsubpb.DeleteSubscriptionRequest], asSubscriber(subscriber.DeleteSubscription)),
	on("GET", "(?:"+aProject+")/subscriptions", "ListSubscriptions", "project", of[pubsubpb.ListSubscriptionsRequest], asSubscriber(subscriber.ListSubscriptions)),
	on("POST", aSubscription+":pull", "Pull", "subscription", of[pubsubpb.PullRequest], asSubscriber(subscriber.Pull)),
	on("POST", aSubscription+":acknowledge", "Acknowledge", "subscription", of[pubsubpb.AcknowledgeRequest], asSubscriber(subscriber.Acknowledge)),
	on("POST", aSubscription+":modifyAckDeadline", "ModifyAckDeadline", "subscription", of[pubsubpb.ModifyAckDeadlineRequest], asSubscriber(subscriber.ModifyAckDeadline)),
	on("POST", aSubscription+":modifyPushConfig", "ModifyPushConfig", "subscription", of[pubsubpb.ModifyPushConfigRequest], asSubscriber(subscriber.ModifyPushConfig)),
	on("POST", aSubscription+":seek", "Seek", "subscription", of[pubsubpb.SeekRequest], asSubscriber(subscriber.Seek)),
	on("POST", aSubscription+":detach", "DetachSubscription", "subscription", of[pubsubpb.DetachSubscriptionRequest], asPublisher(publisher.DetachSubscription)),
	on("PUT", aSnapshot, "CreateSnapshot", "name", of[pubsubpb.CreateSnapshotRequest], asSubscriber(subscriber.CreateSnapshot)),
	on("GET", aSnapshot, "GetSnapshot", "snapshot", of[pubsubpb.GetSnapshotRequest], asSubscriber(subscriber.GetSnapshot)),
	on("DELETE", aSnapshot, "DeleteSnapshot", "snapshot", of[pubsubpb.DeleteSnapshotRequest], asSubscriber(subscriber.DeleteSnapshot)),
	on("GET", aProject+"/snapshots", "ListSnapshots", "project", of[pubsubpb.ListSnapshotsRequest], asSubscriber(subscriber.ListSnapshots)),
	on("PUT", aTopic, "CreateTopic", "name", of[pubsubpb.Topic], asPublisher(publisher.CreateTopic)),
	on("GET", aTopic, "GetTopic", "topic", of[pubsubpb.GetTopicRequest], asPublisher(publisher.GetTopic)),
	on("DELETE", aTopic, "DeleteTopic", "topic", of[pubsubpb.DeleteTopicRequest], asPublisher(publisher.DeleteTopic)),
	on("GET", aProject+"/topics", "ListTopics", "project", of[pubsubpb.ListTopicsRequest], asPublisher(publisher.ListTopics)),
	on("GET", aTopic+"/subscriptions", "ListTopicSubscriptions", "topic", of[pubsubpb.ListTopicSubscriptionsRequest], asPublisher(publisher.ListTopicSubscriptions)),
	on("POST", aTopic+":publish", "Publish", "topic", of[pubsubpb.PublishRequest], asPublisher(publisher.Publish)),
	on("POST", "projects/[^/]+(?:/[a-z]+/[^/:]+)?:testIamPermissions", "TestIamPermissions", "resource", of[iampb.TestIamPermissionsRequest],
		func(b *Broker, ctx context.Context, in *iampb.TestIamPermissionsRequest) (*iampb.TestIamPermissionsResponse, error) {
			return policies{Broker: b}.TestIamPermissions(ctx, in)
		}),
}

// fill makes the request out of the path, the query and the body, which may each give a part.
func (r *route) fill(resource string, request *http.Request) (proto.Message, error) {
	in := r.make()
	parts := map[string]any{}
	body, err := io.ReadAll(io.LimitReader(request.Body, requestBytes))
	if err == nil && len(bytes.TrimSpace(body)) > 0 {
		err = json.Unmarshal(body, &parts)
	}
	if err != nil {
		return nil, invalid("Invalid JSON payload received: %v", err)
	}
	for name, values := range request.URL.Query() {
		if name != "alt" && name != "fields" && name != "key" {
			parts[name] = values[0]
		}
	}
	// All but a collection's own name after the resource is its verb.
	resource, _, _ = strings.Cut(resource, ":")
	if collection := resource[strings.LastIndexByte(resource, '/')+1:]; strings.Count(resource, "/")%2 == 0 && collection != "" {
		resource = strings.TrimSuffix(resource, "/"+collection)
	}
	if r.field != "" {
		parts[r.field] = resource
	} else if inner, is := parts["subscription"].(map[string]any); is {
		inner["name"] = resource
	}
	text, _ := json.Marshal(parts)
	if err := protojson.Unmarshal(text, in); err != nil {
		return nil, invalid("Invalid JSON payload received: %v", err)
	}
	return in, nil
}

func (b *Broker) serveRoute(w http.ResponseWriter, request *http.Request, r *route, resource string, isTLS bool) {
	ctx := metadata.NewIncomingContext(request.Context(), metadata.Pairs("authorization", request.Header.Get("Authorization")))
	ctx = peer.NewContext(ctx, &peer.Peer{AuthInfo: wireInfo{wire: &wire{isTLS: isTLS}}})
	in, err := r.fill(resource, request)
	if err == nil {
		err = b.admit(ctx, r.method, in)
	}
	var out proto.Message
	if err == nil {
		out, err = r.call(ctx, b, in)
	}
	if err == nil {
		err = b.faults.behind(ctx, r.method, resourceOf(in))
	}
	if err != nil {
		sayStatus(w, err)
		return
	}
	text, _ := protojson.Marshal(out)
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.Write(text)
}

var httpCodes = map[codes.Code]int{codes.InvalidArgument: 400, codes.FailedPrecondition: 400, codes.OutOfRange: 400, codes.Unauthenticated: 401,
	codes.PermissionDenied: 403, codes.NotFound: 404, codes.Aborted: 409, codes.AlreadyExists: 409, codes.ResourceExhausted: 429,
	codes.Canceled: 499, codes.Unimplemented: 501, codes.Unavailable: 503, codes.DeadlineExceeded: 504}

var statusNames = strings.Fields("OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED " +
	"RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED")

// sayStatus is an error as Google's REST says it.
func sayStatus(w http.ResponseWriter, err error) {
	made := status.Convert(err)
	code := httpCodes[made.Code()]
	if code == 0 {
		code = 500
	}
	details := []json.RawMessage{}
	for _, detail := range made.Proto().Details {
		if text, err := protojson.Marshal(detail); err == nil {
			details = append(details, text)
		}
	}
	said := map[string]any{"code": code, "message": made.Message(), "status": statusNames[made.Code()]}
	if len(details) > 0 {
		said["details"] = details
	}
	say(w, code, map[string]any{"error": said})
}

func say(w http.ResponseWriter, code int, value any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(value)
}

var (
	seriesPath   = regexp.MustCompile(`^/v3/(projects/[^/]+)/timeSeries$`)
	seriesMetric = regexp.MustCompile(`metric\.type\s*=\s*"pubsub\.googleapis\.com/subscription/([a-z_]+)"`)
	seriesOf     = regexp.MustCompile(`subscription_id\s*=\s*"([^"]+)"`)
)

func (b *Broker) restHandler(isTLS bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if parts := seriesPath.FindStringSubmatch(request.URL.Path); parts != nil && request.Method == http.MethodGet {
			b.timeSeries(w, request, parts[1])
			return
		}
		for i := range routes {
			r := &routes[i]
			if parts := r.path.FindStringSubmatch(request.URL.Path); parts != nil && r.verb == request.Method {
				b.serveRoute(w, request, r, parts[1], isTLS)
				return
			}
		}
		sayStatus(w, status.Errorf(codes.NotFound, "There is no %s %s.", request.Method, request.URL.Path))
	})
}

// timeSeries says num_undelivered_messages and oldest_unacked_message_age as Cloud Monitoring does, without its delay.
func (b *Broker) timeSeries(w http.ResponseWriter, request *http.Request, project string) {
	asked := request.URL.Query().Get("filter")
	metric := seriesMetric.FindStringSubmatch(asked)
	if err := b.faults.before(request.Context(), "ListTimeSeries", project); err != nil {
		sayStatus(w, err)
		return
	}
	if !b.access.may("monitoring.timeSeries.list", project) {
		sayStatus(w, status.Error(codes.PermissionDenied, "Permission monitoring.timeSeries.list denied (or the resource may not exist)."))
		return
	}
	if metric == nil || request.URL.Query().Get("interval.endTime") == "" {
		sayStatus(w, invalid("Field filter or interval.endTime had an invalid value."))
		return
	}
	wanted := seriesOf.FindStringSubmatch(asked)
	made := []any{}
	b.lock.RLock()
	names, _ := page(b.subs, project+"/subscriptions/", "", 0)
	b.lock.RUnlock()
	for _, name := range names {
		s, err := b.subscription(name)
		if err != nil || wanted != nil && lastPart(name) != wanted[1] {
			continue
		}
		if value, is := s.figure(metric[1], b.clock.now()); is {
			made = append(made, series(project, name, metric[1], value, b.clock.now()))
		}
	}
	say(w, 200, map[string]any{"timeSeries": made, "unit": "1"})
}
