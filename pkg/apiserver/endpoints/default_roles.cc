#include "kubexx/apiserver/endpoints/default_roles.h"

#include <initializer_list>
#include <map>
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

JsonTree RoleOf(std::string_view name, const std::vector<Rule>& rules) {
  JsonTree role = JsonTree::Object();
  role["metadata"]["name"] = name;
  role["metadata"]["labels"]["kubernetes.io/bootstrapping"] = "rbac-defaults";
  role["rules"] = JsonTree::Array();
  for (const Rule& rule : rules) {
    role["rules"].Append(rule.ToJson());
  }
  return role;
}

/// A role that has the rules of those with its label.
JsonTree AggregateOf(std::string_view name) {
  JsonTree role = RoleOf(name, {});
  JsonTree selector = JsonTree::Object();
  selector["matchLabels"]["rbac.authorization.k8s.io/aggregate-to-" + std::string(name)] = "true";
  role["aggregationRule"]["clusterRoleSelectors"].Append(std::move(selector));
  return role;
}

JsonTree PartOf(std::string_view name, std::initializer_list<std::string_view> aggregates,
                const std::vector<Rule>& rules) {
  JsonTree role = RoleOf("system:aggregate-to-" + std::string(name), rules);
  for (const std::string_view aggregate : aggregates) {
    role["metadata"]["labels"]["rbac.authorization.k8s.io/aggregate-to-" + std::string(aggregate)] =
        "true";
  }
  return role;
}

bool IsRole(const ResourceType& type) { return type.group == "rbac.authorization.k8s.io"; }

/// What view and edit are about, by group; with status and scale.
std::map<std::string, Strings> Plain(const std::vector<ResourceTypeRef>& types) {
  std::map<std::string, Strings> plurals;
  for (const ResourceTypeRef& type : types) {
    if (!type->namespaced || type->is_review || type->custom || IsRole(*type) ||
        (type->group.empty() && type->plural == "secrets")) {
      continue;
    }
    Strings& list = plurals[type->group];
    list.push_back(type->plural);
    if (type->has_status) {
      list.push_back(type->plural + "/status");
    }
    if (type->has_scale) {
      list.push_back(type->plural + "/scale");
    }
  }
  return plurals;
}

JsonTree BindingOf(std::string_view name, std::initializer_list<std::string_view> groups) {
  JsonTree binding = JsonTree::Object();
  binding["metadata"]["name"] = name;
  binding["metadata"]["labels"]["kubernetes.io/bootstrapping"] = "rbac-defaults";
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

std::vector<JsonTree> DefaultClusterRoles(const std::vector<ResourceTypeRef>& types) {
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
      RoleOf("system:basic-user",
             {Resources({"create"}, {"authorization.k8s.io"},
                        {"selfsubjectaccessreviews", "selfsubjectrulesreviews"}),
              Resources({"create"}, {"authentication.k8s.io"}, {"selfsubjectreviews"})}));
  std::vector<Rule> view = {Resources(ReadVerbs(), {""}, {"namespaces", "pods/log"})};
  std::vector<Rule> edit;
  for (const auto& [group, plurals] : Plain(types)) {
    view.push_back(Resources(ReadVerbs(), {group}, plurals));
    Strings writable;
    for (const std::string& plural : plurals) {
      if (!plural.ends_with("/status") && plural != "resourcequotas" && plural != "limitranges") {
        writable.push_back(plural);
      }
    }
    edit.push_back(Resources(WriteVerbs(), {group}, std::move(writable)));
  }
  Strings all_verbs = ReadVerbs();
  all_verbs.insert(all_verbs.end(), WriteVerbs().begin(), WriteVerbs().end());
  edit.push_back(Resources(all_verbs, {""}, {"secrets"}));
  edit.push_back(Resources({"create"}, {""}, {"pods/eviction", "serviceaccounts/token"}));
  edit.push_back(Resources({"impersonate"}, {""}, {"serviceaccounts"}));
  const std::vector<Rule> admin = {
      Resources(all_verbs, {"rbac.authorization.k8s.io"}, {"roles", "rolebindings"}),
      Resources({"create"}, {"authorization.k8s.io"}, {"localsubjectaccessreviews"})};
  for (const char* const name : {"admin", "edit", "view"}) {
    roles.push_back(AggregateOf(name));
  }
  roles.push_back(PartOf("admin", {"admin"}, admin));
  roles.push_back(PartOf("edit", {"admin", "edit"}, edit));
  roles.push_back(PartOf("view", {"admin", "edit", "view"}, view));
  return roles;
}

std::vector<JsonTree> DefaultClusterRoleBindings() {
  std::vector<JsonTree> bindings;
  bindings.push_back(BindingOf("cluster-admin", {"system:masters"}));
  bindings.push_back(BindingOf("system:discovery", {"system:authenticated"}));
  bindings.push_back(BindingOf("system:basic-user", {"system:authenticated"}));
  bindings.push_back(
      BindingOf("system:public-info-viewer", {"system:authenticated", "system:unauthenticated"}));
  return bindings;
}

}  // namespace kubexx::apiserver
