package storage

// The JSON API: /storage/v1 and /upload/storage/v1, as far as weir and Google's client use it for files.

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

const pageMax = 1000

// refusal is an answer that is none: thrown by the steps of a call, written by ServeHTTP.
type refusal struct {
	status          int
	reason, message string
}

func refuse(status int, reason, format string, args ...any) {
	panic(refusal{status, reason, fmt.Sprintf(format, args...)})
}

func say(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body)
}

// Contents that cannot be had are refused in plain text, everything else in JSON.
func (r refusal) write(w http.ResponseWriter, isMedia bool) {
	if isMedia {
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		w.WriteHeader(r.status)
		io.WriteString(w, r.message)
		return
	}
	say(w, r.status, map[string]any{"error": map[string]any{"code": r.status, "message": r.message,
		"errors": []any{map[string]any{"domain": "global", "reason": r.reason, "message": r.message}}}})
}

type call struct {
	store        *Store
	w            http.ResponseWriter
	r            *http.Request
	query        url.Values
	bucket, name string
	isLost       bool // nobody will see the answer
	cutAfter     int  // of what it brings so many bytes come; 0: all
}

// ServeHTTP answers one call; the names in its path are percent-encoded whole.
func (s *Store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{store: s, w: w, r: r, query: r.URL.Query()}
	defer func() {
		thrown := recover()
		if refused, is := thrown.(refusal); is {
			refused.write(c.w, c.query.Get("alt") == "media")
		} else if thrown != nil {
			panic(thrown)
		}
		if c.isLost {
			panic(http.ErrAbortHandler)
		}
	}()
	// What the client sends is read in any case: an answer before that would break its connection.
	r.Body = http.MaxBytesReader(w, r.Body, 1<<30)
	method := c.route()
	c.meet(method)
	s.mu.Lock()
	s.counts[method]++
	s.mu.Unlock()
	c.do(method)
}

// route finds the method's name, "objects.get", and the names in the path.
func (c *call) route() string {
	path := c.r.URL.EscapedPath()
	isUpload := strings.HasPrefix(path, "/upload/")
	words := strings.Split(strings.TrimPrefix(strings.TrimPrefix(path, "/upload"), "/storage/v1/"), "/")
	for i, word := range words {
		words[i], _ = url.PathUnescape(word)
	}
	if len(words) < 2 || words[0] != "b" {
		refuse(404, "notFound", "Not Found")
	}
	c.bucket = words[1]
	switch {
	case len(words) == 2 && c.r.Method == "GET":
		return "buckets.get"
	case len(words) == 3 && isUpload && c.query.Get("upload_id") != "" && (c.r.Method == "PUT" || c.r.Method == "POST"):
		if strings.HasPrefix(c.r.Header.Get("Content-Range"), "bytes */") {
			return "uploads.ask"
		}
		return "uploads.send"
	case len(words) == 3 && isUpload && c.r.Method == "POST" && c.query.Get("uploadType") == "resumable":
		return "uploads.begin"
	case len(words) == 3 && isUpload && c.r.Method == "POST":
		return "objects.insert"
	case len(words) == 3 && c.r.Method == "GET":
		return "objects.list"
	case len(words) == 4 && words[2] == "iam" && c.r.Method == "GET":
		return "buckets.testIamPermissions"
	case len(words) == 4 && (c.r.Method == "GET" || c.r.Method == "DELETE"):
		c.name = words[3]
		return map[string]string{"GET": "objects.get", "DELETE": "objects.delete"}[c.r.Method]
	}
	refuse(404, "notFound", "Not Found")
	return ""
}

func (c *call) do(method string) {
	if method == "uploads.send" || method == "uploads.ask" {
		c.resume()
		return
	}
	content := c.upload(method)
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	if c.store.buckets[c.bucket] == nil {
		refuse(404, "notFound", "The specified bucket does not exist.")
	}
	switch method {
	case "buckets.get":
		say(c.w, 200, map[string]any{"kind": "storage#bucket", "id": c.bucket, "name": c.bucket, "location": "US", "storageClass": "STANDARD"})
	case "buckets.testIamPermissions":
		say(c.w, 200, map[string]any{"kind": "storage#testIamPermissionsResponse", "permissions": c.query["permissions"]})
	case "objects.list":
		c.list()
	case "objects.insert":
		c.insert(content)
	case "uploads.begin":
		c.begin(content)
	case "objects.get":
		c.get()
	case "objects.delete":
		c.precondition()
		c.find()
		delete(c.store.buckets[c.bucket], c.name)
		c.w.WriteHeader(204)
	}
}

/*
 * Objects
 */

// find gives the object; another generation than the one that is there is none.
func (c *call) find() *object {
	found := c.store.buckets[c.bucket][c.name]
	wanted := c.query.Get("generation")
	if found == nil || (wanted != "" && wanted != strconv.FormatInt(found.generation, 10)) {
		refuse(404, "notFound", "No such object: %s/%s", c.bucket, c.name)
	}
	return found
}

// precondition holds what the caller expects of the object beside what is there; 0 is an object that is not.
func (c *call) precondition() {
	var has int64
	if found := c.store.buckets[c.bucket][c.name]; found != nil {
		has = found.generation
	}
	for word, isMet := range map[string]func(int64) bool{
		"ifGenerationMatch":    func(wanted int64) bool { return wanted == has },
		"ifGenerationNotMatch": func(wanted int64) bool { return wanted != has },
	} {
		if text := c.query.Get(word); text != "" {
			wanted, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				refuse(400, "invalid", "Invalid value for %s", word)
			}
			if !isMet(wanted) {
				refuse(412, "conditionNotMet", "At least one of the pre-conditions you specified did not hold.")
			}
		}
	}
}

