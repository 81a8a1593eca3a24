#include "kubexx/reloader/webhook_relay.h"

#include <algorithm>
#include <utility>

#include "kubexx/logging/log.h"
#include "kubexx/reloader/baseline.h"
#include "kubexx/reloader/event_router.h"
#include "kubexx/reloader/projection.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Result;

constexpr char kBody[] = R"({"webhook":"update successful"})";

}  // namespace

WebhookRelay::WebhookRelay(Options options, std::vector<InformerSet> informers,
                           MessageSender& sender)
    : options_(std::move(options)),
      informers_(std::move(informers)),
      sender_(sender),
      metrics_(options_.registry) {}

WebhookRelay::~WebhookRelay() { Stop(); }

void WebhookRelay::Start() {
  if (options_.namespace_selector != nullptr) {
    options_.namespace_selector->Start([](const std::string&) {});
  }
  for (const InformerSet& set : informers_) {
    for (const auto& [type, informer] : set.sources) {
      subscriptions_.push_back(informer->AddRawHandler(
          "reloader", [this, type = type](const RawEvent& event) { OnSource(type, event); }));
      informer->Start();
    }
  }
}

bool WebhookRelay::Ready() const {
  return std::ranges::all_of(informers_, [](const InformerSet& set) {
    return std::ranges::all_of(set.sources,
                               [](const auto& entry) { return entry.second->HasSynced(); });
  });
}

void WebhookRelay::Stop() {
  stop_.request_stop();
  subscriptions_.clear();
  for (const InformerSet& set : informers_) {
    for (const auto& [type, informer] : set.sources) {
      informer->Stop();
    }
  }
  if (options_.namespace_selector != nullptr) {
    options_.namespace_selector->Stop();
  }
}

void WebhookRelay::OnSource(SourceType type, const RawEvent& event) {
  metrics_.EventReceived(EventTypeOf(event), type);
  if (!IsInScope(event.key().namespace_)) {
    metrics_.Skipped(SkipReason::kIgnoredOrNotSelected);
  } else if (Counts(type, event)) {
    logging::Info("Changes detected, calling the webhook", {{"source", event.key().name},
                                                            {"type", NamesOf(type).upper},
                                                            {"namespace", event.key().namespace_}});
    sender_.Send({"application/json", kBody});
  }
  metrics_.EventProcessed(EventTypeOf(event), type);
}

bool WebhookRelay::IsInScope(const std::string& name) const {
  if (options_.ignored_namespaces.contains(name) ||
      (options_.gate != nullptr && !options_.gate->Enter(name))) {
    return false;
  }
  return options_.namespace_selector == nullptr ||
         (options_.namespace_selector->WaitForSync(stop_.get_token()) &&
          options_.namespace_selector->Contains(name));
}

bool WebhookRelay::Counts(SourceType type, const RawEvent& event) const {
  const bool comes_and_goes = type == SourceType::kSecretProviderClass;  // with each pod
  switch (event.type) {
    case RawEvent::Type::kAdd:
      return !comes_and_goes && options_.on_create &&
             (!event.is_in_initial_list || options_.initial_counts);
    case RawEvent::Type::kDelete:
      return !comes_and_goes && options_.on_delete;
    case RawEvent::Type::kUpdate:
      break;
  }
  const auto source = SourceFrom(type, event.object());
  const auto old_source = SourceFrom(type, event.old_object());
  if (comes_and_goes && old_source && old_source->digest == kNoSource) {
    return false;  // a pod's first report
  }
  if (source && old_source && source->digest == old_source->digest) {
    metrics_.Skipped(SkipReason::kNoDataChange);
    return false;
  }
  return true;
}

Result<std::unique_ptr<MessageSender>> NewWebhookSender(const std::string& url,
                                                        metrics::Registry* registry) {
  MessageSender::Options options;
  options.name = "webhook";
  options.accepts = [](int status) { return status < 300; };
  options.attempts = 6;
  options.registry = registry;
  auto made =
      NewHttpSender(std::move(options), {.url = url}, [](const rest::UrlClient::Answer& answer) {
        logging::Info("Webhook answered", {{"status", answer.status}, {"body", answer.body}});
      });
  if (!made) {
    return apimachinery::Fail(made.status().WithContext("--webhook-url"));
  }
  return made;
}

}  // namespace kubexx::reloader
