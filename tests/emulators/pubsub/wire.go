package pubsub

// A connection that knows where its frames begin, so that it can be reset in the middle of one, get a RST_STREAM or GOAWAY
// that grpc-go would never write, drip, or stand still. Under TLS it lies above the encryption.

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
)

const frameHead = 9

type wire struct {
	net.Conn
	isTLS bool
	write sync.Mutex // one writer at a time

	lock    sync.Mutex
	armed   []Fault
	hidden  map[uint32]bool // streams whose frames are dropped after a reset
	forged  []byte          // frames that the peer did not send: it takes back those streams, and gives back their bytes
	isWoken bool            // a read deadline that is over was set, so that who reads looks at them
	held    chan struct{}   // closed when it may move again; nil: it does
	drip    *Fault

	// Of the frame being written.
	head    []byte // until it is whole
	left    int    // of its body
	pass    int    // how much of that goes out
	then    []byte // what follows it
	isCut   bool   // the connection ends there
	ahead   int    // of the peer's frame being read: bytes up to the next head
	headsIn []byte
}

type wireInfo struct {
	credentials.CommonAuthInfo
	wire *wire
}

func (wireInfo) AuthType() string { return "weir" }

// wireCreds puts a wire around each connection.
type wireCreds struct{}

func (wireCreds) ClientHandshake(context.Context, string, net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return nil, nil, net.ErrClosed
}

func (wireCreds) ServerHandshake(connection net.Conn) (net.Conn, credentials.AuthInfo, error) {
	w := &wire{Conn: connection, ahead: len(http2.ClientPreface), hidden: map[uint32]bool{}}
	if inner, is := connection.(*peeked); is {
		w.isTLS = inner.isTLS
	}
	return w, wireInfo{credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity}, w}, nil
}

func (wireCreds) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: "weir"}
}
func (wireCreds) Clone() credentials.TransportCredentials { return wireCreds{} }
func (wireCreds) OverrideServerName(string) error         { return nil }

func wireOf(ctx context.Context) *wire {
	if p, ok := peer.FromContext(ctx); ok {
		if info, ok := p.AuthInfo.(wireInfo); ok {
			return info.wire
		}
	}
	return nil
}

func (w *wire) arm(row Fault) {
	w.lock.Lock()
	defer w.lock.Unlock()
	switch row.Kind {
	case "freeze":
		if w.held == nil {
			w.held = make(chan struct{})
		}
		if row.MS > 0 {
			time.AfterFunc(time.Duration(row.MS)*time.Millisecond, w.free)
		}
	case "drip":
		w.drip = &row
	default:
		w.armed = append(w.armed, row)
	}
}

func (w *wire) free() {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.drip = nil
	if w.held != nil {
		close(w.held)
		w.held = nil
	}
}

func (w *wire) wait() {
	w.lock.Lock()
	held := w.held
	w.lock.Unlock()
	if held != nil {
		<-held
	}
}

// abort closes so that the peer sees a reset connection.
func (w *wire) abort() {
	inner := w.Conn
	if p, is := inner.(*peeked); is {
		inner = p.raw
	}
	if tcp, is := inner.(*net.TCPConn); is {
		tcp.SetLinger(0)
	}
	inner.Close()
	w.Conn.Close()
}

func (w *wire) out(bytes []byte) error {
	w.lock.Lock()
	drip := w.drip
	w.lock.Unlock()
	for drip != nil && len(bytes) > 0 {
		n := min(len(bytes), max(drip.Bytes, 1))
		if _, err := w.Conn.Write(bytes[:n]); err != nil {
			return err
		}
		bytes = bytes[n:]
		time.Sleep(time.Duration(max(drip.MS, 1)) * time.Millisecond)
		w.lock.Lock()
		drip = w.drip
		w.lock.Unlock()
	}
	if len(bytes) == 0 {
		return nil
	}
	_, err := w.Conn.Write(bytes)
	return err
}

// Write looks at the head of each frame; most pass as they are.
func (w *wire) Write(bytes []byte) (int, error) {
	w.write.Lock()
	defer w.write.Unlock()
	w.wait()
	made := make([]byte, 0, len(bytes)+64)
	for rest := bytes; len(rest) > 0; {
		n := 0
		if w.left > 0 {
			made, n = w.body(made, rest)
		} else {
			n = min(frameHead-len(w.head), len(rest))
			if w.head = append(w.head, rest[:n]...); len(w.head) == frameHead {
				made = w.frame(made, w.head)
				w.head = w.head[:0]
			}
		}
		rest = rest[n:]
		if w.isCut && w.pass == 0 {
			w.out(made)
			w.abort()
			return 0, net.ErrClosed
		}
	}
	if err := w.out(made); err != nil {
		return 0, err
	}
	return len(bytes), nil
}

