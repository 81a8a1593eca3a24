/// @file
/// Several replicas: which of them works on which shard of namespaces.
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

/// stakater/Reloader's Lease.
inline constexpr char kLeaseName[] = "stakater-reloader-lock";

/// The Lease of a shard: kLeaseName itself when there is one shard only, so that this replaces an
/// original without both writing.
std::string LeaseNameOf(int shard, int shards);

/// Campaigns for the Lease of every shard that is this replica's to take, opens HeldShards for
/// those it holds, and gives back those that another replica is to have. A replica that loses a
/// Lease closes the shard at once, breaks off its writes there, and campaigns again: it needs no
/// restart. Thread-safe.
class Leadership {
 public:
  struct Options {
    /// identity must be set.
    leaderelection::Config election{};
    /// The Lease of each shard.
    std::function<std::shared_ptr<leaderelection::Lock>(int shard)> lock{};
    /// Called when a shard has been opened, on a thread of the campaign; must not
    /// block.
    std::function<void(int shard)> on_acquired{};
    /// How long writes of a shard that is given up may go on.
    base::Duration write_grace = std::chrono::seconds(2);
    base::Clock& clock = base::Clock::Real();
    /// For leader_election_* and kubexx_reloader_shard_held; must outlive this.
    metrics::Registry* registry = nullptr;
  };

  /// `held` must outlive this; `membership` says which shards are this replica's to take and must
  /// outlive it, too; null: all.
  Leadership(Options options, HeldShards& held, Membership* membership);
  /// Stops.
  ~Leadership();
  Leadership(const Leadership&) = delete;
  Leadership& operator=(const Leadership&) = delete;

  /// kInvalidConfig as leaderelection::Config::Validate. Once only.
  apimachinery::Result<void> Start();
  /// Gives back all Leases once the writes under them have ended, and joins all threads.
  void Stop();
  /// Fails when writes of a lost shard do not end: the process should then be killed.
  apimachinery::Result<void> Check() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_HA_LEADERSHIP_H_
