/// @file
/// Alerts about reloads: their texts and their receivers.
#ifndef KUBEXX_RELOADER_NOTIFY_ALERTS_H_
#define KUBEXX_RELOADER_NOTIFY_ALERTS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/token_bucket.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/notify/failing_writes.h"
#include "kubexx/reloader/notify/message_sender.h"
#include "kubexx/reloader/notify/severity.h"
#include "kubexx/reloader/write/notifier.h"

namespace kubexx::reloader {

/// The settings for alerts, from the environment variables ALERT_*. Contains credentials (in URLs):
/// never log it.
struct AlertSettings {
  bool enabled = false;  ///< ALERT_ON_RELOAD is exactly "true"
  std::string sink{};    ///< ALERT_SINK, trimmed and in lower case; any unknown value means "raw"
  std::string url{};     ///< ALERT_WEBHOOK_URL
  std::string additional_info{};  ///< ALERT_ADDITIONAL_INFO, trimmed
  std::string proxy{};            ///< ALERT_WEBHOOK_PROXY; no other variable sets a proxy
};

/// The text of stakater/Reloader, with asterisks around names.
std::string AlertText(const SourceId& source, const WorkloadId& workload,
                      std::string_view additional_info);
/// `text` in the format that a sink accepts: "slack" (an attachment for an incoming webhook),
/// "teams" (an Adaptive Card in a message, as Teams' workflows and its older connectors accept it),
/// "gchat" or "raw". Asterisks are converted to what the sink uses for bold text, and removed for
/// "raw". The severity chooses the colour, where the sink has colours.
Message AlertFor(std::string_view sink, std::string_view text, Severity severity);
/// Whether a sink reports success with this HTTP status: any 2xx (Teams' workflows answer 202), and
/// 304 for sinks other than teams and gchat, as in stakater/Reloader. Redirects are not followed.
bool AlertAccepted(std::string_view sink, int status);

/// Sends an alert for every source of every successful write, for a workload whose writes keep
/// failing, and for trouble with rollouts that others report. For failing writes it sends one
/// alert, when the server first refuses a write or when writes have failed for half a minute.
/// Alerts about failures and trouble are limited to ten at once and then one per minute; the next
/// alert that is sent says how many were left out. Thread-safe.
class Alerts final : public WriteObserver, public TroubleObserver {
 public:
  /// `sender` and `clock` must outlive this object.
  Alerts(AlertSettings settings, MessageSender& sender, base::Clock& clock = base::Clock::Real());
  void OnWrite(const WriteReport& report) override;
  void OnTrouble(const RolloutTrouble& trouble) override;

 private:
  void SendBounded(std::string text, Severity severity);
  void Send(const std::string& text, Severity severity);

  const AlertSettings settings_;
  MessageSender& sender_;
  base::TokenBucket budget_;
  FailingWrites failing_;
  base::Mutex mu_;
  std::size_t not_sent_ KX_GUARDED_BY(mu_) = 0;
};

/// Creates a sender to `settings.url` that tries each alert for about a minute. Fails with
/// kInvalidConfig, which names the variable that cannot be used.
apimachinery::Result<std::unique_ptr<MessageSender>> NewAlertSender(const AlertSettings& settings,
                                                                    metrics::Registry* registry);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_NOTIFY_ALERTS_H_
