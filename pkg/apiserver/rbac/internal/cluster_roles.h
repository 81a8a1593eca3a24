/// @file
/// ClusterRoles, and the rules of those that aggregate others.
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

/// All ClusterRoles of one time. What a role aggregates is found out when it is first asked for,
/// and goes over to the next time when no role that it depends on has changed: a write costs what
/// it changes, however many roles aggregate. Thread-safe.
class ClusterRoles {
 public:
  using Rules = std::vector<const Rule*>;

  ClusterRoles() : ClusterRoles(std::make_shared<const Parts>(), nullptr) {}
  /// `parts` are in the order of their keys.
  ClusterRoles(std::shared_ptr<const Parts> parts, const ClusterRoles& before)
      : ClusterRoles(std::move(parts), &before) {}

  /// Null when it is not there.
  const Role* Find(std::string_view name) const;
  /// The rules of those that `role`, one of these, selects, each once, in the order in which the
  /// controller of a cluster writes them; of a role that itself aggregates those of what it
  /// selects. They live as long as this.
  std::shared_ptr<const Rules> Aggregated(const Role& role) const;

  /// How often labels have been compared with a selector, here and at the times before.
  std::size_t compared() const { return compared_; }

 private:
  /// What was found out of a role, and the roles whose selectors it depends on.
  struct Found {
    std::shared_ptr<const Rules> rules{};
    std::vector<const Role*> through{};
  };

  ClusterRoles(std::shared_ptr<const Parts> parts, const ClusterRoles* before);
  bool Selects(const Role& role, const Role& other) const;
  /// In the order of the selectors, then of the names; perhaps more than once.
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
