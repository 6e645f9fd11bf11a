package pubsub

// What waits to be delivered, and what waits for a moment.

import "time"

// entry stands for an item in a queue. An item moves by a new token: the entry that it leaves behind is passed over.
type entry struct {
	*item
	token uint32
}

// queue is first in, first out.
type queue struct {
	entries []entry
	begin   int
}

func (q *queue) push(it *item) {
	it.token++
	q.entries = append(q.entries, entry{it, it.token})
}

func (q *queue) pushFront(it *item) {
	it.token++
	if q.begin == 0 {
		q.entries = append([]entry{{}}, q.entries...)
		q.begin = 1
	}
	q.begin--
	q.entries[q.begin] = entry{it, it.token}
}

// pop gives the first entry that still counts, or nil.
func (q *queue) pop() *item {
	for q.begin < len(q.entries) {
		e := q.entries[q.begin]
		q.entries[q.begin] = entry{}
		q.begin++
		if q.begin == len(q.entries) || q.begin > 4096 && q.begin > len(q.entries)/2 {
			q.entries = append(q.entries[:0:0], q.entries[q.begin:]...)
			q.begin = 0
		}
		if e.token == e.item.token && e.item.state == waiting {
			return e.item
		}
	}
	return nil
}

// dues are the items for which something happens at `due`, soonest first (container/heap).
type dues []*item

func (d dues) Len() int           { return len(d) }
func (d dues) Less(i, j int) bool { return d[i].due.Before(d[j].due) }
func (d dues) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].place, d[j].place = i, j
}
func (d *dues) Push(x any) {
	it := x.(*item)
	it.place = len(*d)
	*d = append(*d, it)
}
func (d *dues) Pop() any {
	old := *d
	it := old[len(old)-1]
	old[len(old)-1] = nil
	*d = old[:len(old)-1]
	it.place = nowhere
	return it
}

func (d dues) first(now time.Time) *item {
	if len(d) > 0 && !d[0].due.After(now) {
		return d[0]
	}
	return nil
}
