package bqclient

// managedwriter beside which the sink is measured: 1000 rows of 1 KiB a request on the default stream. It reads and maps
// nothing: each row is put together from a number and one text, which is the least that a row can cost.

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"cloud.google.com/go/bigquery/storage/managedwriter"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

var benchSchema = &descriptorpb.DescriptorProto{Name: proto.String("Row"), Field: []*descriptorpb.FieldDescriptorProto{
	{Name: proto.String("id"), Number: proto.Int32(1), Type: descriptorpb.FieldDescriptorProto_TYPE_INT64.Enum(), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()},
	{Name: proto.String("body"), Number: proto.Int32(2), Type: descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum(), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()},
}}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	of := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return of(usage.Utime) + of(usage.Stime)
}

func benchRows(from, count, size int) [][]byte {
	rows, body := make([][]byte, count), strings.Repeat("x", size-8)
	for i := range rows {
		row := make([]byte, 0, size+8)
		row = protowire.AppendVarint(protowire.AppendTag(row, 1, protowire.VarintType), uint64(from+i))
		rows[i] = protowire.AppendString(protowire.AppendTag(row, 2, protowire.BytesType), body)
	}
	return rows
}

// BenchMain appends and prints how long that took.
func BenchMain(args []string) error {
	flags := flag.NewFlagSet("bigquery-bench", flag.ContinueOnError)
	p := ports{}
	flags.IntVar(&p.storage, "storage", 0, "port of the Storage Write API")
	table := flags.String("table", "projects/p/datasets/d/tables/t", "its name in that API")
	count := flags.Int("count", 1000000, "rows")
	size := flags.Int("size", 1024, "bytes of each")
	inRequest := flags.Int("rows", 1000, "in a request")
	window := flags.Int("window", 32, "requests under way")
	isCommitted := flags.Bool("committed", false, "to a stream of its own, with offsets, which is finalized and its rows compared")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx := context.Background()
	client, err := p.writer(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	kind := managedwriter.DefaultStream
	if *isCommitted {
		kind = managedwriter.CommittedStream
	}
	stream, err := client.NewManagedStream(ctx, managedwriter.WithDestinationTable(*table), managedwriter.WithType(kind),
		managedwriter.WithSchemaDescriptor(benchSchema), managedwriter.WithMaxInflightRequests(*window))
	if err != nil {
		return err
	}
	begun, cpu, sent := time.Now(), cpuSeconds(), 0
	waiting := []*managedwriter.AppendResult{}
	for sent < *count || len(waiting) > 0 {
		if sent < *count && len(waiting) < *window {
			options := []managedwriter.AppendOption{}
			if *isCommitted {
				options = append(options, managedwriter.WithOffset(int64(sent)))
			}
			one := min(*inRequest, *count-sent)
			result, err := stream.AppendRows(ctx, benchRows(sent, one, *size), options...)
			if err != nil {
				return err
			}
			sent, waiting = sent+one, append(waiting, result)
			continue
		}
		if _, err := waiting[0].GetResult(ctx); err != nil {
			return err
		}
		waiting = waiting[1:]
	}
	if *isCommitted {
		if rows, err := stream.Finalize(ctx); err != nil || rows != int64(sent) {
			return fmt.Errorf("the stream has %d rows of %d: %v", rows, sent, err)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"messages": sent, "wall_s": time.Since(begun).Seconds(), "cpu_s": cpuSeconds() - cpu})
}
