package bigquery

// Tables over REST: made, changed under an etag, given back with what they hold.

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	tableForm = regexp.MustCompile(`^[\pL\pM\pN\p{Pc}\p{Pd} ]+$`)
	labelForm = regexp.MustCompile(`^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$`)
	valueForm = regexp.MustCompile(`^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$`)
	staleForm = regexp.MustCompile(`^-?\d+-\d+ -?\d+ -?\d+:\d+:\d+(\.\d+)?$`)
	keyKinds  = " BIGNUMERIC BOOL BYTES DATE DATETIME INT64 NUMERIC STRING TIMESTAMP "
	sortKinds = " BIGNUMERIC BOOL DATE DATETIME GEOGRAPHY INT64 NUMERIC RANGE STRING TIMESTAMP "
)

func (t *table) reference() map[string]any {
	return map[string]any{"projectId": t.dataset.project, "datasetId": t.dataset.name, "tableId": t.name}
}

func (s *Server) resource(t *table) map[string]any {
	made := map[string]any{}
	for name, value := range t.meta {
		made[name] = value
	}
	made["kind"], made["id"], made["etag"], made["tableReference"] = "bigquery#table", t.id(), t.etag, t.reference()
	made["type"], made["location"] = "TABLE", t.dataset.meta["location"]
	made["creationTime"], made["lastModifiedTime"] = milliseconds(t.created), strconv.FormatInt(t.modified.UnixMilli(), 10)
	if fields := t.newest().fields; len(fields) > 0 {
		made["schema"] = map[string]any{"fields": restFields(fields)}
	}
	if !t.expires.IsZero() {
		made["expirationTime"] = milliseconds(t.expires)
	}
	buffered, oldest := s.buffered(t)
	made["numRows"] = strconv.Itoa(len(t.live()) - buffered)
	made["numBytes"], made["numLongTermBytes"] = strconv.FormatInt(t.bytes, 10), "0"
	if buffered > 0 {
		made["streamingBuffer"] = map[string]any{"estimatedRows": strconv.Itoa(buffered),
			"estimatedBytes": strconv.Itoa(buffered * 100), "oldestEntryTime": milliseconds(oldest)}
	}
	return made
}

// buffered counts the rows that insertAll put into the streaming buffer and that still stand there.
func (s *Server) buffered(t *table) (count int, oldest time.Time) {
	now := s.clock.now()
	for _, r := range t.rows {
		if r.inserted && now.Sub(r.arrived) < seconds(s.settings.BufferTime) {
			if count++; count == 1 {
				oldest = r.arrived
			}
		}
	}
	return count, oldest
}

func listTables(s *Server, c *restCall) (any, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, err := s.dataset(c.project, c.dataset)
	if err != nil {
		return nil, err
	}
	names, token := page(c, sortedKeys(d.tables))
	made := []any{}
	for _, name := range names {
		t := d.tables[name]
		one := map[string]any{"kind": "bigquery#table", "id": t.id(), "tableReference": t.reference(), "type": "TABLE", "creationTime": milliseconds(t.created)}
		for _, member := range []string{"labels", "timePartitioning", "rangePartitioning", "clustering", "friendlyName"} {
			if t.meta[member] != nil {
				one[member] = t.meta[member]
			}
		}
		made = append(made, one)
	}
	answer := map[string]any{"kind": "bigquery#tableList", "tables": made, "totalItems": len(d.tables)}
	if token != "" {
		answer["nextPageToken"] = token
	}
	return answer, nil
}

func insertTable(s *Server, c *restCall) (any, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, err := s.dataset(c.project, c.dataset)
	if err != nil {
		return nil, err
	}
	if !tableForm.MatchString(c.table) || len(c.table) > 1024 {
		return nil, fail("invalid", "Invalid table ID \"%s\".", c.table)
	}
	if old, _ := s.table(c.project, c.dataset, c.table); old != nil {
		return nil, fail("duplicate", "Already Exists: Table %s", old.id())
	}
	fields, err := readSchema(list(object(c.body["schema"])["fields"]))
	if err != nil {
		return nil, err
	}
	now := s.clock.now()
	t := &table{dataset: d, name: c.table, meta: c.body, created: now, visible: now.Add(seconds(s.settings.CreateDelay)),
		seen: map[string]time.Time{}, streams: map[string]*writeStream{}}
	delete(t.meta, "schema")
	if life := integer(d.meta["defaultTableExpirationMs"]); life > 0 && t.meta["expirationTime"] == nil {
		t.meta["expirationTime"] = strconv.FormatInt(now.UnixMilli()+life, 10)
	}
	t.addSchema(fields, now)
	if err := t.readMeta(now); err != nil {
		return nil, err
	}
	t.touch(now)
	d.tables[t.name] = t
	return s.resource(t), nil
}

func getTable(s *Server, c *restCall) (any, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.table(c.project, c.dataset, c.table)
	if err != nil {
		return nil, err
	}
	return s.resource(t), nil
}

func patchTable(s *Server, c *restCall) (any, *failure)  { return s.changeTable(c, false) }
func updateTable(s *Server, c *restCall) (any, *failure) { return s.changeTable(c, true) }

