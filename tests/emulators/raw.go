package main

// A server that writes HTTP/2 frames itself, to do what grpc-go never would. A call names its fault in "x-fault",
// as NAME or NAME:NUMBER; "x-id" marks a call whose fault happens only the first time.

import (
	"bytes"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

type rawConn struct {
	net.Conn
	framer *http2.Framer
	block  bytes.Buffer
	hpack  *hpack.Encoder
	lock   sync.Mutex // of what is written
}

type rawCall struct {
	*rawConn
	stream   uint32
	argument int
}

type pair = [2]string

var (
	answer   = []pair{{":status", "200"}, {"content-type", "application/grpc"}}
	fine     = []pair{{"grpc-status", "0"}}
	payload  = []byte{0, 0, 0, 0, 5, 0x0a, 0x03, 'r', 'a', 'w'} // a BytesValue "raw", with its prefix
	seen     sync.Map
	onceOnly = map[string]bool{"goaway_once": true, "refused_once": true}
)

func (c *rawCall) headers(isEnd bool, pairs ...pair) {
	c.block.Reset()
	for _, p := range pairs {
		c.hpack.WriteField(hpack.HeaderField{Name: p[0], Value: p[1]})
	}
	block := append([]byte(nil), c.block.Bytes()...)
	n := min(len(block), 16384)
	c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: c.stream, BlockFragment: block[:n], EndHeaders: n == len(block), EndStream: isEnd})
	for block = block[n:]; len(block) > 0; block = block[n:] {
		n = min(len(block), 16384)
		c.framer.WriteContinuation(c.stream, n == len(block), block[:n])
	}
}

func (c *rawCall) data(isEnd bool, bytes []byte) { c.framer.WriteData(c.stream, isEnd, bytes) }

func (c *rawCall) ok() {
	c.headers(false, answer...)
	c.data(false, payload)
	c.headers(true, fine...)
}

func (c *rawCall) reset(code int) { c.framer.WriteRSTStream(c.stream, http2.ErrCode(code)) }

// abort closes without the peer's buffers being read: it sees a reset connection.
func (c *rawCall) abort() {
	c.Conn.(*net.TCPConn).SetLinger(0)
	c.Close()
}

func (c *rawCall) chopped(pause time.Duration) {
	c.headers(false, answer...)
	for i := range payload {
		c.data(false, payload[i:i+1])
		time.Sleep(pause)
	}
	c.headers(true, fine...)
}

func (c *rawCall) message(prefix []byte, body string, pairs ...pair) {
	c.headers(false, append(append([]pair{}, answer...), pairs...)...)
	c.data(false, append(append([]byte{}, prefix...), body...))
	c.headers(true, fine...)
}

func (c *rawCall) page(httpStatus, kind, body string) {
	c.headers(false, pair{":status", httpStatus}, pair{"content-type", kind})
	c.data(true, []byte(body))
}

func (c *rawCall) trailers(pairs ...pair) {
	c.headers(false, answer...)
	c.headers(true, pairs...)
}

