package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// crdField is one member of a struct made from a schema.
type crdField struct {
	member, name string
	kind         string // enumerator of codec::Kind
	cardinality  string
	element      string // C++ type of one element
	message      *crdStruct
	omitEmpty    bool
}

// crdStruct is one generated struct; those that it refers to come before it.
type crdStruct struct {
	name   string
	fields []*crdField
}

// crdVersion is one served version of a CustomResourceDefinition.
type crdVersion struct {
	group, version, kind, plural string
	namespaced, hasStatus        bool
	structs                      []*crdStruct // the root last
}

// readCrds reads all CustomResourceDefinitions in YAML or JSON files; documents of other kinds are passed over.
func readCrds(files []string) []*crdVersion {
	var all []*crdVersion
	for _, file := range files {
		text, err := os.ReadFile(file)
		check(err == nil, "%v", err)
		decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
		found := 0
		for {
			var crd apiextensionsv1.CustomResourceDefinition
			err := decoder.Decode(&crd)
			if errors.Is(err, io.EOF) {
				break
			}
			check(err == nil, "%s: %v", file, err)
			if crd.Kind == "CustomResourceDefinition" {
				found++
				all = append(all, crdVersions(file, &crd)...)
			}
		}
		check(found > 0, "%s has no CustomResourceDefinition of apiextensions.k8s.io/v1", file)
	}
	return all
}

func crdVersions(file string, crd *apiextensionsv1.CustomResourceDefinition) []*crdVersion {
	check(crd.APIVersion == "apiextensions.k8s.io/v1", "%s: %s is %s, not apiextensions.k8s.io/v1", file, crd.Name, crd.APIVersion)
	var all []*crdVersion
	for _, version := range crd.Spec.Versions {
		if !version.Served {
			continue
		}
		check(version.Schema != nil && version.Schema.OpenAPIV3Schema != nil, "%s: %s %s has no schema", file, crd.Name, version.Name)
		v := &crdVersion{
			group: crd.Spec.Group, version: version.Name, kind: crd.Spec.Names.Kind, plural: crd.Spec.Names.Plural,
			namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
			hasStatus:  version.Subresources != nil && version.Subresources.Status != nil,
		}
		v.addRoot(version.Schema.OpenAPIV3Schema)
		all = append(all, v)
	}
	return all
}

// addRoot adds the struct of the kind: metadata first, then what the schema has beside apiVersion, kind and metadata.
func (v *crdVersion) addRoot(schema *apiextensionsv1.JSONSchemaProps) {
	root := &crdStruct{name: v.kind, fields: []*crdField{
		{member: "metadata", name: "metadata", kind: "kMessage", cardinality: "kPlain", element: "kubexx::api::meta::v1::ObjectMeta"},
	}}
	v.addFields(root, schema, "apiVersion", "kind", "metadata")
	v.structs = append(v.structs, root)
}

func (v *crdVersion) addFields(o *crdStruct, schema *apiextensionsv1.JSONSchemaProps, except ...string) {
	used := map[string]bool{}
	for _, f := range o.fields {
		used[f.member] = true
	}
	for _, name := range sortedKeys(schema.Properties) {
		if slices.Contains(except, name) {
			continue
		}
		property := schema.Properties[name]
		f := v.fieldOf(o.name, name, &property, slices.Contains(schema.Required, name))
		for base, n := f.member, 2; used[f.member]; n++ {
			f.member = base + "_" + strconv.Itoa(n)
		}
		used[f.member] = true
		o.fields = append(o.fields, f)
	}
}

// fieldOf translates one property. What is not required is optional, so that a zero value can be told from none.
func (v *crdVersion) fieldOf(owner, name string, schema *apiextensionsv1.JSONSchemaProps, required bool) *crdField {
	f := &crdField{member: crdMemberName(name), name: name, cardinality: "kPlain", omitEmpty: !required}
	typeName := owner + camelCase(name)
	switch {
	case isMap(schema):
		f.cardinality = "kMap"
		v.setElement(f, typeName+"Value", schema.AdditionalProperties.Schema)
	case schema.Type == "array" && schema.Items != nil && schema.Items.Schema != nil:
		f.cardinality = "kRepeated"
		v.setElement(f, typeName+"Item", schema.Items.Schema)
	default:
		v.setElement(f, typeName, schema)
		if !required || schema.Nullable {
			f.cardinality = "kOptional"
		}
	}
	if f.cardinality == "kRepeated" && f.kind == "kBool" {
		f.element = "kubexx::apimachinery::Bool" // std::vector<bool> has no addressable elements
	}
	return f
}

// isMap tells objects with keys of any name, unless a part of them has a schema of its own.
func isMap(schema *apiextensionsv1.JSONSchemaProps) bool {
	return schema.Type == "object" && len(schema.Properties) == 0 && !keepsUnknown(schema) &&
		schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil
}

func keepsUnknown(schema *apiextensionsv1.JSONSchemaProps) bool {
	return schema.XPreserveUnknownFields != nil && *schema.XPreserveUnknownFields || schema.XEmbeddedResource
}

// setElement finds kind and C++ type of one element; what no struct can hold without loss stays JSON text.
func (v *crdVersion) setElement(f *crdField, typeName string, schema *apiextensionsv1.JSONSchemaProps) {
	f.kind, f.element = "kJsonValue", "kubexx::apimachinery::JsonValue"
	switch {
	case schema.XIntOrString:
		f.kind, f.element = "kIntOrString", "kubexx::apimachinery::IntOrString"
	case schema.Type == "string" && schema.Format == "date-time":
		f.kind, f.element = "kTime", "kubexx::apimachinery::Time"
	case schema.Type == "string" && schema.Format == "byte":
		f.kind, f.element = "kBytes", "kubexx::apimachinery::Bytes"
	case schema.Type == "string":
		f.kind, f.element = "kString", "std::string"
	case schema.Type == "boolean":
		f.kind, f.element = "kBool", "bool"
	case schema.Type == "integer" && schema.Format == "int32":
		f.kind, f.element = "kInt32", "std::int32_t"
	case schema.Type == "integer":
		f.kind, f.element = "kInt64", "std::int64_t"
	case schema.Type == "number":
		f.kind, f.element = "kDouble", "double"
	case schema.Type == "object" && len(schema.Properties) > 0 && schema.AdditionalProperties == nil && !keepsUnknown(schema):
		f.kind, f.element = "kMessage", typeName
		f.message = &crdStruct{name: typeName}
		v.addFields(f.message, schema)
		v.structs = append(v.structs, f.message)
	}
}

// camelCase makes a type's name of a JSON name: "max-surge" gives MaxSurge.
func camelCase(name string) string {
	var out strings.Builder
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return !isWordRune(r) }) {
		out.WriteString(title(part))
	}
	return out.String()
}

func isWordRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// crdMemberName also copes with names that no built-in type has.
func crdMemberName(name string) string {
	member := memberName(strings.Map(func(r rune) rune {
		if isWordRune(r) {
			return r
		}
		return '-'
	}, name))
	if member == "" || member[0] >= '0' && member[0] <= '9' {
		return "field_" + member
	}
	return member
}
