package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Many that do the same until a time is over.
type crowd struct {
	tries atomic.Int64
	done  sync.WaitGroup
}

// Those with a connection come one after the other: what is measured is what they do, not the handshakes of all at once.
const between = 2 * time.Millisecond

// repeat lets each of `count` do it again and again, with a pause between.
func repeat(ctx context.Context, count int, pause time.Duration, do func(ctx context.Context, i int)) *crowd {
	return repeatLater(ctx, count, 0, pause, do)
}

// repeatLater lets each begin `later` than the one before.
func repeatLater(ctx context.Context, count int, later, pause time.Duration, do func(ctx context.Context, i int)) *crowd {
	c := &crowd{}
	for i := range count {
		c.done.Add(1)
		go func() {
			defer c.done.Done()
			sleep(ctx, time.Duration(i)*later)
			for ctx.Err() == nil {
				do(ctx, i)
				c.tries.Add(1)
				sleep(ctx, pause)
			}
		}()
	}
	return c
}

// repeatWith gives each of `count` a client, and lets it do it again and again.
func repeatWith(ctx context.Context, t *target, count int, do func(ctx context.Context, c *client)) *crowd {
	clients := make([]client, count)
	return repeatLater(ctx, count, between, 0, func(ctx context.Context, i int) {
		clients[i].target = t
		do(ctx, &clients[i])
		if ctx.Err() != nil {
			clients[i].close()
		}
	})
}

func sleep(ctx context.Context, time_ time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(time_):
	}
}

// trickle sends a byte at a time until the server closes or the time is over.
func trickle(ctx context.Context, connection net.Conn, pause time.Duration) {
	for ctx.Err() == nil {
		if _, err := connection.Write([]byte("x")); err != nil {
			return
		}
		sleep(ctx, pause)
	}
}

// pour sends text as long as the server takes it, and then reads its answer.
func pour(ctx context.Context, connection net.Conn, head string, text []byte) {
	if _, err := io.WriteString(connection, head); err != nil {
		return
	}
	for ctx.Err() == nil {
		if _, err := connection.Write(text); err != nil {
			return
		}
	}
}

// untilClosed waits for the server to close, or for the time to be over.
func untilClosed(ctx context.Context, connection net.Conn) {
	defer context.AfterFunc(ctx, func() { _ = connection.Close() })()
	_, _ = io.Copy(io.Discard, connection)
}

// answer reads one, and closes nothing.
func answer(connection net.Conn) {
	_ = connection.SetReadDeadline(time.Now().Add(5 * time.Second))
	if response, err := http.ReadResponse(bufio.NewReader(connection), nil); err == nil {
		_, _ = io.Copy(io.Discard, response.Body)
	}
}
