package pubsub

// Faults by table. A row names a method and a resource (or any), how many calls pass first and how many it then meets; its
// kind is a row of `kinds`, which says where it strikes: before the call's work, after it, or in the connection's frames.

import (
	"context"
	"strings"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"
)

type Fault struct {
	ID       int    `json:"id"`
	Method   string `json:"method"`   // "": all
	Resource string `json:"resource"` // "": all
	Kind     string `json:"kind"`
	Skip     int    `json:"skip"`
	Times    int    `json:"times"` // 0: until it is cleared
	// What the kinds need.
	Code          string `json:"code"` // of gRPC; UNAVAILABLE unless said
	Message       string `json:"message"`
	Reason        string `json:"reason"` // of an ErrorInfo, or of single ack ids
	RetryMS       int    `json:"retry_ms"`
	MS            int    `json:"ms"`
	AfterMessages int    `json:"after_messages"` // of a stream
	Bytes         int    `json:"bytes"`
	Every         int    `json:"every"`   // of the ids
	H2Code        uint32 `json:"h2_code"` // of a reset; INTERNAL_ERROR unless said

	Met int `json:"met"` // how many calls it met
}

type stage uint8

const (
	early stage = iota // before the work
	late               // after it: it is done, and not answered
	wired              // in the frames
	timed              // of a stream that is open
	ids                // single ack ids
)

var kinds = map[string]stage{
	"status":    early, // `code`, at once; of a stream with `after_messages` or `ms`: then
	"late":      early, // `ms` before the work
	"hang":      early, // no answer, ever
	"lost":      late,  // done, and answered with `code`
	"hang_done": late,  // done, and no answer
	"late_done": late,  // done, answered after `ms`
	"end":       timed, // a stream ends after `ms` or `after_messages` with `code` (OK too)
	"cut":       wired, // the connection is reset in the middle of a frame
	"reset":     wired, // RST_STREAM in the middle of a message
	"goaway":    wired, // GOAWAY, and the connection closes after `ms`
	"freeze":    wired, // nothing goes in or out for `ms` (0: until it is cleared)
	"drip":      wired, // `bytes` each `ms`, until it is cleared
	"ids":       ids,   // each `every`-th id fails with `reason`; exactly-once subscriptions only
}

type faults struct {
	lock  sync.Mutex
	rows  []*Fault
	next  int
	wires map[*wire]bool // that drip or are frozen
}

func newFaults() *faults { return &faults{wires: map[*wire]bool{}} }

func (f *faults) add(row *Fault) (int, error) {
	if _, is := kinds[row.Kind]; !is {
		return 0, invalid("there is no fault of kind '%s'", row.Kind)
	}
	if row.Code == "" {
		row.Code = "UNAVAILABLE"
	}
	if _, isCode := codeOf(row.Code); !isCode {
		return 0, invalid("there is no code '%s'", row.Code)
	}
	f.lock.Lock()
	defer f.lock.Unlock()
	f.next++
	row.ID = f.next
	f.rows = append(f.rows, row)
	return row.ID, nil
}

// clear removes one row, or with 0 all of them, and frees connections that are held.
func (f *faults) clear(id int) {
	f.lock.Lock()
	defer f.lock.Unlock()
	left := []*Fault{}
	for _, row := range f.rows {
		if id != 0 && row.ID != id {
			left = append(left, row)
		}
	}
	f.rows = left
	for w := range f.wires {
		w.free()
	}
	f.wires = map[*wire]bool{}
}

func (f *faults) said() []Fault {
	f.lock.Lock()
	defer f.lock.Unlock()
	made := []Fault{}
	for _, row := range f.rows {
		made = append(made, *row)
	}
	return made
}

// isOfStream: a status that comes when the stream is open.
func (row *Fault) isOfStream() bool {
	return row.AfterMessages > 0 || row.Kind == "status" && row.MS > 0
}

func (row *Fault) stage(method string) stage {
	at := kinds[row.Kind]
	if method == "StreamingPull" && (at == early && row.isOfStream() || at == wired) {
		return timed
	}
	return at
}

// meet gives the rows of these stages that meet a call.
func (f *faults) meet(method, resource string, stages ...stage) []Fault {
	f.lock.Lock()
	defer f.lock.Unlock()
	var met []Fault
	for _, row := range f.rows {
		if row.Method != "" && row.Method != method || row.Resource != "" && row.Resource != resource {
			continue
		}
		for _, at := range stages {
			if row.stage(method) == at && row.counts() {
				met = append(met, *row)
			}
		}
	}
	return met
}

