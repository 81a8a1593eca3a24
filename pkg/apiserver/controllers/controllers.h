/// @file
/// The controllers that make kubexx-apiserver behave like a cluster. They do what
/// kube-controller-manager, the scheduler and a kubelet do, as far as demos and tests need it.
#ifndef KUBEXX_APISERVER_CONTROLLERS_CONTROLLERS_H_
#define KUBEXX_APISERVER_CONTROLLERS_CONTROLLERS_H_

#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/clock.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/rest/config.h"

namespace kubexx::controller {
class Manager;
}  // namespace kubexx::controller

namespace kubexx::apiserver::controllers {

/// The names of the controllers. "namespace" makes the default ServiceAccount and the ConfigMap
/// kube-root-ca.crt of each namespace. "serviceaccount-token" puts tokens into Secrets of the type
/// service-account-token. "garbage-collector" deletes objects whose owners are gone. "deployment",
/// "replicaset", "statefulset", "daemonset", "job" and "disruption" do the same as in
/// kube-controller-manager. "pod" simulates one node, kubexx-node, on which pods seem to run.
std::span<const std::string_view> ControllerNames();

/// The Lease by which processes with controllers agree on the one that works.
inline constexpr std::string_view kControllersLease = "kubexx-controllers";
inline constexpr std::string_view kControllersLeaseNamespace = "kube-system";

/// Settings of Controllers.
struct ControllersOptions {
  /// The controllers to run, by the names of ControllerNames(); "all" stands for all of them.
  std::vector<std::string> names{"all"};
  /// How long after it is scheduled a pod becomes ready. A pod whose restartPolicy is not Always
  /// ends after the same time again.
  base::Duration pod_start_delay = std::chrono::milliseconds(200);
  /// The certificate authority (PEM) for the ConfigMaps kube-root-ca.crt.
  std::string root_ca{};
  base::Clock& clock = base::Clock::Real();
  /// Whether other processes run controllers against the same objects. Then one of them works at a
  /// time, the one that holds the Lease kControllersLease; the others stand by.
  bool elects_leader = false;
  /// Gets the metrics of queues and caches, and must outlive the controllers. When it is null,
  /// nobody sees these metrics.
  metrics::Registry* registry = nullptr;
};

/// Runs controllers against an API server. They use its API as any client would; only the garbage
/// collector reads the storage directly, with one watch of everything instead of one for each
/// resource. Thread-safe.
class Controllers {
 public:
  /// `config` must have the rights of an administrator. `storage` is the one that the server
  /// serves, and must outlive the controllers. Returns kInvalidConfig for an unknown controller
  /// name.
  static apimachinery::Result<std::unique_ptr<Controllers>> New(rest::Config config,
                                                                storage::Storage& storage,
                                                                const ControllersOptions& options);
  /// Stops the controllers and waits until they have ended.
  ~Controllers();
  Controllers(const Controllers&) = delete;
  Controllers& operator=(const Controllers&) = delete;

  /// Starts the controllers and does not wait for them. The server must already serve. May be
  /// called once only.
  void Start();

 private:
  Controllers(rest::Config config, storage::Storage& storage, ControllersOptions options,
              std::unique_ptr<controller::Manager> manager);
  /// Runs managers until the stop, as a manager ends when it loses the lease.
  void Run(const std::stop_token& stop);

  const rest::Config config_;
  storage::Storage& storage_;
  const ControllersOptions options_;
  std::unique_ptr<controller::Manager> manager_;
  std::jthread runner_;
};

}  // namespace kubexx::apiserver::controllers

#endif  // KUBEXX_APISERVER_CONTROLLERS_CONTROLLERS_H_
