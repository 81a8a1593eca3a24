/// @file
/// Notifications: tells receivers of writes and of trouble with rollouts.
#ifndef KUBEXX_RELOADER_RECEIVERS_NOTIFICATIONS_H_
#define KUBEXX_RELOADER_RECEIVERS_NOTIFICATIONS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/executor/executor.h"
#include "kubexx/base/identity.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/notify/failing_writes.h"
#include "kubexx/reloader/receivers/notification.h"
#include "kubexx/reloader/receivers/receiver.h"
#include "kubexx/reloader/receivers/receiver_settings.h"
#include "kubexx/reloader/write/notifier.h"

namespace kubexx::reloader {

/// Makes a Notification of each write that succeeds, of a workload whose writes keep failing (see
/// FailingWrites), of notices about workloads and of trouble, and gives it to all receivers.
/// Thread-safe; nothing that it does blocks before Stop.
class Notifications final : public WriteObserver, public TroubleObserver {
 public:
  struct Options {
    /// The policies that govern a workload; see PolicyEnforcer::Governing. Must not block.
    std::function<std::vector<reloadpolicy::PolicyId>(const reloadpolicy::ObjectRef&)> governing{};
    base::Clock& clock = base::Clock::Real();
    /// Makes the ids of notifications.
    std::function<std::string()> new_id = base::RandomUuid;
  };

  Notifications(Options options, std::vector<std::unique_ptr<Receiver>> receivers);
  /// Stops.
  ~Notifications() override;

  void OnWrite(const WriteReport& report) override;
  void OnNotice(const WorkloadNotice& notice) override;
  void OnTrouble(const RolloutTrouble& trouble) override;
  /// Sends what waits for about a second and ends all receivers, which share that time. May be
  /// called again.
  void Stop();

 private:
  /// Completes the notification and gives it to the receivers.
  void Tell(Notification notification);

  const Options options_;
  FailingWrites failing_;
  const std::vector<std::unique_ptr<Receiver>> receivers_;
};

/// Where the operator runs; either may be empty.
struct OperatorPlace {
  std::string namespace_{};
  std::string deployment{};
};

/// Creates the receivers of the settings, which send over HTTP. kInvalidConfig names the receiver
/// whose settings cannot be used.
apimachinery::Result<std::unique_ptr<Notifications>> NewNotifications(
    const NotificationSettings& settings, const OperatorPlace& place,
    Notifications::Options options, const std::shared_ptr<base::Executor>& executor,
    metrics::Registry* registry);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_RECEIVERS_NOTIFICATIONS_H_
