package main

// grpc-go's client on an echo server: what the client in C is measured beside. One bidirectional stream a
// goroutine, so many messages under way on each.

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

func cpuSeconds() float64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	of := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return of(usage.Utime) + of(usage.Stime)
}

func echoStream(connection *grpc.ClientConn, count, size, window int) error {
	stream, err := connection.NewStream(context.Background(), &echoService.Streams[2], "/weir.test.Echo/Bidi")
	if err != nil {
		return err
	}
	out := &message{Value: pattern(1, size)}
	in := new(message)
	for i := range count + window {
		if i >= window {
			if err := stream.RecvMsg(in); err != nil {
				return err
			}
			if len(in.Value) != size {
				return os.ErrInvalid
			}
		}
		if i < count {
			if err := stream.SendMsg(out); err != nil {
				return err
			}
		}
	}
	return stream.CloseSend()
}

func benchMain(args []string) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	target := flags.String("target", "", "host:port")
	count := flags.Int("count", 1000000, "messages")
	size := flags.Int("size", 1024, "bytes of each")
	streams := flags.Int("streams", 4, "at once")
	window := flags.Int("window", 100, "messages under way on a stream")
	if err := flags.Parse(args); err != nil {
		return err
	}
	connection, err := grpc.NewClient(*target, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	begun, cpu := time.Now(), cpuSeconds()
	failures := make(chan error)
	for range *streams {
		go func() { failures <- echoStream(connection, *count / *streams, *size, *window) }()
	}
	for range *streams {
		if err := <-failures; err != nil {
			return err
		}
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"messages": *count / *streams * *streams,
		"wall_s": time.Since(begun).Seconds(), "cpu_s": cpuSeconds() - cpu})
}
