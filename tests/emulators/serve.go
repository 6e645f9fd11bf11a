package main

// Starting all servers: each listens on a port of its own on this machine; one line of JSON says which.

import (
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
)

func listen() (net.Listener, int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, 0, err
	}
	return listener, listener.Addr().(*net.TCPAddr).Port, nil
}

type servers struct {
	ports  map[string]int
	pki    *pki
	tokens *tokenServer
}

func (s *servers) add(name string, serve func(net.Listener)) error {
	listener, port, err := listen()
	if err != nil {
		return err
	}
	s.ports[name] = port
	go serve(listener)
	return nil
}

func grpcOn(options ...grpc.ServerOption) func(net.Listener) {
	return func(listener net.Listener) { newEchoServer(options...).Serve(listener) }
}

// restarting closes its connections again and again, politely: calls must not be lost by it.
func restarting() func(net.Listener) {
	return grpcOn(grpc.KeepaliveParams(keepalive.ServerParameters{
		MaxConnectionAge: 100 * time.Millisecond, MaxConnectionAgeGrace: 2 * time.Second}))
}

func tlsOn(config *tls.Config) func(net.Listener) {
	return grpcOn(grpc.Creds(credentials.NewTLS(config)))
}

func httpOn(handler http.Handler, config *tls.Config) func(net.Listener) {
	return func(listener net.Listener) {
		server := &http.Server{Handler: handler, TLSConfig: config, ErrorLog: quiet,
			TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){}} // HTTP/1.1 only
		if config != nil {
			server.ServeTLS(listener, "", "")
		} else {
			server.Serve(listener)
		}
	}
}

func (s *servers) start() error {
	strict := keepalive.EnforcementPolicy{MinTime: time.Hour, PermitWithoutStream: false}
	rest := restHandler()
	for name, serve := range map[string]func(net.Listener){
		"plain":       grpcOn(grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Millisecond})),
		"strict":      grpcOn(grpc.KeepaliveEnforcementPolicy(strict)),
		"few":         grpcOn(grpc.MaxConcurrentStreams(10)),
		"restarting":  restarting(),
		"tls":         tlsOn(s.pki.config("localhost", time.Hour, true)),
		"tls_name":    tlsOn(s.pki.config("elsewhere.example", time.Hour, true)),
		"tls_over":    tlsOn(s.pki.config("localhost", -time.Hour, true)),
		"tls_unknown": tlsOn(s.pki.config("localhost", time.Hour, false)),
		"tls_http1":   httpOn(rest, s.pki.http1("localhost")),
		"raw":         rawServe,
		"rest":        httpOn(rest, nil),
		"rest_tls":    httpOn(rest, s.pki.http1("localhost")),
		"rest_name":   httpOn(rest, s.pki.http1("elsewhere.example")),
		"proxy":       httpOn(proxyHandler{}, nil),
		"silent":      silentServe,
		"tokens":      httpOn(s.tokens, nil),
		"closed":      func(listener net.Listener) { listener.Close() },
	} {
		if err := s.add(name, serve); err != nil {
			return err
		}
	}
	return nil
}

// silentServe takes connections and says nothing, ever.
func silentServe(listener net.Listener) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		go io.Copy(io.Discard, connection)
	}
}

func echoMain(args []string) error {
	flags := flag.NewFlagSet("echo", flag.ContinueOnError)
	folder := flags.String("dir", "", "where ca.pem is written")
	if err := flags.Parse(args); err != nil {
		return err
	}
	made, err := newPKI(*folder)
	if err != nil {
		return err
	}
	tokens, err := newTokenServer()
	if err != nil {
		return err
	}
	s := &servers{ports: map[string]int{}, pki: made, tokens: tokens}
	if err := s.start(); err != nil {
		return err
	}
	if err := tokens.writeFiles(*folder, fmt.Sprintf("http://127.0.0.1:%d", s.ports["tokens"])); err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]any{"ports": s.ports, "ca": made.file}); err != nil {
		return err
	}
	// Whoever started us holds the other end: when it is gone, so are we.
	io.Copy(io.Discard, os.Stdin)
	return nil
}
