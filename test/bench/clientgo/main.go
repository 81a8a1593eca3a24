// clientgo does with a client-go shared informer what `kubexx-bench sync`, `select` and `watch` do, and prints
// the same fields.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"kubexx.example/bench/internal/measure"
)

const usage = `clientgo sync|select|watch --kubeconfig FILE [FLAGS]: the same work as kubexx-bench, with client-go.

  sync   starts an informer of pods and waits until its store and its handler have all of them
  select fills an informer, then lists what --selector matches from its lister, --reads times
  watch  the same as sync, then takes --events updates in a handler that reads the old and the new object

`

type options struct {
	kubeconfig string
	handler    string
	json       bool
	events     int64
	lead       int64
	selector   string
	reads      int
}

// sink keeps the compiler from dropping what handlers read.
var sink atomic.Int64

// counter is the handler: it counts, and notes time and cost at the first and the last event.
type counter struct {
	adds, updates atomic.Int64
	options       options
	began         time.Time
	beganCPU      float64
	done          chan watched
}

type watched struct{ wall, cpu float64 }

func (c *counter) add(object any) {
	switch c.options.handler {
	case "key":
		key, _ := cache.MetaNamespaceKeyFunc(object)
		sink.Add(int64(len(key)))
	case "object":
		sink.Add(int64(len(object.(*corev1.Pod).Spec.Containers)))
	}
	c.adds.Add(1)
}

func (c *counter) update(old, current any) {
	before, after := old.(*corev1.Pod), current.(*corev1.Pod)
	if before.ResourceVersion != after.ResourceVersion {
		sink.Add(int64(len(before.Annotations) + len(after.Spec.Containers)))
	}
	switch c.updates.Add(1) {
	case c.options.lead:
		c.began, c.beganCPU = time.Now(), measure.CPUSeconds()
	case c.options.lead + c.options.events:
		c.done <- watched{time.Since(c.began).Seconds(), measure.CPUSeconds() - c.beganCPU}
	}
}

func main() {
	if len(os.Args) < 2 || !slices.Contains([]string{"sync", "select", "watch"}, os.Args[1]) {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	set := flag.NewFlagSet("clientgo "+os.Args[1], flag.ExitOnError)
	var o options
	set.StringVar(&o.kubeconfig, "kubeconfig", os.Getenv("KUBECONFIG"), "how to reach the server")
	set.StringVar(&o.handler, "handler", "key", "what the handler does with each object: none, key or object")
	set.BoolVar(&o.json, "json", false, "ask for JSON instead of protobuf")
	set.Int64Var(&o.events, "events", 100000, "watch: updates to measure")
	set.Int64Var(&o.lead, "lead", 1000, "watch: updates before the measurement")
	set.StringVar(&o.selector, "selector", "", "select: the label selector")
	set.IntVar(&o.reads, "reads", 1000, "select: lists to measure")
	_ = set.Parse(os.Args[2:])
	if os.Args[1] == "select" {
		selectPods(o)
		return
	}
	run(os.Args[1], o)
}

func newClient(o options) kubernetes.Interface {
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		measure.Fatal("clientgo: %v", err)
	}
	config.QPS = -1
	if !o.json {
		config.ContentType = "application/vnd.kubernetes.protobuf"
		config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	}
	return kubernetes.NewForConfigOrDie(config)
}

func run(command string, o options) {
	client := newClient(o)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()

	started := time.Now()
	factory := informers.NewSharedInformerFactory(client, 0)
	informer := factory.Core().V1().Pods().Informer()
	count := &counter{options: o, done: make(chan watched, 1)}
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: count.add, UpdateFunc: count.update})
	if err != nil {
		measure.Fatal("clientgo: %v", err)
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	synced := time.Since(started).Seconds()
	for !registration.HasSynced() {
		time.Sleep(time.Millisecond)
	}
	result := map[string]any{
		"program": "client-go", "command": command, "objects": len(informer.GetStore().ListKeys()),
		"wall_s": measure.Round(time.Since(started).Seconds(), 3), "synced_s": measure.Round(synced, 3),
		"cpu_s": measure.Round(measure.CPUSeconds(), 3), "rss_mb": measure.Round(measure.ResidentMB(), 1),
		"peak_mb": measure.Round(measure.PeakMB(), 1),
	}
	if command == "watch" {
		w := <-count.done
		result["events"] = o.events
		result["wall_s"] = measure.Round(w.wall, 3)
		result["cpu_s"] = measure.Round(w.cpu, 3)
		result["events_per_s"] = measure.Round(float64(o.events)/w.wall, 0)
		result["events_per_cpu_s"] = measure.Round(float64(o.events)/w.cpu, 0)
		result["cpu_us_per_event"] = measure.Round(w.cpu/float64(o.events)*1e6, 3)
		result["rss_mb"] = measure.Round(measure.ResidentMB(), 1)
		result["peak_mb"] = measure.Round(measure.PeakMB(), 1)
	} else {
		// What is left a few seconds later, when the collector has given memory back.
		debug.FreeOSMemory()
		result["idle_rss_mb"] = measure.Round(measure.ResidentMB(), 1)
	}
	measure.Print(result)
}
