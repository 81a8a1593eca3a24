/// @file
/// Runs an election: at most one of several processes leads at a time.
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

/// Where the events "<identity> became leader" and "<identity> stopped leading" go. The package
/// events lies above this one, so whoever uses both passes them on.
class TransitionRecorder {
 public:
  virtual ~TransitionRecorder() = default;
  /// A Normal event about `lease`. Called on the elector's threads; must not block or throw.
  virtual void Record(const api::core::v1::ObjectReference& lease, std::string_view reason,
                      std::string_view message) = 0;
};

/// What an elector calls; each may be empty. An exception of a callback is logged; one of
/// on_started_leading also ends the leadership as a stop does, and Run returns it as an error.
struct Callbacks {
  /// The work that only the leader may do, on a thread of its own. It has to end soon after its
  /// stop_token is requested: until then the lease is kept if it can be, and only then is it
  /// released. It may also return at once, when the work runs elsewhere; its owner then stops the
  /// work before stopping Run.
  std::function<void(std::stop_token)> on_started_leading{};
  /// Called when the lease was lost, on Run's thread and before the work is told to stop; also when
  /// the work had been told to stop before and still runs. Must not block.
  std::function<void()> on_lost{};
  /// Called on Run's thread, last of all, also when this candidate never led. When the lease was
  /// lost it does not wait for the work to end, so that a process whose work hangs can end itself.
  std::function<void()> on_stopped_leading{};
  /// Another leader was seen, or this candidate became it; on a thread of its own, the newest only
  /// when several came while it ran.
  std::function<void(const std::string& identity)> on_new_leader{};
};

/// One candidate of an election over a Lease. Semantics: client-go's leaderelection, with the
/// differences listed at Election (election.h). It does not fence: a process that is halted and
/// goes on may act once more before it notices, unless it asks IsLeader() first. Several electors,
/// of several leases or the same one, may run in a process. Thread-safe.
///
/// How a manager uses it, with warm standby: start servers and caches, wait for their sync, then
///
///     auto lock = std::make_shared<LeaseLock>(client, ObjectKey{"ns", "my-controller"});
///     auto elector = LeaderElector::New({.lock = lock,
///                                        .callbacks = {.on_started_leading = run_controllers},
///                                        .registry = &registry});
///     auto result = (*elector)->Run(stop);   // blocks
///
/// where run_controllers(stop) starts the workers and returns when they have drained. A result that
/// is an error says that the lease was lost: end the process without grace. On success the lease
/// has been released and the rest can be stopped. Add Check to the health checks.
class LeaderElector {
 public:
  /// What an elector needs beside its Config.
  struct Options {
    Config config{};
    std::shared_ptr<Lock> lock{};
    Callbacks callbacks{};
    /// Label `name` of the metrics, and in logs; empty: the lock's name.
    std::string name{};
    base::Clock& clock = base::Clock::Real();
    /// leader_election_master_status and leader_election_slowpath_total; must outlive the elector.
    metrics::Registry* registry = nullptr;
    /// Must outlive the elector.
    TransitionRecorder* recorder = nullptr;
  };

  /// kInvalidConfig as Config::Validate, or when there is no lock.
  static apimachinery::Result<std::unique_ptr<LeaderElector>> New(Options options);
  /// Run must have returned.
  ~LeaderElector();

  /// Waits for the lease, leads, and returns when `stop` is requested or the lease is lost; success
  /// in the first case. Uses threads of its own, none of them after it has returned. May be called
  /// again afterwards, not at the same time.
  apimachinery::Result<void> Run(std::stop_token stop);

  /// Whether this candidate is the leader now, by its own clock.
  bool IsLeader() const;

  /// The leader as last seen; empty when none is known.
  std::string Leader() const;

  /// Why the lease was lost, with the error of the last request about it; empty when it was not.
  /// Known before the work's stop_token is requested, until the next Run.
  std::string WhyLost() const;

  /// A health check. Fails when the work of a leader is still running although the lease could not
  /// be renewed for longer than its duration and `tolerance`; the process should then be killed. As
  /// client-go's HealthzAdaptor, whose tolerance is 20 s in Kubernetes' components.
  apimachinery::Result<void> Check(base::Duration tolerance) const;

 private:
  class Impl;
  explicit LeaderElector(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::leaderelection

#endif  // KUBEXX_LEADERELECTION_LEADER_ELECTOR_H_
