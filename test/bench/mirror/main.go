// mirror keeps a copy of the ConfigMaps of a namespace with a client-go shared informer, tells what its handlers are told,
// and prints the copy when it is asked to.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"kubexx.example/bench/internal/measure"
)

const usage = `mirror --kubeconfig FILE [--namespace NAME] [--protobuf]

Prints a line of JSON for each call of a handler, {"event":"add","name":"a","version":"7","value":"x"}, {"event":"synced"}
when the first list is in, and for each line that it reads {"store":{"a":["7","x"]}}. Ends when its input ends.
Whether lists are streamed: KUBE_FEATURE_WatchListClient=true or false.

`

// printer writes whole lines: handlers and the reader of the input take turns.
type printer struct {
	mu      sync.Mutex
	encoder *json.Encoder
}

func (p *printer) print(value any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.encoder.Encode(value); err != nil {
		measure.Fatal("mirror: %v", err)
	}
}

type event struct {
	Event   string `json:"event"`
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
	Value   string `json:"value,omitempty"`
}

func eventOf(kind string, object any) event {
	if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = last.Obj
	}
	found := object.(*corev1.ConfigMap)
	return event{kind, found.Name, found.ResourceVersion, found.Data["value"]}
}

func main() {
	set := flag.NewFlagSet("mirror", flag.ExitOnError)
	kubeconfig := set.String("kubeconfig", os.Getenv("KUBECONFIG"), "how to reach the server")
	namespace := set.String("namespace", "default", "whose ConfigMaps")
	protobuf := set.Bool("protobuf", false, "ask for protobuf instead of JSON")
	set.Usage = func() { fmt.Fprint(os.Stderr, usage); set.PrintDefaults() }
	_ = set.Parse(os.Args[1:])
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		measure.Fatal("mirror: %v", err)
	}
	if *protobuf {
		config.ContentType = "application/vnd.kubernetes.protobuf"
		config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	}
	run(kubernetes.NewForConfigOrDie(config), *namespace)
}

func run(client kubernetes.Interface, namespace string) {
	out := &printer{encoder: json.NewEncoder(os.Stdout)}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	informer := factory.Core().V1().ConfigMaps().Informer()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { out.print(eventOf("add", object)) },
		UpdateFunc: func(_, object any) { out.print(eventOf("update", object)) },
		DeleteFunc: func(object any) { out.print(eventOf("delete", object)) },
	})
	if err != nil {
		measure.Fatal("mirror: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	out.print(event{Event: "synced"})
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		store := map[string][2]string{}
		for _, object := range informer.GetStore().List() {
			found := object.(*corev1.ConfigMap)
			store[found.Name] = [2]string{found.ResourceVersion, found.Data["value"]}
		}
		out.print(map[string]any{"store": store})
	}
}
