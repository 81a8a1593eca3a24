/// @file
/// Cluster: a client, caches and Events of one cluster of a manager.
#ifndef KUBEXX_CONTROLLER_CLUSTER_H_
#define KUBEXX_CONTROLLER_CLUSTER_H_

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "kubexx/base/clock.h"
#include "kubexx/cache/shared_informer.h"
#include "kubexx/controller/client.h"
#include "kubexx/events/recorder.h"
#include "kubexx/informers/shared_informer_factory.h"
#include "kubexx/kubernetes/options.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::controller {

/// @cond
namespace internal {
class Recorders;
}
/// @endcond

/// Settings of a cluster that a manager has beside its own; see Manager::AddCluster.
struct ClusterOptions {
  /// Settings of the caches. The manager sets their clock, registry and name.
  informers::FactoryOptions cache{};
  /// See ManagerOptions::first_read_timeout.
  base::Duration first_read_timeout = std::chrono::seconds(10);
  /// Like ManagerOptions::write_defaults, and the same by default, so that a manager of which all
  /// writes are dry runs writes nothing to its other clusters, either.
  std::optional<kubernetes::WriteDefaults> write_defaults{};
};

/// One of the clusters that a manager's controllers work with. Each has a client, caches and
/// recorders of Events of its own; the manager starts and stops them. Modelled on
/// controller-runtime's cluster.Cluster. Thread-safe.
class Cluster {
 public:
  /// What a Cluster consists of. The Manager fills it in.
  struct Parts {
    std::string name{};
    std::shared_ptr<rest::RESTClient> client{};
    /// Writes the Events; `client` does when it is null.
    std::shared_ptr<rest::RESTClient> events{};
    ClusterOptions options{};
    base::Clock& clock;
    /// Must outlive the cluster's recorders.
    metrics::Registry& registry;
  };
  explicit Cluster(Parts parts);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  /// The name that Manager::AddCluster was called with; empty for the manager's own cluster.
  const std::string& name() const { return name_; }
  const std::shared_ptr<rest::RESTClient>& client() const { return parts_.rest; }
  const std::shared_ptr<informers::SharedInformerFactory>& caches() const { return parts_.caches; }

  /// The informer of T in this cluster's caches; see SharedInformerFactory.
  template <class T>
  std::shared_ptr<cache::SharedInformer<T>> InformerFor() const {
    return caches()->InformerFor<T>();
  }
  /// Returns the recorder that writes Events of `component` to this cluster; see
  /// Manager::EventRecorderFor.
  std::shared_ptr<events::Recorder> EventRecorderFor(const std::string& component) const;

  /// A client of this cluster for use outside of a reconcile. It does not record its writes for
  /// later reconciles; a reconcile uses Client::In instead.
  Client NewClient(std::stop_token stop = {}) const;
  /// For ControllerBuilder.
  const Client::Parts& ClientParts() const { return parts_; }
  /// For the Manager.
  internal::Recorders& recorders() const { return *recorders_; }

 private:
  const std::string name_;
  const Client::Parts parts_;
  const std::unique_ptr<internal::Recorders> recorders_;
};

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_CLUSTER_H_
