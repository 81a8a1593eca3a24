#include "kubexx/apiserver/rbac/internal/cluster_roles.h"

#include <algorithm>
#include <set>
#include <utility>

namespace kubexx::apiserver::rbac::internal {
namespace {

using apimachinery::LabelRequirement;

/// When there are more changes than this at a time, everything is computed anew.
constexpr std::size_t kMostChanges = 64;

/// Returns the roles that are only in one of the two. A role that was changed is there twice, in
/// its former and its present form.
std::vector<const Role*> Changed(const Parts& before, const Parts& now) {
  std::vector<const Role*> changed;
  auto old = before.begin();
  auto one = now.begin();
  while (old != before.end() || one != now.end()) {
    if (old != before.end() && one != now.end() && old->role == one->role) {
      ++old;
      ++one;
    } else if (one == now.end() || (old != before.end() && KeyOf(*old) <= KeyOf(*one))) {
      changed.push_back((old++)->role.get());
    } else {
      changed.push_back((one++)->role.get());
    }
  }
  return changed;
}

bool MatchesAll(const std::vector<LabelRequirement>& requirements, const Role& role) {
  return std::ranges::all_of(requirements, [&role](const LabelRequirement& requirement) {
    return requirement.Matches(role.labels);
  });
}

struct LessRule {
  bool operator()(const Rule* a, const Rule* b) const { return *a < *b; }
};

}  // namespace

ClusterRoles::ClusterRoles(std::shared_ptr<const Parts> parts, const ClusterRoles* before)
    : parts_(std::move(parts)) {
  if (before == nullptr) {
    return;
  }
  std::map<const Role*, Found> found;
  {
    base::MutexLock lock(before->mu_);
    found = before->found_;
  }
  if (!found.empty()) {
    const std::vector<const Role*> changed = Changed(*before->parts_, *parts_);
    if (changed.size() > kMostChanges) {
      found.clear();
    }
    std::erase_if(found, [&](const auto& one) { return IsConcerned(one.second, changed); });
  }
  compared_ += before->compared_;
  base::MutexLock lock(mu_);
  found_ = std::move(found);
}

const Role* ClusterRoles::Find(std::string_view name) const {
  const std::pair<std::string_view, std::string_view> key("", name);
  const auto found = std::ranges::lower_bound(*parts_, key, {}, KeyOf);
  return found == parts_->end() || KeyOf(*found) != key ? nullptr : found->role.get();
}

bool ClusterRoles::Selects(const Role& role, const Role& other) const {
  compared_ += role.selectors.size();
  return std::ranges::any_of(
      role.selectors, [&other](const auto& selector) { return MatchesAll(selector, other); });
}

bool ClusterRoles::IsConcerned(const Found& found, const std::vector<const Role*>& changed) const {
  return std::ranges::any_of(changed, [&](const Role* role) {
    return std::ranges::any_of(found.through, [&](const Role* through) {
      return through == role || Selects(*through, *role);
    });
  });
}

std::vector<const Role*> ClusterRoles::SelectedBy(const Role& role) const {
  std::vector<const Role*> selected;
  compared_ += role.selectors.size() * parts_->size();
  for (const auto& selector : role.selectors) {
    for (const Part& part : *parts_) {
      if (part.role.get() != &role && MatchesAll(selector, *part.role)) {
        selected.push_back(part.role.get());
      }
    }
  }
  return selected;
}

ClusterRoles::Found ClusterRoles::FindOut(const Role& role) const {
  // A selected role may itself aggregate, and may even select the roles that select it. Each role
  // is handled once, when it is first met. There is no recursion, because a chain may be long.
  struct Turn {
    std::vector<const Role*> selected{};
    std::size_t next = 0;
  };
  auto rules = std::make_shared<Rules>();
  std::set<const Rule*, LessRule> different;
  std::set<const Role*> met = {&role};
  std::vector<Turn> turns;
  turns.push_back({.selected = SelectedBy(role)});
  while (!turns.empty()) {
    Turn& turn = turns.back();
    if (turn.next == turn.selected.size()) {
      turns.pop_back();
      continue;
    }
    const Role& other = *turn.selected[turn.next++];
    if (other.aggregates) {
      if (met.insert(&other).second) {
        turns.push_back({.selected = SelectedBy(other)});
      }
      continue;
    }
    for (const Rule& rule : other.rules) {
      if (different.insert(&rule).second) {
        rules->push_back(&rule);
      }
    }
  }
  return {.rules = std::move(rules), .through = {met.begin(), met.end()}};
}

std::shared_ptr<const ClusterRoles::Rules> ClusterRoles::Aggregated(const Role& role) const {
  {
    base::MutexLock lock(mu_);
    if (const auto found = found_.find(&role); found != found_.end()) {
      return found->second.rules;
    }
  }
  Found found = FindOut(role);
  std::shared_ptr<const Rules> rules = found.rules;
  base::MutexLock lock(mu_);
  found_.insert_or_assign(&role, std::move(found));
  return rules;
}

}  // namespace kubexx::apiserver::rbac::internal
