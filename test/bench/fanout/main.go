// fanout measures what a change costs a server that many clients watch: one writer, many watchers, each with a connection of its own.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"kubexx.example/bench/internal/measure"
)

const usage = `fanout [FLAGS]: updates a ConfigMap for a while and counts what many watchers get of it.

  fanout --watchers 1000 --for 20s --pids 123,456   prints the events for each second of processor time of those processes

Ends with status 1 when a watcher has missed an event or got one twice.

`

// Every so manieth watcher tells how old the events are that it gets.
const sampled = 50

type options struct {
	kubeconfig, namespace, protocol, pids string
	watchers, rate, bytes                 int
	duration, patience                    time.Duration
}

type bench struct {
	options
	config   *rest.Config
	client   kubernetes.Interface
	received []atomic.Int64
	mu       sync.Mutex
	ages     []float64 // milliseconds
	failure  error
}

func main() {
	var o options
	set := flag.NewFlagSet("fanout", flag.ExitOnError)
	set.StringVar(&o.kubeconfig, "kubeconfig", os.Getenv("KUBECONFIG"), "how to reach the server")
	set.StringVar(&o.namespace, "namespace", "fanout", "where the ConfigMap is")
	set.StringVar(&o.protocol, "protocol", "http/1.1", "of the watches: http/1.1 or h2")
	set.StringVar(&o.pids, "pids", "", "the server's processes")
	set.IntVar(&o.watchers, "watchers", 1000, "how many watch")
	set.IntVar(&o.rate, "rate", 0, "updates a second; 0: one after the other, as fast as the server takes them")
	set.IntVar(&o.bytes, "bytes", 1000, "of data in the ConfigMap")
	set.DurationVar(&o.duration, "for", 20*time.Second, "how long to write")
	set.DurationVar(&o.patience, "patience", 60*time.Second, "how long to wait for the last events")
	set.Usage = func() {
		fmt.Fprint(set.Output(), usage)
		set.PrintDefaults()
	}
	_ = set.Parse(os.Args[1:])
	if o.watchers < 1 {
		measure.Fatal("fanout: --watchers must be at least 1")
	}
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		measure.Fatal("fanout: %v", err)
	}
	config.QPS = -1
	b := &bench{options: o, config: config, client: kubernetes.NewForConfigOrDie(config), received: make([]atomic.Int64, o.watchers)}
	if err := b.run(context.Background()); err != nil {
		measure.Fatal("fanout: %v", err)
	}
}

func (b *bench) run(ctx context.Context) error {
	object, err := b.prepare(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := b.watchAll(ctx, object.ResourceVersion); err != nil {
		return err
	}
	time.Sleep(2 * time.Second) // What the handshakes left behind is over.
	before, err := b.serverSeconds()
	if err != nil {
		return err
	}
	began := time.Now()
	writes, err := b.write(ctx, object)
	if err != nil {
		return err
	}
	wrote := time.Since(began).Seconds()
	if err := b.await(int64(writes)); err != nil {
		return err
	}
	wall := time.Since(began).Seconds()
	after, err := b.serverSeconds()
	if err != nil {
		return err
	}
	events := float64(writes * b.watchers)
	result := map[string]any{
		"program": "fanout", "protocol": b.protocol, "watchers": b.watchers, "writes": writes, "events": events,
		"wall_s": measure.Round(wall, 2), "writes_per_s": measure.Round(float64(writes)/wrote, 1), "cpu_s": measure.Round(after-before, 2),
		"p50_ms": measure.Round(b.age(0.5), 2), "p99_ms": measure.Round(b.age(0.99), 2),
	}
	if after > before {
		result["events_per_cpu_s"] = measure.Round(events/(after-before), 0)
	}
	measure.Print(result)
	return nil
}

// prepare makes the namespace and the ConfigMap.
func (b *bench) prepare(ctx context.Context) (*corev1.ConfigMap, error) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.namespace}}
	_, _ = b.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	maps := b.client.CoreV1().ConfigMaps(b.namespace)
	object := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "watched-"},
		Data:       map[string]string{"data": strings.Repeat("x", b.bytes)},
	}
	return maps.Create(ctx, object, metav1.CreateOptions{})
}

