/// @file
/// Alerts after reloads: what they say, and to whom.
#ifndef KUBEXX_RELOADER_ALERTS_H_
#define KUBEXX_RELOADER_ALERTS_H_

#include <memory>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/config.h"
#include "kubexx/reloader/message_sender.h"
#include "kubexx/reloader/notifier.h"

namespace kubexx::reloader {

/// stakater/Reloader's text, with asterisks around what it names.
std::string AlertText(const SourceId& source, const WorkloadId& workload,
                      std::string_view additional_info);
/// `text` in the form that a sink takes: "slack", "teams", "gchat" or "raw".
Message AlertFor(std::string_view sink, std::string_view text);
/// Whether a sink means success by an HTTP status. As stakater/Reloader: teams and gchat by 200
/// only, the others by less than 400, but never by a redirect, which is not followed.
bool AlertAccepted(std::string_view sink, int status);

/// Sends an alert for every source of every successful write. Thread-safe.
class Alerts final : public WriteObserver {
 public:
  /// `sender` must outlive it.
  Alerts(AlertSettings settings, MessageSender& sender)
      : settings_(std::move(settings)), sender_(sender) {}
  void OnWrite(const WriteReport& report) override;

 private:
  const AlertSettings settings_;
  MessageSender& sender_;
};

/// A sender to `settings.url`. kInvalidConfig names the variable that cannot be used.
apimachinery::Result<std::unique_ptr<MessageSender>> NewAlertSender(const AlertSettings& settings,
                                                                    metrics::Registry* registry);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_ALERTS_H_
