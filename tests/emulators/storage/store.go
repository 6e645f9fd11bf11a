// Package storage is the stand-in of Cloud Storage: buckets, objects and their generations in memory, the JSON API over
// HTTP/1.1, and faults that a test asks for.
package storage

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"sort"
	"strconv"
	"sync"
	"time"
)

type object struct {
	bucket, name, contentType string
	generation                int64
	content                   []byte
	metadata                  map[string]string
	created                   time.Time
}

// Store is all that one stand-in has.
type Store struct {
	mu         sync.Mutex
	buckets    map[string]map[string]*object
	sessions   map[string]*session
	generation int64
	faults     []*fault
	counts     map[string]int
}

// New is a store without a bucket.
func New() *Store {
	return &Store{buckets: map[string]map[string]*object{}, sessions: map[string]*session{}, counts: map[string]int{},
		generation: time.Now().UnixMicro()}
}

func (s *Store) makeBucket(name string) {
	if s.buckets[name] == nil {
		s.buckets[name] = map[string]*object{}
	}
}

// put replaces; whether it may has been asked before.
func (s *Store) put(bucket, name, contentType string, content []byte, metadata map[string]string) *object {
	s.generation++
	made := &object{bucket: bucket, name: name, contentType: contentType, generation: s.generation, content: content,
		metadata: metadata, created: time.Now().UTC()}
	s.buckets[bucket][name] = made
	return made
}

// names are sorted by their bytes, as the service lists them.
func (s *Store) names(bucket string) []string {
	names := make([]string, 0, len(s.buckets[bucket]))
	for name := range s.buckets[bucket] {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// crc32c is written as the service writes it: four bytes, big endian, in base64.
func crc32c(content []byte) string {
	sum := binary.BigEndian.AppendUint32(nil, crc32.Checksum(content, crc32.MakeTable(crc32.Castagnoli)))
	return base64.StdEncoding.EncodeToString(sum)
}

func md5Of(content []byte) string {
	sum := md5.Sum(content)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// resource is the object as the API shows it: numbers of 64 bits are text.
func (o *object) resource() map[string]any {
	at := o.created.Format("2006-01-02T15:04:05.000Z")
	said := map[string]any{"kind": "storage#object", "id": o.bucket + "/" + o.name + "/" + strconv.FormatInt(o.generation, 10),
		"bucket": o.bucket, "name": o.name, "generation": strconv.FormatInt(o.generation, 10), "metageneration": "1",
		"size": strconv.Itoa(len(o.content)), "contentType": o.contentType, "storageClass": "STANDARD",
		"crc32c": crc32c(o.content), "md5Hash": md5Of(o.content), "timeCreated": at, "updated": at,
		"etag": "\"" + strconv.FormatInt(o.generation, 36) + "\""}
	if len(o.metadata) > 0 {
		said["metadata"] = o.metadata
	}
	return said
}
