/// @file
/// What a manager needs of leader election.
#ifndef KUBEXX_CONTROLLER_LEADERSHIP_H_
#define KUBEXX_CONTROLLER_LEADERSHIP_H_

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

namespace kubexx::leaderelection {
class TransitionRecorder;
}

namespace kubexx::controller {

/// Decides which of several processes works. The usual one is made from ManagerOptions'
/// leader_election; a program with another lock gives its own. One whose processes share the work
/// out among them, each with a part of its own, has all of them lead at once, and sees itself to
/// where each may write; what it gives back it gives back when `lead` has returned.
class Leadership {
 public:
  using Lead = std::function<void(std::stop_token)>;

  virtual ~Leadership() = default;
  /// Waits until this process leads, then calls `lead`, which returns some time after its
  /// stop_token is requested; at most one process may lead until it has. Returns when `stop` is
  /// requested and `lead` has returned, or with an error when the leadership was lost. Called once.
  virtual apimachinery::Result<void> Run(Lead lead, std::stop_token stop) = 0;
  /// Why the leadership was lost, for the log; known when the stop_token of `lead` is requested.
  virtual std::string WhyLost() const { return {}; }
  /// Requested as soon as the leadership is lost, also when `lead` had been told to stop before.
  /// What still runs has a second then.
  virtual std::stop_token Lost() const { return {}; }
  /// A health check.
  virtual apimachinery::Result<void> Check() const { return {}; }
};

/// Election over a Lease of coordination.k8s.io/v1.
struct LeaderElectionOptions {
  /// Of the Lease; processes with the same one stand against each other.
  apimachinery::ObjectKey lease{};
  /// Times, and this process's identity, by default its host name with a random part.
  leaderelection::Config config{};
};

/// kInvalidConfig for times that do not fit each other, or without a lease's namespace and name.
/// `recorder`, which may be null, is told who leads. What the arguments refer to must outlive it.
apimachinery::Result<std::shared_ptr<Leadership>> NewLeaseLeadership(
    const LeaderElectionOptions& options, const rest::Config& connection, base::Clock& clock,
    metrics::Registry* registry, leaderelection::TransitionRecorder* recorder = nullptr);

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_LEADERSHIP_H_
