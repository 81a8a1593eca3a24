/// @file
/// A process of kubexx-reloader in a simulation.
#ifndef KUBEXX_TEST_SIMULATION_OPERATOR_PROCESS_H_
#define KUBEXX_TEST_SIMULATION_OPERATOR_PROCESS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/reloader/in_place/pod_access.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::simulation {

/// What kubexx-reloader's process is made of, put together as there, without its HTTP server and
/// what measures the real process. Its threads are of the actor that calls.
class OperatorProcess {
 public:
  /// How a process reaches pods that has this client.
  using PodsFor =
      std::function<std::unique_ptr<reloader::PodAccess>(std::shared_ptr<rest::RESTClient> client)>;

  /// `arguments` are its command line's, `pod_name` its POD_NAME; `connection` says how it reaches
  /// the server, and `pods_for` the pods, with --reload-in-place. It looks each `status_interval`
  /// whether the status of a policy has to be written.
  OperatorProcess(const std::vector<std::string>& arguments, const std::string& pod_name,
                  rest::Config connection, base::Duration status_interval, PodsFor pods_for);
  /// Stops, in order.
  ~OperatorProcess();
  OperatorProcess(const OperatorProcess&) = delete;
  OperatorProcess& operator=(const OperatorProcess&) = delete;

  apimachinery::Result<void> Start();
  /// As after SIGTERM: what is due is written, Leases are given back.
  void Stop();
  /// What /metrics would show.
  std::string Metrics() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::simulation

#endif  // KUBEXX_TEST_SIMULATION_OPERATOR_PROCESS_H_
