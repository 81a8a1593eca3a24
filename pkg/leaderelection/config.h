/// @file
/// Config: the identity of a candidate and the times of a leader election.
#ifndef KUBEXX_LEADERELECTION_CONFIG_H_
#define KUBEXX_LEADERELECTION_CONFIG_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"

namespace kubexx::leaderelection {

/// A candidate that waits for the lease tries again after `retry_period` x (1 + random x
/// kJitterFactor), with a random number between 0 and 1.
inline constexpr double kJitterFactor = 1.2;

/// Settings of one candidate. A value type; the defaults are those of Kubernetes' own components
/// (client-go's LeaderElectionConfig).
struct Config {
  /// The candidate's name, which must be unique among the candidates of a lease. If it is empty,
  /// LeaderElector takes DefaultIdentity().
  std::string identity{};
  /// How long other candidates wait without seeing a renewal before they may take the lease. At
  /// least 1 s; written in whole seconds, rounded up.
  base::Duration lease_duration = std::chrono::seconds(15);
  /// How long the leader tries to renew before it gives up.
  base::Duration renew_deadline = std::chrono::seconds(10);
  /// The time between two renewals, and between two attempts of a candidate that waits (see
  /// kJitterFactor).
  base::Duration retry_period = std::chrono::seconds(2);
  /// Whether the leader releases the lease when it is told to stop and its work has ended, so that
  /// the next leader need not wait until the lease expires.
  bool release_on_cancel = true;
  /// The seed of the jitter; 0 means a random seed.
  std::uint64_t seed = 0;

  /// Returns kInvalidConfig, with the name of the field, unless lease_duration > renew_deadline >
  /// retry_period x kJitterFactor, retry_period > 0 and the identity is not empty. Unlike
  /// client-go, it also wants renew_deadline to be at most 98 % of lease_duration: with less time
  /// between them an old leader would still lead, by its clock, beside a new one whose clock is a
  /// little faster.
  apimachinery::Result<void> Validate() const;

  /// The time after which a request to the lock is given up: half of renew_deadline, at least 1 s.
  base::Duration RequestTimeout() const;

  /// How long a candidate may lead at most after it has sent a successful write: half-way between
  /// renew_deadline and lease_duration. Clocks may run at different speeds without harm, as long as
  /// their ratio is less than lease_duration / LeadLimit() (1.2 with the defaults).
  base::Duration LeadLimit() const { return (renew_deadline + lease_duration) / 2; }

  /// Returns lease_duration as it is written into the lease.
  std::int32_t LeaseDurationSeconds() const;
};

/// Returns "<host name>_<uuid>", as Kubernetes' components name themselves. So a restarted process
/// is another candidate.
std::string DefaultIdentity();

}  // namespace kubexx::leaderelection

#endif  // KUBEXX_LEADERELECTION_CONFIG_H_
