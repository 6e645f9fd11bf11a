package bigquery

// REST, version 2: a table of calls, each with the permission it needs.

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

const requestBytesMax = 10 << 20

// A restCall is one request on its way.
type restCall struct {
	writer                  http.ResponseWriter
	request                 *http.Request
	project, dataset, table string
	body                    map[string]any
	bytes                   int // of the body, unpacked
	fault                   *fault
}

type restRoute struct {
	method, path, name, permission string
	serve                          func(s *Server, c *restCall) (any, *failure)
}

// The first * of a path is the project, then dataset and table.
var restRoutes = []restRoute{
	{"GET", "projects", "projects.list", "", listProjects},
	{"GET", "projects/*/serviceAccount", "projects.getServiceAccount", "", getServiceAccount},
	{"GET", "projects/*/datasets", "datasets.list", "", listDatasets},
	{"POST", "projects/*/datasets", "datasets.insert", "bigquery.datasets.create", insertDataset},
	{"GET", "projects/*/datasets/*", "datasets.get", "bigquery.datasets.get", getDataset},
	{"PATCH", "projects/*/datasets/*", "datasets.patch", "bigquery.datasets.update", patchDataset},
	{"PUT", "projects/*/datasets/*", "datasets.update", "bigquery.datasets.update", patchDataset},
	{"DELETE", "projects/*/datasets/*", "datasets.delete", "bigquery.datasets.delete", deleteDataset},
	{"GET", "projects/*/datasets/*/tables", "tables.list", "bigquery.tables.list", listTables},
	{"POST", "projects/*/datasets/*/tables", "tables.insert", "bigquery.tables.create", insertTable},
	{"GET", "projects/*/datasets/*/tables/*", "tables.get", "bigquery.tables.get", getTable},
	{"PATCH", "projects/*/datasets/*/tables/*", "tables.patch", "bigquery.tables.update", patchTable},
	{"PUT", "projects/*/datasets/*/tables/*", "tables.update", "bigquery.tables.update", updateTable},
	{"DELETE", "projects/*/datasets/*/tables/*", "tables.delete", "bigquery.tables.delete", deleteTable},
	{"POST", "projects/*/datasets/*/tables/*/insertAll", "insertAll", "bigquery.tables.updateData", insertAll},
	{"GET", "projects/*/datasets/*/tables/*/data", "tabledata.list", "bigquery.tables.getData", listRows},
	{"POST", "projects/*:testIamPermissions", "testIamPermissions", "", testPermissions},
	{"POST", "projects/*/datasets/*:testIamPermissions", "testIamPermissions", "", testPermissions},
	{"POST", "projects/*/datasets/*/tables/*:testIamPermissions", "testIamPermissions", "", testPermissions},
	{"POST", "projects/*/queries", "jobs.query", "bigquery.jobs.create", refuseJob},
	{"GET", "projects/*/queries/*", "jobs.getQueryResults", "", refuseJob},
	{"POST", "projects/*/jobs", "jobs.insert", "bigquery.jobs.create", refuseJob},
	{"GET", "projects/*/jobs", "jobs.list", "", refuseJob},
	{"GET", "projects/*/jobs/*", "jobs.get", "", refuseJob},
}

func (r *restRoute) match(method string, parts []string) (names []string, ok bool) {
	pattern := strings.Split(r.path, "/")
	if method != r.method || len(pattern) != len(parts) {
		return nil, false
	}
	for i, part := range parts {
		before, after, isName := strings.Cut(pattern[i], "*")
		if !isName && part != pattern[i] || isName && (!strings.HasPrefix(part, before) || !strings.HasSuffix(part, after)) {
			return nil, false
		}
		if isName {
			name := strings.TrimSuffix(part, after)
			if name == "" || after == "" && strings.HasSuffix(name, ":testIamPermissions") {
				return nil, false
			}
			names = append(names, name)
		}
	}
	return append(names, "", "", ""), true
}

func restParts(path string) []string {
	for _, prefix := range []string{"/bigquery/v2/", "/v1/", "/v3/", "/"} { // v1, v3: the Resource Manager's projects
		if strings.HasPrefix(path, prefix) {
			return strings.Split(strings.Trim(strings.TrimPrefix(path, prefix), "/"), "/")
		}
	}
	return nil
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := restParts(r.URL.Path)
	for i := range restRoutes {
		route := &restRoutes[i]
		if names, ok := route.match(r.Method, parts); ok {
			s.serveRoute(route, &restCall{writer: w, request: r, project: names[0], dataset: names[1], table: names[2]})
			return
		}
	}
	s.sayFailure(w, fail("notFound", "Not Found: there is no %s %s", r.Method, r.URL.Path))
}

