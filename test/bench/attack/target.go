package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"k8s.io/client-go/rest"
)

// The server, and how it lets one in.
type target struct {
	address string
	token   string
	tls     *tls.Config
}

func targetOf(config *rest.Config) (*target, error) {
	where, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(where.Hostname()); where.Scheme != "https" || ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("%q is no server with TLS on this machine", config.Host)
	}
	settings, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, err
	}
	settings.NextProtos = nil
	settings.ServerName = where.Hostname()
	return &target{address: where.Host, token: config.BearerToken, tls: settings}, nil
}

func (t *target) plain(ctx context.Context) (net.Conn, error) {
	dialer := net.Dialer{Timeout: 5 * time.Second}
	return dialer.DialContext(ctx, "tcp", t.address)
}

// connect makes a connection that closes with ctx.
func (t *target) connect(ctx context.Context) (net.Conn, error) {
	plain, err := t.plain(ctx)
	if err != nil {
		return nil, err
	}
	connection := tls.Client(plain, t.tls)
	context.AfterFunc(ctx, func() { _ = plain.Close() })
	if err := connection.HandshakeContext(ctx); err != nil {
		_ = plain.Close()
		return nil, err
	}
	return connection, nil
}

// head is a request up to its body. An empty token: of nobody.
func (t *target) head(method, path, token, more string) string {
	text := method + " " + path + " HTTP/1.1\r\nHost: " + t.address + "\r\n"
	if token != "" {
		text += "Authorization: Bearer " + token + "\r\n"
	}
	return text + more
}

// client keeps one connection. One user of it at a time.
type client struct {
	target     *target
	connection net.Conn
	reader     *bufio.Reader
}

// do sends a request, and again over a new connection when the server had closed the old one. It returns the body.
func (c *client) do(ctx context.Context, method, path, contentType string, body []byte) (int, []byte, error) {
	old := c.connection != nil
	code, answer, err := c.once(ctx, method, path, contentType, body)
	if err != nil && old && ctx.Err() == nil {
		code, answer, err = c.once(ctx, method, path, contentType, body)
	}
	return code, answer, err
}

func (c *client) once(ctx context.Context, method, path, contentType string, body []byte) (int, []byte, error) {
	response, err := c.send(ctx, method, path, contentType, body)
	if err != nil {
		return 0, nil, err
	}
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.Close {
		c.close()
	}
	return response.StatusCode, answer, err
}

// send leaves the body of the answer to be read.
func (c *client) send(ctx context.Context, method, path, contentType string, body []byte) (*http.Response, error) {
	if c.connection == nil {
		connection, err := c.target.connect(ctx)
		if err != nil {
			return nil, err
		}
		c.connection, c.reader = connection, bufio.NewReader(connection)
	}
	more := ""
	if body != nil {
		more = fmt.Sprintf("Content-Type: %s\r\nContent-Length: %d\r\n", contentType, len(body))
	}
	_ = c.connection.SetDeadline(time.Now().Add(70 * time.Second))
	if _, err := c.connection.Write(append([]byte(c.target.head(method, path, c.target.token, more+"\r\n")), body...)); err != nil {
		c.close()
		return nil, err
	}
	response, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		c.close()
	}
	return response, err
}

func (c *client) close() {
	if c.connection != nil {
		_ = c.connection.Close()
		c.connection = nil
	}
}
