#include "kubexx/apiserver/rbac/policy.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "kubexx/apiserver/rbac/internal/cluster_roles.h"
#include "kubexx/apiserver/rbac/quote.h"

namespace kubexx::apiserver::rbac {
namespace {

using codec::JsonTree;

constexpr std::string_view kMasters = "system:masters";
// The number of missing roles that are named.
constexpr std::size_t kMaxMissing = 100;

/// Rules that several bindings give are listed for each binding, until there are this many.
constexpr std::size_t kMostRulesRepeated = 10'000;

bool IsMaster(const User& user) {
  return std::ranges::find(user.groups, kMasters) != user.groups.end();
}

/// Whether `name` is the name of the account in the form system:serviceaccount:namespace:name.
bool IsAccount(std::string_view name, std::string_view namespace_, std::string_view account) {
  constexpr std::string_view kPrefix = "system:serviceaccount:";
  return name.size() == kPrefix.size() + namespace_.size() + 1 + account.size() &&
         name.starts_with(kPrefix) && name.ends_with(account) &&
         name[kPrefix.size() + namespace_.size()] == ':' &&
         name.substr(kPrefix.size(), namespace_.size()) == namespace_;
}

/// Whether a subject of a binding in that namespace is the user.
bool IsUser(const Binding::Subject& subject, const User& user,
            const std::set<std::string_view>& groups, std::string_view namespace_) {
  if (subject.kind == "User") {
    return subject.name == user.name;
  }
  if (subject.kind == "Group") {
    return groups.contains(subject.name);
  }
  return subject.kind == "ServiceAccount" &&
         IsAccount(user.name, subject.namespace_.empty() ? namespace_ : subject.namespace_,
                   subject.name);
}

/// Returns the error about references to roles that do not exist, each of them once; see RulesOf.
std::string Together(const std::vector<std::pair<std::string_view, std::string_view>>& missing,
                     std::string_view resource = {}) {
  std::set<std::string> different;
  std::string text;
  for (const auto& [kind, name] : missing) {
    const std::string_view what = !resource.empty() ? resource
                                  : kind == "Role"  ? "role.rbac.authorization.k8s.io"
                                                    : "clusterrole.rbac.authorization.k8s.io";
    std::string error = std::string(what) + " " + Quoted(name) + " not found";
    const bool first = different.empty();
    if (different.size() == kMaxMissing) {
      text += ", and others";
      break;
    }
    if (const auto [at, added] = different.insert(std::move(error)); added) {
      text += (first ? "" : ", ") + *at;
    }
  }
  return different.size() > 1 ? "[" + text + "]" : text;
}

/// The role that a binding gives, for the whole cluster or for one namespace.
using GivenRole = std::tuple<bool, std::string_view, std::string_view>;

GivenRole RoleOf(std::string_view namespace_, const Binding& binding) {
  return {namespace_.empty(), binding.role_kind, binding.role_name};
}

}  // namespace

Policy::Policy()
    : roles_(std::make_shared<const Parts>()),
      cluster_roles_(std::make_shared<const internal::ClusterRoles>()),
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
      cluster_roles_ =
          std::make_shared<const internal::ClusterRoles>(std::move(parts), *cluster_roles_);
      return;
    case PartKind::kRoleBinding:
      bindings_ = std::move(parts);
      return;
    case PartKind::kClusterRoleBinding:
      cluster_bindings_ = std::move(parts);
      return;
  }
}

std::size_t Policy::ComparedForTest() const { return cluster_roles_->compared(); }

std::string Policy::ReasonOf(const Gift& gift, const User& user) {
  const Binding& binding = gift.binding;
  const std::string where(gift.namespace_);
  const Binding::Subject& subject = gift.subject;
  std::string name = subject.name;
  if (subject.kind == "User") {
    name = user.name;
  } else if (subject.kind == "ServiceAccount") {
    name += "/" + (subject.namespace_.empty() ? where : subject.namespace_);
  }
  return "RBAC: allowed by " +
         (where.empty() ? "ClusterRoleBinding \"" + binding.name + "\""
                        : "RoleBinding \"" + binding.name + "/" + where + "\"") +
         " of " + binding.role_kind + " \"" + binding.role_name + "\" to " + subject.kind + " " +
         Quoted(name);
}

