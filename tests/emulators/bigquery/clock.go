package bigquery

// The server's own clock: it may run faster than ours, or be put forward, so that minutes and days of BigQuery pass in a test.

import (
	"sync"
	"time"
)

type clock struct {
	mu    sync.Mutex
	from  time.Time // ours, when it was last set
	then  time.Time // its, at that moment
	scale float64
}

func newClock() *clock {
	now := time.Now()
	return &clock{from: now, then: now.UTC(), scale: 1}
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at(time.Now())
}

func (c *clock) at(ours time.Time) time.Time {
	return c.then.Add(time.Duration(float64(ours.Sub(c.from)) * c.scale))
}

// set puts the clock forward and changes how fast it runs; a scale of 0 leaves that.
func (c *clock) set(scale, advanceSeconds float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ours := time.Now()
	c.then = c.at(ours).Add(seconds(advanceSeconds))
	c.from = ours
	if scale > 0 {
		c.scale = scale
	}
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
