/// @file
/// Decides, by Leases, which of several replicas works on which shard of the namespaces.
#ifndef KUBEXX_RELOADER_HA_LEADERSHIP_H_
#define KUBEXX_RELOADER_HA_LEADERSHIP_H_

#include <functional>
#include <memory>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/leaderelection/config.h"
#include "kubexx/leaderelection/lock.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/ha/held_shards.h"
#include "kubexx/reloader/ha/membership.h"

namespace kubexx::reloader {

/// The name of stakater/Reloader's Lease.
inline constexpr char kLeaseName[] = "stakater-reloader-lock";

/// The name of a shard's Lease. If there is only one shard it is kLeaseName, so that this operator
/// can replace stakater/Reloader without both of them writing.
std::string LeaseNameOf(int shard, int shards);

/// Campaigns for the Leases of the shards that this replica should take, opens them in HeldShards
/// while it holds their Leases, and gives up those that another replica should take. A replica that
/// loses a Lease closes the shard immediately, stops its writes there, and campaigns again without
/// a restart. Thread-safe.
class Leadership {
 public:
  struct Options {
    /// `identity` must be set.
    leaderelection::Config election{};
    /// Returns the lock of a shard's Lease.
    std::function<std::shared_ptr<leaderelection::Lock>(int shard)> lock{};
    /// Called after a shard has been opened, on a thread of the campaign. It must not block.
    std::function<void(int shard)> on_acquired{};
    /// How long writes may continue in a shard that is given up.
    base::Duration write_grace = std::chrono::seconds(2);
    base::Clock& clock = base::Clock::Real();
    /// For the metrics leader_election_* and kubexx_reloader_shard_held; must outlive this object.
    metrics::Registry* registry = nullptr;
  };

  /// `held` and `membership` must outlive this object. `membership` decides which shards this
  /// replica should take; null: all of them.
  Leadership(Options options, HeldShards& held, Membership* membership);
  /// Stops.
  ~Leadership();
  Leadership(const Leadership&) = delete;
  Leadership& operator=(const Leadership&) = delete;

  /// Fails with kInvalidConfig as leaderelection::Config::Validate does. Call it once only.
  apimachinery::Result<void> Start();
  /// Gives up all Leases after the writes under them have ended, and joins all threads.
  void Stop();
  /// Fails when the writes in a lost shard do not end. The process should then be killed.
  apimachinery::Result<void> Check() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_HA_LEADERSHIP_H_
