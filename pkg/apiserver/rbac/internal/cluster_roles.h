/// @file
/// The ClusterRoles, with the rules of those that aggregate others.
#ifndef KUBEXX_APISERVER_RBAC_INTERNAL_CLUSTER_ROLES_H_
#define KUBEXX_APISERVER_RBAC_INTERNAL_CLUSTER_ROLES_H_

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "kubexx/apiserver/rbac/parts.h"
#include "kubexx/base/mutex.h"

namespace kubexx::apiserver::rbac::internal {

/// All ClusterRoles at one time. The rules that a role aggregates are computed on first use. The
/// next state takes them over when no role that they depend on has changed, so that a write costs
/// little however many roles aggregate. Thread-safe.
class ClusterRoles {
 public:
  using Rules = std::vector<const Rule*>;

  ClusterRoles() : ClusterRoles(std::make_shared<const Parts>(), nullptr) {}
  /// `parts` must be in the order of their keys. Takes over computed rules from `before`.
  ClusterRoles(std::shared_ptr<const Parts> parts, const ClusterRoles& before)
      : ClusterRoles(std::move(parts), &before) {}

  /// The role of that name; null when it does not exist.
  const Role* Find(std::string_view name) const;
  /// The rules of the roles that `role` selects, each rule once, in the order in which the
  /// aggregation controller of a cluster writes them. `role` must be one of these roles. When a
  /// selected role aggregates itself, its aggregated rules count. The rules are valid as long as
  /// this object.
  std::shared_ptr<const Rules> Aggregated(const Role& role) const;

  /// The number of times that labels have been compared with a selector, in this state and in the
  /// states before it.
  std::size_t compared() const { return compared_; }

 private:
  /// The computed rules of a role, and the roles whose selectors they depend on.
  struct Found {
    std::shared_ptr<const Rules> rules{};
    std::vector<const Role*> through{};
  };

  ClusterRoles(std::shared_ptr<const Parts> parts, const ClusterRoles* before);
  bool Selects(const Role& role, const Role& other) const;
  /// The selected roles, by selectors and then by names. A role may occur more than once.
  std::vector<const Role*> SelectedBy(const Role& role) const;
  Found FindOut(const Role& role) const;
  bool IsConcerned(const Found& found, const std::vector<const Role*>& changed) const;

  const std::shared_ptr<const Parts> parts_;
  mutable std::atomic<std::size_t> compared_ = 0;
  mutable base::Mutex mu_;
  mutable std::map<const Role*, Found> found_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::apiserver::rbac::internal

#endif  // KUBEXX_APISERVER_RBAC_INTERNAL_CLUSTER_ROLES_H_
