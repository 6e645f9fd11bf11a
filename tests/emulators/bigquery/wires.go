package bigquery

// Connections, kept by the other side's address, so that a fault can end one under the feet of HTTP: politely, by a reset,
// or in the middle of what is written.

import (
	"net"
	"sync"
	"time"
)

type wires struct {
	mu sync.Mutex
	by map[string]*wire
}

func newWires() *wires { return &wires{by: map[string]*wire{}} }

type wire struct {
	net.Conn
	mu   sync.Mutex
	all  *wires
	room int // bytes that may still be written; -1: any number
}

type wiredListener struct {
	net.Listener
	all *wires
}

func (l wiredListener) Accept() (net.Conn, error) {
	connection, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	made := &wire{Conn: connection, all: l.all, room: -1}
	l.all.mu.Lock()
	l.all.by[connection.RemoteAddr().String()] = made
	l.all.mu.Unlock()
	return made, nil
}

func (w *wires) find(address string) *wire {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.by[address]
}

func (w *wires) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.by)
}

func (w *wire) Close() error {
	w.all.mu.Lock()
	delete(w.all.by, w.RemoteAddr().String())
	w.all.mu.Unlock()
	return w.Conn.Close()
}

func (w *wire) Write(bytes []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.room < 0 {
		return w.Conn.Write(bytes)
	}
	n, _ := w.Conn.Write(bytes[:min(w.room, len(bytes))])
	w.room -= n
	if w.room == 0 {
		w.Conn.Close()
		return n, net.ErrClosed
	}
	return n, nil
}

// end closes the connection; a reset throws away what was on its way.
func (w *wire) end(reset bool) {
	if w == nil {
		return
	}
	if tcp, ok := w.Conn.(*net.TCPConn); ok && reset {
		tcp.SetLinger(0)
	}
	w.Close()
}

// cutAfter lets so many bytes more through.
func (w *wire) cutAfter(bytes int) {
	if w == nil {
		return
	}
	w.mu.Lock()
	w.room = bytes
	w.mu.Unlock()
}

// Where nothing is written any more, the cut must not hang.
func (w *wire) cutSoon() {
	if w != nil {
		time.AfterFunc(2*time.Second, func() { w.end(false) })
	}
}
