/// @file
/// The controllers that make kubexx-apiserver a cluster to try things on: what
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

/// "namespace": the default ServiceAccount and the ConfigMap kube-root-ca.crt of each namespace;
/// "serviceaccount-token": tokens in the Secrets that are for them; "garbage-collector": objects go
/// after their owners; "deployment", "replicaset", "statefulset", "daemonset", "job",
/// "disruption": as kube-controller-manager's; "pod": one node, kubexx-node, on which pods are said
/// to run.
std::span<const std::string_view> ControllerNames();

/// Settings of Controllers.
struct ControllersOptions {
  /// Of ControllerNames(); "all" stands for all of them.
  std::vector<std::string> names{"all"};
  /// From when a pod is scheduled until it is ready; as much again until one has ended
  /// that is not always restarted.
  base::Duration pod_start_delay = std::chrono::milliseconds(200);
  /// PEM for kube-root-ca.crt.
  std::string root_ca{};
  base::Clock& clock = base::Clock::Real();
  /// For the metrics of queues and caches; null: a registry that nobody reads. Must outlive them.
  metrics::Registry* registry = nullptr;
};

/// Runs controllers against an API server, over its API as any client would. Only the garbage
/// collector reads the storage directly: one watch of everything instead of one for each resource.
/// Thread-safe.
class Controllers {
 public:
  /// `config` is an administrator's; `storage` is the one that the server serves and must outlive
  /// this. kInvalidConfig for a name that is none.
  static apimachinery::Result<std::unique_ptr<Controllers>> New(rest::Config config,
                                                                storage::Storage& storage,
                                                                const ControllersOptions& options);
  /// Stops and waits for what runs.
  ~Controllers();
  Controllers(const Controllers&) = delete;
  Controllers& operator=(const Controllers&) = delete;

  /// Begins to work; does not wait. The server must serve by now. Once only.
  void Start();

 private:
  explicit Controllers(std::unique_ptr<controller::Manager> manager);

  std::unique_ptr<controller::Manager> manager_;
  std::jthread runner_;
};

}  // namespace kubexx::apiserver::controllers

#endif  // KUBEXX_APISERVER_CONTROLLERS_CONTROLLERS_H_