func (s *Server) serveRoute(route *restRoute, c *restCall) {
	err := c.readBody()
	s.nameFromBody(route, c)
	name, _, _ := strings.Cut(c.table, "$")
	key := c.dataset + "." + name
	s.counts.add(key, route.name, 1)
	c.fault = s.faults.find(route.name, c.dataset, name, s.clock.now())
	if c.fault != nil && s.applyBefore(c) {
		s.counts.add(key, route.name+" faults", 1)
		return
	}
	var answer any
	if err == nil {
		err = s.pays(route.name, c.request.Header.Get(payerHeader))
	}
	if err == nil && route.permission != "" {
		err = s.permit(route.permission, c, name)
	}
	if err == nil {
		answer, err = route.serve(s, c)
	}
	if err != nil {
		s.counts.add(key, fmt.Sprintf("%s %d", route.name, err.http), 1)
	}
	s.answer(c, answer, err)
}

// nameFromBody tells a new table's or dataset's name, which stands in what is sent.
func (s *Server) nameFromBody(route *restRoute, c *restCall) {
	if route.name == "tables.insert" {
		c.table = text(object(c.body["tableReference"])["tableId"])
	} else if route.name == "datasets.insert" {
		c.dataset = text(object(c.body["datasetReference"])["datasetId"])
	}
}

func (s *Server) permit(permission string, c *restCall, table string) *failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.lacks(permission, c.dataset, table) {
		return nil
	}
	what := "Project " + c.project
	if c.dataset != "" {
		what = "Dataset " + c.project + ":" + c.dataset
	}
	if table != "" {
		what = "Table " + c.project + ":" + c.dataset + "." + table
	}
	_, name, _ := strings.Cut(what, " ")
	return fail("accessDenied", "Access Denied: %s: Permission %s denied on %s (or it may not exist).", what, permission,
		strings.ToLower(what[:len(what)-len(name)])+name)
}

func (c *restCall) readBody() *failure {
	from := io.Reader(c.request.Body)
	c.body = map[string]any{}
	if c.request.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(from)
		if err != nil {
			return fail("badRequest", "Request body is not gzip")
		}
		from = unpacked
	}
	bytes, err := io.ReadAll(io.LimitReader(from, requestBytesMax+1))
	if err != nil {
		return fail("badRequest", "Request body cannot be read")
	}
	if len(bytes) > requestBytesMax {
		io.Copy(io.Discard, c.request.Body)
		return fail("requestTooLarge", "Request payload size exceeds the limit: %d bytes.", requestBytesMax)
	}
	c.bytes = len(bytes)
	if len(bytes) == 0 {
		return nil
	}
	decoder := json.NewDecoder(strings.NewReader(string(bytes)))
	decoder.UseNumber()
	if err := decoder.Decode(&c.body); err != nil {
		return fail("badRequest", "Invalid JSON payload received. %v", err)
	}
	return nil
}

// applyBefore says whether the fault was all there is to the request.
func (s *Server) applyBefore(c *restCall) bool {
	switch c.fault.Kind {
	case "status", "in_band":
		s.answer(c, nil, c.fault.failure())
	case "page":
		c.writer.Header().Set("Content-Type", "text/html")
		c.writer.WriteHeader(max(c.fault.Status, 400))
		io.WriteString(c.writer, "<html><title>Error</title><body>The server encountered a temporary error</body></html>")
	case "hang":
		<-c.request.Context().Done()
	case "abort", "close":
		s.take(c).end(c.fault.Kind == "abort")
	case "drop":
		name, _, _ := strings.Cut(c.table, "$")
		s.dropNamed(c.project, c.dataset, name)
		return false
	default:
		return false
	}
	return true
}

// take gets the connection out of HTTP's hands.
func (s *Server) take(c *restCall) *wire {
	connection, _, err := c.writer.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	return s.wires.find(connection.(net.Conn).RemoteAddr().String())
}

func (s *Server) answer(c *restCall, answer any, err *failure) {
	if err == nil && c.fault != nil {
		switch c.fault.Kind {
		case "lost":
			s.take(c).end(false)
			return
		case "cut":
			connection := s.take(c)
			io.WriteString(connection, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"kind\": \"bigq")
			connection.end(false)
			return
		case "slow":
			wait(c.request.Context().Done(), seconds(c.fault.Delay/1000))
		}
	}
	if err != nil {
		s.sayFailure(c.writer, err)
		return
	}
	if made, ok := answer.(map[string]any); ok && made["etag"] != nil {
		c.writer.Header().Set("ETag", text(made["etag"]))
	}
	say(c.writer, 200, answer)
}

func wait(over <-chan struct{}, length time.Duration) {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-over:
	case <-timer.C:
	}
}

func (s *Server) sayFailure(w http.ResponseWriter, err *failure) {
	if err.retryAfter > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(int(err.retryAfter+0.999)))
	}
	say(w, err.http, err.body())
}

func say(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	if value != nil {
		json.NewEncoder(w).Encode(value)
	}
}

func refuseJob(*Server, *restCall) (any, *failure) {
	return nil, fail("notImplemented", "This server runs no jobs and no queries: read tables by tabledata.list")
}
