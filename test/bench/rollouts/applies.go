package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kubexx.example/bench/internal/measure"
)

// warnings counts what the server has warned of.
type warnings struct{ count atomic.Int64 }

func (w *warnings) HandleWarningHeader(int, string, string) { w.count.Add(1) }

// tryApply applies other data to a ConfigMap in a dry run, and returns how long that took and whether the server has warned.
func (b *bench) tryApply(ctx context.Context, name, value string) (time.Duration, bool, error) {
	patch, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": map[string]string{dataKey: value},
	})
	if err != nil {
		return 0, false, err
	}
	force := true
	before, began := b.warned.count.Load(), time.Now()
	_, err = b.client.CoreV1().ConfigMaps(b.namespace).Patch(ctx, name, types.ApplyPatchType, patch,
		metav1.PatchOptions{FieldManager: "bench", Force: &force, DryRun: []string{metav1.DryRunAll}})
	return time.Since(began), b.warned.count.Load() > before, err
}

// applies measures one ConfigMap's dry runs of `kubectl apply --server-side`, once the server warns, or does not warn, as --warned says.
func (b *bench) applies(ctx context.Context) (map[string]any, error) {
	name := configMapName(0)
	end := time.Now().Add(time.Minute)
	for inARow := 0; inARow < 5; {
		_, warned, err := b.tryApply(ctx, name, fresh(0))
		switch {
		case err != nil:
			return nil, err
		case time.Now().After(end):
			return nil, fmt.Errorf("after a minute --warned=%t does not hold of the applies", b.wantWarned)
		case warned == b.wantWarned:
			inARow++
		default:
			inARow = 0
			time.Sleep(100 * time.Millisecond)
		}
	}
	tick := time.NewTicker(time.Second / time.Duration(b.rate))
	defer tick.Stop()
	var took []float64
	other := 0
	for end := time.Now().Add(b.length); time.Now().Before(end); {
		<-tick.C
		each, warned, err := b.tryApply(ctx, name, fresh(len(took)))
		if err != nil {
			return nil, err
		}
		if warned != b.wantWarned {
			other++
		}
		took = append(took, float64(each)/1e6)
	}
	sort.Float64s(took)
	at := func(q float64) float64 { return measure.Round(took[int(q*float64(len(took)-1))], 2) }
	return map[string]any{
		"applies": len(took), "warned": b.wantWarned, "otherwise": other, "p50_ms": at(0.5), "p99_ms": at(0.99), "max_ms": at(1),
	}, nil
}
