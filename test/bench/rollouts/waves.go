package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kubexx.example/bench/internal/measure"
)

const wavesLimit = 10 * time.Minute

// player writes the status of the namespace's Deployments in the place of their controller: all are available at once, but those with
// the variable `bad`, which have failed.
type player struct {
	b      *bench
	mu     sync.Mutex
	bad    string
	failed time.Time // when the first of them was written
}

func (p *player) isBad(deployment *appsv1.Deployment) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bad != "" && strings.Contains(stateOf(deployment), p.bad)
}

func (p *player) badIs(state string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bad = state
}

func (p *player) firstFailure() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

// look is called for every state of a Deployment; one that has changed meanwhile comes again.
func (p *player) look(ctx context.Context, deployment *appsv1.Deployment) {
	if deployment.Status.ObservedGeneration == deployment.Generation {
		return
	}
	replicas := *deployment.Spec.Replicas
	next := deployment.DeepCopy()
	next.Status = appsv1.DeploymentStatus{
		ObservedGeneration: deployment.Generation, Replicas: replicas, UpdatedReplicas: replicas, ReadyReplicas: replicas, AvailableReplicas: replicas,
	}
	fails := p.isBad(deployment)
	if fails {
		next.Status.ReadyReplicas, next.Status.AvailableReplicas, next.Status.UnavailableReplicas = 0, 0, replicas
		next.Status.Conditions = []appsv1.DeploymentCondition{{
			Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded",
		}}
	}
	_, err := p.b.client.AppsV1().Deployments(p.b.namespace).UpdateStatus(ctx, next, metav1.UpdateOptions{})
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil && fails && p.failed.IsZero() {
		p.failed = time.Now()
	}
}

// waves gives one ConfigMap of many Deployments data that are good, and then data with which each rollout fails. A policy with waves and
// onFailure: Restore must be there.
func (b *bench) waves(ctx context.Context) (map[string]any, error) {
	b.configMaps, b.replicas = 1, 1
	play := &player{b: b}
	b.seen = func(deployment *appsv1.Deployment) { play.look(ctx, deployment) }
	o, err := b.oneEach(ctx)
	if err != nil {
		return nil, err
	}
	if err := until(wavesLimit, "a baseline on each", func() (bool, error) { return b.allRecorded(ctx) }); err != nil {
		return nil, err
	}
	having := func(state string) int {
		n := 0
		for i := range b.deployments {
			if o.state(deploymentName(i)) == state {
				n++
			}
		}
		return n
	}
	good, bad := fresh(0)+"-good", fresh(1)+"-bad"
	goodState, badState := stateFor(0, good), stateFor(0, bad)
	began, err := b.edit(ctx, configMapName(0), good)
	if err != nil {
		return nil, err
	}
	if err := o.await(ctx, wavesLimit, "all with the good data", func() bool { return having(goodState) == b.deployments }); err != nil {
		return nil, fmt.Errorf("%w, but %d of %d", err, having(goodState), b.deployments)
	}
	through := time.Since(began)
	if err := until(wavesLimit, "a snapshot of the good data", func() (bool, error) {
		list, err := b.client.CoreV1().ConfigMaps(b.namespace).List(ctx, metav1.ListOptions{LabelSelector: "reloader.kubexx.io/snapshot-of"})
		if err != nil {
			return false, err
		}
		for i := range list.Items {
			if list.Items[i].Data[dataKey] == good {
				return true, nil
			}
		}
		return false, nil
	}); err != nil {
		return nil, err
	}
	play.badIs(badState)
	if _, err := b.edit(ctx, configMapName(0), bad); err != nil {
		return nil, err
	}
	if err := o.await(ctx, wavesLimit, "a workload that fails", func() bool { return having(badState) > 0 }); err != nil {
		return nil, err
	}
	if err := until(wavesLimit, "the way back", func() (bool, error) {
		object, err := b.client.CoreV1().ConfigMaps(b.namespace).Get(ctx, configMapName(0), metav1.GetOptions{})
		return err == nil && object.Data[dataKey] == good && having(goodState) == b.deployments, err
	}); err != nil {
		return nil, fmt.Errorf("%w, but %d of %d have the good data", err, having(goodState), b.deployments)
	}
	back := time.Now()
	if play.firstFailure().IsZero() {
		return nil, errors.New("no rollout has failed")
	}
	ever := 0
	for i := range b.deployments {
		for _, r := range o.history(deploymentName(i)) {
			if r.state == badState {
				ever++
				break
			}
		}
	}
	return map[string]any{
		"deployments": b.deployments, "through_s": measure.Round(through.Seconds(), 2), "ever_bad": ever,
		"back_s": measure.Round(back.Sub(play.firstFailure()).Seconds(), 2),
	}, nil
}
