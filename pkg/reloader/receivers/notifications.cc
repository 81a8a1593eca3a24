#include "kubexx/reloader/receivers/notifications.h"

#include <algorithm>
#include <utility>

#include "kubexx/reloader/receivers/cloud_event.h"

namespace kubexx::reloader {

using apimachinery::Result;

Notifications::Notifications(Options options, std::vector<std::unique_ptr<Receiver>> receivers)
    : options_(std::move(options)), failing_(options_.clock), receivers_(std::move(receivers)) {}

Notifications::~Notifications() { Stop(); }

void Notifications::OnWrite(const WriteReport& report) {
  const bool fails_for_long = failing_.IsNews(report);
  if (report.outcome || fails_for_long) {
    Tell(NotificationOf(report));
  }
}

void Notifications::OnNotice(const WorkloadNotice& notice) { Tell(NotificationOf(notice)); }

void Notifications::OnTrouble(const RolloutTrouble& trouble) { Tell(NotificationOf(trouble)); }

void Notifications::Tell(Notification notification) {
  notification.id = options_.new_id();
  notification.time = options_.clock.Wall();
  if (notification.workload && options_.governing) {
    for (reloadpolicy::PolicyId& policy : options_.governing(*notification.workload)) {
      if (std::ranges::find(notification.policies, policy) == notification.policies.end()) {
        notification.policies.push_back(std::move(policy));
      }
    }
  }
  const auto shared = std::make_shared<const Notification>(std::move(notification));
  for (const std::unique_ptr<Receiver>& receiver : receivers_) {
    receiver->Take(shared);
  }
}

void Notifications::Stop() {
  for (const std::unique_ptr<Receiver>& receiver : receivers_) {
    receiver->Close();
  }
  for (const std::unique_ptr<Receiver>& receiver : receivers_) {
    receiver->Stop();
  }
}

Result<std::unique_ptr<Notifications>> NewNotifications(
    const NotificationSettings& settings, const OperatorPlace& place,
    Notifications::Options options, const std::shared_ptr<base::Executor>& executor,
    metrics::Registry* registry) {
  std::vector<std::unique_ptr<Receiver>> receivers;
  for (const ReceiverSettings& each : settings.receivers) {
    auto receiver =
        NewHttpReceiver({.settings = each,
                         .origin = {.cluster = settings.cluster,
                                    .source = CloudEventSource(settings.cluster, place.namespace_,
                                                               place.deployment)},
                         .executor = executor,
                         .clock = options.clock,
                         .registry = registry,
                         .new_id = options.new_id});
    if (!receiver) {
      return apimachinery::Fail(receiver.error().WithContext("receiver " + each.name));
    }
    receivers.push_back(*std::move(receiver));
  }
  return std::make_unique<Notifications>(std::move(options), std::move(receivers));
}

}  // namespace kubexx::reloader
