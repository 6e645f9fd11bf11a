package bigquery

// Changes by key: the row with the largest sequence number stands, deletes are remembered for a while.

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// upserts of a table; it exists from the first change on.
type upserts struct {
	by map[string]*upsert
}

type upsert struct {
	row      *row
	sequence []uint64
	request  int64 // that brought it
	deleted  time.Time
}

var sequenceForm = regexp.MustCompile(`^[0-9A-Fa-f]{1,16}(/[0-9A-Fa-f]{1,16}){0,3}$`)

func readSequence(said string) ([]uint64, error) {
	if said == "" {
		return nil, nil
	}
	if !sequenceForm.MatchString(said) {
		return nil, fmt.Errorf("The given value is not a valid CHANGE_SEQUENCE_NUMBER: %s", said)
	}
	made := []uint64{}
	for _, section := range strings.Split(said, "/") {
		n, _ := strconv.ParseUint(section, 16, 64)
		made = append(made, n)
	}
	return made, nil
}

// compare goes section by section; of equal ones the shorter is smaller.
func compare(a, b []uint64) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] != b[i] {
			if a[i] < b[i] {
				return -1
			}
			return 1
		}
	}
	return len(a) - len(b)
}

// checkChangeRow refuses what is wrong about one row of changes.
func (t *table) checkChangeRow(one *decodedRow) error {
	if one.change != "UPSERT" && one.change != "DELETE" {
		return fmt.Errorf("The given value is not a valid CHANGE_TYPE: '%s'", one.change)
	}
	if _, err := readSequence(one.sequence); err != nil {
		return err
	}
	for _, name := range t.primaryKey() {
		if one.cells[name] == nil {
			return fmt.Errorf("The primary key column %s is missing", name)
		}
	}
	return nil
}

func keyOf(names []string, cellOf func(name string) cell) string {
	key := &strings.Builder{}
	for _, name := range names {
		said, _ := cellOf(name).(string)
		fmt.Fprintf(key, "%d:%s,", len(said), said)
	}
	return key.String()
}

// begin takes the rows that were there before the first change into the index.
func (t *table) beginUpserts() {
	if t.upserts != nil {
		return
	}
	t.upserts = &upserts{by: map[string]*upsert{}}
	names, fields := t.primaryKey(), t.newest().fields
	for _, r := range t.rows {
		key := keyOf(names, func(name string) cell { return t.cellOf(r, find(fields, name)) })
		t.upserts.by[key] = &upsert{row: r}
	}
}

// apply takes one change. `request` tells rows of one request from later ones.
func (t *table) apply(one *decodedRow, request int64, now time.Time, s *settings) {
	sequence, _ := readSequence(one.sequence)
	key := keyOf(t.primaryKey(), func(name string) cell { return one.cells[name] })
	was := t.upserts.by[key]
	if was != nil && !was.deleted.IsZero() && now.Sub(was.deleted) > seconds(s.TombstoneTime) {
		was = nil // forgotten
	}
	if was != nil && was.isLater(sequence, request, s) {
		return
	}
	is := &upsert{sequence: sequence, request: request}
	if was != nil && was.row != nil {
		was.row.isGone = true
	}
	if one.change == "DELETE" {
		is.deleted = now
	} else {
		is.row = &row{cells: t.arrange(one.cells), arrived: now}
		t.add([]*row{is.row}, one.bytes)
	}
	t.upserts.by[key] = is
}

// isLater says whether what stands wins over a change that comes now.
func (u *upsert) isLater(sequence []uint64, request int64, s *settings) bool {
	order := compare(u.sequence, sequence)
	if order == 0 && len(sequence) == 0 && u.request == request {
		return s.FirstWins
	}
	return order > 0
}
