package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// clientName is the group version as client-go spells it: AppsV1, RbacV1, InternalV1alpha1, CoreV1.
func clientName(p *pkg) string {
	group, _, _ := strings.Cut(p.gv.Group, ".")
	if group == "" {
		group = "core"
	}
	return title(group) + title(p.gv.Version)
}

// emitClientset writes the typed clientset: clientset.gen.h and one header for each group version, so that who
// uses one group compiles no other.
func emitClientset(out output, m *model) {
	var served []*pkg
	for _, p := range m.sortedPackages() {
		if len(p.resources) > 0 {
			served = append(served, p)
			emitGroupClient(out, p)
		}
	}
	var b strings.Builder
	b.WriteString("#include <memory>\n#include <utility>\n\nnamespace kubexx::rest {\nclass RESTClient;\n}\n\nnamespace kubexx::kubernetes {\n\n")
	for _, p := range served {
		fmt.Fprintf(&b, "class %sClient;\n", clientName(p))
	}
	b.WriteString(`
/// Typed clients of all built-in resources over one connection, as client-go's kubernetes.Clientset:
/// ` + "`Clientset(rest).AppsV1().Deployments(\"default\").Get(\"web\")`" + `. To use a group version include its header
/// too, here "kubexx/kubernetes/apps_v1.gen.h". Cheap to copy, thread-safe.
class Clientset {
 public:
  explicit Clientset(std::shared_ptr<rest::RESTClient> client) : client_(std::move(client)) {}

  const std::shared_ptr<rest::RESTClient>& rest_client() const { return client_; }

`)
	for _, p := range served {
		fmt.Fprintf(&b, "  %sClient %s() const;\n", clientName(p), clientName(p))
	}
	b.WriteString("\n private:\n  std::shared_ptr<rest::RESTClient> client_;\n};\n\n}  // namespace kubexx::kubernetes\n")
	out.header("pkg/kubernetes/clientset.gen.h", b.String())
}

// mixin is the class, and its header, with the methods of one subresource; empty for those of streams (exec, log and the like).
type mixin struct{ header, class string }

var mixins = map[string]mixin{
	"approval":            {"subresources.h", "ApprovalMethods<%s>"},
	"binding":             {"pod_methods.h", "BindingMethods"},
	"ephemeralcontainers": {"subresources.h", "EphemeralContainersMethods<%s>"},
	"eviction":            {"pod_methods.h", "EvictionMethods"},
	"finalize":            {"subresources.h", "FinalizeMethods<%s>"},
	"resize":              {"subresources.h", "ResizeMethods<%s>"},
	"scale":               {"scale_methods.h", "ScaleMethods"},
	"token":               {"token_methods.h", "TokenMethods"},
}

// withoutMixin are the subresources that other parts of the library serve: status is in ResourceClient, the others stream.
var withoutMixin = map[string]bool{"status": true, "attach": true, "exec": true, "log": true, "portforward": true, "proxy": true}

// clientType is the C++ type of the client of r; the headers that it needs are added to headers.
func clientType(r *resource, t string, headers map[string]bool) string {
	headers["resource_client.h"] = true
	var classes []string
	for _, name := range r.subresources {
		m, ok := mixins[name]
		check(ok || withoutMixin[name], "%s has the unknown subresource %s", r.plural, name)
		if ok {
			headers["subresources.h"], headers[m.header] = true, true
			classes = append(classes, strings.ReplaceAll(m.class, "%s", t))
		}
	}
	if len(classes) == 0 {
		return "ResourceClient<" + t + ">"
	}
	return "ClientWith<" + t + ", " + strings.Join(classes, ", ") + ">"
}

// emitGroupClient writes the header of one group version, for example apps_v1.gen.h.
func emitGroupClient(out output, p *pkg) {
	name := clientName(p) + "Client"
	headers := map[string]bool{"clientset.gen.h": true}
	for _, r := range p.resources {
		clientType(r, "", headers)
	}
	var b strings.Builder
	b.WriteString("#include <memory>\n#include <string>\n#include <utility>\n\n")
	b.WriteString(include(p.dir()+"/resources.gen.h") + include(p.dir()+"/types.gen.h"))
	for _, header := range slices.Sorted(maps.Keys(headers)) {
		b.WriteString(include("pkg/kubernetes/" + header))
	}
	fmt.Fprintf(&b, `
namespace kubexx::kubernetes {

/// The resources of %s. An empty namespace means all of them.
class %s {
 public:
  explicit %s(std::shared_ptr<rest::RESTClient> client) : client_(std::move(client)) {}
`, p.gv.String(), name, name)
	for _, r := range p.resources {
		t := "api::" + p.namespace() + "::" + r.object.name
		parameter, argument := "", "{}"
		if r.namespaced {
			parameter, argument = "std::string namespace_", "std::move(namespace_)"
		}
		fmt.Fprintf(&b, "\n  /// Verbs: %s.\n  %s %s(%s) const {\n    return {client_, %s};\n  }\n",
			strings.Join(r.verbs, ", "), clientType(r, t, headers), pluralName(r.object.gvk.Kind, r.plural), parameter, argument)
	}
	fmt.Fprintf(&b, "\n private:\n  std::shared_ptr<rest::RESTClient> client_;\n};\n\ninline %s Clientset::%s() const {\n  return %s(client_);\n}\n\n}  // namespace kubexx::kubernetes\n",
		name, clientName(p), name)
	out.header("pkg/kubernetes/"+p.group+"_"+p.version+".gen.h", b.String())
}