// watchAll opens the watches and returns when the server has begun to answer each.
func (b *bench) watchAll(ctx context.Context, version string) error {
	const together = 32
	slots := make(chan struct{}, together)
	errs := make(chan error, b.watchers)
	for i := range b.watchers {
		slots <- struct{}{}
		go func() {
			body, err := b.open(ctx, version)
			<-slots
			errs <- err
			if err == nil {
				b.read(ctx, i, body)
			}
		}()
	}
	for range b.watchers {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) open(ctx context.Context, version string) (io.ReadCloser, error) {
	tls, err := rest.TLSConfigFor(b.config)
	if err != nil {
		return nil, err
	}
	tls.NextProtos = []string{b.protocol}
	transport := &http.Transport{TLSClientConfig: tls, ForceAttemptHTTP2: b.protocol == "h2", DisableCompression: true}
	wrapped, err := rest.HTTPWrappersForConfig(b.config, transport)
	if err != nil {
		return nil, err
	}
	url := fmt.Sprintf("%s/api/v1/namespaces/%s/configmaps?watch=1&resourceVersion=%s", b.config.Host, b.namespace, version)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := (&http.Client{Transport: wrapped}).Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return nil, fmt.Errorf("the watch gets %s", response.Status)
	}
	return response.Body, nil
}

// read counts lines: the server's JSON has no others than the ends of events.
func (b *bench) read(ctx context.Context, watcher int, body io.ReadCloser) {
	defer body.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := body.Read(buffer)
		b.received[watcher].Add(int64(bytes.Count(buffer[:n], []byte{'\n'})))
		if watcher%sampled == 0 {
			b.noteAges(buffer[:n])
		}
		if err != nil {
			if ctx.Err() == nil {
				b.fail(fmt.Errorf("watcher %d: %w", watcher, err))
			}
			return
		}
	}
}

var mark = []byte(`"bench/written":"`)

// noteAges finds the times at which the events in some bytes were sent; one that is cut in two is left out.
func (b *bench) noteAges(text []byte) {
	now := time.Now().UnixNano()
	for {
		_, rest, found := bytes.Cut(text, mark)
		if !found {
			return
		}
		digits, after, whole := bytes.Cut(rest, []byte{'"'})
		text = after
		if sent, err := strconv.ParseInt(string(digits), 10, 64); whole && err == nil {
			b.mu.Lock()
			b.ages = append(b.ages, float64(now-sent)/1e6)
			b.mu.Unlock()
		}
	}
}

func (b *bench) age(quantile float64) float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.ages) == 0 {
		return 0
	}
	slices.Sort(b.ages)
	return b.ages[int(quantile*float64(len(b.ages)-1))]
}

func (b *bench) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failure == nil {
		b.failure = err
	}
}

// write updates the object until the time is over; it says how often.
func (b *bench) write(ctx context.Context, object *corev1.ConfigMap) (int, error) {
	maps := b.client.CoreV1().ConfigMaps(b.namespace)
	end := time.Now().Add(b.duration)
	next := time.Now()
	writes := 0
	for time.Now().Before(end) {
		if b.rate > 0 {
			next = next.Add(time.Second / time.Duration(b.rate))
			time.Sleep(time.Until(next))
		}
		object.Annotations = map[string]string{"bench/written": strconv.FormatInt(time.Now().UnixNano(), 10)}
		updated, err := maps.Update(ctx, object, metav1.UpdateOptions{})
		if err != nil {
			return writes, err
		}
		object = updated
		writes++
	}
	return writes, nil
}

// await returns when every watcher has every event, and fails when one has more or has not got them in time.
func (b *bench) await(writes int64) error {
	end := time.Now().Add(b.patience)
	for {
		b.mu.Lock()
		err := b.failure
		b.mu.Unlock()
		if err != nil {
			return err
		}
		behind := 0
		for i := range b.received {
			switch got := b.received[i].Load(); {
			case got > writes:
				return fmt.Errorf("watcher %d got %d events of %d writes", i, got, writes)
			case got < writes:
				behind++
			}
		}
		if behind == 0 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%d watchers have not got all %d events after %s", behind, writes, b.patience)
		}
		time.Sleep(time.Millisecond)
	}
}

// serverSeconds is the processor time of the server's processes so far.
func (b *bench) serverSeconds() (float64, error) {
	const ticks = 100 // USER_HZ on every Linux
	total := 0.0
	for _, pid := range strings.FieldsFunc(b.pids, func(r rune) bool { return r == ',' }) {
		text, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil {
			return 0, err
		}
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if len(fields) < 13 {
			return 0, fmt.Errorf("/proc/%s/stat is not as expected", pid)
		}
		user, _ := strconv.ParseFloat(fields[11], 64)
		system, _ := strconv.ParseFloat(fields[12], 64)
		total += (user + system) / ticks
	}
	return total, nil
}
