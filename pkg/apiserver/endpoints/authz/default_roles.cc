#include "kubexx/apiserver/endpoints/authz/default_roles.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apiserver/rbac/rule.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using rbac::Rule;
using Strings = std::vector<std::string>;

const Strings& ReadVerbs() {
  static const Strings kVerbs = {"get", "list", "watch"};
  return kVerbs;
}
const Strings& WriteVerbs() {
  static const Strings kVerbs = {"create", "delete", "deletecollection", "patch", "update"};
  return kVerbs;
}

const Strings& AllVerbs() {
  static const Strings kVerbs = {"create", "delete", "deletecollection", "get",
                                 "list",   "patch",  "update",           "watch"};
  return kVerbs;
}

Rule Paths(Strings paths) {
  Rule rule;
  rule.verbs = {"get"};
  rule.paths = std::move(paths);
  return rule;
}

Rule Resources(Strings verbs, Strings groups, Strings resources) {
  Rule rule;
  rule.verbs = std::move(verbs);
  rule.groups = std::move(groups);
  rule.resources = std::move(resources);
  return rule;
}

/// Returns an object with the name, and with what all default objects have.
JsonTree DefaultOf(std::string_view name) {
  JsonTree object = JsonTree::Object();
  object["metadata"]["name"] = name;
  object["metadata"]["annotations"]["rbac.authorization.kubernetes.io/autoupdate"] = "true";
  object["metadata"]["labels"]["kubernetes.io/bootstrapping"] = "rbac-defaults";
  return object;
}

JsonTree RoleOf(std::string_view name, const std::vector<Rule>& rules) {
  JsonTree role = DefaultOf(name);
  role["rules"] = JsonTree::Array();
  for (const Rule& rule : rules) {
    role["rules"].Append(rule.ToJson());
  }
  return role;
}

constexpr const char* kAggregateTo = "rbac.authorization.k8s.io/aggregate-to-";

/// A role whose rules the role `aggregate` has, too; "" means that there is none.
JsonTree PartOf(std::string_view name, std::string_view aggregate, const std::vector<Rule>& rules) {
  JsonTree role = RoleOf(name, rules);
  if (!aggregate.empty()) {
    role["metadata"]["labels"][kAggregateTo + std::string(aggregate)] = "true";
  }
  return role;
}

/// A role that has the rules of all roles with its label. `part_of` has the meaning of `aggregate`
/// above.
JsonTree AggregateOf(std::string_view name, std::string_view part_of) {
  JsonTree role = PartOf(name, part_of, {});
  JsonTree selector = JsonTree::Object();
  selector["matchLabels"][kAggregateTo + std::string(name)] = "true";
  role["aggregationRule"]["clusterRoleSelectors"].Append(std::move(selector));
  return role;
}

/// The rules by which kube-apiserver 1.36 lets an editor of a namespace write. They contain
/// resources that are not served here, too.
std::vector<Rule> EditRules() {
  return {
      Resources(ReadVerbs(), {""},
                {"pods/attach", "pods/exec", "pods/portforward", "pods/proxy", "secrets",
                 "services/proxy"}),
      Resources({"impersonate"}, {""}, {"serviceaccounts"}),
      Resources(WriteVerbs(), {""},
                {"pods", "pods/attach", "pods/exec", "pods/portforward", "pods/proxy"}),
      Resources({"create"}, {""}, {"pods/eviction"}),
      Resources(WriteVerbs(), {""},
                {"configmaps", "persistentvolumeclaims", "replicationcontrollers",
                 "replicationcontrollers/scale", "secrets", "serviceaccounts", "services",
                 "services/proxy"}),
      Resources({"create"}, {""}, {"serviceaccounts/token"}),
      Resources(WriteVerbs(), {"", "events.k8s.io"}, {"events"}),
      Resources(WriteVerbs(), {"apps"},
                {"daemonsets", "deployments", "deployments/rollback", "deployments/scale",
                 "replicasets", "replicasets/scale", "statefulsets", "statefulsets/scale"}),
      Resources(WriteVerbs(), {"autoscaling"}, {"horizontalpodautoscalers"}),
      Resources(WriteVerbs(), {"batch"}, {"cronjobs", "jobs"}),
      Resources(
          WriteVerbs(), {"extensions"},
          {"daemonsets", "deployments", "deployments/rollback", "deployments/scale", "ingresses",
           "networkpolicies", "replicasets", "replicasets/scale", "replicationcontrollers/scale"}),
      Resources(WriteVerbs(), {"policy"}, {"poddisruptionbudgets"}),
      Resources(WriteVerbs(), {"networking.k8s.io"}, {"ingresses", "networkpolicies"}),
      Resources(AllVerbs(), {"coordination.k8s.io"}, {"leases"}),
      Resources(WriteVerbs(), {"resource.k8s.io"}, {"resourceclaims", "resourceclaimtemplates"}),
  };
}

