package storage

// The duty: two ports, said as one line of JSON; it ends with standard input. Faults and what a test looks at are at `control`.

import (
	"encoding/json"
	"flag"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path"
	"strings"
	"time"
)

// fault meets calls of a method ("objects.*" too) about names that hold Name.
type fault struct {
	Method, Name string
	Status       int    // the answer; 0: the connection ends without one
	Reason       string // with the status
	Late         bool   // the call is done, and only its answer is lost
	HangMs       int    // waits before anything else
	CutAfter     int    // of a part that is sent so many bytes come, then the connection ends
	Skip         int    // so many calls are left alone before
	Count        int    // so many calls; 0: all, until it is lifted
}

func (f *fault) fits(method, name string) bool {
	isMethod, _ := path.Match(f.Method, method)
	return isMethod && strings.Contains(name, f.Name)
}

func (s *Store) faultOf(method, name string) *fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.faults {
		if !f.fits(method, name) {
			continue
		}
		if f.Skip > 0 {
			f.Skip--
			continue
		}
		if f.Count == 1 {
			s.faults = append(s.faults[:i:i], s.faults[i+1:]...)
		} else if f.Count > 1 {
			f.Count--
		}
		s.counts["fault "+method]++
		found := *f
		return &found
	}
	return nil
}

// lost takes an answer that nobody will see.
type lost struct{ http.ResponseWriter }

func (lost) Header() http.Header             { return http.Header{} }
func (lost) WriteHeader(int)                 {}
func (lost) Write(bytes []byte) (int, error) { return len(bytes), nil }

// meet lets the call meet its fault, if there is one for it.
func (c *call) meet(method string) {
	name := c.name
	if name == "" {
		name = c.query.Get("name")
	}
	f := c.store.faultOf(method, name)
	if f == nil {
		return
	}
	time.Sleep(time.Duration(f.HangMs) * time.Millisecond)
	switch {
	case f.CutAfter > 0:
		c.cutAfter = f.CutAfter
	case f.Late:
		c.w, c.isLost = lost{c.w}, true
	case f.Status != 0:
		io.Copy(io.Discard, c.r.Body)
		refuse(f.Status, f.Reason, "a fault of the test")
	case f.HangMs == 0:
		panic(http.ErrAbortHandler)
	}
}

type control struct{ store *Store }

// ServeHTTP: POST /forget (sessions), POST /bucket?name=, POST /object?bucket=&name= with its content, POST /faults, DELETE /faults, GET /counts, GET /state.
func (c control) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s, query := c.store, r.URL.Query()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.Method + " " + r.URL.Path {
	case "POST /forget":
		s.sessions = map[string]*session{}
	case "POST /bucket":
		s.makeBucket(query.Get("name"))
	case "DELETE /bucket":
		delete(s.buckets, query.Get("name"))
	case "POST /object":
		content, _ := io.ReadAll(r.Body)
		s.makeBucket(query.Get("bucket"))
		s.put(query.Get("bucket"), query.Get("name"), "application/json", content, nil)
	case "DELETE /object":
		delete(s.buckets[query.Get("bucket")], query.Get("name"))
	case "POST /faults":
		f := &fault{}
		if err := json.NewDecoder(r.Body).Decode(f); err != nil {
			say(w, 400, map[string]any{"error": err.Error()})
			return
		}
		s.faults = append(s.faults, f)
	case "DELETE /faults":
		s.faults = nil
	case "GET /counts":
		say(w, 200, s.counts)
		return
	case "GET /state":
		all := map[string]any{}
		for bucket := range s.buckets {
			for _, name := range s.names(bucket) {
				all[bucket+"/"+name] = s.buckets[bucket][name].content
			}
		}
		say(w, 200, all)
		return
	default:
		say(w, 404, map[string]any{"error": "no such word"})
		return
	}
	say(w, 200, map[string]any{})
}

// Main serves until standard input ends.
func Main(args []string) error {
	flags := flag.NewFlagSet("storage", flag.ContinueOnError)
	flags.String("dir", "", "taken as the other servers take it; nothing is written there")
	if err := flags.Parse(args); err != nil {
		return err
	}
	s := New()
	ports := map[string]int{}
	for name, handler := range map[string]http.Handler{"rest": s, "control": control{s}} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		ports[name] = listener.Addr().(*net.TCPAddr).Port
		go (&http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0)}).Serve(listener)
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]any{"ports": ports}); err != nil {
		return err
	}
	io.Copy(io.Discard, os.Stdin)
	return nil
}
