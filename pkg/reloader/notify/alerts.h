/// @file
/// Alerts about reloads: what they say, and to whom.
#ifndef KUBEXX_RELOADER_NOTIFY_ALERTS_H_
#define KUBEXX_RELOADER_NOTIFY_ALERTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/token_bucket.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/notify/message_sender.h"
#include "kubexx/reloader/write/notifier.h"

namespace kubexx::reloader {

/// Alerts after reloads, from the variables ALERT_*. Holds credentials (in URLs): never log it.
struct AlertSettings {
  bool enabled = false;           ///< ALERT_ON_RELOAD is exactly "true"
  std::string sink{};             ///< ALERT_SINK, trimmed, in lower case; any other is "raw"
  std::string url{};              ///< ALERT_WEBHOOK_URL
  std::string additional_info{};  ///< ALERT_ADDITIONAL_INFO, trimmed
  std::string proxy{};            ///< ALERT_WEBHOOK_PROXY; no other variable gives one
};

/// How an alert is coloured, by sinks that have colours.
enum class Severity : std::uint8_t { kGood, kWarning, kBad };

/// stakater/Reloader's text, with asterisks around what it names.
std::string AlertText(const SourceId& source, const WorkloadId& workload,
                      std::string_view additional_info);
/// `text` in the form that a sink takes: "slack" (an attachment of an incoming webhook), "teams"
/// (an Adaptive Card in the envelope of a message, as workflows and the connectors before them take
/// it), "gchat" or "raw". Asterisks become what the sink takes for bold; "raw" has none.
Message AlertFor(std::string_view sink, std::string_view text, Severity severity);
/// Whether a sink means success by an HTTP status: any of 2xx (workflows of Teams answer 202), and
/// 304 for sinks other than teams and gchat, as stakater/Reloader. Redirects are not followed.
bool AlertAccepted(std::string_view sink, int status);

/// Sends an alert for every source of every successful write; for a workload whose writes keep
/// failing once, at the first attempt that the server refuses or when they have failed for half a
/// minute; and for trouble with rollouts that others report. Of the latter two at most ten at once
/// and one a minute: the next one that is sent says how many were not. Thread-safe.
class Alerts final : public WriteObserver, public TroubleObserver {
 public:
  /// `sender` and `clock` must outlive it.
  Alerts(AlertSettings settings, MessageSender& sender, base::Clock& clock = base::Clock::Real());
  void OnWrite(const WriteReport& report) override;
  void OnTrouble(const RolloutTrouble& trouble) override;

 private:
  struct Failing {
    base::TimePoint since{};
    bool is_told = false;
  };

  /// Whether to tell that the workload's writes fail.
  bool IsNews(const WriteReport& report);
  void SendBounded(std::string text, Severity severity);
  void Send(const std::string& text, Severity severity);

  const AlertSettings settings_;
  MessageSender& sender_;
  base::Clock& clock_;
  base::TokenBucket budget_;
  base::Mutex mu_;
  std::map<WorkloadId, Failing> failing_ KX_GUARDED_BY(mu_);
  std::size_t not_sent_ KX_GUARDED_BY(mu_) = 0;
};

/// A sender to `settings.url`, which tries for about a minute. kInvalidConfig names the variable
/// that cannot be used.
apimachinery::Result<std::unique_ptr<MessageSender>> NewAlertSender(const AlertSettings& settings,
                                                                    metrics::Registry* registry);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_NOTIFY_ALERTS_H_
