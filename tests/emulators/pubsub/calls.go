package pubsub

// What came in: counted by method and resource, with the largest request of each.

import (
	"sync"

	"google.golang.org/protobuf/proto"
)

type callCount struct {
	Calls   int64 `json:"calls"`
	Largest int   `json:"largest_bytes"`
	Ids     int64 `json:"ids"` // ack ids in all
	MostIds int   `json:"most_ids"`
}

type calls struct {
	lock sync.Mutex
	by   map[string]*callCount // "Method resource"
}

func newCalls() *calls { return &calls{by: map[string]*callCount{}} }

func (c *calls) add(method string, request proto.Message) {
	c.lock.Lock()
	defer c.lock.Unlock()
	name := method + " " + resourceOf(request)
	one := c.by[name]
	if one == nil {
		one = &callCount{}
		c.by[name] = one
	}
	one.Calls++
	one.Largest = max(one.Largest, proto.Size(request))
	if r, ok := request.(interface{ GetAckIds() []string }); ok {
		one.Ids += int64(len(r.GetAckIds()))
		one.MostIds = max(one.MostIds, len(r.GetAckIds()))
	}
}

func (c *calls) said() map[string]callCount {
	c.lock.Lock()
	defer c.lock.Unlock()
	made := map[string]callCount{}
	for name, one := range c.by {
		made[name] = *one
	}
	return made
}

func (c *calls) clear() {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.by = map[string]*callCount{}
}

// resourceOf is the name that a request is about, whichever of its fields has it.
func resourceOf(request any) string {
	switch r := request.(type) {
	case interface{ GetSubscription() string }:
		return r.GetSubscription()
	case interface{ GetSnapshot() string }:
		return r.GetSnapshot()
	case interface{ GetResource() string }:
		return r.GetResource()
	case interface{ GetName() string }:
		return r.GetName()
	case interface{ GetTopic() string }:
		return r.GetTopic()
	case interface{ GetProject() string }:
		return r.GetProject()
	}
	return ""
}
