/// @file
/// LeaderElector: runs an election, so that at most one of several processes leads at a time.
#ifndef KUBEXX_LEADERELECTION_LEADER_ELECTOR_H_
#define KUBEXX_LEADERELECTION_LEADER_ELECTOR_H_

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/leaderelection/config.h"
#include "kubexx/leaderelection/lock.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::leaderelection {

/// Receives the events "<identity> became leader" and "<identity> stopped leading". The package
/// events depends on this one, so a user of both packages implements this class.
class TransitionRecorder {
 public:
  virtual ~TransitionRecorder() = default;
  /// Records a Normal event about `lease`. Called on the elector's threads; must not block. An
  /// exception is logged.
  virtual void Record(const api::core::v1::ObjectReference& lease, std::string_view reason,
                      std::string_view message) = 0;
};

/// The functions that an elector calls; each may be empty. An exception of a callback is logged. An
/// exception of on_started_leading also ends the leadership as a stop does, and Run returns it as
/// an error.
struct Callbacks {
  /// The work that only the leader may do. Called on a thread of its own. It has to end soon after
  /// its stop_token is requested. The lease is kept until then, if possible, and released
  /// afterwards. The function may also return at once if the work runs elsewhere; the owner of the
  /// work then has to stop it before it stops Run.
  std::function<void(std::stop_token)> on_started_leading{};
  /// Called when the lease was lost, on Run's thread and before the work is told to stop, or while
  /// work that was told to stop earlier still runs. Must not block.
  std::function<void()> on_lost{};
  /// The last call, on Run's thread, also if this candidate never led. If the lease was lost, it is
  /// called without waiting for the work to end, so that a process whose work hangs can end itself.
  std::function<void()> on_stopped_leading{};
  /// Called with the identity of each new leader, which may be this candidate, on a thread of its
  /// own. Of leaders that follow each other while a call runs, only the latest is reported.
  std::function<void(const std::string& identity)> on_new_leader{};
};

/// One candidate of an election over a Lease. Semantics: client-go's leaderelection, with the
/// differences listed at Election (election.h). It does not fence: a process that is suspended and
/// resumed may act once more before it notices that it no longer leads, unless it asks IsLeader()
/// first. Several electors, of several leases or the same one, may run in a process. Thread-safe.
///
/// A manager with warm standby starts its servers and caches, waits for their sync, and then uses
/// an elector like this:
///
///     auto lock = std::make_shared<LeaseLock>(client, ObjectKey{"ns", "my-controller"});
///     auto elector = LeaderElector::New({.lock = lock,
///                                        .callbacks = {.on_started_leading = run_controllers},
///                                        .registry = &registry});
///     auto result = (*elector)->Run(stop);   // blocks
///
/// Here run_controllers(stop) starts the workers and returns when they have drained. If the result
/// is an error, the lease was lost, and the process should end at once. On success the lease has
/// been released and the rest can be stopped. Check belongs to the health checks.
class LeaderElector {
 public:
  /// Settings of an elector.
  struct Options {
    Config config{};
    std::shared_ptr<Lock> lock{};
    Callbacks callbacks{};
    /// The label `name` of the metrics, and the name in logs. If empty, the lock's name is used.
    std::string name{};
    base::Clock& clock = base::Clock::Real();
    /// If set, leader_election_master_status and leader_election_slowpath_total are recorded here;
    /// must outlive the elector.
    metrics::Registry* registry = nullptr;
    /// Receives the events of the election, if set; must outlive the elector.
    TransitionRecorder* recorder = nullptr;
  };

  /// Makes an elector. Returns kInvalidConfig if Config::Validate does, if there is no lock, or if
  /// its Key throws.
  static apimachinery::Result<std::unique_ptr<LeaderElector>> New(Options options);
  /// Run must have returned.
  ~LeaderElector();

  /// Waits for the lease, leads, and returns when `stop` is requested (a success) or the lease is
  /// lost (an error). Uses threads of its own, which have ended when it returns. May be called
  /// again afterwards, but not at the same time.
  apimachinery::Result<void> Run(std::stop_token stop);

  /// Whether this candidate is the leader now, by its own clock.
  bool IsLeader() const;

  /// The leader that was last seen; empty if none is known.
  std::string Leader() const;

  /// Why the lease was lost, with the error of the last request about it; empty if it was not lost.
  /// Set before the work's stop_token is requested, and kept until the next Run.
  std::string WhyLost() const;

  /// A health check. It fails if the work of a leader still runs although the lease could not be
  /// renewed for longer than its duration plus `tolerance`; the process should then be killed.
  /// Semantics: client-go's HealthzAdaptor, whose tolerance is 20 s in Kubernetes' components.
  apimachinery::Result<void> Check(base::Duration tolerance) const;

 private:
  class Impl;
  explicit LeaderElector(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::leaderelection

#endif  // KUBEXX_LEADERELECTION_LEADER_ELECTOR_H_
