// workqueue-clientgo does with client-go's work queue what `kubexx-bench queue` does, and prints the
// same fields.
package main

import (
	"flag"
	"fmt"
	"os"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"

	"kubexx.example/bench/internal/measure"
)

const usage = `workqueue-clientgo [FLAGS]: add, get and done of client-go's typed rate limiting queue.

Each thread adds a key of its own, takes one and is done with it, over and over. Prints one JSON line.

`

// key is what kubexx's queue holds too: a kind and an object's name.
type key struct{ kind, namespace, name string }

func main() {
	set := flag.NewFlagSet("workqueue-clientgo", flag.ExitOnError)
	operations := set.Int("operations", 1000000, "adds, each with a get and a done, over all threads")
	threads := set.Int("threads", 1, "threads at the same time")
	waiting := set.Int("waiting", 0, "keys that wait in the queue from the beginning")
	set.Usage = func() {
		fmt.Fprint(set.Output(), usage)
		set.PrintDefaults()
	}
	_ = set.Parse(os.Args[1:])

	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[key]())
	for i := range *waiting {
		queue.Add(key{"", "team-1", fmt.Sprintf("waiting-%08d", i)})
	}
	// With several threads a key that is still with another one would be no new key when it is added again, and in the end
	// there would be fewer keys than threads that wait for one: all are distinct then.
	each := *operations / *threads
	distinct := each
	if *threads == 1 {
		distinct = 1024
	}
	keys := make([][]key, *threads)
	for t := range keys {
		for i := range distinct {
			keys[t] = append(keys[t], key{"", fmt.Sprintf("team-%d", i%100), fmt.Sprintf("payments-web-7c9d8f-%d-%07d", t, i)})
		}
	}
	began, cpu := time.Now(), measure.CPUSeconds()
	var all sync.WaitGroup
	for t := range *threads {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := range each {
				queue.Add(keys[t][i%distinct])
				taken, _ := queue.Get()
				queue.Done(taken)
			}
		}()
	}
	all.Wait()
	wall, used := time.Since(began).Seconds(), measure.CPUSeconds()-cpu
	total := float64(each * *threads)
	measure.Print(map[string]any{
		"program": "client-go", "command": "queue", "threads": *threads, "waiting": *waiting, "operations": each * *threads,
		"wall_s": measure.Round(wall, 3), "cpu_s": measure.Round(used, 3),
		"ops_per_s": measure.Round(total/wall, 0), "ops_per_cpu_s": measure.Round(total/used, 0),
		"rss_mb": measure.Round(measure.ResidentMB(), 1),
	})
}
