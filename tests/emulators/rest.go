package main

// REST with faults by table: the first part of the path names one, the rest is its argument. And a proxy that counts.

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// counters of the ids that "flaky" has seen.
var tries sync.Map

func triesOf(id string) int64 {
	counter, _ := tries.LoadOrStore(id, new(atomic.Int64))
	return counter.(*atomic.Int64).Add(1)
}

func say(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(value)
}

func sayError(w http.ResponseWriter, status int, reason string) {
	say(w, status, map[string]any{"error": map[string]any{"code": status, "message": "asked for " + reason,
		"errors": []any{map[string]any{"domain": "global", "reason": reason}}}})
}

// hijack takes the connection away from HTTP: what is written then is ours.
func hijack(w http.ResponseWriter) net.Conn {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	return connection
}

var restFaults = map[string]func(w http.ResponseWriter, r *http.Request, argument string){
	// What was asked, as it was asked.
	"echo": func(w http.ResponseWriter, r *http.Request, _ string) {
		body, _ := io.ReadAll(r.Body)
		say(w, 200, map[string]any{"method": r.Method, "query": r.URL.RawQuery, "body": string(body),
			"authorization": r.Header.Get("Authorization"), "type": r.Header.Get("Content-Type"), "agent": r.Header.Get("User-Agent")})
	},
	// STATUS/REASON
	"status": func(w http.ResponseWriter, _ *http.Request, argument string) {
		status, reason, _ := strings.Cut(argument, "/")
		number, _ := strconv.Atoi(status)
		sayError(w, number, reason)
	},
	// TIMES/STATUS/ID: so many failures, then success, which says how many tries there were
	"flaky": func(w http.ResponseWriter, _ *http.Request, argument string) {
		parts := strings.Split(argument, "/")
		times, _ := strconv.Atoi(parts[0])
		status, _ := strconv.Atoi(parts[1])
		if try := triesOf(parts[2]); try <= int64(times) {
			sayError(w, status, "backendError")
		} else {
			say(w, 200, map[string]any{"try": try})
		}
	},
	// SECONDS/ID: 503 with Retry-After once, then how long it took to come back
	"retry-after": func(w http.ResponseWriter, _ *http.Request, argument string) {
		seconds, id, _ := strings.Cut(argument, "/")
		now := time.Now()
		if before, was := tries.LoadOrStore("after"+id, now); was {
			say(w, 200, map[string]any{"waited_ms": now.Sub(before.(time.Time)).Milliseconds()})
			return
		}
		w.Header().Set("Retry-After", seconds)
		sayError(w, 503, "backendError")
	},
	"hang": func(_ http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() },
	"page": func(w http.ResponseWriter, _ *http.Request, argument string) {
		number, _ := strconv.Atoi(argument)
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(number)
		io.WriteString(w, "<html>Bad Gateway</html>")
	},
	"redirect":    func(w http.ResponseWriter, r *http.Request, _ string) { http.Redirect(w, r, "/echo", http.StatusFound) },
	"early-close": func(w http.ResponseWriter, _ *http.Request, _ string) { hijack(w).Close() },
	"abort": func(w http.ResponseWriter, _ *http.Request, _ string) {
		connection := hijack(w)
		if tcp, ok := connection.(*net.TCPConn); ok {
			tcp.SetLinger(0)
		}
		connection.Close()
	},
	"cut-body": func(w http.ResponseWriter, _ *http.Request, _ string) {
		connection := hijack(w)
		io.WriteString(connection, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"half\":")
		connection.Close()
	},
	"cut-chunk": func(w http.ResponseWriter, _ *http.Request, _ string) {
		connection := hijack(w)
		io.WriteString(connection, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"ha")
		connection.Close()
	},
	"garbage": func(w http.ResponseWriter, _ *http.Request, _ string) {
		connection := hijack(w)
		io.WriteString(connection, "\x00\x01\x02 this is no HTTP\r\n\r\n")
		connection.Close()
	},
	"huge-header": func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("X-Huge", strings.Repeat("h", 1<<20))
		say(w, 200, map[string]any{})
	},
	// BYTES, all at once or endless
	"large": func(w http.ResponseWriter, _ *http.Request, argument string) {
		size, _ := strconv.Atoi(argument)
		piece := strings.Repeat("x", 1<<16)
		for ; size > 0; size -= len(piece) {
			if _, err := io.WriteString(w, piece[:min(size, len(piece))]); err != nil {
				return
			}
		}
	},
	// a byte each 50 ms, for ever
	"drip": func(w http.ResponseWriter, r *http.Request, _ string) {
		w.Header().Set("Content-Length", "1000000")
		for r.Context().Err() == nil {
			io.WriteString(w, "x")
			w.(http.Flusher).Flush()
			time.Sleep(50 * time.Millisecond)
		}
	},
}

func restHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, argument, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if made, ok := restFaults[name]; ok {
			made(w, r, argument)
		} else {
			sayError(w, 404, "notFound")
		}
	})
}

// proxyHandler tunnels CONNECT and forwards the rest; "/count" says how many calls it had.
type proxyHandler struct{}

var proxied atomic.Int64

func (proxyHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Host == "" && r.Method != http.MethodConnect {
		fmt.Fprint(w, proxied.Load())
		return
	}
	proxied.Add(1)
	if r.Method != http.MethodConnect {
		forward(w, r)
		return
	}
	if strings.HasPrefix(r.Host, "refused.") {
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	target, err := net.Dial("tcp", r.Host)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	w.WriteHeader(http.StatusOK)
	client := hijack(w)
	go func() { io.Copy(target, client); target.Close() }()
	io.Copy(client, target)
	client.Close()
}

func forward(w http.ResponseWriter, r *http.Request) {
	r.RequestURI = ""
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer answer.Body.Close()
	w.WriteHeader(answer.StatusCode)
	io.Copy(w, answer.Body)
}
