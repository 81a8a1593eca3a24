package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const metaPath = "k8s.io/apimachinery/pkg/apis/meta/v1"

// resource is a REST resource that serves a root kind.
type resource struct {
	object       *object
	plural       string
	namespaced   bool
	verbs        []string
	subresources []string
}

// loadModel reads all registered types.
func loadModel() *model {
	scheme := runtime.NewScheme()
	for _, add := range addToScheme {
		check(add(scheme) == nil, "a group version cannot be registered")
	}
	m := &model{packages: map[string]*pkg{}, objects: map[reflect.Type]*object{}}
	for gvk, t := range scheme.AllKnownTypes() {
		if gvk.Version == runtime.APIVersionInternal || strings.HasPrefix(gvk.Kind, "Table") && t.PkgPath() == metaPath {
			continue // no wire format, or cells of any type
		}
		if t.PkgPath() == metaPath && gvk.Group != "meta.k8s.io" {
			gvk.Group, gvk.Version = "", "v1" // registered with every group version; one is enough
		}
		m.addRoot(gvk, t)
	}
	for _, o := range m.objects {
		o.pkg.objects = append(o.pkg.objects, o)
		if o.gvk.Kind != "" && o.pkg.group != "meta" {
			check(o.pkg.gv.Empty() || o.pkg.gv == o.gvk.GroupVersion(), "%s has kinds of two group versions", o.pkg.dir())
			o.pkg.gv = o.gvk.GroupVersion()
		}
	}
	for _, p := range m.packages {
		p.objects = ordered(p.objects)
	}
	roots := m.roots()
	for i := 1; i < len(roots); i++ {
		check(roots[i-1].gvk != roots[i].gvk, "%v has two types", roots[i].gvk)
	}
	return m
}

func (m *model) addRoot(gvk schema.GroupVersionKind, t reflect.Type) {
	o := m.add(t)
	check(o.gvk.Kind == "" || o.gvk == gvk, "%v is both %v and %v", t, o.gvk, gvk)
	o.gvk = gvk
	if !o.typed {
		o.jsonForm = "kBareObject"
	}
}

// sortedPackages lists the packages by folder.
func (m *model) sortedPackages() []*pkg {
	var all []*pkg
	for _, p := range m.packages {
		all = append(all, p)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].dir() < all[j].dir() })
	return all
}

// roots lists the root kinds by group, version, kind.
func (m *model) roots() []*object {
	var all []*object
	for _, o := range m.objects {
		if o.gvk.Kind != "" {
			all = append(all, o)
		}
	}
	sort.Slice(all, func(i, j int) bool {
		a, b := all[i].gvk, all[j].gvk
		if a.Group != b.Group {
			return a.Group < b.Group
		}
		if a.Version != b.Version {
			return a.Version < b.Version
		}
		return a.Kind < b.Kind
	})
	return all
}

// ordered sorts by name and then puts each struct after those it needs; where types are recursive,
// only members by value count, the others get by with a forward declaration.
func ordered(objects []*object) []*object {
	sort.Slice(objects, func(i, j int) bool { return objects[i].name < objects[j].name })
	var result []*object
	state := map[*object]int{} // 1 being visited, 2 done
	var visit func(o *object)
	visit = func(o *object) {
		state[o] = 1
		for _, f := range o.fields {
			if f.message == nil || f.message.pkg != o.pkg {
				continue
			}
			check(state[f.message] != 1 || f.cardinality != "kPlain", "%v and %v contain each other", o.goType, f.message.goType)
			if state[f.message] == 0 {
				visit(f.message)
			}
		}
		state[o] = 2
		result = append(result, o)
	}
	for _, o := range objects {
		if state[o] == 0 {
			visit(o)
		}
	}
	done := map[*object]bool{}
	for _, o := range result {
		for _, f := range o.fields {
			check(f.message == nil || f.message.pkg != o.pkg || f.cardinality != "kPlain" || done[f.message],
				"%v comes before its member %v", o.goType, f.name)
		}
		done[o] = true
	}
	return result
}

