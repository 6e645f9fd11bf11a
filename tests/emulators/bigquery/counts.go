package bigquery

// What was asked of the server: calls by method, table and how they ended.

import "sync"

type counts struct {
	mu  sync.Mutex
	of  map[string]map[string]int64 // "dataset.table" -> name -> number
	sum map[string]int64
}

func newCounts() *counts {
	return &counts{of: map[string]map[string]int64{}, sum: map[string]int64{}}
}

func (c *counts) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of, c.sum = map[string]map[string]int64{}, map[string]int64{}
}

func (c *counts) add(table, name string, n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of[table] == nil {
		c.of[table] = map[string]int64{}
	}
	c.of[table][name] += n
	c.sum[name] += n
}

// most keeps the largest number seen.
func (c *counts) most(table, name string, n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of[table] == nil {
		c.of[table] = map[string]int64{}
	}
	c.of[table][name] = max(n, c.of[table][name])
	c.sum[name] = max(n, c.sum[name])
}

func (c *counts) json() map[string]any {
	c.mu.Lock()
	defer c.mu.Unlock()
	tables := map[string]any{}
	for table, names := range c.of {
		one := map[string]int64{}
		for name, n := range names {
			one[name] = n
		}
		tables[table] = one
	}
	sum := map[string]int64{}
	for name, n := range c.sum {
		sum[name] = n
	}
	return map[string]any{"tables": tables, "all": sum}
}
