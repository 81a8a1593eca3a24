/// @file
/// The metrics of an elector.
#ifndef KUBEXX_LEADERELECTION_LEADER_ELECTION_METRICS_H_
#define KUBEXX_LEADERELECTION_LEADER_ELECTION_METRICS_H_

#include <string>

#include "kubexx/metrics/registry.h"

namespace kubexx::leaderelection {

/// The metrics have the names that Kubernetes' components use. Without a registry the handles do
/// nothing.
struct LeaderElectionMetrics {
  LeaderElectionMetrics() = default;
  LeaderElectionMetrics(metrics::Registry& registry, const std::string& name);

  /// 1 while this process leads.
  metrics::Gauge master_status{};
  /// Counts renewals that needed more than one request.
  metrics::Counter slow_path{};
};

}  // namespace kubexx::leaderelection

#endif  // KUBEXX_LEADERELECTION_LEADER_ELECTION_METRICS_H_
