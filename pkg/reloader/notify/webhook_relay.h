/// @file
/// --webhook-url: tells someone else of changes instead of rolling workloads.
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
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/ha/held_shards.h"
#include "kubexx/reloader/notify/message_sender.h"
#include "kubexx/reloader/notify/webhook_record.h"
#include "kubexx/reloader/observe/reloader_metrics.h"
#include "kubexx/reloader/watch/caches.h"
#include "kubexx/reloader/watch/namespace_selector.h"
#include "kubexx/reloader/watch/source_absences.h"
#include "kubexx/reloader/watch/source_spaces.h"

namespace kubexx::cache {
class RawEvent;
}

namespace kubexx::reloader {

/// Posts stakater/Reloader's message for every change of the data of a source, and on request for
/// every source that is created or deleted, whatever annotations and workloads say. With a store it
/// keeps what it has called for, and compares: a change of a ConfigMap or Secret that was made
/// while no replica ran, or for which the call failed, is called for later. Thread-safe.
class WebhookRelay {
 public:
  /// Which events count; pointers may be null and must outlive the relay.
  struct Options {
    bool on_create = false;
    bool on_delete = false;
    /// With on_create: what is there at the start counts as created.
    bool initial_counts = false;
    std::set<std::string> ignored_namespaces{};
    HeldShards* held_shards = nullptr;
    NamespaceSelector* namespace_selector = nullptr;  ///< started and stopped with the relay
    /// Asked whether a source that goes has been deleted, and not only lost its label.
    SourceAbsences* absences = nullptr;
    metrics::Registry* registry = nullptr;
    /// Not used with several shards.
    WebhookStore store{};
    base::Clock& clock = base::Clock::Real();
  };

  /// Of the informers only those of sources are used. `sender` must outlive the relay, which stops
  /// it.
  WebhookRelay(Options options, std::vector<InformerSet> informers, MessageSender& sender);
  /// Stops.
  ~WebhookRelay();
  WebhookRelay(const WebhookRelay&) = delete;
  WebhookRelay& operator=(const WebhookRelay&) = delete;

  /// Once only.
  void Start();
  /// Whether all informers hold their first list, but for what the API server refuses.
  bool Ready() const;
  /// Ends the calls, too, and stores what has been called for.
  void Stop();

 private:
  using RawEvent = cache::RawEvent;

  void OnSource(SourceType type, const RawEvent& event);
  /// The tenure in which this replica calls for sources of the namespace, and, with one shard only,
  /// keeps the record; nothing when it may not now.
  std::optional<std::uint64_t> TenureOf(const std::string& namespace_) const;
  bool IsSelected(const std::string& namespace_);
  /// Whether the operator writes it itself.
  bool IsOwn(const SourceId& source) const;
  bool Counts(SourceType type, const RawEvent& event) const;
  /// Calls for what has happened.
  void CallFor(SourceType type, const RawEvent& event, std::uint64_t tenure);
  void Call(const SourceState& source, std::uint64_t tenure);
  void Send(const SourceId& source, std::function<void(bool delivered)> done = {});
  /// Notes what needs no call.
  void Note(SourceType type, const RawEvent& event, std::uint64_t tenure);
  /// For want of the Lease: what this replica gets back before another one has called for it is
  /// compared.
  void Miss(SourceType type, const RawEvent& event);
  void Keep(const std::stop_token& stop);
  /// Until all is listed and its events have been worked through, but for what is refused; false
  /// when `stop` was requested first.
  bool WaitForLists(const std::stop_token& stop) const;
  bool Load(std::uint64_t tenure, const std::stop_token& stop);
  /// Of what has been listed. The rest is compared once it is.
  void Compare(const SourceSpaces& spaces, std::uint64_t tenure);
  void Save(const std::stop_token& stop);
  /// Whether the record is kept beyond this process.
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
  /// An event came for which there was no permit.
  std::atomic<bool> missed_ = false;
  /// The tenure in which the record was loaded: of the keeper's thread, and after its end.
  std::optional<std::uint64_t> loaded_in_;
  std::set<SourceSpace> compared_;  ///< as loaded_in_: the spaces that Compare took last
  std::string store_error_;         ///< as loaded_in_: the last that was logged
  std::jthread keeper_;
};

/// A sender to `url`: a call fails that gets no answer or one of 300 or more, and is tried six
/// times. kInvalidConfig for a URL that cannot be used.
apimachinery::Result<std::unique_ptr<MessageSender>> NewWebhookSender(const std::string& url,
                                                                      metrics::Registry* registry);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_NOTIFY_WEBHOOK_RELAY_H_
