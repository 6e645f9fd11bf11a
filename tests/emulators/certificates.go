package main

// A port over TLS whose certificate a test can change while it is served: right, over, of another name, of nobody.

import (
	"crypto/tls"
	"sync/atomic"
	"time"
)

type certificates struct {
	made map[string]*tls.Config
	now  atomic.Pointer[tls.Config]
}

func newCertificates(p *pki) *certificates {
	c := &certificates{made: map[string]*tls.Config{
		"right":   p.config("localhost", time.Hour, true),
		"over":    p.config("localhost", -time.Hour, true),
		"name":    p.config("elsewhere.example", time.Hour, true),
		"unknown": p.config("localhost", time.Hour, false),
	}}
	c.use("right")
	return c
}

func (c *certificates) use(word string) bool {
	config, is := c.made[word]
	if is {
		c.now.Store(config)
	}
	return is
}

// config is of a port that serves gRPC and REST; connections that are open keep the certificate they have.
func (c *certificates) config() *tls.Config {
	return &tls.Config{NextProtos: []string{"h2", "http/1.1"}, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		return &c.now.Load().Certificates[0], nil
	}}
}
