package pubsub

// Ordering: messages of a key are delivered in the order of publishing, to one stream as long as any of them is out, even
// if it has closed. When one comes again, all later ones of its key do, acknowledged or not, as Google's documentation says.

type key struct {
	name   string
	items  []*item // the first is not acknowledged
	base   uint64  // index of the first
	next   uint64  // index of the one to deliver now
	out    int
	queued int // in the own queue of `stream`
	rests  bool
	parked bool // its next ones wait for what a closed stream holds: they may not come before that comes again
	stream *stream
}

func (s *subscription) keyOf(name string) *key {
	k := s.keys[name]
	if k == nil {
		k = &key{name: name}
		s.keys[name] = k
	}
	return k
}

func (k *key) at(index uint64) *item { return k.items[index-k.base] }
func (k *key) end() uint64           { return k.base + uint64(len(k.items)) }

func (k *key) add(it *item) {
	it.key, it.index = k, k.end()
	k.items = append(k.items, it)
}

// goesTo tells whether the stream may have the item now; another stream's item is handed to that one.
func (k *key) goesTo(st *stream, it *item) bool {
	if k.stream != nil && k.stream != st && !k.stream.isClosed && k.out+k.queued > 0 {
		k.stream.own.push(it)
		k.queued++
		k.stream.ring()
		return false
	}
	if k.stream != nil && k.stream != st && k.stream.isClosed && k.out > 0 {
		k.parked = true
		return false
	}
	if it.index != k.next {
		panic("a key's messages are out of order")
	}
	return true
}

func (k *key) delivered(it *item, st *stream) {
	k.stream = st
	k.out++
	k.next = it.index + 1
	k.passOver()
}

// passOver leaves out those that went to the dead letters.
func (k *key) passOver() {
	for k.next < k.end() && k.at(k.next).state == acked {
		k.next++
	}
}

// settle lets go of the acknowledged ones at the front.
func (k *key) settle(s *subscription) {
	for len(k.items) > 0 && k.items[0].state == acked {
		s.forget(k.items[0])
		k.items[0] = nil
		k.items = k.items[1:]
		k.base++
	}
	k.next = max(k.next, k.base)
	k.passOver()
	if len(k.items) == 0 {
		delete(s.keys, k.name)
	} else if k.parked && k.out == 0 {
		k.pushRest(s)
		s.wake()
	}
}

// rewind takes back all that was delivered behind `it`, and takes the key's messages out of every queue.
func (k *key) rewind(s *subscription, it *item) {
	k.next, k.queued = min(k.next, it.index), 0
	for index := it.index + 1; index < k.end(); index++ {
		later := k.at(index)
		later.token++
		if later.isBuried || later.state == waiting {
			continue
		}
		if later.state == acked {
			s.counts.Acked--
			s.counts.Reopened++
		}
		s.letGo(later)
		later.state = waiting
	}
}

// pushRest queues all that is not delivered, in order.
func (k *key) pushRest(s *subscription) {
	k.parked = false
	for index := k.next; index < k.end(); index++ {
		if it := k.at(index); it.state == waiting {
			s.again.push(it)
		}
	}
}