// changeTable changes all or nothing. PUT takes away what is not given.
func (s *Server) changeTable(c *restCall, isWhole bool) (any, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.table(c.project, c.dataset, c.table)
	if err == nil {
		err = checkEtag(c, t.etag)
	}
	if err != nil {
		return nil, err
	}
	fields := t.newest().fields
	given, isGiven := object(c.body["schema"])["fields"]
	if isGiven {
		if fields, err = readSchema(list(given)); err == nil {
			err = checkChange(t.id(), t.newest().fields, fields, "")
		}
	}
	if err != nil {
		return nil, err
	}
	changed := &table{dataset: t.dataset, name: t.name, meta: map[string]any{}, schemas: []*schemaVersion{{fields: fields}}}
	if !isWhole {
		merge(changed.meta, t.meta)
		changed.meta["labels"] = copyOf(object(t.meta["labels"]))
	}
	delete(c.body, "schema")
	merge(changed.meta, c.body)
	if len(object(changed.meta["labels"])) == 0 {
		delete(changed.meta, "labels")
	}
	if err := changed.readMeta(s.clock.now()); err != nil {
		return nil, err
	}
	if !sameValue(t.meta["timePartitioning"], changed.meta["timePartitioning"], "type", "field") {
		return nil, fail("invalid", "Cannot change partitioning spec for a partitioned table or make a table partitioned: Table %s", t.id())
	}
	t.meta, t.expires = changed.meta, changed.expires
	now := s.clock.now()
	if isGiven {
		delay := s.settings.SchemaDelay
		t.addSchema(fields, now.Add(seconds(delay)))
	}
	t.touch(now)
	return s.resource(t), nil
}

func copyOf(of map[string]any) map[string]any {
	made := map[string]any{}
	for name, value := range of {
		made[name] = value
	}
	return made
}

func sameValue(a, b any, members ...string) bool {
	for _, member := range members {
		if text(object(a)[member]) != text(object(b)[member]) {
			return false
		}
	}
	return true
}

func deleteTable(s *Server, c *restCall) (any, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.table(c.project, c.dataset, c.table)
	if err != nil {
		return nil, err
	}
	s.drop(t)
	return nil, nil
}

// readMeta checks what stands beside the schema.
func (t *table) readMeta(now time.Time) *failure {
	for _, name := range []string{"kind", "id", "etag", "selfLink", "tableReference", "type", "location", "creationTime", "lastModifiedTime",
		"numRows", "numBytes", "numLongTermBytes", "streamingBuffer"} {
		delete(t.meta, name)
	}
	for _, check := range []func() *failure{t.checkPartition, t.checkClustering, t.checkKey, t.checkLabels} {
		if err := check(); err != nil {
			return err
		}
	}
	if stale := text(t.meta["maxStaleness"]); stale != "" && !staleForm.MatchString(stale) {
		return fail("invalid", "Invalid value for maxStaleness: %s", stale)
	}
	if at := integer(t.meta["expirationTime"]); at != 0 {
		if t.expires = time.UnixMilli(at); t.expires.Before(now) {
			return fail("invalid", "Invalid value for expirationTime: it is in the past")
		}
	}
	return nil
}

func (t *table) checkPartition() *failure {
	given := object(t.meta["timePartitioning"])
	if given == nil {
		return nil
	}
	word, name := text(given["type"]), text(given["field"])
	if !strings.Contains(" HOUR DAY MONTH YEAR ", " "+word+" ") {
		return fail("invalid", "Invalid value for timePartitioning.type: %s", word)
	}
	f := find(t.newest().fields, name)
	if name == "" {
		return nil
	}
	if f == nil || f.isRepeated() || !strings.Contains(" DATE TIMESTAMP DATETIME ", " "+f.kind.name+" ") {
		return fail("invalid", "The field specified for partitioning, %s, must be a top-level DATE, TIMESTAMP or DATETIME", name)
	}
	if f.kind.name == "DATE" && word == "HOUR" {
		return fail("invalid", "Cannot partition by HOUR on the DATE column %s", name)
	}
	return nil
}

func (t *table) checkClustering() *failure {
	names := list(object(t.meta["clustering"])["fields"])
	if len(names) > 4 {
		return fail("invalid", "Too many clustering columns: %d. At most 4 are allowed", len(names))
	}
	for _, name := range names {
		f := find(t.newest().fields, text(name))
		if f == nil || f.isRepeated() || !strings.Contains(sortKinds, " "+f.kind.name+" ") {
			return fail("invalid", "The field specified for clustering cannot be found in the schema or is of another type: %s", text(name))
		}
	}
	return nil
}

func (t *table) checkKey() *failure {
	names := t.primaryKey()
	if len(names) > 16 {
		return fail("invalid", "Primary key has %d columns. At most 16 are allowed", len(names))
	}
	for _, name := range names {
		f := find(t.newest().fields, name)
		if f == nil || f.isRepeated() || !strings.Contains(keyKinds, " "+f.kind.name+" ") || f.fallback != "" {
			return fail("invalid", "Column %s cannot be part of a primary key", name)
		}
	}
	return nil
}

func (t *table) checkLabels() *failure {
	labels := object(t.meta["labels"])
	if len(labels) > 64 {
		return fail("invalid", "Too many labels: %d. At most 64 are allowed", len(labels))
	}
	for name, value := range labels {
		if !labelForm.MatchString(name) || !valueForm.MatchString(text(value)) {
			return fail("invalid", "Invalid label: %s=%s", name, text(value))
		}
	}
	if len(text(t.meta["description"])) > 16384 {
		return fail("invalid", "Description of table %s is longer than 16384 characters", t.id())
	}
	return nil
}
