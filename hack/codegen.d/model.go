package main

import (
	"fmt"
	"reflect"
	"sort"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// field is one member of a generated struct.
type field struct {
	member, name string // C++ and JSON name
	tag          int    // 0 when not in protobuf
	kind         string // enumerator of codec::Kind
	cardinality  string // enumerator of codec::Cardinality
	element      string // C++ type of one element, unless message is set
	message      *object
	omitEmpty    bool
	omitZero     bool
	inline       bool
	patch        [2]string // Go's tags patchStrategy and patchMergeKey
}

// object is one generated struct.
type object struct {
	pkg      *pkg
	goType   reflect.Type
	name     string
	gvk      schema.GroupVersionKind // empty kind: not a root kind
	typed    bool                    // embeds TypeMeta
	jsonForm string
	fields   []*field
}

// pkg is the generated code of one Go package, a group version.
type pkg struct {
	group, version string // of the C++ namespace and folder
	gv             schema.GroupVersion
	objects        []*object // by-value members first
	resources      []*resource
}

func (p *pkg) namespace() string { return p.group + "::" + p.version }
func (p *pkg) dir() string       { return "pkg/api/" + p.group + "/" + p.version }

type model struct {
	packages map[string]*pkg // by Go path
	objects  map[reflect.Type]*object
}

// special are the Go types with a codec::Kind of their own, by package path and name.
var special = map[string][2]string{
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":                          {"kTime", "apimachinery::Time"},
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":                     {"kMicroTime", "apimachinery::MicroTime"},
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration":                      {"kDuration", "apimachinery::Duration"},
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":                      {"kFieldsV1", "apimachinery::FieldsV1"},
	"k8s.io/apimachinery/pkg/api/resource.Quantity":                      {"kQuantity", "apimachinery::Quantity"},
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString":                    {"kIntOrString", "apimachinery::IntOrString"},
	"k8s.io/apimachinery/pkg/runtime.RawExtension":                       {"kRawExtension", "apimachinery::RawExtension"},
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON":      {"kJsonValue", "apimachinery::JsonValue"},
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1.JSON": {"kJsonValue", "apimachinery::JsonValue"},
}

var scalars = map[reflect.Kind][2]string{
	reflect.Bool:    {"kBool", "bool"},
	reflect.Int32:   {"kInt32", "std::int32_t"},
	reflect.Int64:   {"kInt64", "std::int64_t"},
	reflect.Uint32:  {"kUint32", "std::uint32_t"},
	reflect.Uint64:  {"kUint64", "std::uint64_t"},
	reflect.Float64: {"kDouble", "double"},
	reflect.String:  {"kString", "std::string"},
}

// jsonForms are the types whose JSON is not an object of their fields.
var jsonForms = map[string]string{
	"JSONSchemaPropsOrBool":        "kSchemaOrBool",
	"JSONSchemaPropsOrArray":       "kSchemaOrArray",
	"JSONSchemaPropsOrStringArray": "kSchemaOrStringArray",
}

// add returns the object of a Go struct type, building it and all it refers to at the first call.
func (m *model) add(t reflect.Type) *object {
	if o := m.objects[t]; o != nil {
		return o
	}
	o := &object{pkg: m.packageOf(t.PkgPath()), goType: t, name: t.Name(), jsonForm: "kObject"}
	if strings.Contains(t.PkgPath(), "/apiextensions/") && jsonForms[o.name] != "" {
		o.jsonForm = jsonForms[o.name]
	}
	m.objects[t] = o
	members, tags := map[string]bool{}, map[int]bool{}
	for i := 0; i < t.NumField(); i++ {
		if f := m.field(o, t.Field(i)); f != nil {
			check(!members[f.member], "%v: two members %s", t, f.member)
			check(f.tag == 0 || !tags[f.tag], "%v: two fields with tag %d", t, f.tag)
			members[f.member], tags[f.tag] = true, true
			o.fields = append(o.fields, f)
		}
	}
	sort.SliceStable(o.fields, func(i, j int) bool { return wireOrder(o.fields[i]) < wireOrder(o.fields[j]) })
	return o
}

// wireOrder puts fields without a tag last.
func wireOrder(f *field) int {
	if f.tag == 0 {
		return 1 << 30
	}
	return f.tag
}

func (m *model) packageOf(path string) *pkg {
	if p := m.packages[path]; p != nil {
		return p
	}
	parts := strings.Split(path, "/")
	check(len(parts) > 2, "no group and version in the package path %q", path)
	p := &pkg{group: parts[len(parts)-2], version: parts[len(parts)-1]}
	m.packages[path] = p
	return p
}

// field translates one Go field; nil for TypeMeta and for fields that are on no wire.
func (m *model) field(o *object, sf reflect.StructField) *field {
	jsonName, options, _ := strings.Cut(sf.Tag.Get("json"), ",")
	tag, protoName := protobufTag(sf)
	if sf.Type.Name() == "TypeMeta" && sf.Anonymous {
		o.typed = true
		return nil
	}
	if jsonName == "-" {
		check(tag == 0, "%v.%s is in protobuf but not in JSON", o.goType, sf.Name)
		return nil
	}
	f := &field{tag: tag, name: jsonName, patch: [2]string{sf.Tag.Get("patchStrategy"), sf.Tag.Get("patchMergeKey")}}
	for _, option := range strings.Split(options, ",") {
		f.omitEmpty = f.omitEmpty || option == "omitempty"
		f.omitZero = f.omitZero || option == "omitzero"
	}
	if jsonName == "" {
		f.inline = sf.Anonymous
		f.name = protoName
		if protoName == "" {
			f.name = strings.ToLower(sf.Name[:1]) + sf.Name[1:]
		}
		check(f.inline || o.jsonForm != "kObject", "%v.%s has no JSON name", o.goType, sf.Name)
		check(tag != 0, "%v.%s has no protobuf tag", o.goType, sf.Name)
	}
	f.member = memberName(f.name)
	m.classify(f, o, sf)
	check(!f.inline || f.kind == "kMessage" && f.cardinality == "kPlain", "%v.%s: odd inline", o.goType, sf.Name)
	return f
}

// classify finds cardinality and element of a field from its Go type.
func (m *model) classify(f *field, o *object, sf reflect.StructField) {
	t := sf.Type
	f.cardinality = "kPlain"
	if !m.isElement(t) {
		switch t.Kind() {
		case reflect.Pointer:
			f.cardinality = "kOptional"
		case reflect.Slice:
			f.cardinality = "kRepeated"
		case reflect.Map:
			check(t.Key().Kind() == reflect.String, "%v.%s: map key is no string", o.goType, sf.Name)
			f.cardinality = "kMap"
		}
		check(f.cardinality != "kPlain", "%v.%s: unknown type %v", o.goType, sf.Name, t)
		t = t.Elem()
		check(m.isElement(t), "%v.%s: unknown type %v", o.goType, sf.Name, sf.Type)
	}
	f.kind, f.element = elementOf(t)
	if f.kind == "kBool" && f.cardinality == "kRepeated" {
		f.element = "apimachinery::Bool" // std::vector<bool> has no addressable elements
	}
	if f.kind == "kMessage" {
		f.message = m.add(t)
	}
}

func (m *model) isElement(t reflect.Type) bool {
	kind, _ := elementOf(t)
	return kind != ""
}

type marshaler interface{ Marshal() ([]byte, error) }

// elementOf gives codec::Kind and C++ type of one element; "" when t is a container or unknown.
func elementOf(t reflect.Type) (kind, cpp string) {
	if s, ok := special[t.PkgPath()+"."+t.Name()]; ok {
		return s[0], s[1]
	}
	if s, ok := scalars[t.Kind()]; ok {
		return s[0], s[1]
	}
	switch {
	case t.Kind() == reflect.Struct:
		return "kMessage", ""
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return "kBytes", "apimachinery::Bytes"
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String &&
		reflect.PointerTo(t).Implements(reflect.TypeFor[marshaler]()):
		return "kStringList", "std::vector<std::string>"
	}
	return "", ""
}

// protobufTag reads "bytes,1,opt,name=metadata"; 0 when there is none.
func protobufTag(sf reflect.StructField) (int, string) {
	parts := strings.Split(sf.Tag.Get("protobuf"), ",")
	if len(parts) < 2 {
		return 0, ""
	}
	number, err := strconv.Atoi(parts[1])
	check(err == nil && number > 0, "%s: bad protobuf tag", sf.Name)
	for _, part := range parts[2:] {
		if name, ok := strings.CutPrefix(part, "name="); ok {
			return number, name
		}
	}
	return number, ""
}

// check stops the generator when an assumption about the API does not hold.
func check(ok bool, format string, args ...any) {
	if !ok {
		panic(fmt.Errorf(format, args...))
	}
}
