package bigquery

// The duty: three ports, said as one line of JSON; it ends with standard input.

import (
	"encoding/json"
	"flag"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc"
)

const receiveBytesMax = 64 << 20

// Main serves until standard input ends.
func Main(args []string) error {
	flags := flag.NewFlagSet("bigquery", flag.ContinueOnError)
	flags.String("dir", "", "taken as the other servers take it; nothing is written there")
	project := flags.String("project", "p", "the project of the first dataset")
	dataset := flags.String("dataset", "", "a dataset that is there from the beginning")
	if err := flags.Parse(args); err != nil {
		return err
	}
	s := New()
	if *dataset != "" {
		insertDataset(s, &restCall{project: *project, dataset: *dataset, body: map[string]any{}})
	}
	ports := map[string]int{}
	for name, serve := range map[string]func(net.Listener) error{
		"rest": serveHTTP(s), "control": serveHTTP(control{s}), "storage": s.serveStorage,
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		ports[name] = listener.Addr().(*net.TCPAddr).Port
		go serve(wiredListener{listener, s.wires})
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]any{"ports": ports}); err != nil {
		return err
	}
	io.Copy(io.Discard, os.Stdin)
	return nil
}

func serveHTTP(handler http.Handler) func(net.Listener) error {
	server := &http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0)}
	return func(listener net.Listener) error { return server.Serve(listener) }
}

func (s *Server) serveStorage(listener net.Listener) error {
	server := grpc.NewServer(grpc.MaxRecvMsgSize(receiveBytesMax), grpc.MaxConcurrentStreams(100),
		grpc.InitialWindowSize(8<<20), grpc.InitialConnWindowSize(16<<20))
	storagepb.RegisterBigQueryWriteServer(server, s)
	return server.Serve(listener)
}
