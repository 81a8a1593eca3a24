package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"kubexx.example/bench/internal/measure"
)

// batch is how much is written at once: a server that has more to send than its client takes fills its buffers, too.
const batch = 32 << 10

type server struct {
	options
	protobuf, json *podSet
}

func serve(o options) error {
	s := &server{options: o}
	var err error
	if s.protobuf, err = loadTemplates(o.templates, false, o.rare); err != nil {
		return err
	}
	if s.json, err = loadTemplates(o.templates, true, o.rare); err != nil {
		return err
	}
	certificate, ca, err := newCertificate()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := writeKubeconfig(o.kubeconfig, "https://"+listener.Addr().String(), ca); err != nil {
		return err
	}
	web := &http.Server{
		Handler:   s,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}},
		ErrorLog:  log.New(io.Discard, "", 0), // clients that leave in the middle of a watch
	}
	fmt.Println("ready")
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	return web.ServeTLS(listener, "", "")
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/api/v1/pods" {
		http.Error(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`, http.StatusNotFound)
		return
	}
	pods, kind := s.json, "application/json"
	if strings.Contains(r.Header.Get("Accept"), "protobuf") {
		pods, kind = s.protobuf, "application/vnd.kubernetes.protobuf"
	}
	query := r.URL.Query()
	began, cpu := time.Now(), measure.CPUSeconds()
	out := &stream{w: w, pods: pods}
	if isTrue(query.Get("watch")) {
		if !pods.json {
			kind += ";stream=watch"
		}
		w.Header().Set("Content-Type", kind)
		s.watch(r, out, isTrue(query.Get("sendInitialEvents")))
	} else {
		w.Header().Set("Content-Type", kind)
		s.list(query.Get("limit"), query.Get("continue"), out)
	}
	report(r, out, time.Since(began)-out.waited, measure.CPUSeconds()-cpu)
}

func isTrue(text string) bool { return text == "true" || text == "1" }

// report says what a request cost the server, so that it can be seen not to have held its client up.
func report(r *http.Request, out *stream, wall time.Duration, cpu float64) {
	line := map[string]any{
		"program": "replay", "command": "serve", "protocol": r.Proto, "json": out.pods.json, "objects": out.objects, "mb": measure.Round(float64(out.bytes)/1e6, 1),
		"wall_s": measure.Round(wall.Seconds(), 3), "cpu_s": measure.Round(cpu, 3),
		"blocked_s": measure.Round(out.blocked.Seconds(), 3), // writing: waiting for the client, mostly
	}
	if cpu > 0 {
		line["objects_per_cpu_s"] = measure.Round(float64(out.objects)/cpu, 0)
	}
	measure.Print(line)
}

// stream gathers what is to be sent. Its methods return false when the client is gone.
type stream struct {
	w       http.ResponseWriter
	pods    *podSet
	buffer  []byte
	objects int
	bytes   int64
	blocked time.Duration
	waited  time.Duration
}

func (s *stream) full() bool { return len(s.buffer) >= batch }

func (s *stream) flush() bool {
	began := time.Now()
	_, err := s.w.Write(s.buffer)
	if err == nil {
		err = http.NewResponseController(s.w).Flush()
	}
	s.blocked += time.Since(began)
	s.bytes += int64(len(s.buffer))
	s.buffer = s.buffer[:0]
	return err == nil
}

func (s *server) list(limit, from string, out *stream) {
	p := page{to: s.objects, of: s.objects}
	p.from, _ = strconv.Atoi(from)
	if n, _ := strconv.Atoi(limit); n > 0 {
		p.to = min(p.to, p.from+n)
	}
	out.buffer = out.pods.appendListHead(out.buffer, p)
	for i := p.from; i < p.to; i++ {
		out.buffer = out.pods.appendItem(out.buffer, p, i)
		out.objects++
		if out.full() && !out.flush() {
			return
		}
	}
	out.buffer = out.pods.appendListTail(out.buffer)
	out.flush()
}

func (s *server) watch(r *http.Request, out *stream, initial bool) {
	if initial {
		for i := range s.objects {
			out.buffer = out.pods.appendEvent(out.buffer, added, i, 0)
			out.objects++
			if out.full() && !out.flush() {
				return
			}
		}
		out.buffer = out.pods.appendInitialEnd(out.buffer, 0)
	}
	if !out.flush() {
		return
	}
	out.waited = s.pause
	select {
	case <-time.After(s.pause):
	case <-r.Context().Done():
		return
	}
	s.update(out)
	began := time.Now()
	<-r.Context().Done()
	out.waited += time.Since(began)
}

func (s *server) update(out *stream) {
	for revision := 1; revision <= s.events; revision++ {
		pod := revision % s.busy
		if s.random {
			order := random(revision)
			pod = int(order.next() % uint64(s.busy))
		}
		out.buffer = out.pods.appendEvent(out.buffer, modified, pod, revision)
		out.objects++
		if out.full() && !out.flush() {
			return
		}
	}
	out.flush()
}

// newCertificate makes an authority, and a certificate by it for 127.0.0.1: rustls takes no authority for a server.
func newCertificate() (tls.Certificate, []byte, error) {
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kubexx-replay authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(30 * 24 * time.Hour),
		KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: true,
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "kubexx-replay"},
		NotBefore: authority.NotBefore, NotAfter: authority.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
	}
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	ca, err := x509.CreateCertificate(rand.Reader, authority, authority, &authorityKey.PublicKey, authorityKey)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, about, authority, &key.PublicKey, authorityKey)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	caText := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca})
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, caText, nil
}

func writeKubeconfig(file, address string, ca []byte) error {
	if file == "" {
		return fmt.Errorf("--kubeconfig is needed: where to write how to reach this server")
	}
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: replay, cluster: {server: %q, certificate-authority-data: %s}}]
users: [{name: nobody, user: {}}]
contexts: [{name: replay, context: {cluster: replay, user: nobody}}]
current-context: replay
`, address, base64.StdEncoding.EncodeToString(ca))
	return os.WriteFile(file, []byte(text), 0o600)
}