/// The rules by which it lets a viewer read.
std::vector<Rule> ViewRules() {
  return {
      Resources(ReadVerbs(), {""},
                {"configmaps", "endpoints", "persistentvolumeclaims",
                 "persistentvolumeclaims/status", "pods", "replicationcontrollers",
                 "replicationcontrollers/scale", "serviceaccounts", "services", "services/status"}),
      Resources(ReadVerbs(), {""},
                {"bindings", "limitranges", "namespaces/status", "pods/log", "pods/status",
                 "replicationcontrollers/status", "resourcequotas", "resourcequotas/status"}),
      Resources(ReadVerbs(), {""}, {"namespaces"}),
      Resources(ReadVerbs(), {"", "events.k8s.io"}, {"events"}),
      Resources(ReadVerbs(), {"discovery.k8s.io"}, {"endpointslices"}),
      Resources(
          ReadVerbs(), {"apps"},
          {"controllerrevisions", "daemonsets", "daemonsets/status", "deployments",
           "deployments/scale", "deployments/status", "replicasets", "replicasets/scale",
           "replicasets/status", "statefulsets", "statefulsets/scale", "statefulsets/status"}),
      Resources(ReadVerbs(), {"autoscaling"},
                {"horizontalpodautoscalers", "horizontalpodautoscalers/status"}),
      Resources(ReadVerbs(), {"batch"}, {"cronjobs", "cronjobs/status", "jobs", "jobs/status"}),
      Resources(
          ReadVerbs(), {"extensions"},
          {"daemonsets", "daemonsets/status", "deployments", "deployments/scale",
           "deployments/status", "ingresses", "ingresses/status", "networkpolicies", "replicasets",
           "replicasets/scale", "replicasets/status", "replicationcontrollers/scale"}),
      Resources(ReadVerbs(), {"policy"}, {"poddisruptionbudgets", "poddisruptionbudgets/status"}),
      Resources(ReadVerbs(), {"networking.k8s.io"},
                {"ingresses", "ingresses/status", "networkpolicies"}),
      Resources(ReadVerbs(), {"resource.k8s.io"},
                {"resourceclaims", "resourceclaims/status", "resourceclaimtemplates"}),
  };
}

JsonTree BindingOf(std::string_view name, std::initializer_list<std::string_view> groups) {
  JsonTree binding = DefaultOf(name);
  for (const std::string_view group : groups) {
    JsonTree subject = JsonTree::Object();
    subject["kind"] = "Group";
    subject["apiGroup"] = "rbac.authorization.k8s.io";
    subject["name"] = group;
    binding["subjects"].Append(std::move(subject));
  }
  binding["roleRef"]["apiGroup"] = "rbac.authorization.k8s.io";
  binding["roleRef"]["kind"] = "ClusterRole";
  binding["roleRef"]["name"] = name;
  return binding;
}

}  // namespace

std::vector<JsonTree> DefaultClusterRoles() {
  Rule everywhere = Paths({"*"});
  everywhere.verbs = {"*"};
  std::vector<JsonTree> roles;
  roles.push_back(RoleOf("cluster-admin", {Resources({"*"}, {"*"}, {"*"}), everywhere}));
  roles.push_back(RoleOf("system:discovery",
                         {Paths({"/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez",
                                 "/openapi", "/openapi/*", "/readyz", "/version", "/version/"})}));
  roles.push_back(RoleOf("system:public-info-viewer",
                         {Paths({"/healthz", "/livez", "/readyz", "/version", "/version/"})}));
  roles.push_back(
      RoleOf("system:monitoring", {Paths({"/healthz", "/healthz/*", "/livez", "/livez/*",
                                          "/metrics", "/metrics/slis", "/readyz", "/readyz/*"}),
                                   Resources({"get"}, {""}, {"nodes/metrics"})}));
  roles.push_back(
      RoleOf("system:basic-user",
             {Resources({"create"}, {"authorization.k8s.io"},
                        {"selfsubjectaccessreviews", "selfsubjectrulesreviews"}),
              Resources({"create"}, {"authentication.k8s.io"}, {"selfsubjectreviews"})}));
  roles.push_back(
      RoleOf("system:service-account-issuer-discovery",
             {Paths({"/.well-known/openid-configuration", "/.well-known/openid-configuration/",
                     "/openid/v1/jwks", "/openid/v1/jwks/"})}));
  const std::vector<Rule> admin = {
      Resources({"create"}, {"authorization.k8s.io"}, {"localsubjectaccessreviews"}),
      Resources(AllVerbs(), {"rbac.authorization.k8s.io"}, {"rolebindings", "roles"})};
  roles.push_back(AggregateOf("admin", ""));
  roles.push_back(AggregateOf("edit", "admin"));
  roles.push_back(AggregateOf("view", "edit"));
  roles.push_back(PartOf("system:aggregate-to-admin", "admin", admin));
  roles.push_back(PartOf("system:aggregate-to-edit", "edit", EditRules()));
  roles.push_back(PartOf("system:aggregate-to-view", "view", ViewRules()));
  return roles;
}

std::vector<JsonTree> DefaultClusterRoleBindings() {
  std::vector<JsonTree> bindings;
  bindings.push_back(BindingOf("cluster-admin", {"system:masters"}));
  bindings.push_back(BindingOf("system:monitoring", {"system:monitoring"}));
  bindings.push_back(BindingOf("system:discovery", {"system:authenticated"}));
  bindings.push_back(BindingOf("system:basic-user", {"system:authenticated"}));
  bindings.push_back(
      BindingOf("system:service-account-issuer-discovery", {"system:serviceaccounts"}));
  bindings.push_back(
      BindingOf("system:public-info-viewer", {"system:authenticated", "system:unauthenticated"}));
  return bindings;
}

}  // namespace kubexx::apiserver
