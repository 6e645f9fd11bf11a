package storage

// The judge: Google's own client drives the stand-in, scenario by scenario; the first wrong answer ends one.

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"sort"
	"strings"

	"cloud.google.com/go/storage"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"

	"weir/tests/emulators/verdict"
)

type judge struct {
	ctx    context.Context
	bucket *storage.BucketHandle
	client *storage.Client
}

func statusOf(err error) int {
	var refused *googleapi.Error
	if errors.As(err, &refused) {
		return refused.Code
	}
	return 0
}

func (j *judge) write(object *storage.ObjectHandle, text string) error {
	w := object.NewWriter(j.ctx)
	w.ContentType, w.Metadata, w.ChunkSize = "application/json", map[string]string{"of": "judge"}, 0
	w.CRC32C, w.SendCRC32C = 0, false
	if _, err := io.WriteString(w, text); err != nil {
		return err
	}
	return w.Close()
}

func (j *judge) read(object *storage.ObjectHandle, offset, length int64) (string, error) {
	r, err := object.NewRangeReader(j.ctx, offset, length)
	if err != nil {
		return "", err
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	return string(text), err
}

func (j *judge) list(query *storage.Query) (names []string) {
	all := j.bucket.Objects(j.ctx, query)
	for {
		at, err := all.Next()
		if errors.Is(err, iterator.Done) {
			return names
		}
		verdict.Must(err)
		names = append(names, at.Prefix+at.Name)
	}
}

func judgeContents(j *judge) {
	for _, name := range []string{"a", "folder/b c", "folder/\u00e9?#%2F"} {
		object := j.bucket.Object(name)
		verdict.Must(j.write(object, "0123456789"))
		for _, part := range []struct {
			offset, length int64
			text           string
		}{{0, -1, "0123456789"}, {3, 4, "3456"}, {8, -1, "89"}, {-2, -1, "89"}} {
			text, err := j.read(object, part.offset, part.length)
			verdict.Must(err)
			verdict.Equal(name, text, part.text)
		}
		attrs, err := object.Attrs(j.ctx)
		verdict.Must(err)
		verdict.Equal("attributes", []any{attrs.Name, attrs.Size, attrs.ContentType, attrs.Metadata["of"]}, []any{name, int64(10), "application/json", "judge"})
	}
	_, err := j.read(j.bucket.Object("none"), 0, -1)
	verdict.Equal("an object that is not there", errors.Is(err, storage.ErrObjectNotExist), true)
	_, err = j.client.Bucket("none").Attrs(j.ctx)
	verdict.Equal("a bucket that is not there", errors.Is(err, storage.ErrBucketNotExist), true)
}

func judgeGenerations(j *judge) {
	object := j.bucket.Object("g")
	only := object.If(storage.Conditions{DoesNotExist: true})
	verdict.Must(j.write(only, "first"))
	verdict.Equal("written over", statusOf(j.write(only, "second")), http.StatusPreconditionFailed)
	attrs, err := object.Attrs(j.ctx)
	verdict.Must(err)
	first := attrs.Generation
	verdict.Must(j.write(object.If(storage.Conditions{GenerationMatch: first}), "second"))
	_, err = j.read(object.Generation(first), 0, -1)
	verdict.Equal("an older generation", errors.Is(err, storage.ErrObjectNotExist), true)
	verdict.Equal("removed as another", statusOf(object.If(storage.Conditions{GenerationMatch: first}).Delete(j.ctx)), http.StatusPreconditionFailed)
	verdict.Must(object.Delete(j.ctx))
	verdict.Equal("removed twice", errors.Is(object.Delete(j.ctx), storage.ErrObjectNotExist), true)
	verdict.Must(j.write(only, "third"))
}

func judgeLists(j *judge) {
	expected := []string{}
	for i := 0; i < 2345; i++ {
		name := fmt.Sprintf("many/%02d/%04d", i%7, i)
		verdict.Must(j.write(j.bucket.Object(name), "x"))
		expected = append(expected, name)
	}
	sort.Strings(expected)
	verdict.Equal("all pages", j.list(&storage.Query{Prefix: "many/"}), expected)
	verdict.Equal("folders", strings.Join(j.list(&storage.Query{Prefix: "many/", Delimiter: "/"}), " "), "many/00/ many/01/ many/02/ many/03/ many/04/ many/05/ many/06/")
	verdict.Equal("from", len(j.list(&storage.Query{Prefix: "many/", StartOffset: "many/06/"})), 335)
	verdict.Equal("none", len(j.list(&storage.Query{Prefix: "other/"})), 0)
}

// A connection that ends without an answer is no reason to try again for the client by itself.
func orEnds(err error) bool {
	return storage.ShouldRetry(err) || errors.Is(err, io.EOF)
}

// sessions: parts of 256 KiB, whole and cut ones, a session that may not write over.
func judgeSessions(j *judge) {
	for _, size := range []int{1, 256 << 10, 256<<10 + 1, 1 << 20, 3<<20 + 12345} {
		object := j.bucket.Object(fmt.Sprintf("large/%d", size)).Retryer(storage.WithErrorFunc(orEnds))
		text := strings.Repeat("0123456789", size/10+1)[:size]
		w := object.If(storage.Conditions{DoesNotExist: true}).NewWriter(j.ctx)
		w.ChunkSize, w.ContentType = 256<<10, "application/json"
		_, err := io.WriteString(w, text)
		verdict.Must(err)
		verdict.Must(w.Close())
		found, err := j.read(object, 0, -1)
		verdict.Must(err)
		verdict.Equal("contents", found == text, true)
		attrs, err := object.Attrs(j.ctx)
		verdict.Must(err)
		verdict.Equal("attributes", []any{attrs.Size, attrs.ContentType}, []any{int64(size), "application/json"})
		w = object.If(storage.Conditions{DoesNotExist: true}).NewWriter(j.ctx)
		w.ChunkSize = 256 << 10
		io.WriteString(w, text)
		verdict.Equal("written over", statusOf(w.Close()), http.StatusPreconditionFailed)
	}
}

var scenarios = map[string]func(*judge){"contents": judgeContents, "generations": judgeGenerations, "lists": judgeLists,
	"sessions": judgeSessions}

func (j *judge) run(name string) (err error) {
	defer func() {
		if found := verdict.Found(recover()); found != nil {
			err = fmt.Errorf("%s: %w", name, found)
		}
	}()
	scenarios[name](j)
	fmt.Println(name)
	return nil
}

// JudgeMain runs the scenarios that are named, each in the same bucket.
func JudgeMain(args []string) error {
	flags := flag.NewFlagSet("storage-judge", flag.ContinueOnError)
	port := flags.Int("rest", 0, "port of REST")
	bucket := flags.String("bucket", "judged", "a bucket that is there")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx := context.Background()
	client, err := storage.NewClient(ctx, option.WithoutAuthentication(), storage.WithJSONReads(),
		option.WithEndpoint(fmt.Sprintf("http://127.0.0.1:%d/storage/v1/", *port)))
	if err != nil {
		return err
	}
	j := &judge{ctx: ctx, client: client, bucket: client.Bucket(*bucket)}
	for _, name := range flags.Args() {
		if scenarios[name] == nil {
			return fmt.Errorf("no such scenario: %s", name)
		}
		if err := j.run(name); err != nil {
			return err
		}
	}
	return nil
}
