package bigquery

// tabledata: insertAll with an answer per row, and list.

import (
	"strconv"
	"strings"
	"time"
)

const (
	insertRowsMax = 50000
	insertIDMax   = 128
	rowBytesMax   = 10 << 20
)

// A rowFailure is one entry of insertErrors[].errors. One of the schema stops the whole request.
type rowFailure struct {
	reason, location, message string
	isSchema                  bool
}

type insertRow struct {
	id     string
	made   record
	errors []rowFailure
}

func (s *Server) insertTarget(c *restCall) (*table, *failure) {
	t, err := s.table(c.project, c.dataset, c.table)
	if suffix := text(c.body["templateSuffix"]); err == nil && suffix != "" {
		t, err = s.templated(t, suffix)
	}
	if err == nil && t.visible.After(s.clock.now()) {
		err = fail("notFound", "Not found: Table %s", t.id())
	}
	if err == nil {
		err = s.checkPartition(t, c)
	}
	return t, err
}

// checkPartition holds the day that the name of the table says beside what may be streamed to: of ingestion time 31 days back and 16
// ahead, of a column ten years back and one ahead.
func (s *Server) checkPartition(t *table, c *restCall) *failure {
	_, word, isNamed := strings.Cut(c.table, "$")
	if !isNamed {
		return nil
	}
	partitioning := object(t.meta["timePartitioning"])
	day, err := time.Parse("20060102", word)
	if text(partitioning["type"]) != "DAY" || err != nil {
		return fail("invalid", "Streaming to metadata partition of table %s is disallowed.", c.table)
	}
	today, back, ahead, words := s.clock.now().UTC().Truncate(24*time.Hour), 31, 16, "31 days in the past and 16 days"
	if text(partitioning["field"]) != "" {
		back, ahead, words = 3650, 366, "3650 days in the past and 366 days"
	}
	if day.Before(today.AddDate(0, 0, -back)) || day.After(today.AddDate(0, 0, ahead)) {
		return fail("invalid", "The destination table's partition %s is outside the allowed bounds. You can only stream to partitions within %s in the future relative to the current date.", c.table, words)
	}
	return nil
}

// templated makes the table that a suffix names, in the likeness of the one in the path.
func (s *Server) templated(t *table, suffix string) (*table, *failure) {
	if strings.Trim(suffix, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
		return nil, fail("invalid", "Invalid template suffix %s", suffix)
	}
	name := t.name + suffix
	if made := t.dataset.tables[name]; made != nil {
		return made, nil
	}
	now := s.clock.now()
	made := &table{dataset: t.dataset, name: name, meta: copyOf(t.meta), created: now, seen: map[string]time.Time{}, streams: map[string]*writeStream{}}
	made.addSchema(t.newest().fields, now)
	made.touch(now)
	t.dataset.tables[name] = made
	return made, nil
}

func insertAll(s *Server, c *restCall) (any, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.insertTarget(c)
	if err != nil {
		return nil, err
	}
	given := list(c.body["rows"])
	if len(given) == 0 {
		return nil, fail("invalid", "No rows present in the request.")
	}
	if len(given) > insertRowsMax {
		return nil, fail("invalid", "too many rows present in the request, limit: %d row count: %d.", insertRowsMax, len(given))
	}
	rows, err := s.readInserts(t, c, given)
	if err != nil {
		return nil, err
	}
	return s.keepInserts(t, c, rows), nil
}

func (s *Server) readInserts(t *table, c *restCall, given []any) ([]*insertRow, *failure) {
	fields := t.written(s.clock.now()).fields
	if len(fields) == 0 {
		return nil, fail("invalid", "The destination table has no schema.")
	}
	ignores := c.body["ignoreUnknownValues"] == true
	rows := []*insertRow{}
	for i, item := range given {
		content, isObject := object(item)["json"].(map[string]any)
		id := text(object(item)["insertId"])
		if !isObject {
			return nil, fail("invalid", "Invalid value at rows[%d].json: it is no object", i)
		}
		if len(id) > insertIDMax {
			return nil, fail("invalid", "The insertId of row %d is longer than %d characters", i, insertIDMax)
		}
		one := &insertRow{id: id, made: record{}}
		one.made, one.errors = readRecord(fields, content, "", ignores)
		if c.fault != nil && c.fault.Kind == "row" && c.fault.hitsRow(i, one.made, fields) {
			reason := c.fault.Reason
			if reason == "" {
				reason = "invalid"
			}
			one.errors = append(one.errors, rowFailure{reason: reason, location: c.fault.Column, message: c.fault.rowMessage()})
		}
		rows = append(rows, one)
	}
	return rows, nil
}

