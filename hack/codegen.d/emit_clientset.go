package main

import (
	"fmt"
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

// emitGroupClient writes the header of one group version, for example apps_v1.gen.h.
func emitGroupClient(out output, p *pkg) {
	name := clientName(p) + "Client"
	var b strings.Builder
	b.WriteString("#include <memory>\n#include <string>\n#include <utility>\n\n")
	b.WriteString(include(p.dir()+"/resources.gen.h") + include(p.dir()+"/types.gen.h"))
	b.WriteString(include("pkg/kubernetes/clientset.gen.h") + include("pkg/kubernetes/resource_client.h"))
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
			parameter, argument = "std::string name_space", "std::move(name_space)"
		}
		fmt.Fprintf(&b, "\n  /// Verbs: %s.\n  ResourceClient<%s> %s(%s) const {\n    return ResourceClient<%s>(client_, %s);\n  }\n",
			strings.Join(r.verbs, ", "), t, pluralName(r.object.gvk.Kind, r.plural), parameter, t, argument)
	}
	fmt.Fprintf(&b, "\n private:\n  std::shared_ptr<rest::RESTClient> client_;\n};\n\ninline %s Clientset::%s() const {\n  return %s(client_);\n}\n\n}  // namespace kubexx::kubernetes\n",
		name, clientName(p), name)
	out.header("pkg/kubernetes/"+p.group+"_"+p.version+".gen.h", b.String())
}
