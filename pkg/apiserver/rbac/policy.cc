#include "kubexx/apiserver/rbac/policy.h"

#include <algorithm>
#include <utility>

#include "kubexx/apiserver/object/label_match.h"
#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver::rbac {
namespace {

using codec::JsonTree;

constexpr std::string_view kMasters = "system:masters";

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
      for (const auto& [other_name, other] : cluster_roles_) {
        const bool selected =
            &other != &role &&
            std::ranges::any_of(role.selectors.elements(), [&](const JsonTree& s) {
              return MatchesSelector(s, other.labels);
            });
        for (const Rule& rule : other.rules) {
          if (selected && std::ranges::find(rules, rule) == rules.end()) {
            rules.push_back(rule);
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
      return "User \"" + user.name + "\"";
    }
    if (subject.kind == "Group" &&
        std::ranges::find(user.groups, subject.name) != user.groups.end()) {
      return "Group \"" + subject.name + "\"";
    }
    if (subject.kind == "ServiceAccount") {
      const std::string where =
          subject.namespace_.empty() ? std::string(namespace_) : subject.namespace_;
      if (user.name == "system:serviceaccount:" + where + ":" + subject.name) {
        return "ServiceAccount \"" + subject.name + "/" + where + "\"";
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

bool Policy::VisitBinding(
    const Binding& binding, const User& user, std::string_view namespace_,
    base::FunctionRef<bool(const Rule& rule, const std::string& reason)> visit) const {
  const std::string subject = Matching(binding, user, namespace_);
  const Role* const role = subject.empty() ? nullptr : RoleOf(binding, namespace_);
  if (role == nullptr) {
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

bool Policy::Visit(
    const User& user, std::string_view namespace_,
    base::FunctionRef<bool(const Rule& rule, const std::string& reason)> visit) const {
  for (const Binding& binding : cluster_bindings_) {
    if (VisitBinding(binding, user, "", visit)) {
      return true;
    }
  }
  const auto found = namespace_.empty() ? bindings_.end() : bindings_.find(namespace_);
  return found != bindings_.end() &&
         std::ranges::any_of(found->second, [&](const Binding& binding) {
           return VisitBinding(binding, user, namespace_, visit);
         });
}

Decision Policy::Decide(const User& user, const Request& request) const {
  if (std::ranges::find(user.groups, kMasters) != user.groups.end()) {
    return {.allowed = true};
  }
  Decision decision;
  Visit(user, request.namespace_, [&](const Rule& rule, const std::string& reason) {
    if (rule.Allows(request)) {
      decision = {.allowed = true, .reason = reason};
    }
    return decision.allowed;
  });
  return decision;
}

std::vector<Rule> Policy::RulesOf(const User& user, std::string_view namespace_) const {
  std::vector<Rule> rules;
  if (std::ranges::find(user.groups, kMasters) != user.groups.end()) {
    Rule everything;
    everything.verbs = everything.groups = everything.resources = {"*"};
    Rule everywhere;
    everywhere.verbs = everywhere.paths = {"*"};
    rules.push_back(std::move(everything));
    rules.push_back(std::move(everywhere));
  }
  Visit(user, namespace_, [&rules](const Rule& rule, const std::string&) {
    rules.push_back(rule);
    return false;
  });
  return rules;
}

std::optional<std::vector<Rule>> Policy::RulesOfReference(const JsonTree& binding,
                                                          std::string_view namespace_) const {
  const Role* const role = RoleOf(ReadBinding(binding), namespace_);
  return role == nullptr ? std::nullopt : std::optional(role->rules);
}

}  // namespace kubexx::apiserver::rbac