// loadResources reads the discovery documents of an API server with every built-in API switched on: the core
// group from api__v1.json, the others from aggregated_v2.json.
func (m *model) loadResources(dir string) {
	byKind := map[schema.GroupVersionKind]*object{}
	for _, o := range m.roots() {
		byKind[o.gvk] = o
	}
	add := func(gvk schema.GroupVersionKind, r *resource) {
		r.object = byKind[gvk]
		check(r.object != nil, "discovery names %v, which has no type", gvk)
		r.object.pkg.resources = append(r.object.pkg.resources, r)
	}
	var core metav1.APIResourceList
	readJSON(filepath.Join(dir, "api__v1.json"), &core)
	served := map[string]*resource{}
	for _, r := range core.APIResources {
		name, subresource, isSub := strings.Cut(r.Name, "/")
		if !isSub {
			served[name] = &resource{plural: name, namespaced: r.Namespaced, verbs: r.Verbs}
			add(schema.GroupVersionKind{Version: "v1", Kind: r.Kind}, served[name])
		} else if parent := served[name]; parent != nil {
			parent.subresources = append(parent.subresources, subresource)
		}
	}
	var others apidiscoveryv2.APIGroupDiscoveryList
	readJSON(filepath.Join(dir, "aggregated_v2.json"), &others)
	for _, group := range others.Items {
		for _, version := range group.Versions {
			for _, r := range version.Resources {
				entry := &resource{plural: r.Resource, namespaced: r.Scope == apidiscoveryv2.ScopeNamespace, verbs: r.Verbs}
				for _, s := range r.Subresources {
					entry.subresources = append(entry.subresources, s.Subresource)
				}
				add(schema.GroupVersionKind{Group: group.Name, Version: version.Version, Kind: r.ResponseKind.Kind}, entry)
			}
		}
	}
	for _, p := range m.packages {
		sort.Slice(p.resources, func(i, j int) bool { return p.resources[i].plural < p.resources[j].plural })
	}
}

func readJSON(file string, into any) {
	text, err := os.ReadFile(file)
	check(err == nil, "%v", err)
	err = json.Unmarshal(text, into)
	check(err == nil, "%s: %v", file, err)
}

// checkComplete makes sure that no group version of the module k8s.io/api is missing in group_versions.go.
func (m *model) checkComplete(api string) {
	files, err := filepath.Glob(filepath.Join(api, "*", "*", "register.go"))
	check(err == nil && len(files) > 0, "no group versions in %s", api)
	for _, file := range files {
		folder, err := filepath.Rel(api, filepath.Dir(file))
		check(err == nil, "%v", err)
		check(m.packages["k8s.io/api/"+folder] != nil, "k8s.io/api/%s is missing in group_versions.go", folder)
	}
}

// loadRoundTripKinds lists the kinds with test data in the module k8s.io/api and checks that all are registered.
func (m *model) loadRoundTripKinds(dir string) []schema.GroupVersionKind {
	files, err := filepath.Glob(filepath.Join(dir, "*.pb"))
	check(err == nil && len(files) > 0, "no test data in %s", dir)
	known := map[schema.GroupVersionKind]bool{}
	for _, o := range m.roots() {
		known[o.gvk] = true
	}
	var kinds []schema.GroupVersionKind
	for _, file := range files {
		parts := strings.Split(strings.TrimSuffix(filepath.Base(file), ".pb"), ".")
		n := len(parts)
		gvk := schema.GroupVersionKind{Group: strings.Join(parts[:n-2], "."), Version: parts[n-2], Kind: parts[n-1]}
		if gvk.Group == "core" {
			gvk.Group = ""
		}
		check(known[gvk], "test data has %v, which is not registered", gvk)
		kinds = append(kinds, gvk)
	}
	return kinds
}
