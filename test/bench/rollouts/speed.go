package main

import (
	"context"
	"fmt"
	"math/rand"
	"os/exec"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"kubexx.example/bench/internal/measure"
)

const operatorIdle = 3 * time.Second

// oneEach gives Deployment i the ConfigMap i, modulo how many there are.
func (b *bench) oneEach(ctx context.Context) (*observer, error) {
	if err := b.prepare(ctx); err != nil {
		return nil, err
	}
	if err := b.createConfigMaps(ctx, b.configMaps, 32); err != nil {
		return nil, err
	}
	if err := b.createDeployments(ctx, b.deployments, func(i int) []corev1.EnvFromSource {
		return []corev1.EnvFromSource{fromConfigMap(configMapName(i % b.configMaps))}
	}); err != nil {
		return nil, err
	}
	o, err := b.observe(ctx)
	if err == nil {
		o.awaitQuiet(operatorIdle)
	}
	return o, err
}

func stateFor(i int, value string) string {
	return variableOf(configMapName(i), configMapSuffix) + "=" + digestOf(value)
}

// fresh is a value that no ConfigMap had before, in this run or an earlier one.
func fresh(n int) string { return strconv.FormatInt(time.Now().UnixNano(), 36) + "-" + strconv.Itoa(n) }

func (b *bench) fanout(ctx context.Context) (map[string]any, error) {
	b.configMaps = 1
	o, err := b.oneEach(ctx)
	if err != nil {
		return nil, err
	}
	value := fresh(0)
	began, err := b.edit(ctx, configMapName(0), value)
	if err != nil {
		return nil, err
	}
	want := stateFor(0, value)
	missing := func() int {
		n := 0
		for i := range b.deployments {
			if o.state(deploymentName(i)) != want {
				n++
			}
		}
		return n
	}
	if err := o.await(ctx, 3*time.Minute, "all rolled", func() bool { return missing() == 0 }); err != nil {
		return nil, fmt.Errorf("%w, %d of %d missing", err, missing(), b.deployments)
	}
	all := time.Since(began).Seconds()
	return map[string]any{"deployments": b.deployments, "all_s": measure.Round(all, 3), "rollouts": o.total()}, nil
}

func (b *bench) storm(ctx context.Context) (map[string]any, error) {
	b.deployments = b.configMaps
	o, err := b.oneEach(ctx)
	if err != nil {
		return nil, err
	}
	values := make([]string, b.configMaps)
	calm := b.disturbAgainAndAgain(ctx)
	edits, err := b.editAtRate(ctx, func(n int) (int, string) {
		i := rand.New(rand.NewSource(b.seed + int64(n))).Intn(b.configMaps)
		values[i] = fresh(n)
		return i, values[i]
	}, nil)
	if err != nil {
		return nil, err
	}
	disturbed, err := calm()
	if err != nil {
		return nil, err
	}
	missing := func() int {
		n := 0
		for i, value := range values {
			if value != "" && o.state(deploymentName(i)) != stateFor(i, value) {
				n++
			}
		}
		return n
	}
	last := time.Now()
	time.Sleep(b.grace)
	atGrace := missing()
	_ = o.await(ctx, 2*time.Minute, "final states", func() bool { return missing() == 0 })
	return map[string]any{
		"configmaps": b.configMaps, "edits": edits, "rollouts": o.total(), "missing_after_grace": atGrace, "missing_at_end": missing(),
		"complete_s": measure.Round(time.Since(last).Seconds(), 3), "disturbed": disturbed, "twice": o.repeated(),
	}, nil
}

// disturbAgainAndAgain runs --disturb until the function that it returns is called, which says how often that was.
func (b *bench) disturbAgainAndAgain(ctx context.Context) func() (int, error) {
	ending, stop := context.WithCancel(ctx)
	times := 0
	var failure error
	var running sync.WaitGroup
	running.Add(1)
	go func() {
		defer running.Done()
		for b.disturb != "" && ending.Err() == nil && failure == nil {
			if out, err := exec.Command("sh", "-c", b.disturb).CombinedOutput(); err != nil {
				failure = fmt.Errorf("%s: %w: %s", b.disturb, err, out)
			}
			times++
			select {
			case <-ending.Done():
			case <-time.After(5 * time.Second):
			}
		}
	}()
	return func() (int, error) {
		stop()
		running.Wait()
		return times, failure
	}
}

