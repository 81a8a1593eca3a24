#include "kubexx/apiserver/rbac/policy.h"

#include <algorithm>
#include <span>
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

std::pair<std::string_view, std::string_view> KeyOf(const Part& part) {
  return part.role != nullptr
             ? std::pair<std::string_view, std::string_view>(part.role->namespace_, part.role->name)
             : std::pair<std::string_view, std::string_view>(part.binding->namespace_,
                                                             part.binding->name);
}

Policy::Policy()
    : roles_(std::make_shared<const Parts>()),
      cluster_roles_(std::make_shared<const ClusterRoles>()),
      bindings_(roles_),
      cluster_bindings_(roles_) {}

void Policy::Take(PartKind kind, std::shared_ptr<const Parts> parts) {
  if (!std::ranges::is_sorted(*parts, {}, KeyOf)) {
    Parts sorted = *parts;
    std::ranges::sort(sorted, {}, KeyOf);
    parts = std::make_shared<const Parts>(std::move(sorted));
  }
  switch (kind) {
    case PartKind::kRole:
      roles_ = std::move(parts);
      return;
    case PartKind::kClusterRole:
      cluster_roles_ = std::make_shared<const ClusterRoles>(Aggregated(*parts));
      return;
    case PartKind::kRoleBinding:
      bindings_ = std::move(parts);
      return;
    case PartKind::kClusterRoleBinding:
      cluster_bindings_ = std::move(parts);
      return;
  }
}

Policy::ClusterRoles Policy::Aggregated(const Parts& parts) {
  ClusterRoles roles;
  std::size_t aggregating = 0;
  for (const Part& part : parts) {
    ClusterRole one{.role = part.role};
    if (one.aggregates()) {
      one.aggregated = part.role->rules;
      ++aggregating;
    }
    roles.insert_or_assign(part.role->name, std::move(one));
  }
  // A role that is selected may itself aggregate: as many rounds as there can be steps.
  const std::size_t rounds = std::min<std::size_t>(4, aggregating);
  for (std::size_t round = 0; round < rounds; ++round) {
    for (auto& [name, role] : roles) {
      if (role.aggregates()) {
        role.aggregated = RulesSelectedBy(role, roles);
      }
    }
  }
  return roles;
}

std::vector<Rule> Policy::RulesSelectedBy(const ClusterRole& role, const ClusterRoles& all) {
  std::vector<Rule> rules;
  // In the order in which the controller of a cluster writes them.
  for (const JsonTree& selector : role.role->selectors.elements()) {
    for (const auto& [name, other] : all) {
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
    const std::pair<std::string_view, std::string_view> key(namespace_, binding.role_name);
    const auto found = std::ranges::lower_bound(*roles_, key, {}, KeyOf);
    return found == roles_->end() || KeyOf(*found) != key ? nullptr : &found->role->rules;
  }
  const auto found = binding.role_kind == "ClusterRole" ? cluster_roles_->find(binding.role_name)
                                                        : cluster_roles_->end();
  return found == cluster_roles_->end() ? nullptr : &found->second.rules();
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
  const auto visit_all = [&](std::span<const Part> bindings, std::string_view where) {
    return std::ranges::any_of(bindings, [&](const Part& part) {
      return VisitBinding(*part.binding, user, where, visit, missing);
    });
  };
  if (visit_all(*cluster_bindings_, "")) {
    return true;
  }
  return !namespace_.empty() &&
         visit_all(std::ranges::equal_range(*bindings_, namespace_, {},
                                            [](const Part& part) { return KeyOf(part).first; }),
                   namespace_);
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
