#include "kubexx/leaderelection/leader_election_metrics.h"

namespace kubexx::leaderelection {

LeaderElectionMetrics::LeaderElectionMetrics(metrics::Registry& registry, const std::string& name)
    : master_status(registry.Gauge(
          "leader_election_master_status",
          "Whether this process leads: 1 for the leader, 0 for a standby, by name of the lease.",
          {{"name", name}})),
      slow_path(registry.Counter(
          "leader_election_slowpath_total",
          "Renewals of the lease that failed at first and needed it to be read, by name.",
          {{"name", name}})) {}

}  // namespace kubexx::leaderelection
