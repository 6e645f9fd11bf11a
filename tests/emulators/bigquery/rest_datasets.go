package bigquery

// Projects and datasets over REST; who may do what.

import (
	"regexp"
	"sort"
	"strconv"
	"strings"
)

var datasetForm = regexp.MustCompile(`^[A-Za-z0-9_]+$`)

func listProjects(s *Server, c *restCall) (any, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := map[string]bool{}
	for _, d := range s.datasets {
		names[d.project] = true
	}
	made := []any{}
	for _, name := range sortedKeys(names) {
		made = append(made, map[string]any{"kind": "bigquery#project", "id": name, "friendlyName": name,
			"projectReference": map[string]any{"projectId": name}})
	}
	return map[string]any{"kind": "bigquery#projectList", "projects": made, "totalItems": len(made)}, nil
}

func sortedKeys[V any](of map[string]V) []string {
	names := []string{}
	for name := range of {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

func getServiceAccount(_ *Server, c *restCall) (any, *failure) {
	return map[string]any{"kind": "bigquery#getServiceAccountResponse", "email": "bq-" + c.project + "@bigquery-encryption.iam.gserviceaccount.com"}, nil
}

// page cuts names to what one answer holds; the token is where the next begins.
func page(c *restCall, names []string) (shown []string, token string) {
	query := c.request.URL.Query()
	from, _ := strconv.Atoi(query.Get("pageToken"))
	most, _ := strconv.Atoi(query.Get("maxResults"))
	if most <= 0 || most > 1000 {
		most = 50
	}
	from = min(max(from, 0), len(names))
	shown = names[from:min(from+most, len(names))]
	if from+most < len(names) {
		token = strconv.Itoa(from + most)
	}
	return shown, token
}

func listDatasets(s *Server, c *restCall) (any, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]*dataset{}
	for _, d := range s.datasets {
		if d.project == c.project && (!strings.HasPrefix(d.name, "_") || c.request.URL.Query().Get("all") == "true") {
			all[d.name] = d
		}
	}
	names, token := page(c, sortedKeys(all))
	made := []any{}
	for _, name := range names {
		d := all[name]
		made = append(made, map[string]any{"kind": "bigquery#dataset", "id": d.id(), "datasetReference": d.reference(),
			"location": d.meta["location"], "labels": d.meta["labels"]})
	}
	answer := map[string]any{"kind": "bigquery#datasetList", "datasets": made}
	if token != "" {
		answer["nextPageToken"] = token
	}
	return answer, nil
}

func (d *dataset) reference() map[string]any {
	return map[string]any{"projectId": d.project, "datasetId": d.name}
}

func (d *dataset) resource() map[string]any {
	made := map[string]any{}
	for name, value := range d.meta {
		made[name] = value
	}
	made["kind"], made["id"], made["etag"], made["datasetReference"] = "bigquery#dataset", d.id(), d.etag, d.reference()
	made["creationTime"], made["lastModifiedTime"], made["type"] = milliseconds(d.created), milliseconds(d.modified), "DEFAULT"
	return made
}

func insertDataset(s *Server, c *restCall) (any, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !datasetForm.MatchString(c.dataset) || len(c.dataset) > 1024 {
		return nil, fail("invalid", "Invalid dataset ID \"%s\". Dataset IDs must be alphanumeric (plus underscores) and must be at most 1024 characters long.", c.dataset)
	}
	if s.datasets[c.project+":"+c.dataset] != nil {
		return nil, fail("duplicate", "Already Exists: Dataset %s:%s", c.project, c.dataset)
	}
	d := &dataset{project: c.project, name: c.dataset, meta: c.body, created: s.clock.now(), tables: map[string]*table{}}
	if text(d.meta["location"]) == "" {
		d.meta["location"] = "US"
	}
	d.touch(d.created)
	s.datasets[d.id()] = d
	return d.resource(), nil
}

func getDataset(s *Server, c *restCall) (any, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, err := s.dataset(c.project, c.dataset)
	if err != nil {
		return nil, err
	}
	return d.resource(), nil
}

func patchDataset(s *Server, c *restCall) (any, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, err := s.dataset(c.project, c.dataset)
	if err == nil {
		err = checkEtag(c, d.etag)
	}
	if err != nil {
		return nil, err
	}
	if location := text(c.body["location"]); location != "" && location != d.meta["location"] {
		return nil, fail("invalid", "Cannot change location of dataset %s", d.id())
	}
	merge(d.meta, c.body)
	d.touch(s.clock.now())
	return d.resource(), nil
}

func deleteDataset(s *Server, c *restCall) (any, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, err := s.dataset(c.project, c.dataset)
	if err != nil {
		return nil, err
	}
	if len(d.tables) > 0 && c.request.URL.Query().Get("deleteContents") != "true" {
		return nil, fail("resourceInUse", "Dataset %s is still in use", d.id())
	}
	for _, t := range d.tables {
		s.drop(t)
	}
	delete(s.datasets, d.id())
	return nil, nil
}

func checkEtag(c *restCall, etag string) *failure {
	if wanted := c.request.Header.Get("If-Match"); wanted != "" && wanted != "*" && wanted != etag {
		err := fail("conditionNotMet", "Precondition check failed.")
		err.location = "If-Match"
		return err
	}
	return nil
}

// merge changes what is given; null takes a member away, and labels are merged one by one.
func merge(into, with map[string]any) {
	for name, value := range with {
		was, isThere := into[name].(map[string]any)
		is, isObject := value.(map[string]any)
		switch {
		case value == nil:
			delete(into, name)
		case name == "labels" && isThere && isObject:
			merge(was, is)
		default:
			into[name] = value
		}
	}
}

func testPermissions(s *Server, c *restCall) (any, *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err *failure
	if c.table != "" {
		_, err = s.table(c.project, c.dataset, c.table)
	} else if c.dataset != "" {
		_, err = s.dataset(c.project, c.dataset)
	}
	if err != nil {
		return nil, err
	}
	granted := []any{}
	for _, one := range list(c.body["permissions"]) {
		if !s.lacks(text(one), c.dataset, c.table) {
			granted = append(granted, one)
		}
	}
	return map[string]any{"permissions": granted}, nil
}