func (c *call) list() {
	prefix, delimiter, from := c.query.Get("prefix"), c.query.Get("delimiter"), c.query.Get("startOffset")
	after, room := c.query.Get("pageToken"), pageMax
	if n, err := strconv.Atoi(c.query.Get("maxResults")); err == nil && n > 0 && n < pageMax {
		room = n
	}
	items, prefixes, next, last := []any{}, []string{}, "", ""
	for _, name := range c.store.names(c.bucket) {
		if !strings.HasPrefix(name, prefix) || name < from || (after != "" && name <= after) {
			continue
		}
		if at := strings.Index(name[len(prefix):], delimiter); delimiter != "" && at >= 0 {
			folder := name[:len(prefix)+at+len(delimiter)]
			if len(prefixes) == 0 || prefixes[len(prefixes)-1] != folder {
				prefixes = append(prefixes, folder)
			}
			continue
		}
		if len(items) == room {
			next = last
			break
		}
		items, last = append(items, c.store.buckets[c.bucket][name].resource()), name
	}
	said := map[string]any{"kind": "storage#objects"}
	for word, value := range map[string]any{"items": items, "prefixes": prefixes, "nextPageToken": next} {
		if fmt.Sprint(value) != "[]" && value != "" {
			said[word] = value
		}
	}
	say(c.w, 200, said)
}

func (c *call) get() {
	c.precondition()
	found := c.find()
	if c.query.Get("alt") != "media" {
		say(c.w, 200, found.resource())
		return
	}
	header := c.w.Header()
	header.Set("X-Goog-Generation", strconv.FormatInt(found.generation, 10))
	header.Set("X-Goog-Metageneration", "1")
	header.Set("X-Goog-Hash", "crc32c="+crc32c(found.content)+",md5="+md5Of(found.content))
	header.Set("X-Goog-Stored-Content-Length", strconv.Itoa(len(found.content)))
	header.Set("Content-Type", found.contentType)
	// Ranges and their answers are Go's own.
	http.ServeContent(c.w, c.r, "", found.created, strings.NewReader(string(found.content)))
}

/*
 * Uploads
 */

type uploaded struct {
	contentType string
	content     []byte
	metadata    map[string]string
}

// about is what multipart and resumable uploads say of an object beside its contents.
type about struct {
	Name, ContentType, Md5Hash, Crc32c string
	Metadata                           map[string]string
}

// upload reads what an insert brings, without the lock: a slow client holds nobody up.
func (c *call) upload(method string) *uploaded {
	if method != "objects.insert" && method != "uploads.begin" {
		return nil
	}
	c.name = c.query.Get("name")
	switch c.query.Get("uploadType") {
	case "media":
		content, err := io.ReadAll(c.r.Body)
		if err != nil {
			refuse(400, "invalid", "the body ended early")
		}
		return &uploaded{contentType: c.r.Header.Get("Content-Type"), content: content}
	case "multipart":
		return c.parts()
	case "resumable":
		return c.announced()
	}
	refuse(400, "invalid", "Upload type %q is not supported here", c.query.Get("uploadType"))
	return nil
}

// announced is what the beginning of a session says; it may say nothing.
func (c *call) announced() *uploaded {
	said := about{}
	if err := json.NewDecoder(c.r.Body).Decode(&said); err != nil && err != io.EOF {
		refuse(400, "parseError", "Parse Error")
	}
	if said.Name != "" {
		c.name = said.Name
	}
	return &uploaded{said.ContentType, nil, said.Metadata}
}

func (c *call) parts() *uploaded {
	_, words, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if err != nil {
		refuse(400, "badContent", "Malformed multipart body.")
	}
	var about about
	parts := multipart.NewReader(c.r.Body, words["boundary"])
	first, err := parts.NextPart()
	if err != nil || json.NewDecoder(first).Decode(&about) != nil {
		refuse(400, "badContent", "Malformed multipart body.")
	}
	second, err := parts.NextPart()
	if err != nil {
		refuse(400, "badContent", "Malformed multipart body.")
	}
	content, err := io.ReadAll(second)
	if err != nil {
		refuse(400, "badContent", "Malformed multipart body.")
	}
	if (about.Crc32c != "" && about.Crc32c != crc32c(content)) || (about.Md5Hash != "" && about.Md5Hash != md5Of(content)) {
		refuse(400, "invalid", "Provided checksum does not match the contents.")
	}
	if about.Name != "" {
		c.name = about.Name
	}
	if about.ContentType == "" {
		about.ContentType = second.Header.Get("Content-Type")
	}
	return &uploaded{about.ContentType, content, about.Metadata}
}

func (c *call) checkName() {
	if c.name == "" || len(c.name) > 1024 || strings.ContainsAny(c.name, "\r\n") || c.name == "." || c.name == ".." {
		refuse(400, "invalid", "Invalid object name")
	}
}

func (c *call) insert(up *uploaded) {
	c.checkName()
	c.precondition()
	say(c.w, 200, c.store.put(c.bucket, c.name, up.contentType, up.content, up.metadata).resource())
}
