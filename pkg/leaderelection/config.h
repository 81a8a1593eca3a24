/// @file
/// The times of a leader election.
#ifndef KUBEXX_LEADERELECTION_CONFIG_H_
#define KUBEXX_LEADERELECTION_CONFIG_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"

namespace kubexx::leaderelection {

/// Retries of those that wait for the lease are `retry_period` x (1 + random x kJitterFactor).
inline constexpr double kJitterFactor = 1.2;

/// Who stands for election, and how long everything lasts. A value type; the defaults are those of
/// Kubernetes' own components (client-go's LeaderElectionConfig).
struct Config {
  /// Unique among the candidates of one lease. LeaderElector takes DefaultIdentity() when empty.
  std::string identity{};
  /// How long the others leave a lease alone whose record does not change. At least 1 s; written in
  /// whole seconds, rounded up.
  base::Duration lease_duration = std::chrono::seconds(15);
  /// How long the leader tries to renew before it gives up.
  base::Duration renew_deadline = std::chrono::seconds(10);
  /// Between renewals, and between the attempts of those that wait.
  base::Duration retry_period = std::chrono::seconds(2);
  /// Whether the lease is given up when the leader is told to stop and its work has ended, so that
  /// another need not wait until it expires.
  bool release_on_cancel = true;
  /// The seed of the jitter; 0 takes a random one.
  std::uint64_t seed = 0;

  /// kInvalidConfig, naming the field, unless lease_duration > renew_deadline > retry_period x
  /// kJitterFactor, retry_period > 0 and the identity is not empty.
  apimachinery::Result<void> Validate() const;

  /// A request to the lock is given up after this: half of renew_deadline, at least 1 s.
  base::Duration RequestTimeout() const;

  /// For how long after a successful write was sent its sender may lead at most, half-way between
  /// renew_deadline and lease_duration. A clock that runs slower than another's by less than
  /// lease_duration / LeadLimit() (defaults: 1.2) does no harm.
  base::Duration LeadLimit() const { return (renew_deadline + lease_duration) / 2; }

  /// lease_duration as it is written.
  std::int32_t LeaseDurationSeconds() const;
};

/// "<host name>_<uuid>", as Kubernetes' components name themselves: a restart is another candidate.
std::string DefaultIdentity();

}  // namespace kubexx::leaderelection

#endif  // KUBEXX_LEADERELECTION_CONFIG_H_