// editAtRate edits what choose says, at the rate and for the length asked for; accepted gets the time of each.
func (b *bench) editAtRate(ctx context.Context, choose func(n int) (int, string), accepted func(i int, value string, at time.Time)) (int, error) {
	tick := time.NewTicker(time.Second / time.Duration(b.rate))
	defer tick.Stop()
	n := 0
	for end := time.Now().Add(b.length); time.Now().Before(end); n++ {
		<-tick.C
		i, value := choose(n)
		edit := b.edit
		if b.disturb != "" {
			edit = b.editUntilAccepted
		}
		at, err := edit(ctx, configMapName(i), value)
		if err != nil {
			return n, err
		}
		if accepted != nil {
			accepted(i, value, at)
		}
	}
	return n, nil
}

func (b *bench) latency(ctx context.Context) (map[string]any, error) {
	o, err := b.oneEach(ctx)
	if err != nil {
		return nil, err
	}
	type edited struct {
		i     int
		value string
		at    time.Time
	}
	var edits []edited
	if _, err := b.editAtRate(ctx, func(n int) (int, string) { return n % b.configMaps, fresh(n) },
		func(i int, value string, at time.Time) { edits = append(edits, edited{i, value, at}) }); err != nil {
		return nil, err
	}
	time.Sleep(b.grace)
	var took []float64
	for _, e := range edits {
		for _, r := range o.history(deploymentName(e.i)) {
			if r.state == stateFor(e.i, e.value) {
				took = append(took, float64(r.at.Sub(e.at)-b.settle)/1e6)
				break
			}
		}
	}
	if len(took) == 0 {
		return nil, fmt.Errorf("none of %d edits was rolled", len(edits))
	}
	sort.Float64s(took)
	at := func(q float64) float64 { return measure.Round(took[int(q*float64(len(took)-1))], 2) }
	return map[string]any{
		"deployments": b.deployments, "edits": len(edits), "rolled": len(took), "settle_ms": b.settle.Milliseconds(),
		"min_ms": at(0), "p50_ms": at(0.5), "p90_ms": at(0.9), "p99_ms": at(0.99), "max_ms": at(1),
	}, nil
}

// settleWindow edits a Deployment's ConfigMap and Secret together, again and again.
func (b *bench) settleWindow(ctx context.Context) (map[string]any, error) {
	if err := b.prepare(ctx); err != nil {
		return nil, err
	}
	if err := b.createConfigMaps(ctx, 1, 32); err != nil {
		return nil, err
	}
	if err := b.createSecrets(ctx, 1, 32); err != nil {
		return nil, err
	}
	if err := b.createDeployments(ctx, 1, func(int) []corev1.EnvFromSource {
		return []corev1.EnvFromSource{fromConfigMap(configMapName(0)), fromSecret(secretName(0))}
	}); err != nil {
		return nil, err
	}
	o, err := b.observe(ctx)
	if err != nil {
		return nil, err
	}
	o.awaitQuiet(operatorIdle)
	const rounds = 20
	soonest := time.Hour
	for n := range rounds {
		before := len(o.history(deploymentName(0)))
		value := fresh(n)
		at, err := b.edit(ctx, configMapName(0), value)
		if err != nil {
			return nil, err
		}
		if _, err := b.editSecret(ctx, secretName(0), value); err != nil {
			return nil, err
		}
		want := []string{stateFor(0, value), variableOf(secretName(0), secretSuffix) + "=" + digestOf(value)}
		if err := o.await(ctx, 20*time.Second, "both rolled", func() bool {
			state := o.state(deploymentName(0))
			return strings.Contains(state, want[0]) && strings.Contains(state, want[1])
		}); err != nil {
			return nil, err
		}
		first := o.history(deploymentName(0))[before]
		soonest = min(soonest, first.at.Sub(at))
		time.Sleep(2 * b.settle)
	}
	return map[string]any{"edits": rounds, "rollouts": o.total(), "soonest_ms": measure.Round(float64(soonest)/1e6, 2)}, nil
}
