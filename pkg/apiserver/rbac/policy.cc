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

std::shared_ptr<const Role> ReadRole(const JsonTree& object) {
  auto role = std::make_shared<Role>();
  role->namespace_ = StringAt(object, {"metadata", "namespace"});
  role->name = StringAt(object, {"metadata", "name"});
  role->rules = ReadRules(object);
  role->labels = MetaMap(object, "labels");
  if (const JsonTree* const selectors = object.At({"aggregationRule", "clusterRoleSelectors"})) {
    role->selectors = *selectors;
  }
  return role;
}

std::shared_ptr<const Binding> ReadBinding(const JsonTree& object) {
  auto binding = std::make_shared<Binding>();
  binding->namespace_ = StringAt(object, {"metadata", "namespace"});
  binding->name = StringAt(object, {"metadata", "name"});
  binding->role_kind = StringAt(object, {"roleRef", "kind"});
  binding->role_name = StringAt(object, {"roleRef", "name"});
  if (const JsonTree* const subjects = object.Find("subjects")) {
    for (const JsonTree& subject : subjects->elements()) {
      binding->subjects.push_back({.kind = std::string(subject.TextAt("kind")),
                                   .name = std::string(subject.TextAt("name")),
                                   .namespace_ = std::string(subject.TextAt("namespace"))});
    }
  }
  return binding;
}

}  // namespace

Part ReadPart(PartKind kind, const JsonTree& object) {
  const bool is_role = kind == PartKind::kRole || kind == PartKind::kClusterRole;
  return {.kind = kind,
          .role = is_role ? ReadRole(object) : nullptr,
          .binding = is_role ? nullptr : ReadBinding(object)};
}

void Policy::Add(const Part& part) {
  switch (part.kind) {
    case PartKind::kRole:
      roles_.insert_or_assign(part.role->namespace_ + "/" + part.role->name, part.role);
      return;
    case PartKind::kClusterRole: {
      ClusterRole one{.role = part.role};
      if (one.aggregates()) {
        one.aggregated = part.role->rules;
      }
      cluster_roles_.insert_or_assign(part.role->name, std::move(one));
      return;
    }
    case PartKind::kRoleBinding:
      bindings_[part.binding->namespace_].push_back(part.binding);
      return;
    case PartKind::kClusterRoleBinding:
      cluster_bindings_.push_back(part.binding);
      return;
  }
}

void Policy::Aggregate() {
  // A role that is selected may itself aggregate: as many rounds as there can be steps.
  const std::size_t rounds = std::min<std::size_t>(
      4, static_cast<std::size_t>(std::ranges::count_if(
             cluster_roles_, [](const auto& named) { return named.second.aggregates(); })));
  for (std::size_t round = 0; round < rounds; ++round) {
    for (auto& [name, role] : cluster_roles_) {
      if (role.aggregates()) {
        role.aggregated = RulesSelectedBy(role);
      }
    }
  }
}

std::vector<Rule> Policy::RulesSelectedBy(const ClusterRole& role) const {
  std::vector<Rule> rules;
  // In the order in which the controller of a cluster writes them.
  for (const JsonTree& selector : role.role->selectors.elements()) {
    for (const auto& [name, other] : cluster_roles_) {
      if (&other == &role || !MatchesSelector(selector, other.role->labels)) {
        continue;
      }
      for (const Rule& rule : other.rules()) {
        if (std::ranges::find(rules, rule) == rules.end()) {
          rules.push_back(rule);
        }
      }
    }
  }
  return rules;
}

/// How the binding's subject names the user; "" when none does.
std::string Policy::Matching(const Binding& binding, const User& user,
                             std::string_view namespace_) {
  for (const Binding::Subject& subject : binding.subjects) {
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

const std::vector<Rule>* Policy::RulesGivenBy(const Binding& binding,
                                              std::string_view namespace_) const {
  if (binding.role_kind == "Role") {
    const auto found = roles_.find(std::string(namespace_) + "/" + binding.role_name);
    return found == roles_.end() ? nullptr : &found->second->rules;
  }
  const auto found = binding.role_kind == "ClusterRole" ? cluster_roles_.find(binding.role_name)
                                                        : cluster_roles_.end();
  return found == cluster_roles_.end() ? nullptr : &found->second.rules();
}

bool Policy::VisitBinding(const Binding& binding, const User& user, std::string_view namespace_,
                          Visitor visit, Missing& missing) const {
  const std::string subject = Matching(binding, user, namespace_);
  if (subject.empty()) {
    return false;
  }
  const std::vector<Rule>* const rules = RulesGivenBy(binding, namespace_);
  if (rules == nullptr) {
    missing.emplace_back(binding.role_kind, binding.role_name);
    return false;
  }
  const std::string reason =
      "RBAC: allowed by " +
      (namespace_.empty()
           ? "ClusterRoleBinding \"" + binding.name + "\""
           : "RoleBinding \"" + binding.name + "/" + std::string(namespace_) + "\"") +
      " of " + binding.role_kind + " \"" + binding.role_name + "\" to " + subject;
  return std::ranges::any_of(*rules, [&](const Rule& rule) { return visit(rule, reason); });
}

bool Policy::Visit(const User& user, std::string_view namespace_, Visitor visit,
                   Missing& missing) const {
  for (const BindingRef& binding : cluster_bindings_) {
    if (VisitBinding(*binding, user, "", visit, missing)) {
      return true;
    }
  }
  const auto found = namespace_.empty() ? bindings_.end() : bindings_.find(namespace_);
  return found != bindings_.end() &&
         std::ranges::any_of(found->second, [&](const BindingRef& binding) {
           return VisitBinding(*binding, user, namespace_, visit, missing);
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
  const std::vector<Rule>* const rules = RulesGivenBy(*ReadBinding(binding), namespace_);
  return rules == nullptr ? std::nullopt : std::optional(*rules);
}

}  // namespace kubexx::apiserver::rbac
