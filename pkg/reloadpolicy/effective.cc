#include "kubexx/reloadpolicy/effective.h"

#include <algorithm>

namespace kubexx::reloadpolicy {
namespace {

/// The timeout of a rollout in a wave is that of the waves, unless another one is shorter.
base::Duration Shorter(const std::optional<Setting<base::Duration>>& timeout,
                       const std::optional<Setting<Waves>>& waves) {
  const bool has_own = waves && waves->value.timeout > base::Duration(0);
  if (has_own) {
    return timeout ? std::min(timeout->value, waves->value.timeout) : waves->value.timeout;
  }
  return timeout ? timeout->value : Effective::kDefaultHealthTimeout;
}

}  // namespace

bool Effective::NeedsTracking() const {
  return max_in_namespace || max_in_cluster || (health_gate && health_gate->value) ||
         !stop_after_failures.empty() || min_interval || Order() > 0 || waves;
}

base::Duration Effective::HealthTimeout() const { return Shorter(health_timeout, waves); }

base::Duration Effective::OthersHealthTimeout() const {
  return Shorter(others_health_timeout, waves);
}

base::Duration Effective::SoakTime() const {
  const bool asks = (health_gate && health_gate->value) || !stop_after_failures.empty();
  const base::Duration soak = !asks       ? base::Duration(0)
                              : soak_time ? soak_time->value
                                          : kDefaultSoakTime;
  return waves ? std::max(soak, waves->value.healthy_for) : soak;
}

}  // namespace kubexx::reloadpolicy
