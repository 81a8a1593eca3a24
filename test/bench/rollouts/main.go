// rollouts measures from outside how an operator rolls workloads when their ConfigMaps change: it edits, watches the pod
// templates and compares. It knows nothing of the operator but Reloader's annotations and variables.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"kubexx.example/bench/internal/measure"
)

const usage = `rollouts COMMAND [FLAGS]: edits ConfigMaps and watches how an operator rolls the Deployments that use them.

  fill      creates ConfigMaps, Secrets and Deployments, nothing else: for an operator's memory
  fanout    one ConfigMap of many Deployments, one edit: how long until all are rolled
  storm     many edits a second; how many Deployments lack their final state some seconds after; with --disturb under faults
  latency   some edits a second beside many Deployments: from an edit's acceptance to the changed pod template
  settle    a ConfigMap and a Secret edited together: no write inside the window, and one rollout
  applies   how long dry runs of an apply to one ConfigMap take; with --warned those of which the server warns
  waves     data with which rollouts fail, under a policy with waves that puts the last good data back: how many ever had them, for how long
  faults    edits while the operator (--operator) is killed at random: every final state rolled, none twice

The operator must be running, except for faults, which starts it. Deployments have no replicas, so that only the API server
and the operator work; in waves this program plays their controller. Prints one JSON line.

`

type options struct {
	kubeconfig, namespace            string
	operator, disturb                string
	configMaps, secrets, deployments int
	rate, kills                      int
	length, grace, settle            time.Duration
	seed                             int64
	wantWarned                       bool
}

type bench struct {
	options
	client   kubernetes.Interface
	warned   warnings
	replicas int32                    // of new Deployments
	seen     func(*appsv1.Deployment) // is called for each state of a Deployment that the observer sees; may be nil
}

var commands = map[string]func(*bench, context.Context) (map[string]any, error){
	"fill":    (*bench).fill,
	"fanout":  (*bench).fanout,
	"storm":   (*bench).storm,
	"latency": (*bench).latency,
	"settle":  (*bench).settleWindow,
	"applies": (*bench).applies,
	"waves":   (*bench).waves,
	"faults":  (*bench).faults,
}

func main() {
	var o options
	set := flag.NewFlagSet("rollouts", flag.ExitOnError)
	set.StringVar(&o.kubeconfig, "kubeconfig", os.Getenv("KUBECONFIG"), "how to reach the server")
	set.StringVar(&o.namespace, "namespace", "rollouts", "where the objects are")
	set.StringVar(&o.operator, "operator", "", "faults: the operator's command line")
	set.StringVar(&o.disturb, "disturb", "", "storm: a shell command that is run again and again meanwhile, such as one that restarts the API server")
	set.IntVar(&o.configMaps, "configmaps", 200, "how many ConfigMaps")
	set.IntVar(&o.secrets, "secrets", 0, "how many Secrets")
	set.IntVar(&o.deployments, "deployments", 200, "how many Deployments")
	set.IntVar(&o.rate, "rate", 5, "edits a second")
	set.IntVar(&o.kills, "kills", 200, "faults: how often the operator is killed")
	set.DurationVar(&o.length, "for", time.Minute, "how long")
	set.DurationVar(&o.grace, "grace", 5*time.Second, "how long after the last edit final states are compared")
	set.DurationVar(&o.settle, "settle", 100*time.Millisecond, "the operator's settle window")
	set.BoolVar(&o.wantWarned, "warned", false, "applies: whether the server warns of what an apply does")
	set.Int64Var(&o.seed, "seed", 1, "of what is chosen at random")
	set.Usage = func() {
		fmt.Fprint(set.Output(), usage)
		set.PrintDefaults()
	}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		set.Usage()
		os.Exit(2)
	}
	_ = set.Parse(os.Args[2:])

	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		measure.Fatal("rollouts: %v", err)
	}
	config.QPS = -1
	config.ContentType = "application/vnd.kubernetes.protobuf"
	b := &bench{options: o}
	config.WarningHandler = &b.warned
	b.client = kubernetes.NewForConfigOrDie(config)
	result, err := commands[os.Args[1]](b, context.Background())
	if err != nil {
		measure.Fatal("rollouts: %v", err)
	}
	result["command"] = os.Args[1]
	measure.Print(result)
}
