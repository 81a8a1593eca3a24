// replay is a small API server that makes its pods on the fly from recorded ones: as many as asked for, no two alike,
// without memory for them. For measuring clients; it knows LIST, WatchList and WATCH of pods, in JSON and protobuf.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"kubexx.example/bench/internal/measure"
)

const usage = `replay COMMAND [FLAGS]: an API server with made-up pods, to measure clients against.

  serve    serves pods, and after the first list updates of them as fast as the client takes them
  record   writes pods of a real API server to a file, for serve to make its pods from
  rate     makes events without a client and prints how many a second

serve writes a kubeconfig, then a line "ready", and for each list or watch that ends a JSON line with its rate. It speaks
TLS with a certificate of its own, HTTP/1.1 and HTTP/2, and does not ask who its clients are. It ends with standard input.

`

type options struct {
	templates, kubeconfig, out, namespace string
	objects, events                       int
	pause                                 time.Duration
	busy, rare                            int
	random                                bool
}

func main() {
	var o options
	set := flag.NewFlagSet("replay", flag.ExitOnError)
	set.StringVar(&o.templates, "templates", "", "serve, rate: a file that record wrote")
	set.StringVar(&o.kubeconfig, "kubeconfig", "", "serve: write a kubeconfig there; record: how to reach the server")
	set.StringVar(&o.out, "out", "", "record: the file to write")
	set.StringVar(&o.namespace, "namespace", "", "record: of which namespace; all by default")
	set.IntVar(&o.objects, "objects", 1000, "how many pods there are; record: how many to take")
	set.IntVar(&o.events, "events", 0, "updates sent on a watch; then it stays quiet")
	set.IntVar(&o.busy, "busy", 0, "how many of the pods are updated; 0: all of them in turn")
	set.BoolVar(&o.random, "random", false, "serve: the updates are of pods in no order; without it one pod comes after the other")
	set.IntVar(&o.rare, "rare", 0, "serve: one pod in so many has the label tier=rare, the others tier=usual; 0: none has either")
	set.DurationVar(&o.pause, "pause", time.Second, "between the first list and the updates")
	set.Usage = func() {
		fmt.Fprint(set.Output(), usage)
		set.PrintDefaults()
	}
	if len(os.Args) < 2 {
		set.Usage()
		os.Exit(2)
	}
	_ = set.Parse(os.Args[2:])
	if o.busy <= 0 || o.busy > o.objects {
		o.busy = o.objects
	}
	var err error
	switch os.Args[1] {
	case "serve":
		err = serve(o)
	case "record":
		err = record(o)
	case "rate":
		err = rate(o)
	default:
		set.Usage()
		os.Exit(2)
	}
	if err != nil {
		measure.Fatal("replay %s: %v", os.Args[1], err)
	}
}

// rate tells how fast events are made, so that a client can be seen not to wait for them.
func rate(o options) error {
	for _, json := range []bool{false, true} {
		pods, err := loadTemplates(o.templates, json, 0)
		if err != nil {
			return err
		}
		var buffer []byte
		began, bytes := time.Now(), 0
		for i := range 200000 {
			buffer = pods.appendEvent(buffer[:0], modified, i%o.objects, i)
			bytes += len(buffer)
		}
		seconds := time.Since(began).Seconds()
		measure.Print(map[string]any{
			"program": "replay", "command": "rate", "json": json, "events_per_s": measure.Round(200000/seconds, 0),
			"bytes_per_event": bytes / 200000, "mb_per_s": measure.Round(float64(bytes)/seconds/1e6, 0),
		})
	}
	return nil
}
