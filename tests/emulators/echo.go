package main

// The echo service over grpc-go: what a well-behaved server of Google's own library does, and the faults
// that a handler can make. A call names its fault in the metadata "x-fault", as NAME or NAME:ARGUMENT.

import (
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

const messageLimit = 64 << 20

type message = wrapperspb.BytesValue

// faults of a handler: each runs before the call's own work and may end it.
var callFaults = map[string]func(ctx context.Context, argument string) error{
	"status":  faultStatus,
	"details": faultDetails,
	"hang":    faultHang,
	"late":    faultLate,
}

func faultStatus(_ context.Context, argument string) error {
	code, err := strconv.Atoi(argument)
	if err != nil {
		return status.Error(codes.InvalidArgument, "x-fault: "+err.Error())
	}
	return status.Error(codes.Code(code), "asked for: 100% \u00fcber\nnext line")
}

func faultDetails(context.Context, string) error {
	made, err := status.New(codes.ResourceExhausted, "all of them").WithDetails(
		protoadapt.MessageV1Of(&errdetails.ErrorInfo{Reason: "RATE_LIMIT_EXCEEDED", Domain: "weir.test",
			Metadata: map[string]string{"ack-1": "PERMANENT_FAILURE_INVALID_ACK_ID"}}),
		protoadapt.MessageV1Of(&errdetails.RetryInfo{RetryDelay: durationpb.New(1500 * time.Millisecond)}),
		protoadapt.MessageV1Of(&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{
			{Field: "name", Description: "is odd"}}}),
		protoadapt.MessageV1Of(&errdetails.QuotaFailure{Violations: []*errdetails.QuotaFailure_Violation{
			{Subject: "project:p", Description: "too many"}}}),
		protoadapt.MessageV1Of(&errdetails.PreconditionFailure{Violations: []*errdetails.PreconditionFailure_Violation{
			{Type: "TOS", Subject: "x", Description: "not accepted"}}}),
		protoadapt.MessageV1Of(&errdetails.ResourceInfo{ResourceType: "topic", ResourceName: "t-1"}),
		protoadapt.MessageV1Of(&errdetails.RequestInfo{RequestId: "r-7"}),
		protoadapt.MessageV1Of(&errdetails.Help{Links: []*errdetails.Help_Link{{Description: "d", Url: "https://example.com"}}}),
		protoadapt.MessageV1Of(&errdetails.DebugInfo{Detail: "passed over"}))
	if err != nil {
		return err
	}
	return made.Err()
}

func faultHang(ctx context.Context, _ string) error {
	<-ctx.Done()
	return status.FromContextError(ctx.Err()).Err()
}

func faultLate(_ context.Context, argument string) error {
	wait, err := time.ParseDuration(argument)
	if err != nil {
		return status.Error(codes.InvalidArgument, err.Error())
	}
	time.Sleep(wait)
	return nil
}

func first(ctx context.Context, name string) string {
	md, _ := metadata.FromIncomingContext(ctx)
	if values := md.Get(name); len(values) > 0 {
		return values[0]
	}
	return ""
}

func fault(ctx context.Context) error {
	name, argument, _ := strings.Cut(first(ctx, "x-fault"), ":")
	if made, ok := callFaults[name]; ok {
		return made(ctx, argument)
	}
	return nil
}

type echo struct{}

func (echo) unary(ctx context.Context, in *message) (*message, error) {
	if err := fault(ctx); err != nil {
		return nil, err
	}
	return in, nil
}

// pattern is the body of message `number`: the reader checks every byte.
func pattern(number, size int) []byte {
	bytes := make([]byte, size)
	for i := range bytes {
		bytes[i] = byte(number + i*7)
	}
	return bytes
}

// server answers "COUNT SIZE [PAUSE]" with so many messages of that size.
func (echo) server(stream grpc.ServerStream) error {
	in := new(message)
	if err := stream.RecvMsg(in); err != nil {
		return err
	}
	if err := fault(stream.Context()); err != nil {
		return err
	}
	var count, size int
	var pauseText string
	fmt.Sscan(string(in.Value), &count, &size, &pauseText)
	pause, _ := time.ParseDuration(pauseText)
	for i := range count {
		if err := stream.SendMsg(&message{Value: pattern(i, size)}); err != nil {
			return err
		}
		time.Sleep(pause)
	}
	return nil
}

// client answers with how many messages and bytes came, and their checksum.
func (echo) client(stream grpc.ServerStream) error {
	count, bytes, sum := 0, 0, crc32.NewIEEE()
	if err := fault(stream.Context()); err != nil {
		return err
	}
	for {
		in := new(message)
		err := stream.RecvMsg(in)
		if err == io.EOF {
			return stream.SendMsg(&message{Value: []byte(fmt.Sprintf("%d %d %08x", count, bytes, sum.Sum32()))})
		}
		if err != nil {
			return err
		}
		count++
		bytes += len(in.Value)
		sum.Write(in.Value)
	}
}

// bidi gives each message back; "end:N" ends the call after so many, although the client still sends.
func (echo) bidi(stream grpc.ServerStream) error {
	if err := fault(stream.Context()); err != nil {
		return err
	}
	name, argument, _ := strings.Cut(first(stream.Context(), "x-fault"), ":")
	left := -1
	if name == "end" {
		left, _ = strconv.Atoi(argument)
	}
	in := new(message)
	for ; left != 0; left-- {
		err := stream.RecvMsg(in)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err = stream.SendMsg(in); err != nil {
			return err
		}
	}
	return nil
}

func unaryHandler(srv any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	in := new(message)
	if err := decode(in); err != nil {
		return nil, err
	}
	return srv.(echo).unary(ctx, in)
}

func streamOf(name string, work func(echo, grpc.ServerStream) error) grpc.StreamDesc {
	return grpc.StreamDesc{StreamName: name, ServerStreams: true, ClientStreams: true,
		Handler: func(srv any, stream grpc.ServerStream) error { return work(srv.(echo), stream) }}
}

var echoService = grpc.ServiceDesc{
	ServiceName: "weir.test.Echo",
	HandlerType: (*any)(nil),
	Methods:     []grpc.MethodDesc{{MethodName: "Unary", Handler: unaryHandler}},
	Streams:     []grpc.StreamDesc{streamOf("Server", echo.server), streamOf("Client", echo.client), streamOf("Bidi", echo.bidi)},
}

func newEchoServer(options ...grpc.ServerOption) *grpc.Server {
	options = append(options, grpc.MaxRecvMsgSize(messageLimit), grpc.MaxSendMsgSize(messageLimit))
	server := grpc.NewServer(options...)
	server.RegisterService(&echoService, echo{})
	return server
}
