package pubsub

// One port for gRPC and REST, as Google's have it: how a connection begins tells which it is.

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"cloud.google.com/go/iam/apiv1/iampb"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"
)

const (
	requestBytes = 64 << 20
	window       = 8 << 20
	handshakeMax = 10 * time.Second
)

// peeked is a connection of which the beginning was read.
type peeked struct {
	net.Conn
	raw    net.Conn // under TLS
	before *bytes.Reader
	isTLS  bool
}

func (p *peeked) Read(to []byte) (int, error) {
	if p.before.Len() > 0 {
		return p.before.Read(to)
	}
	return p.Conn.Read(to)
}

// half is a listener that gets its connections from the front.
type half struct {
	net.Listener
	arrived chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func newHalf(of net.Listener) *half {
	return &half{Listener: of, arrived: make(chan net.Conn), closed: make(chan struct{})}
}

func (h *half) Accept() (net.Conn, error) {
	select {
	case connection := <-h.arrived:
		return connection, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

func (h *half) Close() error {
	h.once.Do(func() { close(h.closed) })
	return nil
}

// Serve answers on a listener until it is closed; with `config`, over TLS, where calls need a token if `token` judges them.
func (b *Broker) Serve(listener net.Listener, config *tls.Config) {
	ofGRPC, ofREST := newHalf(listener), newHalf(listener)
	defer ofGRPC.Close()
	defer ofREST.Close()
	go b.newServer().Serve(ofGRPC)
	go (&http.Server{Handler: b.restHandler(config != nil), ErrorLog: log.New(io.Discard, "", 0)}).Serve(ofREST)
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		go split(connection, config, ofGRPC, ofREST)
	}
}

func split(raw net.Conn, config *tls.Config, ofGRPC, ofREST *half) {
	connection := raw
	if config != nil {
		connection = tls.Server(raw, config)
	}
	raw.SetReadDeadline(time.Now().Add(handshakeMax))
	begin := make([]byte, 4)
	if _, err := io.ReadFull(connection, begin); err != nil {
		connection.Close()
		return
	}
	raw.SetReadDeadline(time.Time{})
	to := ofREST
	if string(begin) == "PRI " {
		to = ofGRPC
	}
	select {
	case to.arrived <- &peeked{connection, raw, bytes.NewReader(begin), config != nil}:
	case <-to.closed:
		connection.Close()
	}
}

func (b *Broker) newServer() *grpc.Server {
	server := grpc.NewServer(grpc.Creds(wireCreds{}), grpc.MaxRecvMsgSize(requestBytes), grpc.MaxSendMsgSize(requestBytes),
		grpc.InitialWindowSize(window), grpc.InitialConnWindowSize(2*window), grpc.UnaryInterceptor(b.unary),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Millisecond, PermitWithoutStream: true}))
	pubsubpb.RegisterPublisherServer(server, publisher{Broker: b})
	pubsubpb.RegisterSubscriberServer(server, subscriber{Broker: b})
	iampb.RegisterIAMPolicyServer(server, policies{Broker: b})
	return server
}

// unary is around each call with one answer.
func (b *Broker) unary(ctx context.Context, in any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	method := info.FullMethod[strings.LastIndexByte(info.FullMethod, '/')+1:]
	if err := b.admit(ctx, method, in.(proto.Message)); err != nil {
		return nil, err
	}
	out, err := handler(ctx, in)
	if err != nil {
		return nil, err
	}
	if err := b.faults.behind(ctx, method, resourceOf(in)); err != nil {
		return nil, err
	}
	return out, nil
}

// UseTokens lets calls over TLS need a token that `judge` takes.
func (b *Broker) UseTokens(judge func(token string) bool) { b.access.token = judge }

func (a *access) checkToken(ctx context.Context) error {
	w := wireOf(ctx)
	if a.token == nil || w == nil || !w.isTLS {
		return nil
	}
	given, _ := metadata.FromIncomingContext(ctx)
	for _, value := range given.Get("authorization") {
		if token, is := strings.CutPrefix(value, "Bearer "); is && a.token(token) {
			return nil
		}
	}
	made, err := status.New(codes.Unauthenticated, "Request had invalid authentication credentials. Expected OAuth 2 access token, "+
		"login cookie or other valid authentication credential.").WithDetails(protoadapt.MessageV1Of(
		&errdetails.ErrorInfo{Reason: "ACCESS_TOKEN_EXPIRED", Domain: "googleapis.com", Metadata: map[string]string{"service": "pubsub.googleapis.com"}}))
	if err != nil {
		return err
	}
	return made.Err()
}

// policies answers which of the permissions asked about the caller has; what is not there gives none.
type policies struct {
	iampb.UnimplementedIAMPolicyServer
	*Broker
}

func (b policies) TestIamPermissions(_ context.Context, in *iampb.TestIamPermissionsRequest) (*iampb.TestIamPermissionsResponse, error) {
	out := &iampb.TestIamPermissionsResponse{}
	for _, permission := range in.Permissions {
		if b.exists(in.Resource) && b.access.may(permission, in.Resource) {
			out.Permissions = append(out.Permissions, permission)
		}
	}
	return out, nil
}

func (b *Broker) exists(name string) bool {
	b.lock.RLock()
	defer b.lock.RUnlock()
	return b.topics[name] != nil || b.subs[name] != nil || b.snapshots[name] != nil || strings.Count(name, "/") == 1
}
