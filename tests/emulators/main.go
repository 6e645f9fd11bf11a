// The test servers of weir, over Google's own grpc-go and protobuf: one program, one word a duty.
package main

import (
	"fmt"
	"os"
	"sort"

	"weir/tests/emulators/bigquery"
	"weir/tests/emulators/bqclient"
	"weir/tests/emulators/storage"
)

var duties = map[string]func(args []string) error{
	"echo":         echoMain,        // servers with faults by table, until standard input ends
	"proto":        protoMain,       // messages for the reader and writer in C, and judging them
	"bench":        benchMain,       // grpc-go's client against an echo server
	"pubsub":       pubsubMain,      // the stand-in of Pub/Sub
	"publish":      publishMain,     // a feed, by Google's client
	"receive":      receiveMain,     // a subscription to a file, by Google's client
	"pubsub-bench": pubsubBenchMain, // Google's client receives and acknowledges
	"pubsub-judge": pubsubJudgeMain, // Google's client drives the stand-in

	"bigquery":       bigquery.Main,      // the stand-in of BigQuery
	"bigquery-judge": bqclient.JudgeMain, // Google's clients against it
	"bigquery-read":  bqclient.ReadMain,  // a table to a file, by Google's client
	"bigquery-bench": bqclient.BenchMain, // managedwriter appends rows

	"storage":       storage.Main,      // the stand-in of Cloud Storage
	"storage-judge": storage.JudgeMain, // Google's client against it
}

func main() {
	if len(os.Args) > 1 {
		if duty, ok := duties[os.Args[1]]; ok {
			if err := duty(os.Args[2:]); err != nil {
				fmt.Fprintln(os.Stderr, "emulators:", err)
				os.Exit(1)
			}
			return
		}
	}
	words := []string{}
	for word := range duties {
		words = append(words, word)
	}
	sort.Strings(words)
	fmt.Fprintln(os.Stderr, "emulators: the first argument is one of", words)
	os.Exit(2)
}
