package main

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const baselineAnnotation = "reloader.kubexx.io/baseline"

// faults edits ConfigMaps while the operator is killed and started again, and then looks at what was rolled. A state that a
// template had before and comes back to, or one that no edit made, is a rollout too many.
func (b *bench) faults(ctx context.Context) (map[string]any, error) {
	if b.operator == "" {
		return nil, fmt.Errorf("faults needs --operator 'COMMAND ARGUMENTS'")
	}
	b.deployments = b.configMaps
	if b.length < time.Duration(b.kills)*100*time.Millisecond {
		b.length = time.Duration(b.kills) * 100 * time.Millisecond
	}
	o, err := b.oneEach(ctx)
	if err != nil {
		return nil, err
	}
	if err := b.runUntilRecorded(ctx); err != nil {
		return nil, err
	}
	made := make([]map[string]bool, b.configMaps)
	final := make([]string, b.configMaps)
	random := rand.New(rand.NewSource(b.seed))

	killing := make(chan error, 1)
	go func() { killing <- b.killAtRandom() }()
	edits := 0
	tick := time.NewTicker(time.Second / time.Duration(b.rate))
	defer tick.Stop()
	var killed error
	for running := true; running; {
		select {
		case killed = <-killing:
			running = false
		case <-tick.C:
			i, value := random.Intn(b.configMaps), fresh(edits)
			if made[i] == nil {
				made[i] = map[string]bool{}
			}
			final[i] = stateFor(i, value)
			made[i][final[i]] = true
			if _, err := b.edit(ctx, configMapName(i), value); err != nil {
				return nil, err
			}
			edits++
		}
	}
	if killed != nil {
		return nil, killed
	}
	return b.judge(ctx, o, edits, made, final)
}

// judge starts the operator a last time, undisturbed, and compares.
func (b *bench) judge(ctx context.Context, o *observer, edits int, made []map[string]bool, final []string) (map[string]any, error) {
	operator, err := b.start()
	if err != nil {
		return nil, err
	}
	missing := func() int {
		n := 0
		for i, state := range final {
			if state != "" && o.state(deploymentName(i)) != state {
				n++
			}
		}
		return n
	}
	_ = o.await(ctx, time.Minute, "final states", func() bool { return missing() == 0 })
	time.Sleep(b.grace) // whatever is rolled once more comes now
	_ = operator.Process.Kill()
	_ = operator.Wait()
	twice := 0
	for i := range final {
		seen := map[string]bool{}
		for _, r := range o.history(deploymentName(i)) {
			if seen[r.state] || !made[i][r.state] {
				twice++
			}
			seen[r.state] = true
		}
	}
	return map[string]any{
		"configmaps": b.configMaps, "edits": edits, "kills": b.kills, "rollouts": o.total(), "missing": missing(), "twice": twice,
	}, nil
}

// runUntilRecorded lets the operator see every Deployment once: what it has never seen has no baseline, and a change of it
// is not owed.
func (b *bench) runUntilRecorded(ctx context.Context) error {
	operator, err := b.start()
	if err != nil {
		return err
	}
	defer func() {
		_ = operator.Process.Kill()
		_ = operator.Wait()
	}()
	return until(time.Minute, fmt.Sprintf("a baseline on each of %d Deployments", b.deployments), func() (bool, error) { return b.allRecorded(ctx) })
}

// allRecorded is whether the operator has recorded a baseline on each Deployment.
func (b *bench) allRecorded(ctx context.Context) (bool, error) {
	list, err := b.client.AppsV1().Deployments(b.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return false, err
	}
	recorded := 0
	for i := range list.Items {
		if list.Items[i].Annotations[baselineAnnotation] != "" {
			recorded++
		}
	}
	return recorded == b.deployments, nil
}

// until asks again and again whether something holds that no pod template tells of.
func until(limit time.Duration, what string, holds func() (bool, error)) error {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if done, err := holds(); done || err != nil {
			return err
		}
	}
	return fmt.Errorf("%s: not within %s", what, limit)
}

// killAtRandom starts the operator and kills it after up to a second, again and again.
func (b *bench) killAtRandom() error {
	random := rand.New(rand.NewSource(b.seed + 1))
	for range b.kills {
		operator, err := b.start()
		if err != nil {
			return err
		}
		time.Sleep(time.Duration(random.Int63n(int64(time.Second))))
		_ = operator.Process.Kill()
		_ = operator.Wait()
	}
	return nil
}

func (b *bench) start() (*exec.Cmd, error) {
	words := strings.Fields(b.operator)
	operator := exec.Command(words[0], words[1:]...)
	operator.Env = append(os.Environ(), "KUBECONFIG="+b.kubeconfig)
	return operator, operator.Start()
}
