// registers checks that kubexx-apiserver is linearizable: clients create, read, replace, compare and swap, and delete a few
// ConfigMaps at the same time, while the server or its etcd is killed with SIGKILL and started again. What they were
// answered must be what one register for each ConfigMap could have answered, one request after the other, each at some time
// between its beginning and its end; that is checked by porcupine. So nothing that was acknowledged may be lost.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/anishathalye/porcupine"

	"kubexx.example/bench/internal/measure"
)

type options struct {
	apiserver, etcd, kill, picture string
	clients, registers, kills      int
	every                          time.Duration
	seed                           int64
}

func main() {
	var o options
	set := flag.NewFlagSet("registers", flag.ExitOnError)
	set.StringVar(&o.apiserver, "apiserver", "", "the program kubexx-apiserver")
	set.StringVar(&o.etcd, "etcd", "", "the program etcd; without it the server keeps a file")
	set.StringVar(&o.kill, "kill", "apiserver", "what is killed: apiserver or etcd")
	set.StringVar(&o.picture, "picture", "", "where a history that is not linearizable is drawn to, as HTML")
	set.IntVar(&o.clients, "clients", 6, "requests at the same time")
	set.IntVar(&o.registers, "registers", 4, "ConfigMaps")
	set.IntVar(&o.kills, "kills", 4, "how often it is killed")
	set.DurationVar(&o.every, "every", 700*time.Millisecond, "time between kills")
	set.Int64Var(&o.seed, "seed", time.Now().UnixNano(), "of the clients' choices")
	_ = set.Parse(os.Args[1:])
	if o.apiserver == "" || (o.kill != "apiserver" && o.kill != "etcd") || (o.kill == "etcd" && o.etcd == "") {
		set.Usage()
		os.Exit(2)
	}
	if err := run(o); err != nil {
		measure.Fatal("registers: seed %d: %v", o.seed, err)
	}
}

func run(o options) error {
	folder, err := os.MkdirTemp("", "registers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	servers, err := startServers(o, folder)
	if err != nil {
		return err
	}
	defer servers.stop()
	history := newHistory()
	clients := startClients(o, servers.url(), history)
	for i := 0; i < o.kills; i++ {
		if err := history.window(o.every, 100); err != nil {
			clients.stop()
			return err
		}
		if err := servers.killAndStart(o.kill); err != nil {
			clients.stop()
			return err
		}
	}
	err = history.window(o.every, 100)
	clients.stop()
	if err != nil {
		return err
	}
	if err := finalReads(o, servers.url(), history); err != nil {
		return err
	}
	operations, counts := history.finish()
	fmt.Printf("registers: %d requests, %d of them without an answer; %d kills of %s\n", counts.all, counts.unknown, o.kills, o.kill)
	// With fewer the kills have left nothing to check.
	if counts.all-counts.unknown < 100*o.kills {
		return fmt.Errorf("only %d requests were answered", counts.all-counts.unknown)
	}
	verdict, info := porcupine.CheckOperationsVerbose(registerModel(), operations, time.Minute)
	if verdict == porcupine.Ok {
		fmt.Println("registers: linearizable")
		return nil
	}
	if o.picture != "" {
		if err := porcupine.VisualizePath(registerModel(), info, o.picture); err != nil {
			return err
		}
	}
	return fmt.Errorf("the history is not linearizable: %s", verdict)
}
