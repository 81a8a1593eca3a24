package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

const lastReloadedFrom = "reloader.stakater.com/last-reloaded-from"

// rollout is one change of a pod template.
type rollout struct {
	at    time.Time
	state string // the operator's variables and its annotation
}

// observer follows the pod templates of all Deployments of the namespace.
type observer struct {
	mu       sync.Mutex
	states   map[string]string
	rollouts map[string][]rollout
	seen     func(*appsv1.Deployment) // see bench.seen
	changed  chan struct{}            // has an element when something changed since it was last taken
}

// stateOf is what the operator has written into a pod template.
func stateOf(deployment *appsv1.Deployment) string {
	var parts []string
	for _, container := range deployment.Spec.Template.Spec.Containers {
		for _, variable := range container.Env {
			if strings.HasPrefix(variable.Name, variablePrefix) {
				parts = append(parts, variable.Name+"="+variable.Value)
			}
		}
	}
	if text := deployment.Spec.Template.Annotations[lastReloadedFrom]; text != "" {
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

// observe lists the Deployments and follows them until the context ends.
func (b *bench) observe(ctx context.Context) (*observer, error) {
	o := &observer{seen: b.seen, states: map[string]string{}, rollouts: map[string][]rollout{}, changed: make(chan struct{}, 1)}
	list, err := b.client.AppsV1().Deployments(b.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		o.states[list.Items[i].Name] = stateOf(&list.Items[i])
		o.show(&list.Items[i])
	}
	go b.follow(ctx, o, list.ResourceVersion)
	return o, nil
}

// follow takes a broken watch up where it ended; a server that was restarted may not know that version any more, and is
// listed again.
func (b *bench) follow(ctx context.Context, o *observer, version string) {
	for ; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		if version == "" {
			list, err := b.client.AppsV1().Deployments(b.namespace).List(ctx, metav1.ListOptions{})
			if err != nil {
				continue
			}
			for i := range list.Items {
				o.note(&list.Items[i])
			}
			version = list.ResourceVersion
		}
		stream, err := b.client.AppsV1().Deployments(b.namespace).Watch(ctx, metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true})
		if err != nil {
			continue
		}
		for event := range stream.ResultChan() {
			deployment, ok := event.Object.(*appsv1.Deployment)
			if !ok {
				version = ""
				break
			}
			version = deployment.ResourceVersion
			if event.Type == watch.Modified || event.Type == watch.Added {
				o.note(deployment)
			}
		}
		stream.Stop()
	}
}

func (o *observer) show(deployment *appsv1.Deployment) {
	if o.seen != nil {
		o.seen(deployment)
	}
}

func (o *observer) note(deployment *appsv1.Deployment) {
	defer o.show(deployment)
	at, state := time.Now(), stateOf(deployment)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.states[deployment.Name] == state {
		return
	}
	o.states[deployment.Name] = state
	o.rollouts[deployment.Name] = append(o.rollouts[deployment.Name], rollout{at, state})
	select {
	case o.changed <- struct{}{}:
	default:
	}
}

// state is what a Deployment's template holds now.
func (o *observer) state(name string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.states[name]
}

func (o *observer) history(name string) []rollout {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]rollout(nil), o.rollouts[name]...)
}

func (o *observer) total() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	total := 0
	for _, all := range o.rollouts {
		total += len(all)
	}
	return total
}

// repeated is how often a template came back to a state that it had had before.
func (o *observer) repeated() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for _, all := range o.rollouts {
		seen := map[string]bool{}
		for _, r := range all {
			if seen[r.state] {
				n++
			}
			seen[r.state] = true
		}
	}
	return n
}

// await waits until done says so, looking again at every change.
func (o *observer) await(ctx context.Context, limit time.Duration, what string, done func() bool) error {
	end := time.After(limit)
	for !done() {
		select {
		case <-o.changed:
		case <-end:
			return fmt.Errorf("%s: not within %s", what, limit)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// awaitQuiet waits until no template has changed for so long, at most a minute.
func (o *observer) awaitQuiet(quiet time.Duration) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		select {
		case <-o.changed:
		case <-time.After(quiet):
			return
		}
	}
}