func (row *Fault) counts() bool {
	if row.Skip > 0 {
		row.Skip--
		return false
	}
	if row.Times > 0 && row.Met >= row.Times {
		return false
	}
	row.Met++
	return true
}

func codeOf(name string) (codes.Code, bool) {
	var code codes.Code
	err := code.UnmarshalJSON([]byte(`"` + strings.ToUpper(name) + `"`))
	return code, err == nil
}

// err is the row's status; nil for OK.
func (row *Fault) err() error {
	code, _ := codeOf(row.Code)
	text := row.Message
	if text == "" {
		text = "The service was unable to fulfill your request. Please try again. [code=8a75]"
	}
	made := status.New(code, text)
	if code != codes.OK && (row.Reason != "" || row.RetryMS > 0) {
		details := []protoadapt.MessageV1{}
		if row.Reason != "" {
			details = append(details, protoadapt.MessageV1Of(&errdetails.ErrorInfo{Reason: row.Reason, Domain: "googleapis.com"}))
		}
		if row.RetryMS > 0 {
			wait := durationpb.New(time.Duration(row.RetryMS) * time.Millisecond)
			details = append(details, protoadapt.MessageV1Of(&errdetails.RetryInfo{RetryDelay: wait}))
		}
		if with, err := made.WithDetails(details...); err == nil {
			made = with
		}
	}
	return made.Err()
}

func rest(ctx context.Context, ms int) error {
	select {
	case <-time.After(time.Duration(ms) * time.Millisecond):
		return nil
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
}

// before is met by a call when it comes in.
func (f *faults) before(ctx context.Context, method, resource string) error {
	for _, row := range f.meet(method, resource, early, wired) {
		if kinds[row.Kind] == wired {
			f.strike(ctx, row)
			continue
		}
		err := error(nil)
		switch row.Kind {
		case "status":
			err = row.err()
		case "late":
			err = rest(ctx, row.MS)
		case "hang":
			<-ctx.Done()
			err = status.FromContextError(ctx.Err()).Err()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// behind is met by a call that is done; it may get another answer for it.
func (f *faults) behind(ctx context.Context, method, resource string) error {
	for _, row := range f.meet(method, resource, late) {
		switch row.Kind {
		case "lost":
			return row.err()
		case "late_done":
			if err := rest(ctx, row.MS); err != nil {
				return err
			}
		case "hang_done":
			<-ctx.Done()
			return status.FromContextError(ctx.Err()).Err()
		}
	}
	return nil
}

// strike arms the call's connection.
func (f *faults) strike(ctx context.Context, row Fault) {
	w := wireOf(ctx)
	if w == nil {
		return
	}
	if row.Kind == "freeze" || row.Kind == "drip" {
		f.lock.Lock()
		f.wires[w] = true
		f.lock.Unlock()
	}
	w.arm(row)
}

// amid are the faults of one stream.
type amid struct {
	faults *faults
	rows   []Fault
	sent   int
	ends   *Fault // by time
}

func (f *faults) amid(ctx context.Context, method, resource string) *amid {
	a := &amid{faults: f}
	for _, row := range f.meet(method, resource, timed) {
		switch {
		case row.AfterMessages > 0:
			a.rows = append(a.rows, row)
		case kinds[row.Kind] == wired:
			f.strike(ctx, row)
		case a.ends == nil || row.MS < a.ends.MS:
			ends := row
			a.ends = &ends
		}
	}
	return a
}

func (a *amid) after() time.Duration {
	if a.ends == nil {
		return 0
	}
	return max(time.Duration(a.ends.MS)*time.Millisecond, 1)
}

func (a *amid) end() error { return a.ends.err() }

// strike comes before `count` messages are sent. False: the stream ends with the error.
func (a *amid) strike(ctx context.Context, count int) (error, bool) {
	left := a.rows[:0]
	defer func() { a.rows = left }()
	a.sent += count
	for _, row := range a.rows {
		if a.sent <= row.AfterMessages {
			left = append(left, row)
		} else if kinds[row.Kind] == wired {
			a.faults.strike(ctx, row)
		} else {
			return row.err(), false
		}
	}
	return nil, true
}