// keepInserts writes what may be written, and says of each other row why not.
func (s *Server) keepInserts(t *table, c *restCall, rows []*insertRow) map[string]any {
	bad, stops := 0, false
	for _, one := range rows {
		if len(one.errors) > 0 {
			bad++
		}
		for _, err := range one.errors {
			stops = stops || err.isSchema
		}
	}
	stops = stops || bad > 0 && c.body["skipInvalidRows"] != true
	errors, kept, now := []any{}, []*row{}, s.clock.now()
	for i, one := range rows {
		said := []any{}
		for _, err := range one.errors {
			said = append(said, map[string]any{"reason": err.reason, "location": err.location, "debugInfo": "", "message": err.message})
		}
		if len(said) == 0 && stops {
			said = append(said, map[string]any{"reason": "stopped", "location": "", "debugInfo": "", "message": ""})
		}
		if len(said) > 0 {
			errors = append(errors, map[string]any{"index": i, "errors": said})
		} else if !s.isRepeat(t, one.id, now) {
			kept = append(kept, &row{cells: t.arrange(one.made), arrived: now, inserted: true})
		}
	}
	t.add(kept, c.bytes)
	key := t.dataset.name + "." + t.name
	s.counts.add(key, "rows", int64(len(kept)))
	if _, partition, isNamed := strings.Cut(c.table, "$"); isNamed {
		s.counts.add(key, "rows of $"+partition, int64(len(kept)))
	}
	s.counts.add(key, "bad rows", int64(bad))
	answer := map[string]any{"kind": "bigquery#tableDataInsertAllResponse"}
	if len(errors) > 0 {
		answer["insertErrors"] = errors
	}
	return answer
}

// isRepeat remembers ids for a while, as BigQuery's best effort does.
func (s *Server) isRepeat(t *table, id string, now time.Time) bool {
	if id == "" {
		return false
	}
	before, was := t.seen[id]
	t.seen[id] = now
	return was && now.Sub(before) < seconds(s.settings.DedupeTime)
}

func listRows(s *Server, c *restCall) (any, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.table(c.project, c.dataset, c.table)
	if err != nil {
		return nil, err
	}
	query := c.request.URL.Query()
	rows := s.listed(t)
	from, most := number(query.Get("startIndex")), number(query.Get("maxResults"))
	if query.Get("pageToken") != "" {
		from = number(query.Get("pageToken"))
	}
	if most <= 0 || most > 10000 || query.Get("maxResults") == "" {
		most = 10000
	}
	form := query.Get("formatOptions.timestampOutputFormat")
	if query.Get("formatOptions.useInt64Timestamp") == "true" {
		form = "INT64"
	}
	from = min(max(from, 0), len(rows))
	end := min(from+most, len(rows))
	made := []any{}
	for _, r := range rows[from:end] {
		made = append(made, t.restRow(r, query.Get("selectedFields"), form))
	}
	answer := map[string]any{"kind": "bigquery#tableDataList", "etag": t.etag, "totalRows": strconv.Itoa(len(rows)), "rows": made}
	if end < len(rows) {
		answer["pageToken"] = strconv.Itoa(end)
	}
	return answer, nil
}

func (s *Server) listed(t *table) []*row {
	rows, shown, now := t.live(), []*row{}, s.clock.now()
	if !s.settings.ListHidden {
		return rows
	}
	for _, r := range rows {
		if !r.inserted || now.Sub(r.arrived) >= seconds(s.settings.BufferTime) {
			shown = append(shown, r)
		}
	}
	return shown
}

func (t *table) restRow(r *row, selected, form string) map[string]any {
	cells := []any{}
	for _, f := range t.newest().fields {
		if selected == "" || strings.Contains(","+strings.ToLower(selected)+",", ","+f.key+",") {
			cells = append(cells, restCell(f, t.cellOf(r, f), form))
		}
	}
	return map[string]any{"f": cells}
}
