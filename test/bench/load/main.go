// load fills an API server with pods as realistic as a server takes them from a client, or updates them.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"kubexx.example/bench/internal/measure"
)

const usage = `load [FLAGS]: fills an API server with pods, or updates them.

  load --count 50000                 creates pod-000000 to pod-049999 in the namespace bench; those that exist are left alone
  load --count 50 --status           the same, and gives each the status that a kubelet reports
  load --count 50000 --update 20s    writes an annotation of pods chosen at random for 20 seconds

`

type options struct {
	kubeconfig, namespace string
	count, workers, rate  int
	small, status         bool
	update                time.Duration
}

type loader struct {
	options
	client       kubernetes.Interface
	existing     map[string]bool
	next         atomic.Int64
	done, failed atomic.Int64
	first        sync.Once
}

func main() {
	var o options
	set := flag.NewFlagSet("load", flag.ExitOnError)
	set.StringVar(&o.kubeconfig, "kubeconfig", os.Getenv("KUBECONFIG"), "how to reach the server")
	set.StringVar(&o.namespace, "namespace", "bench", "where the pods are")
	set.IntVar(&o.count, "count", 1000, "how many pods")
	set.IntVar(&o.workers, "workers", 96, "requests at the same time")
	set.BoolVar(&o.small, "small", false, "pods of about a kilobyte instead of six")
	set.BoolVar(&o.status, "status", false, "also write a kubelet's status")
	set.DurationVar(&o.update, "update", 0, "update for this long instead of creating")
	set.IntVar(&o.rate, "rate", 0, "updates a second; 0: as fast as the server takes them")
	set.Usage = func() {
		fmt.Fprint(set.Output(), usage)
		set.PrintDefaults()
	}
	_ = set.Parse(os.Args[1:])

	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		measure.Fatal("load: %v", err)
	}
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{} // of the two containers' equal ports
	config.ContentType = "application/vnd.kubernetes.protobuf"
	l := &loader{options: o, client: kubernetes.NewForConfigOrDie(config)}
	if err := l.prepare(context.Background()); err != nil {
		measure.Fatal("load: %v", err)
	}
	l.run(context.Background())
}

// prepare makes the namespace and its service account, without which no pod is admitted.
func (l *loader) prepare(ctx context.Context) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: l.namespace}}
	if _, err := l.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	var err error
	for range 100 {
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
		if _, err = l.client.CoreV1().ServiceAccounts(l.namespace).Create(ctx, account, metav1.CreateOptions{}); err == nil || apierrors.IsAlreadyExists(err) {
			return l.findExisting(ctx)
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

// findExisting notes the pods that are there, so that a second run has little to do.
func (l *loader) findExisting(ctx context.Context) error {
	pods, err := l.client.CoreV1().Pods(l.namespace).List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return err
	}
	l.existing = make(map[string]bool, len(pods.Items))
	for i := range pods.Items {
		l.existing[pods.Items[i].Name] = true
	}
	return nil
}

func (l *loader) run(ctx context.Context) {
	var tick <-chan time.Time
	if l.rate > 0 {
		tick = time.NewTicker(time.Second / time.Duration(l.rate)).C
	}
	began := time.Now()
	stopProgress := l.progress(began)
	var all sync.WaitGroup
	for range l.workers {
		all.Add(1)
		go func() {
			defer all.Done()
			for l.step(ctx, began, tick) {
			}
		}()
	}
	all.Wait()
	stopProgress()
	seconds := time.Since(began).Seconds()
	measure.Print(map[string]any{
		"program": "load", "done": l.done.Load(), "failed": l.failed.Load(),
		"wall_s": measure.Round(seconds, 1), "per_s": measure.Round(float64(l.done.Load())/seconds, 0),
	})
	if l.failed.Load() > 0 {
		os.Exit(1)
	}
}

func (l *loader) progress(began time.Time) func() {
	ticker := time.NewTicker(10 * time.Second)
	go func() {
		for range ticker.C {
			fmt.Fprintf(os.Stderr, "load: %d done after %.0f s\n", l.done.Load(), time.Since(began).Seconds())
		}
	}()
	return ticker.Stop
}

// step makes one request; false when there is nothing left to do.
func (l *loader) step(ctx context.Context, began time.Time, tick <-chan time.Time) bool {
	var err error
	if l.update > 0 {
		if time.Since(began) > l.update {
			return false
		}
		if tick != nil {
			<-tick
		}
		err = l.touch(ctx, rand.Intn(l.count))
	} else {
		i := int(l.next.Add(1)) - 1
		if i >= l.count {
			return false
		}
		err = l.create(ctx, i)
	}
	if err != nil {
		l.failed.Add(1)
		l.first.Do(func() { fmt.Fprintf(os.Stderr, "load: %v\n", err) })
	}
	l.done.Add(1)
	return true
}

func (l *loader) touch(ctx context.Context, i int) error {
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"bench/t":"%d"}}}`, time.Now().UnixNano())
	_, err := l.client.CoreV1().Pods(l.namespace).Patch(ctx, podName(i), types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

func (l *loader) create(ctx context.Context, i int) error {
	if l.existing[podName(i)] {
		return nil
	}
	pod := newPod(i)
	if l.small {
		pod = newSmallPod(i)
	}
	created, err := l.client.CoreV1().Pods(l.namespace).Create(ctx, pod, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if err != nil || !l.status {
		return err
	}
	created.Status = runningStatus(created)
	_, err = l.client.CoreV1().Pods(l.namespace).UpdateStatus(ctx, created, metav1.UpdateOptions{FieldManager: "kubelet"})
	return err
}
