/// @file
/// --webhook-url: informs a webhook of changes instead of rolling workloads.
#ifndef KUBEXX_RELOADER_NOTIFY_WEBHOOK_RELAY_H_
#define KUBEXX_RELOADER_NOTIFY_WEBHOOK_RELAY_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/cache/handler_registration.h"
#include "kubexx/cache/informer_event.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/ha/held_shards.h"
#include "kubexx/reloader/notify/message_sender.h"
#include "kubexx/reloader/notify/webhook_record.h"
#include "kubexx/reloader/observe/reloader_metrics.h"
#include "kubexx/reloader/watch/caches.h"
#include "kubexx/reloader/watch/namespace_selector.h"
#include "kubexx/reloader/watch/source_absences.h"
#include "kubexx/reloader/watch/source_spaces.h"

namespace kubexx::reloader {

/// Posts stakater/Reloader's message for every change of a source's data, and, if the options say
/// so, for every source that is created or deleted, whatever annotations and workloads say. With a
/// store it records the states that it has called for and compares them with the present ones: so
/// it also calls for changes of a ConfigMap or Secret that were made while no replica was running,
/// or for which the call failed. Thread-safe.
class WebhookRelay {
 public:
  /// Which events count. Pointers may be null and must outlive the relay.
  struct Options {
    bool on_create = false;
    bool on_delete = false;
    /// With on_create: sources that exist at the start count as created.
    bool initial_counts = false;
    std::set<std::string> ignored_namespaces{};
    HeldShards* held_shards = nullptr;
    NamespaceSelector* namespace_selector = nullptr;  ///< started and stopped by the relay
    /// Asked whether a source that disappears was deleted, or only lost its label.
    SourceAbsences* absences = nullptr;
    metrics::Registry* registry = nullptr;
    /// Not used with several shards.
    WebhookStore store{};
    base::Clock& clock = base::Clock::Real();
  };

  /// Uses only the informers of sources. `sender` must outlive the relay, which stops it.
  WebhookRelay(Options options, std::vector<InformerSet> informers, MessageSender& sender);
  /// Stops.
  ~WebhookRelay();
  WebhookRelay(const WebhookRelay&) = delete;
  WebhookRelay& operator=(const WebhookRelay&) = delete;

  /// Call it once only.
  void Start();
  /// Whether every informer has its first list, or the API server has refused it.
  bool Ready() const;
  /// Ends the calls as well, and stores the record.
  void Stop();

 private:
  using RawEvent = cache::RawEvent;

  void OnSource(SourceType type, const RawEvent& event);
  /// The tenure in which this replica calls for sources in the namespace and, with a single shard,
  /// keeps the record; std::nullopt when it may do neither now.
  std::optional<std::uint64_t> TenureOf(const std::string& namespace_) const;
  bool IsSelected(const std::string& namespace_);
  /// Whether the operator writes the source itself.
  bool IsOwn(const SourceId& source) const;
  /// Whether an event with this meaning (see MeaningOf) leads to a call.
  bool Counts(SourceType type, const RawEvent& event, RawEvent::Type meaning) const;
  /// Calls the webhook for an event.
  void CallFor(SourceType type, const RawEvent& event, RawEvent::Type meaning,
               std::uint64_t tenure);
  void Call(const SourceState& source, std::uint64_t tenure);
  void Send(const SourceId& source, std::function<void(bool delivered)> done = {});
  /// Records a state that needs no call.
  void Note(SourceType type, const RawEvent& event, RawEvent::Type meaning, std::uint64_t tenure);
  /// This replica does not hold the Lease. If it gets the Lease before another replica has called
  /// for the event, the next comparison finds the change.
  void Miss(SourceType type, const RawEvent& event);
  void Keep(const std::stop_token& stop);
  /// Blocks until everything that is not refused has been listed and its events have been handled.
  /// Returns false when `stop` was requested first.
  bool WaitForLists(const std::stop_token& stop) const;
  bool Load(std::uint64_t tenure, const std::stop_token& stop);
  /// Compares what has been listed. The rest is compared when it has been listed.
  void Compare(const SourceSpaces& spaces, std::uint64_t tenure);
  void Save(const std::stop_token& stop);
  /// Whether the record is stored outside the process.
  bool KeepsRecord() const;
  bool IsCreated(const RawEvent& event) const;
  bool IsDeleted(SourceType type, const RawEvent& event) const;

  const Options options_;
  const std::vector<InformerSet> informers_;
  MessageSender& sender_;
  ReloaderMetrics metrics_;
  WebhookRecord record_;
  std::stop_source stop_;
  struct SourceSubscription {
    cache::HandlerRegistration registration{};
    std::stop_token refused{};
  };
  std::vector<SourceSubscription> subscriptions_;
  /// An event arrived for which there was no permit.
  std::atomic<bool> missed_ = false;
  /// The tenure in which the record was loaded. Used by the keeper's thread, and after its end.
  std::optional<std::uint64_t> loaded_in_;
  /// Used like loaded_in_: the spaces that the last Compare covered.
  std::set<SourceSpace> compared_;
  std::string store_error_;  ///< used like loaded_in_: the last error that was logged
  std::jthread keeper_;
};

/// Creates a sender to `url` that tries each call up to six times. A call fails if there is no
/// answer or its status is 300 or higher. Fails with kInvalidConfig for a URL that cannot be used.
apimachinery::Result<std::unique_ptr<MessageSender>> NewWebhookSender(const std::string& url,
                                                                      metrics::Registry* registry);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_NOTIFY_WEBHOOK_RELAY_H_
