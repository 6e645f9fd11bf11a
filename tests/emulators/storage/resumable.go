package storage

// Uploads by a session: begun, sent in parts, asked about. Of a part that is cut whole units of 256 KiB are kept.

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

const unit = 256 << 10

type session struct {
	call     url.Values // of the call that began it: what it said counts at the end, too
	bucket   string
	up       uploaded
	size     int64   // said at the beginning or by a part; -1: not yet
	finished *object // what became of it
}

func (c *call) begin(up *uploaded) {
	c.checkName()
	c.precondition()
	s := &session{call: c.query, bucket: c.bucket, up: *up, size: -1}
	if size, err := strconv.ParseInt(c.r.Header.Get("X-Upload-Content-Length"), 10, 64); err == nil {
		s.size = size
	}
	if said := c.r.Header.Get("X-Upload-Content-Type"); said != "" {
		s.up.contentType = said
	}
	c.store.generation++
	id := strconv.FormatInt(c.store.generation, 36)
	c.store.sessions[id] = s
	c.query.Set("name", c.name)
	c.w.Header().Set("Location", fmt.Sprintf("http://%s%s?name=%s&uploadType=resumable&upload_id=%s", c.r.Host, c.r.URL.EscapedPath(),
		url.QueryEscape(c.name), id))
	c.w.Header().Set("X-GUploader-UploadID", id)
	c.w.WriteHeader(200)
}

// contentRange reads "bytes 0-9/10", "bytes 0-9/*", "bytes */10" and "bytes */*": first is -1 where it asks, size where it says none.
func contentRange(text string) (first, last, size int64) {
	first, last, size = -1, -1, -1
	words, total, isRange := strings.Cut(strings.TrimPrefix(text, "bytes "), "/")
	if !strings.HasPrefix(text, "bytes ") || !isRange {
		refuse(400, "invalid", "Invalid Content-Range header: %q", text)
	}
	if words != "*" {
		if n, err := fmt.Sscanf(words, "%d-%d", &first, &last); n != 2 || err != nil || first > last {
			refuse(400, "invalid", "Invalid Content-Range header: %q", text)
		}
	}
	if total != "*" {
		var err error
		if size, err = strconv.ParseInt(total, 10, 64); err != nil || size < 0 || last >= size {
			refuse(400, "invalid", "Invalid Content-Range header: %q", text)
		}
	}
	return first, last, size
}

// resume takes a part, or tells how much there is. It reads without the lock: one session has one client.
func (c *call) resume() {
	first, last, size := contentRange(c.r.Header.Get("Content-Range"))
	var content []byte
	var cut error
	if first >= 0 {
		body := io.Reader(c.r.Body)
		if c.cutAfter > 0 {
			body = io.LimitReader(body, int64(c.cutAfter))
		}
		content, cut = io.ReadAll(body)
	}
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	s := c.store.sessions[c.query.Get("upload_id")]
	if s == nil {
		refuse(404, "notFound", "The upload session does not exist.")
	}
	if s.finished == nil {
		s.take(first, last, size, content, cut == nil && c.cutAfter == 0)
	}
	if c.cutAfter > 0 {
		panic(http.ErrAbortHandler)
	}
	c.tell(s)
}

func (s *session) take(first, last, size int64, content []byte, isWhole bool) {
	has := int64(len(s.up.content))
	if size >= 0 && s.size >= 0 && size != s.size {
		refuse(400, "invalid", "The total size is another than before.")
	}
	if size >= 0 {
		s.size = size
	}
	if first < 0 {
		return
	}
	if first > has {
		refuse(503, "backendError", "Invalid request. According to the Content-Range header, the upload offset is %d byte(s), which exceeds already uploaded size of %d byte(s).", first, has)
	}
	if isWhole && int64(len(content)) != last-first+1 {
		refuse(400, "invalid", "The part has another size than its Content-Range header says.")
	}
	end := first + int64(len(content))
	if end != s.size {
		end -= end % unit
	}
	// What is there already is not taken again.
	if end > has {
		s.up.content = append(s.up.content, content[has-first:end-first]...)
	}
}

func (c *call) tell(s *session) {
	has := int64(len(s.up.content))
	if s.finished == nil && s.size >= 0 && has == s.size {
		c.finish(s)
	}
	if s.finished != nil {
		say(c.w, 200, s.finished.resource())
		return
	}
	if has > 0 {
		c.w.Header().Set("Range", fmt.Sprintf("bytes=0-%d", has-1))
	}
	// Google's clients ask for another status, which 308 means elsewhere.
	if c.r.Header.Get("X-GUploader-No-308") == "yes" {
		c.w.Header().Set("X-Http-Status-Code-Override", "308")
		c.w.WriteHeader(200)
		return
	}
	c.w.WriteHeader(308)
}

// finish holds the object beside what the beginning expected of it, once more.
func (c *call) finish(s *session) {
	c.query, c.bucket, c.name = s.call, s.bucket, s.call.Get("name")
	if c.store.buckets[c.bucket] == nil {
		refuse(404, "notFound", "The specified bucket does not exist.")
	}
	c.precondition()
	for _, said := range strings.Split(c.r.Header.Get("X-Goog-Hash"), ",") {
		if sum, is := strings.CutPrefix(strings.TrimSpace(said), "crc32c="); is && sum != crc32c(s.up.content) {
			refuse(400, "invalid", "Provided checksum does not match the contents.")
		}
	}
	s.finished = c.store.put(c.bucket, c.name, s.up.contentType, s.up.content, s.up.metadata)
}