var rawFaults = map[string]func(c *rawCall){
	"":        (*rawCall).ok,
	"chopped": func(c *rawCall) { c.chopped(0) },
	"drip":    func(c *rawCall) { c.chopped(time.Duration(c.argument) * time.Millisecond) },
	"trailers_only": func(c *rawCall) {
		c.headers(true, append(append([]pair{}, answer...), pair{"grpc-status", strconv.Itoa(c.argument)}, pair{"grpc-message", "no%20more"})...)
	},
	"reset":      func(c *rawCall) { c.reset(c.argument) },
	"reset_amid": func(c *rawCall) { c.headers(false, answer...); c.data(false, payload[:7]); c.reset(c.argument) },
	"cut": func(c *rawCall) {
		c.headers(false, answer...)
		c.Write([]byte{0, 0, 10, 0, 0, 0, 0, 0, byte(c.stream), 0, 0})
		c.Close()
	},
	"cut_headers":    func(c *rawCall) { c.headers(false, answer...); c.Close() },
	"cut_frame_head": func(c *rawCall) { c.Write([]byte{0, 0, 10, 0}); c.Close() },
	"early_close":    func(c *rawCall) { c.Close() },
	"abort":          (*rawCall).abort,
	"goaway_once":    func(c *rawCall) { c.framer.WriteGoAway(0, http2.ErrCodeNo, nil); c.Close() },
	"refused_once":   func(c *rawCall) { c.reset(int(http2.ErrCodeRefusedStream)) },
	"refused":        func(c *rawCall) { c.reset(int(http2.ErrCodeRefusedStream)) },
	"goaway_after": func(c *rawCall) {
		c.framer.WriteGoAway(c.stream, http2.ErrCodeNo, nil)
		time.Sleep(20 * time.Millisecond)
		c.ok()
	},
	"goaway_calm": func(c *rawCall) {
		c.framer.WriteGoAway(c.stream, http2.ErrCodeEnhanceYourCalm, []byte("too_many_pings"))
		c.Close()
	},
	"hang":      func(c *rawCall) {},
	"hang_amid": func(c *rawCall) { c.headers(false, answer...); c.data(false, payload[:3]) },
	"huge_header": func(c *rawCall) {
		c.headers(false, append(append([]pair{}, answer...), pair{"x-huge", strings.Repeat("h", 60000)}, pair{"x-more", strings.Repeat("m", 20000)})...)
		c.data(false, payload)
		c.headers(true, fine...)
	},
	"many_headers": func(c *rawCall) {
		c.headers(false, append(append([]pair{}, answer...), manyPairs(3000)...)...)
		c.data(false, payload)
		c.headers(true, fine...)
	},
	"huge_trailer": func(c *rawCall) {
		c.headers(false, answer...)
		c.data(false, payload)
		c.headers(true, append(manyPairs(3000), fine...)...)
	},
	"no_trailers": func(c *rawCall) { c.headers(false, answer...); c.data(true, payload) },
	"no_status": func(c *rawCall) {
		c.headers(false, answer...)
		c.data(false, payload)
		c.headers(true, pair{"x-other", "1"})
	},
	"bad_status":     func(c *rawCall) { c.trailers(pair{"grpc-status", "abc"}) },
	"unknown_status": func(c *rawCall) { c.trailers(pair{"grpc-status", "77"}) },
	"bad_percent":    func(c *rawCall) { c.trailers(pair{"grpc-status", "5"}, pair{"grpc-message", "50% of %zz %41%"}) },
	"bad_details":    func(c *rawCall) { c.trailers(pair{"grpc-status", "5"}, pair{"grpc-status-details-bin", "!!"}) },
	"compressed":     func(c *rawCall) { c.message([]byte{1, 0, 0, 0, 3}, "gzi", pair{"grpc-encoding", "gzip"}) },
	"compressed_mum": func(c *rawCall) { c.message([]byte{1, 0, 0, 0, 3}, "gzi") },
	"bad_flag":       func(c *rawCall) { c.message([]byte{7, 0, 0, 0, 3}, "abc") },
	"endless":        func(c *rawCall) { c.message([]byte{0, 255, 255, 255, 255}, "abc") },
	"cut_message":    func(c *rawCall) { c.message([]byte{0, 0, 0, 0, 99}, "abc") },
	"cut_prefix":     func(c *rawCall) { c.message([]byte{0, 0}, "") },
	"two_messages":   func(c *rawCall) { c.message(payload, string(payload)) },
	"no_message":     func(c *rawCall) { c.trailers(fine...) },
	"page":           func(c *rawCall) { c.page(strconv.Itoa(c.argument), "text/html", "<html>no</html>") },
	"page_endless": func(c *rawCall) {
		c.headers(false, pair{":status", "502"}, pair{"content-type", "text/html"})
		c.data(false, []byte("<html>"))
	},
	"early_hints": func(c *rawCall) { c.headers(false, pair{":status", "103"}, pair{"grpc-status", "7"}); c.ok() },
	// Who reads it ends the connection. Closed from here, a slow client would meet the reset before the bytes.
	"garbage":      func(c *rawCall) { c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\nwhat is this?")) },
	"wrong_stream": func(c *rawCall) { c.framer.WriteData(c.stream+100, false, payload) },
	"data_first":   func(c *rawCall) { c.data(false, payload); c.headers(true, fine...) },
	"push": func(c *rawCall) {
		c.framer.WritePushPromise(http2.PushPromiseParam{StreamID: c.stream, PromiseID: 2, BlockFragment: []byte{0x82}, EndHeaders: true})
	},
	"large_frame": func(c *rawCall) { c.headers(false, answer...); c.data(false, make([]byte, 20000)) },
	"pings": func(c *rawCall) {
		for range 1000 {
			c.framer.WritePing(false, [8]byte{1})
		}
		c.ok()
	},
	"settings": func(c *rawCall) {
		for range 100 {
			c.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 20})
		}
		c.ok()
	},
	"bad_settings": func(c *rawCall) { c.framer.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1}) },
	"window_zero":  func(c *rawCall) { c.framer.WriteWindowUpdate(c.stream, 0) },
	"end_early":    func(c *rawCall) { c.ok() }, // the client's half stays open and gets no RST_STREAM
}

func manyPairs(count int) []pair {
	pairs := []pair{}
	for i := range count {
		pairs = append(pairs, pair{"x-" + strconv.Itoa(i), "value of it"})
	}
	return pairs
}

// answerCall runs the fault that the request's headers name.
func (c *rawConn) answerCall(stream uint32, fields map[string]string) {
	name, argument, _ := strings.Cut(fields["x-fault"], ":")
	call := &rawCall{rawConn: c, stream: stream}
	call.argument, _ = strconv.Atoi(argument)
	if _, was := seen.LoadOrStore(fields["x-id"]+name, true); onceOnly[name] && was {
		name = ""
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	if made, ok := rawFaults[name]; ok {
		made(call)
	} else {
		call.trailers(pair{"grpc-status", "12"}, pair{"grpc-message", "no such fault"})
	}
}

func (c *rawConn) locked(write func()) {
	c.lock.Lock()
	defer c.lock.Unlock()
	write()
}

func (c *rawConn) serve() {
	defer c.Close()
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(c, preface); err != nil {
		return
	}
	c.locked(func() {
		c.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 20})
		c.framer.WriteWindowUpdate(0, 1<<30)
	})
	for {
		frame, err := c.framer.ReadFrame()
		if err != nil {
			return
		}
		switch f := frame.(type) {
		case *http2.MetaHeadersFrame:
			fields := map[string]string{}
			for _, field := range f.Fields {
				fields[field.Name] = field.Value
			}
			go c.answerCall(f.StreamID, fields)
		case *http2.SettingsFrame:
			if !f.IsAck() {
				c.locked(func() { c.framer.WriteSettingsAck() })
			}
		case *http2.PingFrame:
			if !f.IsAck() {
				c.locked(func() { c.framer.WritePing(true, f.Data) })
			}
		}
	}
}

func rawServe(listener net.Listener) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		c := &rawConn{Conn: connection, framer: http2.NewFramer(connection, connection)}
		c.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		c.framer.AllowIllegalWrites = true
		c.hpack = hpack.NewEncoder(&c.block)
		go c.serve()
	}
}
