package main

// A certificate authority of the run: its file is what clients are told to trust.

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

var quiet = log.New(io.Discard, "", 0)

type pki struct {
	file  string
	roots [2]*x509.Certificate // the second is in no file
	keys  [2]*ecdsa.PrivateKey
}

func newPKI(folder string) (*pki, error) {
	p := &pki{file: filepath.Join(folder, "ca.pem")}
	for i := range p.roots {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return nil, err
		}
		template := &x509.Certificate{SerialNumber: big.NewInt(int64(i + 1)), Subject: pkix.Name{CommonName: "weir test CA"},
			NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true,
			BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
		der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
		if err != nil {
			return nil, err
		}
		if p.roots[i], err = x509.ParseCertificate(der); err != nil {
			return nil, err
		}
		p.keys[i] = key
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.roots[0].Raw})
	return p, os.WriteFile(p.file, text, 0o600)
}

// config is a server's, with a certificate for `host` and this machine's addresses.
func (p *pki) config(host string, life time.Duration, isKnown bool) *tls.Config {
	which := 0
	if !isKnown {
		which = 1
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: host},
		NotBefore: time.Now().Add(-20 * time.Hour), NotAfter: time.Now().Add(life), DNSNames: []string{host},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	if host == "localhost" {
		template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, p.roots[which], &key.PublicKey, p.keys[which])
	if err != nil {
		log.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, NextProtos: []string{"h2"}}
}

// http1 offers no protocol, as servers do that know none but HTTP/1.1.
func (p *pki) http1(host string) *tls.Config {
	config := p.config(host, time.Hour, true)
	config.NextProtos = nil
	return config
}
