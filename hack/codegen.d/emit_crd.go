package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// crdNamespace derives a namespace from group and version: example.com/v1 gives example_com::v1.
func crdNamespace(v *crdVersion) string {
	word := func(s string) string {
		return strings.Map(func(r rune) rune {
			if isWordRune(r) {
				return r
			}
			return '_'
		}, s)
	}
	return word(v.group) + "::" + word(v.version)
}

// emitCrds writes a header and a source file for each version: structs, tables and the resource.
func emitCrds(out output, dir, namespace string, versions []*crdVersion) {
	for _, v := range versions {
		space := namespace
		if space == "" {
			space = crdNamespace(v)
		}
		name := strings.ToLower(v.kind) + "_" + v.version + ".gen"
		path := filepath.Join(dir, name+".h")
		_, exists := out[path]
		check(!exists, "two resources would be written to %s", path)
		out[path] = crdHeader(v, space)
		out[filepath.Join(dir, name+".cc")] = crdSource(v, space, name+".h")
	}
}

func crdMemberType(f *crdField) string {
	switch f.cardinality {
	case "kOptional":
		if f.kind == "kMessage" {
			return "kubexx::apimachinery::Box<" + f.element + ">"
		}
		return "std::optional<" + f.element + ">"
	case "kRepeated":
		return "std::vector<" + f.element + ">"
	case "kMap":
		return "std::map<std::string, " + f.element + ">"
	}
	return f.element
}

// crdIsAggregate is isAggregate for a struct made from a schema.
func crdIsAggregate(o *crdStruct) bool { return crdFields(o) <= maxAggregateFields }

func crdFields(o *crdStruct) int {
	count := 0
	for _, f := range o.fields {
		switch {
		case f.cardinality == "kRepeated" || f.cardinality == "kMap" || f.kind == "kMessage" && f.message == nil:
			return maxAggregateFields + 1 // a list, a map, or the object's metadata
		case f.cardinality == "kPlain" && f.message != nil:
			count += crdFields(f.message)
		default:
			count++
		}
	}
	return count
}

func crdHeader(v *crdVersion, space string) string {
	var b strings.Builder
	guard := strings.ToUpper(strings.NewReplacer("::", "_", ".", "_").Replace(space+"_"+v.kind+"_"+v.version)) + "_GEN_H_"
	fmt.Fprintf(&b, "%s#ifndef %s\n#define %s\n\n", banner, guard, guard)
	b.WriteString("#include <cstdint>\n#include <map>\n#include <optional>\n#include <string>\n#include <vector>\n\n")
	for _, header := range []string{"api/meta/v1/types.gen.h", "api/resource.h", "apimachinery/box.h", "apimachinery/bytes.h",
		"apimachinery/time.h", "apimachinery/values.h", "codec/schema.h"} {
		b.WriteString(include("pkg/" + header))
	}
	fmt.Fprintf(&b, "\nnamespace %s {\n", space)
	for _, o := range v.structs {
		fmt.Fprintf(&b, "\nstruct %s {\n", o.name)
		for _, f := range o.fields {
			initialiser := ""
			if crdIsAggregate(o) || f.cardinality == "kPlain" && isScalar(f.element) {
				initialiser = "{}"
			}
			fmt.Fprintf(&b, "  %s %s%s;\n", crdMemberType(f), f.member, initialiser)
		}
		declareMembers(&b, o.name, crdIsAggregate(o))
		b.WriteString("};\n")
	}
	fmt.Fprintf(&b, "\ninline constexpr kubexx::apimachinery::ResourceInfo k%sResource{%q, %q, %q, %q, %t};\n\n}  // namespace %s\n\n",
		v.kind, v.group, v.version, v.kind, v.plural, v.namespaced, space)
	b.WriteString("namespace kubexx::codec {\n\n")
	for _, o := range v.structs {
		fmt.Fprintf(&b, "template <>\nconst TypeSchema& SchemaOf<::%s::%s>();\n", space, o.name)
	}
	fmt.Fprintf(&b, "\n}  // namespace kubexx::codec\n\nnamespace kubexx::api {\n\ntemplate <>\nconstexpr const apimachinery::ResourceInfo& ResourceOf<::%s::%s>() {\n  return ::%s::k%sResource;\n}\n",
		space, v.kind, space, v.kind)
	if !v.hasStatus {
		fmt.Fprintf(&b, "template <>\ninline constexpr bool kHasStatus<::%s::%s> = false;\n", space, v.kind)
	}
	fmt.Fprintf(&b, "\n}  // namespace kubexx::api\n\n#endif  // %s\n", guard)
	return b.String()
}

