package bigquery

// Datasets and tables, as they are kept.

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"
)

type row struct {
	cells    []cell // by slot of the table; shorter than the table has slots if columns came later
	arrived  time.Time
	stream   string
	offset   int64
	inserted bool // by insertAll
	isGone   bool // a row of CDC that was deleted
}

// A schema is seen by REST at once, by the ways of writing only from `visible` on.
type schemaVersion struct {
	number  int
	fields  []*field
	visible time.Time
}

type dataset struct {
	project, name string
	meta          map[string]any
	etag          string
	version       int
	created       time.Time
	modified      time.Time
	tables        map[string]*table
}

type table struct {
	dataset  *dataset
	name     string
	meta     map[string]any // what was given and is given back, without the schema
	etag     string
	version  int
	created  time.Time
	modified time.Time
	visible  time.Time // when the ways of writing know it
	dropped  time.Time // zero: it is there
	expires  time.Time
	schemas  []*schemaVersion
	slots    map[string]int // place of each column's cell
	rows     []*row
	bytes    int64
	seen     map[string]time.Time // insertIds
	streams  map[string]*writeStream
	upserts  *upserts
	lost     int64 // rows taken for a table that was not there any more
}

func (d *dataset) id() string { return d.project + ":" + d.name }
func (t *table) id() string   { return t.dataset.id() + "." + t.name }

// path is the table's name in the Write API.
func (t *table) path() string {
	return fmt.Sprintf("projects/%s/datasets/%s/tables/%s", t.dataset.project, t.dataset.name, t.name)
}

func (t *table) newest() *schemaVersion { return t.schemas[len(t.schemas)-1] }

// written is the schema that the ways of writing know at a time.
func (t *table) written(now time.Time) *schemaVersion {
	for i := len(t.schemas) - 1; i > 0; i-- {
		if !t.schemas[i].visible.After(now) {
			return t.schemas[i]
		}
	}
	return t.schemas[0]
}

func (t *table) addSchema(fields []*field, visible time.Time) {
	number := 1
	if len(t.schemas) > 0 {
		number = t.newest().number + 1
	}
	t.schemas = append(t.schemas, &schemaVersion{number: number, fields: fields, visible: visible})
	if t.slots == nil {
		t.slots = map[string]int{}
	}
	for _, f := range fields {
		if _, ok := t.slots[f.key]; !ok {
			t.slots[f.key] = len(t.slots)
		}
	}
}

func (t *table) cellOf(r *row, f *field) cell {
	if at := t.slots[f.key]; at < len(r.cells) {
		return r.cells[at]
	}
	return nil
}

// arrange puts the fields of a row where the table keeps them.
func (t *table) arrange(made record) []cell {
	cells := make([]cell, len(t.slots))
	for key, value := range made {
		if at, ok := t.slots[key]; ok {
			cells[at] = value
		}
	}
	return cells
}

func (t *table) primaryKey() []string {
	names := []string{}
	for _, name := range list(object(object(t.meta["tableConstraints"])["primaryKey"])["columns"]) {
		names = append(names, strings.ToLower(text(name)))
	}
	return names
}

func newEtag(id string, version int, at time.Time) string {
	sum := sha256.Sum256([]byte(id + strconv.Itoa(version) + at.String()))
	return base64.StdEncoding.EncodeToString(sum[:16])
}

func (t *table) touch(now time.Time) {
	t.version++
	t.modified = now
	t.etag = newEtag(t.id(), t.version, now)
}

func (d *dataset) touch(now time.Time) {
	d.version++
	d.modified = now
	d.etag = newEtag(d.id(), d.version, now)
}

func (s *Server) dataset(project, name string) (*dataset, *failure) {
	if d := s.datasets[project+":"+name]; d != nil {
		return d, nil
	}
	return nil, fail("notFound", "Not found: Dataset %s:%s", project, name)
}

// table finds one by its name; a decorator of a partition is none of it.
func (s *Server) table(project, dataset, name string) (*table, *failure) {
	d, err := s.dataset(project, dataset)
	if err != nil {
		return nil, err
	}
	name, _, _ = strings.Cut(name, "$")
	t := d.tables[name]
	if t != nil && !t.expires.IsZero() && t.expires.Before(s.clock.now()) {
		s.drop(t)
		t = nil
	}
	if t == nil {
		return nil, fail("notFound", "Not found: Table %s:%s.%s", project, dataset, name)
	}
	return t, nil
}

func (s *Server) drop(t *table) {
	t.dropped = s.clock.now()
	delete(t.dataset.tables, t.name)
	s.ghosts = append(s.ghosts, t)
}

// dropNamed is what a fault does; who still writes to the table is told, or served as a ghost.
func (s *Server) dropNamed(project, dataset, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, _ := s.table(project, dataset, name); t != nil {
		s.drop(t)
	}
}

// add keeps rows that came in one request.
func (t *table) add(rows []*row, bytes int) {
	t.rows = append(t.rows, rows...)
	t.bytes += int64(bytes)
}

func (t *table) live() []*row {
	made := []*row{}
	for _, r := range t.rows {
		if !r.isGone {
			made = append(made, r)
		}
	}
	return made
}

func milliseconds(at time.Time) string { return strconv.FormatInt(at.UnixMilli(), 10) }