Policy::GivenRules Policy::RulesGivenBy(const Binding& binding, std::string_view namespace_) const {
  if (binding.role_kind == "Role") {
    const std::pair<std::string_view, std::string_view> key(namespace_, binding.role_name);
    const auto found = std::ranges::lower_bound(*roles_, key, {}, KeyOf);
    return {.written =
                found == roles_->end() || KeyOf(*found) != key ? nullptr : &found->role->rules};
  }
  const Role* const role =
      binding.role_kind == "ClusterRole" ? cluster_roles_->Find(binding.role_name) : nullptr;
  if (role == nullptr || !role->aggregates) {
    return {.written = role == nullptr ? nullptr : &role->rules};
  }
  return {.aggregated = cluster_roles_->Aggregated(*role)};
}

bool Policy::VisitGifts(const User& user, std::string_view namespace_, GiftVisitor visit) const {
  const std::set<std::string_view> groups(user.groups.begin(), user.groups.end());
  const auto visit_all = [&](std::span<const Part> bindings, std::string_view where) {
    return std::ranges::any_of(bindings, [&](const Part& part) {
      const auto& subjects = part.binding->subjects;
      const auto found = std::ranges::find_if(subjects, [&](const Binding::Subject& subject) {
        return IsUser(subject, user, groups, where);
      });
      return found != subjects.end() &&
             visit({.binding = *part.binding, .subject = *found, .namespace_ = where});
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

bool Policy::VisitRules(const Gift& gift, Visitor visit, Missing& missing) const {
  const GivenRules rules = RulesGivenBy(gift.binding, gift.namespace_);
  if (rules.none()) {
    missing.emplace_back(gift.binding.role_kind, gift.binding.role_name);
    return false;
  }
  if (rules.aggregated != nullptr) {
    return std::ranges::any_of(*rules.aggregated,
                               [&](const Rule* rule) { return visit(*rule, gift); });
  }
  return std::ranges::any_of(*rules.written, [&](const Rule& rule) { return visit(rule, gift); });
}

Decision Policy::Decide(const User& user, const Request& request) const {
  if (IsMaster(user)) {
    return {.allowed = true};
  }
  Decision decision;
  Missing missing;
  // Many bindings may give the same role. If it does not allow the request once, it never does.
  std::set<GivenRole> seen;
  VisitGifts(user, request.namespace_, [&](const Gift& gift) {
    if (!seen.insert(RoleOf(gift.namespace_, gift.binding)).second) {
      return false;
    }
    return VisitRules(
        gift,
        [&](const Rule& rule, const Gift& given) {
          if (rule.Allows(request)) {
            decision = {.allowed = true, .reason = ReasonOf(given, user)};
          }
          return decision.allowed;
        },
        missing);
  });
  if (!decision.allowed && !missing.empty()) {
    decision.reason = "RBAC: " + Together(missing);
  }
  return decision;
}

HeldRules Policy::RulesOf(const User& user, std::string_view namespace_,
                          std::string_view resource) const {
  HeldRules held;
  Missing missing;
  std::set<GivenRole> seen;
  VisitGifts(user, namespace_, [&](const Gift& gift) {
    const bool is_new = seen.insert(RoleOf(gift.namespace_, gift.binding)).second;
    // kube-apiserver lists the rules of a role once for each binding. For thousands of bindings of
    // a large role that would take gigabytes.
    if (!is_new && held.rules.size() >= kMostRulesRepeated) {
      return false;
    }
    return VisitRules(
        gift,
        [&held](const Rule& rule, const Gift&) {
          held.rules.push_back(rule);
          return false;
        },
        missing);
  });
  held.error = Together(missing, resource);
  return held;
}

std::optional<std::vector<Rule>> Policy::RulesOfReference(const JsonTree& binding,
                                                          std::string_view namespace_) const {
  const Part part = ReadPart(PartKind::kRoleBinding, binding);
  const GivenRules rules = RulesGivenBy(*part.binding, namespace_);
  if (rules.aggregated != nullptr) {
    std::vector<Rule> all;
    all.reserve(rules.aggregated->size());
    for (const Rule* const rule : *rules.aggregated) {
      all.push_back(*rule);
    }
    return all;
  }
  return rules.none() ? std::nullopt : std::optional(*rules.written);
}

}  // namespace kubexx::apiserver::rbac
