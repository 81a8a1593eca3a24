#include "kubexx/reloadpolicy/effective.h"

namespace kubexx::reloadpolicy {
bool Effective::NeedsTracking() const {
  return max_in_namespace || max_in_cluster || (health_gate && health_gate->value) ||
         !stop_after_failures.empty() || min_interval || Order() > 0;
}

base::Duration Effective::HealthTimeout() const {
  return health_timeout ? health_timeout->value : kDefaultHealthTimeout;
}

base::Duration Effective::OthersHealthTimeout() const {
  return others_health_timeout ? others_health_timeout->value : kDefaultHealthTimeout;
}

base::Duration Effective::SoakTime() const {
  const bool asks = (health_gate && health_gate->value) || !stop_after_failures.empty();
  return !asks ? base::Duration(0) : soak_time ? soak_time->value : kDefaultSoakTime;
}

}  // namespace kubexx::reloadpolicy
