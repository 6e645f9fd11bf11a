package bigquery

// Faults: rules by table and method, each for some requests or some seconds of the server's clock.

import (
	"strings"
	"sync"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc/codes"
)

// A fault as it is given to /faults. What is done before a request's own work ends it; lost, cut and slow come after.
type fault struct {
	Table       string  `json:"table"`         // "dataset.table", "dataset.*", "*" (also empty)
	Method      string  `json:"method"`        // "AppendRows", "insertAll", "tables.get", ..., "*" (also empty)
	Kind        string  `json:"kind"`          // a word of faultKinds or of faultWords; "drop" drops the table before the request
	Skip        int     `json:"skip"`          // requests that pass before
	Times       int     `json:"times"`         // requests that it hits; 0: any number
	Seconds     float64 `json:"seconds"`       // of the server's clock, from the moment it is given; 0: for ever
	Code        int     `json:"code"`          // of gRPC
	Status      int     `json:"status"`        // of HTTP
	Reason      string  `json:"reason"`        // of REST
	Message     string  `json:"message"`       // words
	RetryAfter  float64 `json:"retry_after_s"` // RetryInfo, or Retry-After
	StorageCode int     `json:"storage_code"`  // a StorageError beside the status
	Rows        []int   `json:"rows"`          // "row": indexes in the request; empty: all
	Column      string  `json:"column"`        // "row": those whose column holds ...
	Value       string  `json:"value"`         // ... this, in canonical text
	Bytes       int     `json:"bytes"`         // "cut": written of the answer before the end
	Delay       float64 `json:"delay_ms"`      // "slow"

	until  time.Time
	hits   int
	lifted chan struct{} // closed when the faults are
}

// What a fault does. Those in the other table are a status by a name that people use.
var faultKinds = map[string]bool{"row": true, "status": true, "in_band": true, "abort": true, "hang": true, "close": true,
	"cut": true, "lost": true, "slow": true, "page": true, "drop": true}

var faultWords = map[string]struct{ kind, reason, message string }{
	"quota":           {"status", "quotaExceeded", "Exceeded quota for this project and region"},
	"rate":            {"status", "rateLimitExceeded", "Exceeded rate limits: too many requests for this table"},
	"backend":         {"status", "backendError", "Error encountered during execution. Retrying may solve the problem."},
	"internal":        {"status", "internalError", "An internal error occurred and the request could not be completed"},
	"denied":          {"status", "accessDenied", "Access Denied: the caller has no permission here (or it may not exist)"},
	"billing":         {"status", "billingNotEnabled", "Billing has not been enabled for this project"},
	"missing":         {"status", "notFound", "Not found: it is not there"},
	"unauthenticated": {"status", "authError", "Request had invalid authentication credentials"},
	"invalid":         {"status", "invalid", "Request contains an invalid argument"},
}

type faultList struct {
	mu  sync.Mutex
	all []*fault
}

func (l *faultList) clear() {
	l.mu.Lock()
	for _, f := range l.all {
		close(f.lifted)
	}
	l.all = nil
	l.mu.Unlock()
}

func (l *faultList) add(f *fault, now time.Time) *failure {
	if word, ok := faultWords[f.Kind]; ok {
		f.Kind, f.Reason = word.kind, word.reason
		if f.Message == "" {
			f.Message = word.message
		}
	}
	if !faultKinds[f.Kind] {
		return fail("invalid", "there is no fault %s", f.Kind)
	}
	if _, ok := reasons[f.Reason]; !ok && f.Reason != "" && f.Status == 0 {
		return fail("invalid", "the reason %s needs a status", f.Reason)
	}
	if f.Seconds > 0 {
		f.until = now.Add(seconds(f.Seconds))
	}
	f.lifted = make(chan struct{})
	l.mu.Lock()
	l.all = append(l.all, f)
	l.mu.Unlock()
	return nil
}

// find gives the first fault that hits this request, and counts it.
func (l *faultList) find(method, dataset, table string, now time.Time) *fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.all {
		if !f.isAbout(method, dataset, table) || !f.until.IsZero() && now.After(f.until) {
			continue
		}
		f.hits++
		if f.hits > f.Skip && (f.Times == 0 || f.hits <= f.Skip+f.Times) {
			return f
		}
	}
	return nil
}

func (f *fault) isAbout(method, dataset, table string) bool {
	if f.Method != "" && f.Method != "*" && f.Method != method {
		return false
	}
	of, isAll := strings.CutSuffix(f.Table, ".*")
	return f.Table == "" || f.Table == "*" || isAll && of == dataset || f.Table == dataset+"."+table
}

// failure is the status that the fault asks for, in both tongues.
func (f *fault) failure() *failure {
	reason := f.Reason
	if reason == "" {
		reason = "backendError"
	}
	made := fail(reason, "%s", f.Message)
	made.reason = reason
	if f.Message == "" {
		made.message = "asked for " + reason
	}
	if f.Status != 0 {
		made.http = f.Status
	}
	if f.Code != 0 {
		made.code = codes.Code(f.Code)
	}
	made.storage = storagepb.StorageError_StorageErrorCode(f.StorageCode)
	made.retryAfter = f.RetryAfter
	return made
}

// hitsRow says whether a fault of rows means the one at an index.
func (f *fault) hitsRow(index int, made record, fields []*field) bool {
	if f.Column != "" {
		about := find(fields, f.Column)
		return about != nil && canonical(about, made[about.key]) == any(f.Value)
	}
	for _, one := range f.Rows {
		if one == index {
			return true
		}
	}
	return len(f.Rows) == 0
}

func (f *fault) rowMessage() string {
	if f.Message == "" {
		return "asked for a bad row"
	}
	return f.Message
}
