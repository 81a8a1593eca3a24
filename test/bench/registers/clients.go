package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"sync"
	"syscall"
	"time"
)

// requestTime is longer than a server needs to come back.
const requestTime = 5 * time.Second

// object is what is read and written of a ConfigMap.
type object struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   metadata          `json:"metadata"`
	Data       map[string]string `json:"data"`
}

type metadata struct {
	Name            string `json:"name"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
}

// client is one of several that ask at the same time.
type client struct {
	id      int
	url     string
	http    *http.Client
	history *history
	random  *rand.Rand
	serial  int
}

type clients struct {
	ending chan struct{}
	group  sync.WaitGroup
}

func newClient(o options, id int, url string, h *history) *client {
	return &client{id: id, url: url, http: &http.Client{Timeout: requestTime}, history: h, random: rand.New(rand.NewSource(o.seed + int64(id)))}
}

func startClients(o options, url string, h *history) *clients {
	c := &clients{ending: make(chan struct{})}
	for id := 0; id < o.clients; id++ {
		one := newClient(o, id, url, h)
		c.group.Go(func() {
			for {
				select {
				case <-c.ending:
					return
				default:
					one.act(one.random.Intn(o.registers))
				}
			}
		})
	}
	return c
}

func (c *clients) stop() {
	close(c.ending)
	c.group.Wait()
}

// act sends one request, or a read and the swap that it prepares.
func (c *client) act(register int) {
	c.serial++
	value := fmt.Sprintf("%d-%d", c.id, c.serial)
	switch chosen := c.random.Intn(10); {
	case chosen < 3:
		c.ask(request{register, read, "", ""}, "")
	case chosen < 5:
		c.ask(request{register, create, "", value}, "")
	case chosen < 6:
		c.ask(request{register, put, "", value}, "")
	case chosen < 7:
		c.ask(request{register, remove, "", ""}, "")
	default:
		if got, version := c.ask(request{register, read, "", ""}, ""); got.outcome == done {
			c.ask(request{register, swap, got.value, value}, version)
		}
	}
}

// ask sends a request and notes it; for a read it also returns the object's version.
func (c *client) ask(asked request, version string) (answer, string) {
	called := c.history.now()
	code, body, err := c.send(asked, version)
	if errors.Is(err, syscall.ECONNREFUSED) {
		time.Sleep(time.Millisecond)
		return answer{outcome: unknown}, "" // Nobody has seen it.
	}
	got, version := answer{outcome: unknown}, ""
	if err == nil {
		got, version = answerOf(asked, code, body)
	}
	c.history.add(c.id, asked, called, got)
	return got, version
}

func answerOf(asked request, code int, body []byte) (answer, string) {
	switch {
	case code == http.StatusNotFound:
		return answer{outcome: absent}, ""
	case code == http.StatusConflict && asked.kind == create:
		return answer{outcome: present}, ""
	case code == http.StatusConflict && asked.kind == swap:
		return answer{outcome: conflict}, ""
	case code != http.StatusOK && code != http.StatusCreated:
		return answer{outcome: unknown}, ""
	case asked.kind != read:
		return answer{outcome: done}, ""
	}
	var found object
	if json.Unmarshal(body, &found) != nil {
		return answer{outcome: unknown}, ""
	}
	return answer{done, found.Data["value"]}, found.Metadata.ResourceVersion
}

func (c *client) send(asked request, version string) (int, []byte, error) {
	method := map[kind]string{read: "GET", create: "POST", put: "PUT", swap: "PUT", remove: "DELETE"}[asked.kind]
	url, name := c.url+"/api/v1/namespaces/default/configmaps", fmt.Sprintf("register-%d", asked.register)
	if asked.kind != create {
		url += "/" + name
	}
	var body []byte
	if asked.to != "" {
		body, _ = json.Marshal(object{"v1", "ConfigMap", metadata{name, version}, map[string]string{"value": asked.to}})
	}
	sent, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	sent.Header.Set("Content-Type", "application/json")
	got, err := c.http.Do(sent)
	if err != nil {
		return 0, nil, err
	}
	defer got.Body.Close()
	answered, err := io.ReadAll(got.Body)
	return got.StatusCode, answered, err
}

// finalReads asks every register once more, when nothing is killed any longer.
func finalReads(o options, url string, h *history) error {
	one := newClient(o, o.clients, url, h)
	for register := 0; register < o.registers; register++ {
		deadline := time.Now().Add(2 * requestTime)
		for {
			if got, _ := one.ask(request{register, read, "", ""}, ""); got.outcome != unknown {
				break
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("the server does not answer any more")
			}
		}
	}
	return nil
}
