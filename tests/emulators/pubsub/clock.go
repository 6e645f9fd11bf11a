package pubsub

// The server's clock: leases, retention and snapshots go by it. A test lets it run faster, or moves it on.

import (
	"sync"
	"time"
)

type clock struct {
	lock  sync.Mutex
	real  time.Time // when `at` was the time
	at    time.Time
	scale float64
}

func newClock() *clock {
	now := time.Now()
	return &clock{real: now, at: now, scale: 1}
}

func (c *clock) now() time.Time {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.at.Add(time.Duration(float64(time.Since(c.real)) * c.scale))
}

// set lets the clock run `scale` times as fast from now on.
func (c *clock) set(scale float64) {
	now := c.now()
	c.lock.Lock()
	defer c.lock.Unlock()
	c.real, c.at, c.scale = time.Now(), now, scale
}

func (c *clock) advance(by time.Duration) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.at = c.at.Add(by)
}
