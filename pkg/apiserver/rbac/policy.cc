#include "kubexx/apiserver/rbac/policy.h"

#include <algorithm>
#include <utility>

#include "kubexx/apiserver/object/label_match.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/rbac/quote.h"

namespace kubexx::apiserver::rbac {
namespace {

using codec::JsonTree;

constexpr std::string_view kMasters = "system:masters";

/// What is wrong with references to roles that are not there, each of them once; see RulesOf.
std::string Together(const std::vector<std::pair<std::string_view, std::string_view>>& missing,
                     std::string_view resource = {}) {
  std::vector<std::string> different;
  std::string text;
  for (const auto& [kind, name] : missing) {
    const std::string_view what = !resource.empty() ? resource
                                  : kind == "Role"  ? "role.rbac.authorization.k8s.io"
                                                    : "clusterrole.rbac.authorization.k8s.io";
    std::string error = std::string(what) + " " + Quoted(name) + " not found";
    if (std::ranges::find(different, error) == different.end()) {
      text += (different.empty() ? "" : ", ") + error;
      different.push_back(std::move(error));
    }
  }
  return different.size() > 1 ? "[" + text + "]" : text;
}

}  // namespace

void Policy::AddRole(const JsonTree& role) {
  roles_[StringAt(role, {"metadata", "namespace"}) + "/" + StringAt(role, {"metadata", "name"})] = {
      .rules = ReadRules(role)};
}

void Policy::AddClusterRole(const JsonTree& role) {
  Role one{.rules = ReadRules(role)};
  one.labels = MetaMap(role, "labels");
  if (const JsonTree* const selectors = role.At({"aggregationRule", "clusterRoleSelectors"})) {
    one.selectors = *selectors;
  }
  cluster_roles_[StringAt(role, {"metadata", "name"})] = std::move(one);
}

Policy::Binding Policy::ReadBinding(const JsonTree& binding) {
  Binding one;
  one.name = StringAt(binding, {"metadata", "name"});
  one.role_kind = StringAt(binding, {"roleRef", "kind"});
  one.role_name = StringAt(binding, {"roleRef", "name"});
  if (const JsonTree* const subjects = binding.Find("subjects")) {
    for (const JsonTree& subject : subjects->elements()) {
      one.subjects.push_back({.kind = std::string(subject.TextAt("kind")),
                              .name = std::string(subject.TextAt("name")),
                              .namespace_ = std::string(subject.TextAt("namespace"))});
    }
  }
  return one;
}

void Policy::AddRoleBinding(const JsonTree& binding) {
  bindings_[StringAt(binding, {"metadata", "namespace"})].push_back(ReadBinding(binding));
}

void Policy::AddClusterRoleBinding(const JsonTree& binding) {
  cluster_bindings_.push_back(ReadBinding(binding));
}

void Policy::Aggregate() {
  // A role that is selected may itself aggregate: as many rounds as there can be steps.
  const std::size_t rounds = std::min<std::size_t>(
      4, static_cast<std::size_t>(std::ranges::count_if(
             cluster_roles_, [](const auto& named) { return named.second.selectors.size() > 0; })));
  for (std::size_t round = 0; round < rounds; ++round) {
    for (auto& [name, role] : cluster_roles_) {
      if (role.selectors.size() == 0) {
        continue;
      }
      std::vector<Rule> rules;
      // In the order in which the controller of a cluster writes them.
      for (const JsonTree& selector : role.selectors.elements()) {
        for (const auto& [other_name, other] : cluster_roles_) {
          if (&other == &role || !MatchesSelector(selector, other.labels)) {
            continue;
          }
          for (const Rule& rule : other.rules) {
            if (std::ranges::find(rules, rule) == rules.end()) {
              rules.push_back(rule);
            }
          }
        }
      }
      role.rules = std::move(rules);
    }
  }
}

/// How the binding's subject names the user; "" when none does.
std::string Policy::Matching(const Binding& binding, const User& user,
                             std::string_view namespace_) {
  for (const Subject& subject : binding.subjects) {
    if (subject.kind == "User" && subject.name == user.name) {
      return "User " + Quoted(user.name);
    }
    if (subject.kind == "Group" &&
        std::ranges::find(user.groups, subject.name) != user.groups.end()) {
      return "Group " + Quoted(subject.name);
    }
    if (subject.kind == "ServiceAccount") {
      const std::string where =
          subject.namespace_.empty() ? std::string(namespace_) : subject.namespace_;
      if (user.name == "system:serviceaccount:" + where + ":" + subject.name) {
        return "ServiceAccount " + Quoted(subject.name + "/" + where);
      }
    }
  }
  return {};
}

const Policy::Role* Policy::RoleOf(const Binding& binding, std::string_view namespace_) const {
  if (binding.role_kind == "Role") {
    const auto found = roles_.find(std::string(namespace_) + "/" + binding.role_name);
    return found == roles_.end() ? nullptr : &found->second;
  }
  const auto found = binding.role_kind == "ClusterRole" ? cluster_roles_.find(binding.role_name)
                                                        : cluster_roles_.end();
  return found == cluster_roles_.end() ? nullptr : &found->second;
}

bool Policy::VisitBinding(const Binding& binding, const User& user, std::string_view namespace_,
                          Visitor visit, Missing& missing) const {
  const std::string subject = Matching(binding, user, namespace_);
  if (subject.empty()) {
    return false;
  }
  const Role* const role = RoleOf(binding, namespace_);
  if (role == nullptr) {
    missing.emplace_back(binding.role_kind, binding.role_name);
    return false;
  }
  const std::string reason =
      "RBAC: allowed by " +
      (namespace_.empty()
           ? "ClusterRoleBinding \"" + binding.name + "\""
           : "RoleBinding \"" + binding.name + "/" + std::string(namespace_) + "\"") +
      " of " + binding.role_kind + " \"" + binding.role_name + "\" to " + subject;
  return std::ranges::any_of(role->rules, [&](const Rule& rule) { return visit(rule, reason); });
}

bool Policy::Visit(const User& user, std::string_view namespace_, Visitor visit,
                   Missing& missing) const {
  for (const Binding& binding : cluster_bindings_) {
    if (VisitBinding(binding, user, "", visit, missing)) {
      return true;
    }
  }
  const auto found = namespace_.empty() ? bindings_.end() : bindings_.find(namespace_);
  return found != bindings_.end() &&
         std::ranges::any_of(found->second, [&](const Binding& binding) {
           return VisitBinding(binding, user, namespace_, visit, missing);
         });
}

Decision Policy::Decide(const User& user, const Request& request) const {
  if (std::ranges::find(user.groups, kMasters) != user.groups.end()) {
    return {.allowed = true};
  }
  Decision decision;
  Missing missing;
  const auto visit = [&](const Rule& rule, const std::string& reason) {
    if (rule.Allows(request)) {
      decision = {.allowed = true, .reason = reason};
    }
    return decision.allowed;
  };
  Visit(user, request.namespace_, visit, missing);
  if (!decision.allowed && !missing.empty()) {
    decision.reason = "RBAC: " + Together(missing);
  }
  return decision;
}

HeldRules Policy::RulesOf(const User& user, std::string_view namespace_,
                          std::string_view resource) const {
  HeldRules held;
  Missing missing;
  const auto visit = [&held](const Rule& rule, const std::string&) {
    held.rules.push_back(rule);
    return false;
  };
  Visit(user, namespace_, visit, missing);
  held.error = Together(missing, resource);
  return held;
}

std::optional<std::vector<Rule>> Policy::RulesOfReference(const JsonTree& binding,
                                                          std::string_view namespace_) const {
  const Role* const role = RoleOf(ReadBinding(binding), namespace_);
  return role == nullptr ? std::nullopt : std::optional(role->rules);
}

}  // namespace kubexx::apiserver::rbac
