package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

const mergeDir = "pkg/apiserver/managedfields"

// openapiNames are the beginnings of the names of schemas; what follows is the name that the codec has.
var openapiNames = []string{
	"io.k8s.apimachinery.pkg.apis.",
	"io.k8s.apiextensions-apiserver.pkg.apis.",
	"io.k8s.kube-aggregator.pkg.apis.",
	"io.k8s.api.",
}

type property struct {
	ListType string          `json:"x-kubernetes-list-type"`
	ListKeys []string        `json:"x-kubernetes-list-map-keys"`
	MapType  string          `json:"x-kubernetes-map-type"`
	Default  json.RawMessage `json:"default"`
	Items    *struct {
		Ref   string            `json:"$ref"`
		AllOf []json.RawMessage `json:"allOf"`
	} `json:"items"`
}

type definition struct {
	MapType    string              `json:"x-kubernetes-map-type"`
	Properties map[string]property `json:"properties"`
}

// emitMerge writes how lists and maps of the stable built-in types are merged, as far as it is not the rule: lists are
// atomic, maps are granular; and what strategic merge patches do with them, which the Go types' tags say. dir is api/openapi-spec/v3 of the Go module k8s.io/kubernetes.
func emitMerge(out output, m *model, dir string) {
	known := map[string]*object{}
	var patches []string
	for _, p := range m.packages {
		if strings.Contains(p.version, "alpha") || strings.Contains(p.version, "beta") {
			continue
		}
		for _, o := range p.objects {
			known[codecNameOf(o)] = o
			patches = append(patches, patchRows(o)...)
		}
	}
	sort.Strings(patches)
	check(len(patches) > 50, "no patch strategies in the Go types")
	definitions := loadDefinitions(dir)
	var rules, defaults []string
	for _, name := range sortedKeys(definitions) {
		o := known[name]
		if o == nil {
			continue
		}
		d := definitions[name]
		if d.MapType == "atomic" {
			rules = append(rules, mergeRow(name, "", "kAtomic", nil))
		}
		for _, field := range sortedKeys(d.Properties) {
			f := d.Properties[field]
			switch {
			case f.ListType == "map":
				rules = append(rules, mergeRow(ownerOf(o, field), field, "kKeys", f.ListKeys))
				defaults = append(defaults, keyDefaults(definitions, f)...)
			case f.ListType == "set":
				rules = append(rules, mergeRow(ownerOf(o, field), field, "kSet", nil))
			case f.MapType == "atomic":
				rules = append(rules, mergeRow(ownerOf(o, field), field, "kAtomic", nil))
			case f.MapType == "granular":
				rules = append(rules, mergeRow(ownerOf(o, field), field, "kGranular", nil))
			}
		}
	}
	check(len(rules) > 50, "no merge rules in %s", dir)
	sort.Strings(rules)
	sort.Strings(defaults)
	var b strings.Builder
	b.WriteString(banner + include(mergeDir+"/merge_rules.h") + "\nnamespace kubexx::apiserver::managedfields {\nnamespace {\n\nusing enum Merge;\n\n")
	b.WriteString("// Ascending by type and field.\nconstexpr MergeRule kRules[] = {\n" + strings.Join(compact(rules), "") + "};\n\n")
	b.WriteString("// Ascending by type and field.\nconstexpr PatchRule kPatchRules[] = {\n" + strings.Join(patches, "") + "};\n\n")
	b.WriteString("constexpr KeyDefault kDefaults[] = {\n" + strings.Join(compact(defaults), "") + "};\n\n}  // namespace\n\n")
	b.WriteString("std::span<const MergeRule> MergeRules() { return kRules; }\n\nstd::span<const PatchRule> PatchRules() { return kPatchRules; }\n\n")
	b.WriteString("std::span<const KeyDefault> KeyDefaults() { return kDefaults; }\n\n")
	b.WriteString("}  // namespace kubexx::apiserver::managedfields\n")
	out[mergeDir+"/merge_rules.gen.cc"] = b.String()
}

// codecNameOf is the name that the codec's table of the object has.
func codecNameOf(o *object) string { return o.pkg.group + "." + o.pkg.version + "." + o.name }

// ownerOf is the name of the struct that has the field: the object, or one that stands inline in it and has a table of its own.
func ownerOf(o *object, jsonName string) string {
	for _, f := range o.fields {
		if f.inline && f.message != nil {
			for _, inner := range f.message.fields {
				if inner.name == jsonName {
					return codecNameOf(f.message)
				}
			}
		}
	}
	return codecNameOf(o)
}

// patchRows are the rows of those fields of an object that a strategic merge patch does not change as it does most.
func patchRows(o *object) []string {
	var rows []string
	for _, f := range o.fields {
		if strategy, key := f.patch[0], f.patch[1]; strategy != "" {
			rows = append(rows, fmt.Sprintf("    {%q, %q, %q, %q},\n", codecNameOf(o), f.name, strategy, key))
		}
	}
	return rows
}

func mergeRow(name, field, merge string, keys []string) string {
	return fmt.Sprintf("    {%q, %q, %s, %q},\n", name, field, merge, strings.Join(keys, ","))
}

// keyDefaults are the rows of those keys of a list's elements that have a default.
func keyDefaults(definitions map[string]definition, list property) []string {
	ref := ""
	if list.Items != nil {
		ref = list.Items.Ref
		for _, one := range list.Items.AllOf {
			var r struct {
				Ref string `json:"$ref"`
			}
			check(json.Unmarshal(one, &r) == nil, "a bad allOf: %s", one)
			ref = r.Ref
		}
	}
	element := codecName(filepath.Base(ref))
	var rows []string
	for _, key := range list.ListKeys {
		if value := definitions[element].Properties[key].Default; len(value) > 0 {
			rows = append(rows, fmt.Sprintf("    {%q, %q, %s},\n", element, key, strconv.Quote(string(value))))
		}
	}
	return rows
}

func loadDefinitions(dir string) map[string]definition {
	files, err := filepath.Glob(filepath.Join(dir, "*_openapi.json"))
	check(err == nil && len(files) > 0, "no OpenAPI documents in %s", dir)
	definitions := map[string]definition{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		check(err == nil, "%v", err)
		var document struct {
			Components struct {
				Schemas map[string]definition `json:"schemas"`
			} `json:"components"`
		}
		check(json.Unmarshal(data, &document) == nil, "%s is no OpenAPI document", file)
		for name, d := range document.Components.Schemas {
			if name = codecName(name); name != "" {
				definitions[name] = d
			}
		}
	}
	return definitions
}

// codecName is "core.v1.Pod" for "io.k8s.api.core.v1.Pod", "" for what the codec does not have.
func codecName(name string) string {
	for _, prefix := range openapiNames {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			return rest
		}
	}
	return ""
}

// compact drops the repetitions of a sorted list.
func compact(list []string) []string {
	var kept []string
	for i, one := range list {
		if i == 0 || one != list[i-1] {
			kept = append(kept, one)
		}
	}
	return kept
}
