package main

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"

	"kubexx.example/bench/internal/measure"
)

// selectPods lists pods of the cache by a label selector, as `kubexx-bench select` does.
func selectPods(o options) {
	selector, err := labels.Parse(o.selector)
	if err != nil {
		measure.Fatal("clientgo: --selector: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	factory := informers.NewSharedInformerFactory(newClient(o), 0)
	pods := factory.Core().V1().Pods()
	informer, lister := pods.Informer(), pods.Lister()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())

	began := time.Now()
	found, err := lister.List(selector)
	first := time.Since(began)
	if err != nil {
		measure.Fatal("clientgo: list: %v", err)
	}
	var times []time.Duration
	read, cpu := 0, measure.CPUSeconds()
	for range o.reads {
		began := time.Now()
		listed, _ := lister.List(selector)
		times = append(times, time.Since(began))
		for _, pod := range listed {
			if pod.UID != "" {
				read++
			}
		}
	}
	cpu = measure.CPUSeconds() - cpu
	if read != o.reads*len(found) {
		measure.Fatal("clientgo: the lists are not all the same")
	}
	slices.Sort(times)
	milliseconds := func(d time.Duration) float64 { return measure.Round(d.Seconds()*1e3, 3) }
	measure.Print(map[string]any{
		"program": "client-go", "command": "select", "objects": len(informer.GetStore().ListKeys()), "found": len(found),
		"list_ms": milliseconds(times[len(times)/2]), "list_cpu_ms": measure.Round(cpu/float64(o.reads)*1e3, 3),
		"first_ms": milliseconds(first), "rss_mb": measure.Round(measure.ResidentMB(), 1), "peak_mb": measure.Round(measure.PeakMB(), 1),
	})
}
