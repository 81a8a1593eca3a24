/// @file
/// --webhook-url: tells someone else of changes instead of rolling workloads.
#ifndef KUBEXX_RELOADER_WEBHOOK_RELAY_H_
#define KUBEXX_RELOADER_WEBHOOK_RELAY_H_

#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/cache/handler_registration.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/caches.h"
#include "kubexx/reloader/message_sender.h"
#include "kubexx/reloader/namespace_selector.h"
#include "kubexx/reloader/reloader_metrics.h"
#include "kubexx/reloader/shard_gate.h"

namespace kubexx::reloader {

/// Posts stakater/Reloader's message for every change of the data of a source, and on request for
/// every source that is created or deleted, whatever annotations and workloads say. It acts on
/// events: what changes while no replica runs is not told. Thread-safe.
class WebhookRelay {
 public:
  /// Which events count; pointers may be null and must outlive the relay.
  struct Options {
    bool on_create = false;
    bool on_delete = false;
    /// With on_create: what is there at the start counts as created.
    bool initial_counts = false;
    std::set<std::string> ignored_namespaces{};
    ShardGate* gate = nullptr;
    NamespaceSelector* namespace_selector = nullptr;  ///< started and stopped with the relay
    metrics::Registry* registry = nullptr;
  };

  /// Of the informers only those of sources are used. `sender` must outlive the relay.
  WebhookRelay(Options options, std::vector<InformerSet> informers, MessageSender& sender);
  /// Stops.
  ~WebhookRelay();
  WebhookRelay(const WebhookRelay&) = delete;
  WebhookRelay& operator=(const WebhookRelay&) = delete;

  /// Once only.
  void Start();
  /// Whether all informers hold their first list.
  bool Ready() const;
  void Stop();

 private:
  using RawEvent = cache::SharedInformerBase::RawEvent;

  void OnSource(SourceType type, const RawEvent& event);
  bool IsInScope(const std::string& name) const;
  bool Counts(SourceType type, const RawEvent& event) const;

  const Options options_;
  const std::vector<InformerSet> informers_;
  MessageSender& sender_;
  ReloaderMetrics metrics_;
  std::stop_source stop_;
  std::vector<cache::HandlerRegistration> subscriptions_;
};

/// A sender to `url`: a call fails that gets no answer or one of 300 or more, and is tried six
/// times. kInvalidConfig for a URL that cannot be used.
apimachinery::Result<std::unique_ptr<MessageSender>> NewWebhookSender(const std::string& url,
                                                                      metrics::Registry* registry);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WEBHOOK_RELAY_H_
