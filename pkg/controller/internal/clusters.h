/// @file
/// The clusters of one manager.
#ifndef KUBEXX_CONTROLLER_INTERNAL_CLUSTERS_H_
#define KUBEXX_CONTROLLER_INTERNAL_CLUSTERS_H_

#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/controller/cluster.h"

namespace kubexx::controller::internal {

/// A manager's own cluster and those that were added to it. Thread-safe.
class Clusters {
 public:
  using Pointer = std::shared_ptr<Cluster>;

  explicit Clusters(Cluster::Parts own) : own_(std::make_shared<Cluster>(std::move(own))) {}

  const Pointer& own() const { return own_; }
  /// Adds a cluster with a name of its own. The errors are those of Manager::AddCluster.
  apimachinery::Result<Pointer> Add(Cluster::Parts parts);
  /// Makes later calls of Add fail.
  void Close();

  void StartCaches() const;
  /// Waits until every cache has its first list, or until `stop` is requested. Returns whether
  /// every cache has it.
  bool WaitForCaches(const std::stop_token& stop) const;
  /// Returns the error of a manager whose caches do not get their first lists within `timeout`. It
  /// names these caches first, with the reason as far as it is known, and then their server.
  apimachinery::Status FirstListsMissing(base::Duration timeout) const;
  /// Returns why the caches are not ready, for /readyz.
  apimachinery::Status CachesNotReady() const;

  /// Writes the queued Events of all clusters; see Recorders::StopAll.
  void StopRecorders() const;

  /// Returns all clusters, the manager's own first.
  std::vector<Pointer> All() const;

 private:
  const Pointer own_;
  mutable base::Mutex mu_;
  bool closed_ KX_GUARDED_BY(mu_) = false;
  std::vector<Pointer> further_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::controller::internal

#endif  // KUBEXX_CONTROLLER_INTERNAL_CLUSTERS_H_
