// attack measures what ordinary clients of an API server notice while others attack it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"kubexx.example/bench/internal/measure"
)

const usage = `attack [FLAGS]: attacks an API server on this machine while ordinary clients work, and prints what these noticed.

  attack --pid 123 --only bodies,bombs   prints a line for each attack

Each line has the delays of the ordinary clients' requests and events, and the server's memory and descriptors before the
attack, at most, and after it. Without --only all attacks are made, one after the other, after a line without any ("none").

Ends with status 1 when a request of an ordinary client fails, or one for the server's health, when the server keeps
descriptors, or when it takes more memory than --memory allows.

`

// The server may open so many by itself meanwhile: its file, what it reads of /proc.
const spareDescriptors = 4

type options struct {
	kubeconfig, only   string
	attackersOf        string
	pid, clients       int
	duration, patience time.Duration
	memory             float64
	list, each         bool
}

func main() {
	var o options
	set := flag.NewFlagSet("attack", flag.ExitOnError)
	set.StringVar(&o.kubeconfig, "kubeconfig", os.Getenv("KUBECONFIG"), "how to reach the server, with a token")
	set.StringVar(&o.only, "only", "", "names of attacks, with commas between")
	set.IntVar(&o.pid, "pid", 0, "the server's process")
	set.IntVar(&o.clients, "clients", 100, "ordinary clients: three of ten watch, the others get, list and update")
	set.DurationVar(&o.duration, "for", 5*time.Second, "how long each attack lasts")
	set.DurationVar(&o.patience, "patience", 40*time.Second, "how long the server has to close what an attack has left")
	set.Float64Var(&o.memory, "memory", 0, "MiB that an attack may add to the resident memory; 0: any")
	set.StringVar(&o.attackersOf, "attackers-of", "", "only attacks, with this attack, until its input ends, and prints how often it has tried")
	set.BoolVar(&o.list, "list", false, "prints the names of the attacks, and what they do")
	set.BoolVar(&o.each, "each", false, "sends each of the requests that cost much once, alone, and prints what it cost")
	set.Usage = func() {
		fmt.Fprint(set.Output(), usage)
		set.PrintDefaults()
	}
	_ = set.Parse(os.Args[1:])
	if o.list {
		for _, one := range attacks {
			fmt.Printf("%-12s %s\n", one.name, one.about)
		}
		return
	}
	if err := run(context.Background(), o); err != nil {
		measure.Fatal("attack: %v", err)
	}
}

func run(ctx context.Context, o options) error {
	chosen, err := choose(o.only)
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return err
	}
	server, err := targetOf(config)
	if err != nil {
		return err
	}
	if err := raiseDescriptors(); err != nil {
		return err
	}
	if o.attackersOf != "" {
		return attackUntilToldToStop(ctx, server, o.attackersOf)
	}
	if o.each {
		return eachAlone(ctx, server, o.pid)
	}
	people, err := newPeople(ctx, server, o.clients)
	if err != nil {
		return err
	}
	var failures []string
	for _, one := range chosen {
		failure, err := o.measure(ctx, server, people, one)
		if err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
		if failure != "" {
			failures = append(failures, one.name+": "+failure)
		}
	}
	if len(failures) > 0 {
		return fmt.Errorf("%s", strings.Join(failures, "; "))
	}
	return nil
}

func choose(only string) ([]attack, error) {
	if only == "" {
		return attacks, nil
	}
	var chosen []attack
	for _, name := range strings.Split(only, ",") {
		i := slices.IndexFunc(attacks, func(one attack) bool { return one.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no attack %q; --list has them all", name)
		}
		chosen = append(chosen, attacks[i])
	}
	return chosen, nil
}

// measure makes one attack beside the ordinary clients and prints its line. What it returns first is what has to be mended.
func (o options) measure(ctx context.Context, server *target, people *people, one attack) (string, error) {
	before, err := look(o.pid)
	if err != nil {
		return "", err
	}
	people.start(ctx)
	// Connections of the ordinary clients are not those of the attack.
	time.Sleep(500 * time.Millisecond)
	during, err := look(o.pid)
	if err != nil {
		return "", err
	}
	most := watchProcess(o.pid)
	attackers, err := o.startAttackers(one.name)
	if err != nil {
		return "", err
	}
	people.forget()
	time.Sleep(o.duration)
	tries, err := attackers.stop()
	if err != nil {
		return "", err
	}
	delays := people.stop()
	after, err := look(o.pid)
	for end := time.Now().Add(o.patience); err == nil && after.descriptors > before.descriptors+spareDescriptors && time.Now().Before(end); {
		time.Sleep(200 * time.Millisecond)
		after, err = look(o.pid)
	}
	if err != nil {
		return "", err
	}
	peak := most()
	measure.Print(map[string]any{
		"program": "attack", "attack": one.name, "tries": tries, "for_s": o.duration.Seconds(),
		"requests": len(delays.requests), "events": len(delays.events), "failed": delays.failed,
		"p50_ms": delays.quantile(0.5), "p99_ms": delays.quantile(0.99), "max_ms": delays.quantile(1),
		"events_p99_ms": quantile(delays.events, 0.99),
		"health":        len(delays.health), "health_max_ms": quantile(delays.health, 1),
		"rss_before_mb": during.residentMB, "rss_peak_mb": peak.residentMB, "rss_after_mb": after.residentMB,
		"fds_before": before.descriptors, "fds_peak": peak.descriptors, "fds_after": after.descriptors,
	})
	switch {
	case tries == 0 && one.name != "none":
		return "nobody has attacked", nil
	case delays.failed > 0:
		return fmt.Sprintf("%d requests of ordinary clients failed, the last with %v", delays.failed, delays.failure), nil
	case after.descriptors > before.descriptors+spareDescriptors:
		return fmt.Sprintf("%d descriptors before it, %d after it", before.descriptors, after.descriptors), nil
	case o.memory > 0 && peak.residentMB > during.residentMB+o.memory:
		return fmt.Sprintf("%.0f MiB before it, up to %.0f MiB while it lasted", during.residentMB, peak.residentMB), nil
	}
	return "", nil
}
