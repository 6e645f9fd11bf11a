package main

// The duty `pubsub`: the stand-in of Pub/Sub on ports of its own, with the word of a test at `control`.

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"weir/tests/emulators/pubsub"
)

func pubsubMain(args []string) error {
	flags := flag.NewFlagSet("pubsub", flag.ContinueOnError)
	folder := flags.String("dir", "", "where ca.pem and files of credentials are written")
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
	broker := pubsub.NewBroker()
	broker.UseTokens(tokens.takes)
	s := &servers{ports: map[string]int{}, pki: made, tokens: tokens}
	certificates := newCertificates(made)
	for name, serve := range map[string]func(net.Listener){
		"plain":   func(listener net.Listener) { broker.Serve(listener, nil) },
		"tls":     func(listener net.Listener) { broker.Serve(listener, certificates.config()) },
		"control": httpOn(withCertificates(broker.Control(), certificates), nil),
		"tokens":  httpOn(tokens, nil),
	} {
		if err := s.add(name, serve); err != nil {
			return err
		}
	}
	if err := tokens.writeFiles(*folder, fmt.Sprintf("http://127.0.0.1:%d", s.ports["tokens"])); err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]any{"ports": s.ports, "ca": made.file}); err != nil {
		return err
	}
	io.Copy(io.Discard, os.Stdin)
	return nil
}

// withCertificates adds POST /certificate?is=WORD to what the control does.
func withCertificates(control http.Handler, c *certificates) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/certificate" {
			control.ServeHTTP(w, r)
		} else if word := r.URL.Query().Get("is"); c.use(word) {
			say(w, 200, map[string]any{})
		} else {
			say(w, 400, map[string]any{"error": "no such certificate: " + word})
		}
	})
}

// takes tells whether a token is good: one of ours that is not over, or a claim signed by the account itself.
func (s *tokenServer) takes(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, isKnown := s.grants[token]
	if !isKnown && strings.Count(token, ".") == 2 {
		_, wrong := s.checkJWT(token)
		known, isKnown = grant{time.Now().Add(time.Hour), "signed"}, wrong == "" && !s.revoked
	}
	isTaken := isKnown && time.Now().Before(known.ends) && !s.deaf
	if isTaken {
		s.counts["taken "+known.kind]++
	} else {
		s.counts["not taken"]++
	}
	return isTaken
}
