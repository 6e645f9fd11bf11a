// Package bigquery is a stand-in of BigQuery: REST and the Storage Write API over one set of tables, with faults by table.
package bigquery

import (
	"sync"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
)

// Server is the state of both services.
type Server struct {
	storagepb.UnimplementedBigQueryWriteServer

	mu       sync.Mutex // of everything below; waits are outside of it
	clock    *clock
	settings settings
	datasets map[string]*dataset // "project:dataset"
	ghosts   []*table            // dropped, for those that still write to them
	streams  map[string]*writeStream
	denied   map[string][]string // permissions that are not given, by "dataset", "dataset.table" or "*"
	faults   faultList
	counts   *counts
	wires    *wires
	next     int64 // of names of streams
}

// settings are the server's habits; each may be changed at /settings.
type settings struct {
	SchemaDelay    float64 `json:"schema_delay_s"`    // until a new column may be written
	CreateDelay    float64 `json:"create_delay_s"`    // until a new table may be written
	GhostTime      float64 `json:"ghost_s"`           // that long a dropped table takes rows, which nobody sees again
	IdleTime       float64 `json:"idle_s"`            // AppendRows ends with ABORTED after it
	StreamTime     float64 `json:"stream_s"`          // a committed stream without traffic is gone after it
	BufferTime     float64 `json:"buffer_s"`          // rows of insertAll stand in the streaming buffer
	DedupeTime     float64 `json:"dedupe_s"`          // insertIds are remembered
	TombstoneTime  float64 `json:"tombstone_s"`       // deletes of CDC are remembered
	ListHidden     bool    `json:"list_hides_buffer"` // tabledata.list shows no row of the streaming buffer
	TakesUnknown   bool    `json:"takes_unknown"`     // unknown fields of a serialized row are left out instead of refused
	FirstWins      bool    `json:"first_wins"`        // of rows with one key in one request, without sequence numbers
	EntityInBand   bool    `json:"entity_in_band"`    // a table that is missing or closed is said in band, on every connection
	RowErrorsMax   int     `json:"row_errors_max"`    // a longer list is cut
	AnswerDelay    float64 `json:"answer_ms"`         // of AppendRows and insertAll
	WantsRouting   bool    `json:"wants_routing"`     // outside of US a call must say in x-goog-request-params what it is about; the Go client does not in AppendRows
	RejectsUnnamed bool    `json:"rejects_unnamed"`   // AppendRows without write_stream is refused on every request
}

func defaults() settings {
	return settings{IdleTime: 600, StreamTime: 3 * 86400, BufferTime: 90 * 60, DedupeTime: 60, TombstoneTime: 2 * 86400,
		FirstWins: true, RowErrorsMax: 10000}
}

// New makes an empty server.
func New() *Server {
	s := &Server{clock: newClock(), wires: newWires(), counts: newCounts()}
	s.reset()
	return s
}

func (s *Server) reset() {
	s.settings = defaults()
	s.datasets = map[string]*dataset{}
	s.streams = map[string]*writeStream{}
	s.ghosts = nil
	s.denied = map[string][]string{}
	s.faults.clear()
	s.counts.clear()
}

// lacks says whether a permission is withheld on the table, its dataset or everything.
func (s *Server) lacks(permission, dataset, table string) bool {
	for _, on := range []string{"*", dataset, dataset + "." + table} {
		for _, denied := range s.denied[on] {
			if denied == permission || denied == "*" {
				return true
			}
		}
	}
	return false
}