func crdSource(v *crdVersion, space, header string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s#include %q\n\n#include <cstddef>\n#include <utility>\n\n%s%s\n", banner, header, include("pkg/api/internal/heap_object.h"), include("pkg/api/meta/v1/schema.gen.h"))
	b.WriteString("#pragma GCC diagnostic ignored \"-Winvalid-offsetof\"\n\n")
	fmt.Fprintf(&b, "namespace %s {\n", space)
	for _, o := range v.structs {
		defineMembers(&b, o.name, crdIsAggregate(o))
	}
	b.WriteString("\nnamespace {\n\nusing enum kubexx::codec::Kind;\nusing enum kubexx::codec::Cardinality;\n")
	for _, o := range v.structs {
		fields := "{}"
		if len(o.fields) > 0 {
			fields = "k" + o.name + "Fields"
			fmt.Fprintf(&b, "\nconstexpr kubexx::codec::FieldSchema %s[] = {\n", fields)
			for _, f := range o.fields {
				b.WriteString(crdFieldRow(o, f))
			}
			b.WriteString("};\n")
		}
		group, version, kind := "", "", ""
		if o.name == v.kind && o == v.structs[len(v.structs)-1] {
			group, version, kind = v.group, v.version, v.kind
		}
		fmt.Fprintf(&b, "constinit const kubexx::codec::TypeSchema k%sSchema{\n    %q, %q, %q, %q,\n    %s, kubexx::codec::JsonForm::kObject, []() -> void* { return new %s(); },\n    [](void* object) { delete static_cast<%s*>(object); }};\n",
			o.name, o.name, group, version, kind, fields, o.name, o.name)
	}
	fmt.Fprintf(&b, "\n}  // namespace\n\n// The tables of %s for the functions below.\nstruct %sTables {\n", v.kind, v.kind)
	for _, o := range v.structs {
		fmt.Fprintf(&b, "  static const kubexx::codec::TypeSchema& Of(const %s*) { return k%sSchema; }\n", o.name, o.name)
	}
	fmt.Fprintf(&b, "};\n\n}  // namespace %s\n\nnamespace kubexx::codec {\n\n", space)
	for _, o := range v.structs {
		fmt.Fprintf(&b, "template <>\nconst TypeSchema& SchemaOf<::%s::%s>() {\n  return ::%s::%sTables::Of(static_cast<const ::%s::%s*>(nullptr));\n}\n",
			space, o.name, space, v.kind, space, o.name)
	}
	b.WriteString("\n}  // namespace kubexx::codec\n")
	return b.String()
}

// crdFieldRow is the FieldSchema of one field; custom resources have no protobuf, so no tags.
func crdFieldRow(o *crdStruct, f *crdField) string {
	flags, message, ops := "kubexx::codec::kNoFlags", "nullptr", "nullptr"
	if f.omitEmpty {
		flags = "kubexx::codec::kOmitEmpty"
	}
	if f.message != nil {
		message = "&k" + f.message.name + "Schema"
	} else if f.kind == "kMessage" {
		message = "&kubexx::api::meta::v1::internal::kObjectMetaSchema"
	}
	if f.cardinality != "kPlain" {
		ops = "&kubexx::codec::kContainerOps<" + crdMemberType(f) + ">"
	}
	return fmt.Sprintf("    {%q, 0, %s, %s, %s, offsetof(%s, %s), %s, %s},\n", f.name, f.kind, f.cardinality, flags, o.name, f.member, message, ops)
}
