/// @file
/// Leadership: the manager's interface to leader election.
#ifndef KUBEXX_CONTROLLER_LEADERSHIP_H_
#define KUBEXX_CONTROLLER_LEADERSHIP_H_

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/leaderelection/config.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/rest/config.h"
#include "kubexx/tracing/tracer.h"

namespace kubexx::leaderelection {
class TransitionRecorder;
}

namespace kubexx::controller {

/// Decides which of several processes works. NewLeaseLeadership makes the usual implementation from
/// ManagerOptions::leader_election; a program with another kind of lock implements its own. An
/// implementation that divides the work among all processes lets all of them lead at the same time.
/// It is then responsible for where each process may write, and it releases its part of the work
/// only after `lead` has returned.
class Leadership {
 public:
  using Lead = std::function<void(std::stop_token)>;

  virtual ~Leadership() = default;
  /// Waits until this process leads, then calls `lead`, which returns some time after its
  /// stop_token is requested. No other process may lead before `lead` has returned. Returns when
  /// `stop` is requested and `lead` has returned, or with an error when the leadership was lost;
  /// the manager logs it as it is, unless it has told of the loss already. Called once.
  virtual apimachinery::Result<void> Run(Lead lead, std::stop_token stop) = 0;
  /// Why the leadership was lost, for the log. Valid once the stop_token of `lead` is requested.
  virtual std::string WhyLost() const { return {}; }
  /// A token that is requested as soon as the leadership is lost, even when `lead` has been told to
  /// stop before. The manager then gives everything that still runs GraceAfterLoss.
  virtual std::stop_token Lost() const { return {}; }
  /// Whether this process leads by its own clock at the moment, asked for Manager::IsLeader while
  /// `lead` runs: a thread that gets its turn late notices late that the time is over. Thread-safe;
  /// must not block or throw.
  virtual bool Leads() const { return true; }
  /// How long the manager lets what still runs after a loss go on, at most 1 s. No other process
  /// should lead before.
  virtual base::Duration GraceAfterLoss() const { return std::chrono::seconds(1); }
  /// A health check of the election.
  virtual apimachinery::Result<void> Check() const { return {}; }
};

/// Settings of a leader election over a Lease of coordination.k8s.io/v1.
struct LeaderElectionOptions {
  /// Namespace and name of the Lease. Processes with the same Lease compete for leadership.
  apimachinery::ObjectKey lease{};
  /// The election's times, and this process's identity, which by default is its host name with a
  /// random suffix.
  leaderelection::Config config{};
};

/// Makes the Leadership of a Lease. kInvalidConfig when the times do not fit each other, or when
/// the Lease's namespace or name is missing. `recorder`, which may be null, records changes of the
/// leader; `tracer`, which may be null, gets the spans of the requests about the Lease. Everything
/// that the arguments refer to must outlive the returned object.
apimachinery::Result<std::shared_ptr<Leadership>> NewLeaseLeadership(
    const LeaderElectionOptions& options, const rest::Config& connection, base::Clock& clock,
    metrics::Registry* registry, leaderelection::TransitionRecorder* recorder = nullptr,
    std::shared_ptr<tracing::Tracer> tracer = nullptr);

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_LEADERSHIP_H_
