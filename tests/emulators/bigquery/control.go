package bigquery

// What tests say and ask, as JSON over HTTP on a port of its own.
//
//	GET  /rows?table=D.T     {"columns": [...], "rows": [[text or null, ...]], "streams": [...]} in order of arrival
//	GET  /counts             calls, rows and bytes by table; POST /counts/reset
//	GET  /state              tables, streams, connections, the clock
//	POST /faults             one fault or a list of them; DELETE lifts all; GET says what each has hit
//	POST /settings           changes the habits that are named; GET says all
//	POST /clock              {"scale": 20, "advance_s": 600}
//	POST /permissions        {"D.T": ["bigquery.tables.updateData"], "D": ["*"]}: withheld; replaces what was said before
//	POST /reset              an empty server

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

type control struct{ s *Server }

var controlCalls = map[string]func(s *Server, r *http.Request, body []byte) (any, error){
	"GET /rows":          controlRows,
	"GET /counts":        func(s *Server, _ *http.Request, _ []byte) (any, error) { return s.counts.json(), nil },
	"POST /counts/reset": controlCountsReset,
	"GET /state":         controlState,
	"GET /faults":        controlFaultsShow,
	"POST /faults":       controlFaults,
	"DELETE /faults":     func(s *Server, _ *http.Request, _ []byte) (any, error) { s.faults.clear(); return nil, nil },
	"GET /settings":      func(s *Server, _ *http.Request, _ []byte) (any, error) { return s.settings, nil },
	"POST /settings":     controlSettings,
	"POST /clock":        controlClock,
	"POST /permissions":  controlPermissions,
	"POST /reset":        controlReset,
}

func (c control) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	call := controlCalls[r.Method+" "+r.URL.Path]
	body, _ := io.ReadAll(r.Body)
	if call == nil {
		say(w, 404, map[string]any{"error": "there is no " + r.Method + " " + r.URL.Path})
		return
	}
	answer, err := call(c.s, r, body)
	if err != nil {
		say(w, 400, map[string]any{"error": err.Error()})
		return
	}
	if answer == nil {
		answer = map[string]any{}
	}
	say(w, 200, answer)
}

// named finds "dataset.table", of whichever project.
func (s *Server) named(said string) (*table, error) {
	dataset, name, _ := strings.Cut(said, ".")
	for _, d := range s.datasets {
		if d.name == dataset && d.tables[name] != nil {
			return d.tables[name], nil
		}
	}
	return nil, fail("notFound", "there is no table %s", said)
}

func controlRows(s *Server, r *http.Request, _ []byte) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.named(r.URL.Query().Get("table"))
	if err != nil {
		return nil, err
	}
	columns, types, rows, streams := []string{}, []string{}, [][]any{}, []any{}
	fields := t.newest().fields
	for _, f := range fields {
		columns = append(columns, f.name)
		types = append(types, f.kind.name)
	}
	for _, one := range t.live() {
		cells := []any{}
		for _, f := range fields {
			cells = append(cells, canonical(f, t.cellOf(one, f)))
		}
		rows = append(rows, cells)
		streams = append(streams, []any{one.stream, one.offset})
	}
	answer := map[string]any{"columns": columns, "types": types, "rows": rows}
	if r.URL.Query().Get("streams") != "" {
		answer["streams"] = streams
	}
	return answer, nil
}

func controlCountsReset(s *Server, _ *http.Request, _ []byte) (any, error) {
	s.counts.clear()
	return nil, nil
}

func controlState(s *Server, _ *http.Request, _ []byte) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tables, streams := map[string]any{}, map[string]any{}
	for _, d := range s.datasets {
		for _, t := range d.tables {
			tables[d.name+"."+t.name] = map[string]any{"rows": len(t.live()), "schema": t.newest().number,
				"written_schema": t.written(s.clock.now()).number, "etag": t.etag, "resource": s.resource(t)}
		}
	}
	for _, w := range s.streams {
		streams[w.name] = map[string]any{"type": w.kind.String(), "next": w.next, "held": len(w.held), "finalized": w.isFinalized}
	}
	lost := int64(0)
	for _, t := range s.ghosts {
		lost += t.lost
	}
	return map[string]any{"tables": tables, "streams": streams, "wires": s.wires.count(), "clock": s.clock.now(), "lost_rows": lost}, nil
}

func controlFaultsShow(s *Server, _ *http.Request, _ []byte) (any, error) {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	made := []any{}
	for _, f := range s.faults.all {
		made = append(made, map[string]any{"table": f.Table, "method": f.Method, "kind": f.Kind, "asked": f.hits})
	}
	return made, nil
}

func strict(body []byte, into any) error {
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

func controlFaults(s *Server, _ *http.Request, body []byte) (any, error) {
	given := []*fault{}
	if !strings.HasPrefix(strings.TrimSpace(string(body)), "[") {
		body = []byte("[" + string(body) + "]")
	}
	if err := strict(body, &given); err != nil {
		return nil, err
	}
	for _, f := range given {
		if err := s.faults.add(f, s.clock.now()); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func controlSettings(s *Server, _ *http.Request, body []byte) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := s.settings
	if err := strict(body, &changed); err != nil {
		return nil, err
	}
	s.settings = changed
	return changed, nil
}

func controlClock(s *Server, _ *http.Request, body []byte) (any, error) {
	given := struct {
		Scale   float64 `json:"scale"`
		Advance float64 `json:"advance_s"`
	}{}
	if err := strict(body, &given); err != nil {
		return nil, err
	}
	s.clock.set(given.Scale, given.Advance)
	return map[string]any{"clock": s.clock.now()}, nil
}

func controlPermissions(s *Server, _ *http.Request, body []byte) (any, error) {
	given := map[string][]string{}
	if err := strict(body, &given); err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.denied = given
	s.mu.Unlock()
	return nil, nil
}

func controlReset(s *Server, _ *http.Request, _ []byte) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reset()
	s.clock.set(1, 0)
	return nil, nil
}
