package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"kubexx.example/bench/internal/measure"
)

const (
	room = "/api/v1/namespaces/ordinary"
	// So often each client asks.
	pace = 200 * time.Millisecond
)

// The ordinary clients: each has an object of its own, and a connection. They are a service account that may do what its role in
// their namespace allows. One more, who is nobody, asks whether the server is healthy.
type people struct {
	server *target
	count  int
	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup
	mu     sync.Mutex
	seen   delays
}

// delays are milliseconds: of requests until their answer has been read, of events since the request for the update was sent.
type delays struct {
	requests, events, health []float64
	failed                   int
	failure                  error
}

func (d *delays) quantile(share float64) float64 { return quantile(d.requests, share) }

func quantile(all []float64, share float64) float64 {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return measure.Round(sorted[min(len(sorted)-1, int(share*float64(len(sorted))))], 2)
}

func objectOf(i int, sent time.Time) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"object-%d"},"data":{"sent":"%d","text":"%0200d"}}`,
		i, sent.UnixNano(), i)
}

func newPeople(ctx context.Context, server *target, count int) (*people, error) {
	maker := &client{target: server}
	defer maker.close()
	make := func(path string, body []byte) error {
		code, answer, err := maker.do(ctx, "POST", path, "application/json", body)
		if err == nil && code != 201 && code != 409 {
			err = fmt.Errorf("POST %s: %d %s", path, code, answer)
		}
		return err
	}
	if err := make("/api/v1/namespaces", []byte(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"ordinary"}}`)); err != nil {
		return nil, err
	}
	for i := range count {
		if err := make(room+"/configmaps", objectOf(i, time.Now())); err != nil {
			return nil, err
		}
	}
	if err := make(room+"/serviceaccounts", []byte(`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"people"}}`)); err != nil {
		return nil, err
	}
	if err := make("/apis/rbac.authorization.k8s.io/v1/namespaces/ordinary/rolebindings", []byte(`{"metadata":{"name":"people"},
"roleRef":{"kind":"ClusterRole","name":"edit"},"subjects":[{"kind":"ServiceAccount","name":"people","namespace":"ordinary"}]}`)); err != nil {
		return nil, err
	}
	token, err := tokenOf(ctx, maker)
	if err != nil {
		return nil, err
	}
	ordinary := *server
	ordinary.token = token
	return &people{server: &ordinary, count: count}, nil
}

// tokenOf makes one for the service account of the ordinary clients.
func tokenOf(ctx context.Context, maker *client) (string, error) {
	code, answer, err := maker.do(ctx, "POST", room+"/serviceaccounts/people/token", "application/json",
		[]byte(`{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"expirationSeconds":86400}}`))
	if err != nil {
		return "", err
	}
	var request struct{ Status struct{ Token string } }
	if err := json.Unmarshal(answer, &request); err != nil || request.Status.Token == "" {
		return "", fmt.Errorf("no token of a service account: %d %.200s", code, answer)
	}
	return request.Status.Token, nil
}

func (p *people) start(ctx context.Context) {
	p.ctx, p.cancel = context.WithCancel(ctx)
	p.forget()
	p.done.Add(1)
	go func() {
		defer p.done.Done()
		p.probe()
	}()
	for i := range p.count {
		p.done.Add(1)
		go func() {
			defer p.done.Done()
			if i%10 < 3 {
				p.watch(i)
			} else {
				p.ask(i)
			}
		}()
	}
}

// forget drops what has been measured so far.
func (p *people) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = delays{}
}

func (p *people) stop() delays {
	p.mu.Lock()
	seen := p.seen
	p.mu.Unlock()
	p.cancel()
	p.done.Wait()
	return seen
}

func (p *people) failed(err error) {
	if p.ctx.Err() != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen.failed++
	p.seen.failure = err
}

// ask gets, lists or updates, at its pace; the updates are of objects that are watched.
func (p *people) ask(i int) {
	own := &client{target: p.server}
	defer own.close()
	time.Sleep(pace * time.Duration(i) / time.Duration(p.count))
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	for n := i; ; n++ {
		select {
		case <-p.ctx.Done():
			return
		case <-ticker.C:
		}
		watched := i/10*10 + i%3
		method, path, body := "GET", fmt.Sprintf("%s/configmaps/object-%d", room, i), []byte(nil)
		began := time.Now()
		switch n % 4 {
		case 0:
			path = room + "/configmaps?limit=50"
		case 1, 2:
			method, path, body = "PUT", fmt.Sprintf("%s/configmaps/object-%d", room, watched), objectOf(watched, began)
		}
		code, answer, err := own.do(p.ctx, method, path, "application/json", body)
		if err == nil && code != 200 {
			err = fmt.Errorf("%s %s: %d %.200s", method, path, code, answer)
		}
		if err != nil {
			p.failed(err)
			continue
		}
		took := float64(time.Since(began).Microseconds()) / 1000
		p.mu.Lock()
		p.seen.requests = append(p.seen.requests, took)
		p.mu.Unlock()
	}
}

// probe asks over a new connection each time, as a kubelet does.
func (p *people) probe() {
	nobody := *p.server
	nobody.token = ""
	for p.ctx.Err() == nil {
		began := time.Now()
		one := &client{target: &nobody}
		code, answer, err := one.do(p.ctx, "GET", "/healthz", "", nil)
		one.close()
		if err == nil && code != 200 {
			err = fmt.Errorf("GET /healthz: %d %.200s", code, answer)
		}
		if err != nil {
			p.failed(err)
		} else {
			took := float64(time.Since(began).Microseconds()) / 1000
			p.mu.Lock()
			p.seen.health = append(p.seen.health, took)
			p.mu.Unlock()
		}
		sleep(p.ctx, pace)
	}
}

// watch tells how old each event is.
func (p *people) watch(i int) {
	for p.ctx.Err() == nil {
		own := &client{target: p.server}
		response, err := own.send(p.ctx, "GET", fmt.Sprintf("%s/configmaps?watch=1&fieldSelector=metadata.name%%3Dobject-%d", room, i), "", nil)
		if err == nil && response.StatusCode != 200 {
			err = fmt.Errorf("watch: %d", response.StatusCode)
		}
		if err == nil {
			_ = own.connection.SetDeadline(time.Time{})
			decoder := json.NewDecoder(response.Body)
			for err == nil {
				var event struct {
					Type   string
					Object struct{ Data struct{ Sent string } }
				}
				if err = decoder.Decode(&event); err == nil && event.Type == "MODIFIED" {
					sent, _ := strconv.ParseInt(event.Object.Data.Sent, 10, 64)
					age := float64(time.Since(time.Unix(0, sent)).Microseconds()) / 1000
					p.mu.Lock()
					p.seen.events = append(p.seen.events, age)
					p.mu.Unlock()
				}
			}
		}
		own.close()
		p.failed(err)
	}
}