// body passes on or drops what there is of the frame's body; gives how much it took.
func (w *wire) body(made, rest []byte) ([]byte, int) {
	n := min(w.left, len(rest))
	if w.pass > 0 {
		n = min(n, w.pass)
		made = append(made, rest[:n]...)
		if w.pass -= n; w.pass == 0 {
			made = append(made, w.then...)
			w.then = nil
		}
	}
	w.left -= n
	return made, n
}

// frame decides what happens to one, by its head.
func (w *wire) frame(made, head []byte) []byte {
	length := int(head[0])<<16 | int(head[1])<<8 | int(head[2])
	isData, stream := http2.FrameType(head[3]) == http2.FrameData, binary.BigEndian.Uint32(head[5:])&^(1<<31)
	w.lock.Lock()
	defer w.lock.Unlock()
	w.left, w.pass = length, length
	if w.hidden[stream] {
		w.pass = 0
		if isData {
			w.giveBack(length)
		}
		return made
	}
	left := w.armed[:0]
	for _, row := range w.armed {
		switch {
		case row.Kind == "goaway":
			made = append(made, frameOf(http2.FrameGoAway, 0, []byte{0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0})...)
			time.AfterFunc(time.Duration(max(row.MS, 20))*time.Millisecond, func() { w.Close() })
		case row.Kind == "cut" && isData && length > 1:
			w.pass, w.isCut = length/2, true
		case row.Kind == "reset" && isData && length > 1:
			w.pass, w.hidden[stream] = length/2, true
			w.giveBack(length - length/2)
			w.forged = append(w.forged, frameOf(http2.FrameRSTStream, stream, binary.BigEndian.AppendUint32(nil, uint32(http2.ErrCodeCancel)))...)
			w.then = frameOf(http2.FrameRSTStream, stream, binary.BigEndian.AppendUint32(nil, row.h2Code()))
			head = append([]byte{byte(w.pass >> 16), byte(w.pass >> 8), byte(w.pass)}, head[3:]...)
		default:
			left = append(left, row)
		}
	}
	w.armed = left
	return append(made, head...)
}

// giveBack returns what was dropped to the connection's window. Needs the lock.
func (w *wire) giveBack(bytes int) {
	if bytes > 0 {
		w.forged = append(w.forged, frameOf(http2.FrameWindowUpdate, 0, binary.BigEndian.AppendUint32(nil, uint32(bytes)))...)
		// Who reads may be waiting for the peer, and the peer for what needs this window.
		w.isWoken = true
		w.Conn.SetReadDeadline(time.Unix(1, 0))
	}
}

func (row *Fault) h2Code() uint32 {
	if row.H2Code != 0 {
		return row.H2Code
	}
	return uint32(http2.ErrCodeInternal)
}

func frameOf(kind http2.FrameType, stream uint32, body []byte) []byte {
	made := []byte{byte(len(body) >> 16), byte(len(body) >> 8), byte(len(body)), byte(kind), 0}
	made = binary.BigEndian.AppendUint32(made, stream)
	return append(made, body...)
}

// Read puts the forged frames between two of the peer's.
func (w *wire) Read(bytes []byte) (int, error) {
	for {
		w.wait()
		w.lock.Lock()
		if w.isForging() {
			n := copy(bytes, w.forged)
			w.forged = w.forged[n:]
			w.lock.Unlock()
			return n, nil
		}
		w.lock.Unlock()
		n, err := w.Conn.Read(bytes)
		w.wait()
		w.lock.Lock()
		w.follow(bytes[:n])
		if w.isWoken && errors.Is(err, os.ErrDeadlineExceeded) {
			w.isWoken = false
			w.Conn.SetReadDeadline(time.Time{})
			w.lock.Unlock()
			continue
		}
		w.lock.Unlock()
		return n, err
	}
}

func (w *wire) isForging() bool { return len(w.forged) > 0 && w.ahead == 0 && len(w.headsIn) == 0 }

// follow keeps track of where the peer's frames begin.
func (w *wire) follow(bytes []byte) {
	for len(bytes) > 0 {
		n := min(w.ahead, len(bytes))
		w.ahead -= n
		bytes = bytes[n:]
		n = min(frameHead-len(w.headsIn), len(bytes))
		if w.headsIn = append(w.headsIn, bytes[:n]...); len(w.headsIn) == frameHead {
			w.ahead = int(w.headsIn[0])<<16 | int(w.headsIn[1])<<8 | int(w.headsIn[2])
			w.headsIn = w.headsIn[:0]
		}
		bytes = bytes[n:]
	}
}

func (w *wire) Close() error {
	w.free()
	return w.Conn.Close()
}
