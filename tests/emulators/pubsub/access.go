package pubsub

// Who may do what: everything, but for what a test took away. And which permission a method needs, on what.

import (
	"context"
	"sync"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
)

const agent = "agent " // before names: what Pub/Sub's own account may not do

type access struct {
	lock   sync.Mutex
	denied map[string]map[string]bool // by resource ("*" all), permission ("*" all)
	token  func(token string) bool    // nil: none is asked for
}

func newAccess() *access { return &access{denied: map[string]map[string]bool{}} }

func (a *access) set(resource string, permissions []string, isDenied bool) {
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.denied[resource] == nil {
		a.denied[resource] = map[string]bool{}
	}
	for _, permission := range permissions {
		if isDenied {
			a.denied[resource][permission] = true
		} else if delete(a.denied[resource], permission); permission == "*" {
			delete(a.denied, resource)
		}
	}
}

func (a *access) may(permission, resource string) bool {
	a.lock.Lock()
	defer a.lock.Unlock()
	for _, at := range []string{resource, "*"} {
		if a.denied[at][permission] || a.denied[at]["*"] {
			return false
		}
	}
	return true
}

func (a *access) agentMay(permission, resource string) bool { return a.may(permission, agent+resource) }

// need is a permission, and whose.
type need struct {
	permission string
	of         func(request any) string
}

func topicOf(request any) string {
	if r, ok := request.(interface{ GetTopic() string }); ok {
		return r.GetTopic()
	}
	return ""
}

func snapshotOf(request any) string {
	if r, ok := request.(interface{ GetSnapshot() string }); ok {
		return r.GetSnapshot()
	}
	return ""
}

func updatedOf(request any) string {
	switch r := request.(type) {
	case *pubsubpb.UpdateSubscriptionRequest:
		return r.GetSubscription().GetName()
	case *pubsubpb.UpdateTopicRequest:
		return r.GetTopic().GetName()
	}
	return ""
}

// projectOf is the project of a new resource, where the permission to make it lies.
func projectOf(request any) string {
	slashes := 0
	name := resourceOf(request)
	if r, ok := request.(interface{ GetName() string }); ok {
		name = r.GetName()
	}
	for i := range name {
		if name[i] == '/' {
			if slashes++; slashes == 2 {
				return name[:i]
			}
		}
	}
	return name
}

var needs = map[string][]need{
	"StreamingPull":          {{"pubsub.subscriptions.consume", resourceOf}},
	"Pull":                   {{"pubsub.subscriptions.consume", resourceOf}},
	"Acknowledge":            {{"pubsub.subscriptions.consume", resourceOf}},
	"ModifyAckDeadline":      {{"pubsub.subscriptions.consume", resourceOf}},
	"GetSubscription":        {{"pubsub.subscriptions.get", resourceOf}},
	"CreateSubscription":     {{"pubsub.subscriptions.create", projectOf}, {"pubsub.topics.attachSubscription", topicOf}},
	"UpdateSubscription":     {{"pubsub.subscriptions.update", updatedOf}},
	"DeleteSubscription":     {{"pubsub.subscriptions.delete", resourceOf}},
	"ListSubscriptions":      {{"pubsub.subscriptions.list", resourceOf}},
	"ModifyPushConfig":       {{"pubsub.subscriptions.update", resourceOf}},
	"Seek":                   {{"pubsub.subscriptions.consume", resourceOf}, {"pubsub.snapshots.seek", snapshotOf}},
	"CreateSnapshot":         {{"pubsub.snapshots.create", projectOf}, {"pubsub.subscriptions.consume", resourceOf}},
	"GetSnapshot":            {{"pubsub.snapshots.get", resourceOf}},
	"ListSnapshots":          {{"pubsub.snapshots.list", resourceOf}},
	"DeleteSnapshot":         {{"pubsub.snapshots.delete", resourceOf}},
	"Publish":                {{"pubsub.topics.publish", topicOf}},
	"CreateTopic":            {{"pubsub.topics.create", projectOf}},
	"GetTopic":               {{"pubsub.topics.get", topicOf}},
	"UpdateTopic":            {{"pubsub.topics.update", updatedOf}},
	"DeleteTopic":            {{"pubsub.topics.delete", topicOf}},
	"ListTopics":             {{"pubsub.topics.list", resourceOf}},
	"ListTopicSubscriptions": {{"pubsub.topics.get", topicOf}},
	"DetachSubscription":     {{"pubsub.topics.detachSubscription", resourceOf}},
}

func (a *access) check(method string, request any) error {
	for _, n := range needs[method] {
		if resource := n.of(request); resource != "" && !a.may(n.permission, resource) {
			made, err := status.New(codes.PermissionDenied, "User not authorized to perform this action.").WithDetails(
				protoadapt.MessageV1Of(&errdetails.ErrorInfo{Reason: "IAM_PERMISSION_DENIED", Domain: "iam.googleapis.com",
					Metadata: map[string]string{"permission": n.permission, "resource": resource}}))
			if err != nil {
				return err
			}
			return made.Err()
		}
	}
	return nil
}

// admit is what comes before each call: it is counted, may have a fault, needs a token and permissions.
func (b *Broker) admit(ctx context.Context, method string, request proto.Message) error {
	b.calls.add(method, request)
	if err := b.faults.before(ctx, method, resourceOf(request)); err != nil {
		return err
	}
	if err := b.access.checkToken(ctx); err != nil {
		return err
	}
	return b.access.check(method, request)
}
