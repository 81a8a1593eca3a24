/// @file
/// Writes the status of policies.
#ifndef KUBEXX_RELOADER_POLICY_POLICY_STATUS_H_
#define KUBEXX_RELOADER_POLICY_POLICY_STATUS_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/executor/executor.h"
#include "kubexx/base/executor/scheduled_task.h"
#include "kubexx/events/recorder.h"
#include "kubexx/reloader/policy/policy_enforcer.h"
#include "kubexx/reloader/policy/policy_news.h"
#include "kubexx/reloader/policy/policy_watch.h"
#include "kubexx/reloader/policy/status_cut.h"
#include "kubexx/reloadpolicy/policy.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

/// The status that a policy should have. Takes from `present`, its present status, the times at
/// which conditions last changed. S is the status of a ReloadPolicy or a ClusterReloadPolicy. Pure.
template <class S>
S PolicyStatusFor(const PolicyState& state, const S& present, base::WallTime now);

/// The failed rollouts in the status of a policy in `namespace_`; empty for a ClusterReloadPolicy.
template <class S>
std::vector<reloadpolicy::Remembered> FailuresIn(const S& status, const std::string& namespace_);

/// Likewise, the workloads that have failed in waves.
template <class S>
std::vector<reloadpolicy::RememberedData> FailedDataIn(const S& status,
                                                       const std::string& namespace_);

/// Compares the enforcer's state with the status of the policies at intervals and writes the
/// statuses that differ; changes within an interval share one write. Reports what begins or ends by
/// Events about the policy (see NewsBetween). Works only while an operator is attached to the
/// enforcer, so that a single replica writes. A task of an executor, which ends when this object is
/// destroyed.
class PolicyStatusWriter {
 public:
  struct Options {
    base::Clock& clock = base::Clock::Real();
    base::Duration interval = std::chrono::seconds(1);
    /// Whether this replica writes the status of the policies in a namespace ("" for
    /// ClusterReloadPolicies). Empty: it writes all of them.
    std::function<bool(std::string_view namespace_)> reports{};
    /// Records the Events about policies; must outlive this object. Null: there are no Events.
    events::Recorder* recorder = nullptr;
    /// Called at each interval with the states of all policies that this replica writes. May be
    /// empty.
    std::function<void(const std::vector<PolicyState>&)> observe{};
    /// Runs the task; null: one of this object's own.
    std::shared_ptr<base::Executor> executor{};
  };
  /// `enforcer` and `watch` must outlive this object. Throws std::system_error when the system has
  /// not enough threads.
  PolicyStatusWriter(std::shared_ptr<rest::RESTClient> client, const PolicyEnforcer& enforcer,
                     const PolicyWatch& watch, Options options);

 private:
  /// Returns the time of the next step.
  base::TimePoint Step(const std::stop_token& stop);
  void WriteAll(const std::stop_token& stop);
  template <class T>
  void Write(const PolicyState& state, const cache::SharedInformer<T>& informer,
             const std::stop_token& stop);
  /// Logs an error that is not the last one, and lets the next attempt wait.
  void NoteFailure(const reloadpolicy::PolicyId& policy, std::string error);
  /// Sends Events for what has changed since the last call, or since `present` was written. It does
  /// so only when two calls in a row find the same state, so that a state which ends at once, such
  /// as that right after a start, causes no Event. Returns whether this was the first call for the
  /// policy.
  template <class T, class S>
  bool Tell(const PolicyState& state, const T& object, const S& present, const S& wanted);

  const std::shared_ptr<rest::RESTClient> client_;
  const PolicyEnforcer& enforcer_;
  const PolicyWatch& watch_;
  const Options options_;
  struct Failure {
    std::string error{};
    base::TimePoint again{};
  };
  /// Policies whose status could not be written. Used by the task only.
  std::map<reloadpolicy::PolicyId, Failure> failures_;
  StatusCuts cuts_;  ///< used by the thread only
  /// What the status was compared with when there was nothing to write and nothing to tell. Until
  /// one of the two is another, there is nothing either, and the policy need not be decoded.
  struct Settled {
    PolicyState state{};
    std::string version{};  ///< the informer's resourceVersion for the policy's namespace
    bool operator==(const Settled&) const = default;
  };
  struct Told {
    PolicyFacts told{};
    PolicyFacts seen{};  ///< at the last interval
    std::optional<Settled> settled{};
    StatusCut cut = StatusCut::kNothing;  ///< with `settled`: of what the status was compared with
  };
  /// One entry per policy that this replica reports. Used by the task only.
  std::map<reloadpolicy::PolicyId, Told> told_;
  base::TimePoint next_;      ///< of the next look; used by the task only
  base::ScheduledTask task_;  // last: ends before the rest goes
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_POLICY_POLICY_STATUS_H_
