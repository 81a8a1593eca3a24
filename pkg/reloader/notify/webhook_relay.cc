#include "kubexx/reloader/notify/webhook_relay.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "kubexx/cache/shared_informer_base.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/model/projection.h"
#include "kubexx/reloader/observe/meta_info.h"
#include "kubexx/reloader/watch/event_router.h"
#include "kubexx/reloader/watch/source_event.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Result;

/// The time between two writes of the record. When the process dies, the calls that were made since
/// the last write are made again.
constexpr base::Duration kKeepInterval = std::chrono::seconds(5);

constexpr char kBody[] = R"({"webhook":"update successful"})";

/// Returns the state that ProjectSource has put into the projection of a ConfigMap or Secret.
std::optional<SourceState> StateOf(SourceType type, const cache::Object& object) {
  const auto source = SourceFrom(type, object);
  if (!source || (IsDescribed(type) && source->digest == kNoSource)) {
    return std::nullopt;
  }
  return SourceState{.id = {type, object.key},
                     .digest = source->digest,
                     .version = VersionNumber(object.resource_version)};
}

}  // namespace

WebhookRelay::WebhookRelay(Options options, std::vector<InformerSet> informers,
                           MessageSender& sender)
    : options_(std::move(options)),
      informers_(std::move(informers)),
      sender_(sender),
      metrics_(options_.registry),
      record_(options_.clock) {}

WebhookRelay::~WebhookRelay() { Stop(); }

void WebhookRelay::Start() {
  if (options_.namespace_selector != nullptr) {
    options_.namespace_selector->Start([](const std::string&) {});
  }
  for (const InformerSet& set : informers_) {
    for (const auto& [type, informer] : set.sources) {
      subscriptions_.push_back(
          {informer->AddRawHandler("reloader",
                                   [this, type](const RawEvent& event) { OnSource(type, event); }),
           RefusalOf(set, type)});
      informer->Start();
    }
  }
  if (KeepsRecord()) {
    keeper_ = std::jthread([this](const std::stop_token& stop) { Keep(stop); });
  }
}

bool WebhookRelay::Ready() const {
  return std::ranges::all_of(informers_, [](const InformerSet& set) {
    return std::ranges::all_of(set.sources, [&](const auto& entry) {
      return entry.second->HasSynced() || RefusalOf(set, entry.first).stop_requested();
    });
  });
}

void WebhookRelay::Stop() {
  stop_.request_stop();
  if (keeper_.joinable()) {
    keeper_.request_stop();
    keeper_.join();
  }
  subscriptions_.clear();
  for (const InformerSet& set : informers_) {
    for (const auto& [type, informer] : set.sources) {
      informer->Stop();
    }
  }
  if (options_.namespace_selector != nullptr) {
    options_.namespace_selector->Stop();
  }
  sender_.Stop();
  if (loaded_in_ && loaded_in_ == TenureOf({})) {
    Save({});
  }
}

void WebhookRelay::OnSource(SourceType type, const RawEvent& event) {
  metrics_.EventReceived(EventTypeOf(event), type);
  const std::string& namespace_ = event.key().namespace_;
  if (event.type == RawEvent::Type::kUpdate &&
      VersionNumber(event.resource_version()) < VersionNumber(event.old_resource_version())) {
    record_.Rewind({type, event.key()});
  }
  const auto meaning = MeaningOf(type, event);
  if (!meaning) {
    metrics_.Skipped(SkipReason::kNoDataChange);
  } else if (options_.ignored_namespaces.contains(namespace_) || IsOwn({type, event.key()})) {
    metrics_.Skipped(SkipReason::kIgnoredOrNotSelected);
  } else if (const auto tenure = TenureOf(namespace_); !tenure) {
    Miss(type, event);
    metrics_.Skipped(SkipReason::kIgnoredOrNotSelected);
  } else if (!IsSelected(namespace_)) {
    metrics_.Skipped(SkipReason::kIgnoredOrNotSelected);
  } else if (Counts(type, event, *meaning)) {
    CallFor(type, event, *meaning, *tenure);
  } else {
    Note(type, event, *meaning, *tenure);
  }
  metrics_.EventProcessed(EventTypeOf(event), type);
}

void WebhookRelay::CallFor(SourceType type, const RawEvent& event, RawEvent::Type meaning,
                           std::uint64_t tenure) {
  if (meaning == RawEvent::Type::kDelete || type == SourceType::kSecretProviderClass) {
    record_.Forget({type, event.key()}, VersionNumber(event.resource_version()));
    Send({type, event.key()});
  } else if (const auto state = StateOf(type, event.object())) {
    Call(*state, tenure);
  } else {
    Send({type, event.key()});
  }
}

void WebhookRelay::Call(const SourceState& source, std::uint64_t tenure) {
  if (record_.Begin(source, tenure)) {
    Send(source.id,
         [this, source, tenure](bool delivered) { record_.End(source, tenure, delivered); });
  }
}

void WebhookRelay::Send(const SourceId& source, std::function<void(bool delivered)> done) {
  logging::Info("Changes detected, calling the webhook", {{"source", source.key.name},
                                                          {"type", NamesOf(source.type).upper},
                                                          {"namespace", source.key.namespace_}});
  sender_.Send({"application/json", kBody}, std::move(done));
}

void WebhookRelay::Note(SourceType type, const RawEvent& event, RawEvent::Type meaning,
                        std::uint64_t tenure) {
  if (meaning == RawEvent::Type::kDelete) {
    record_.Forget({type, event.key()}, VersionNumber(event.resource_version()));
  } else if (meaning == RawEvent::Type::kAdd && !event.is_in_initial_list &&
             type != SourceType::kSecretProviderClass) {
    if (const auto state = StateOf(type, event.object())) {
      record_.Note(*state, tenure);
    }
  }
}

void WebhookRelay::Miss(SourceType type, const RawEvent& event) {
  if (KeepsRecord() && event.type == RawEvent::Type::kUpdate &&
      type != SourceType::kSecretProviderClass) {
    const auto before = SourceFrom(type, event.old_object());
    const auto state = StateOf(type, event.object());
    if (before && state && before->digest != state->digest) {
      record_.Owe(*state);
    }
  }
  // This replica may get the Lease before another one has called the webhook for it.
  missed_ = true;
}

bool WebhookRelay::WaitForLists(const std::stop_token& stop) const {
  return std::ranges::all_of(subscriptions_, [&](const SourceSubscription& each) {
    std::stop_source either;
    const auto end = [&either] { either.request_stop(); };
    const std::stop_callback on_stop(stop, end);
    const std::stop_callback on_refusal(each.refused, end);
    return each.registration.WaitForSync(either.get_token()) || !stop.stop_requested();
  });
}

void WebhookRelay::Keep(const std::stop_token& stop) {
  if (!WaitForLists(stop)) {
    return;
  }
  do {
    const auto tenure = TenureOf({});
    if (!tenure) {
      continue;
    }
    // Another replica may have kept the record between two of this replica's terms, even if that
    // was short.
    const bool is_new = loaded_in_ != tenure;
    if (is_new) {
      loaded_in_.reset();
      if (!Load(*tenure, stop)) {
        continue;
      }
      loaded_in_ = tenure;
    }
    // The flag is reset before the comparison, so that calls that are missed meanwhile are compared
    // the next time.
    const bool has_missed = missed_.exchange(false);
    // The spaces are read before the sources, because the sources of a space that is listed
    // meanwhile are incomplete.
    if (SourceSpaces spaces = SpacesOf(informers_);
        is_new || has_missed || spaces.listed != compared_ || record_.ShouldCompare()) {
      Compare(spaces, *tenure);
      compared_ = std::move(spaces.listed);
    }
    Save(stop);
  } while (options_.clock.SleepFor(kKeepInterval, stop));
}

bool WebhookRelay::Load(std::uint64_t tenure, const std::stop_token& stop) {
  const auto text = options_.store.load(stop);
  if (text) {
    record_.Load(*text, tenure);
    return true;
  }
  if (std::string error = text.error().ToString();
      error != store_error_ && !stop.stop_requested()) {
    logging::Warning(
        "Cannot read the record of webhook calls; the webhook is not called for changes that were "
        "made while no replica was running",
        {{"configmap", options_.store.own.ToString()}, {"error", error}});
    store_error_ = std::move(error);
  }
  return false;
}

void WebhookRelay::Compare(const SourceSpaces& spaces, std::uint64_t tenure) {
  // The list may lack the changes that come from here on.
  const std::uint64_t mark = record_.Mark();
  std::vector<SourceState> sources;
  for (const InformerSet& set : informers_) {
    for (const auto& [type, informer] : set.sources) {
      if (type == SourceType::kSecretProviderClass) {
        continue;
      }
      informer->ForEachRaw([&](const cache::Object& object) {
        if (!spaces.listed.contains({type, ""}) &&
            !spaces.listed.contains({type, object.key.namespace_})) {
          return;
        }
        auto state = StateOf(type, object);
        if (state && !IsOwn(state->id)) {
          sources.push_back(*std::move(state));
        }
      });
    }
  }
  bool some_are_missed = false;
  std::erase_if(sources, [&](const SourceState& source) {
    const std::string& namespace_ = source.id.key.namespace_;
    if (options_.ignored_namespaces.contains(namespace_)) {
      return true;
    }
    if (!TenureOf(namespace_)) {
      some_are_missed = true;
      return true;
    }
    return !IsSelected(namespace_);
  });
  if (stop_.stop_requested()) {
    return;  // it is not known which namespaces are selected
  }
  if (some_are_missed) {
    missed_ = true;
  }
  // The record holds digests of names, so a source that is not listed cannot be told from one that
  // is gone. Of a described kind, which may never be installed, it can.
  std::set<SourceType> unlisted;
  bool all = !some_are_missed;
  for (const SourceSpace& space : spaces.unlisted) {
    all = all && (space.type == SourceType::kSecretProviderClass || IsDescribed(space.type));
    unlisted.insert(space.type);
  }
  const auto findings =
      record_.Compare(sources, all ? std::optional(mark) : std::nullopt, unlisted);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (findings[i] == WebhookRecord::Finding::kChanged) {
      Call(sources[i], tenure);
    }
  }
}

void WebhookRelay::Save(const std::stop_token& stop) {
  const auto text = record_.TakeChanged();
  if (!text) {
    return;
  }
  const auto saved = options_.store.save(*text, stop);
  if (saved) {
    store_error_.clear();
    return;
  }
  record_.PutBack();
  if (std::string error = saved.error().ToString();
      error != store_error_ && !stop.stop_requested()) {
    logging::Warning("Cannot store the record of webhook calls; the operator tries again",
                     {{"configmap", options_.store.own.ToString()}, {"error", error}});
    store_error_ = std::move(error);
  }
}

bool WebhookRelay::IsOwn(const SourceId& source) const {
  const apimachinery::ObjectKey& own = options_.store.own;
  return source.type == SourceType::kConfigMap && source.key.namespace_ == own.namespace_ &&
         (source.key.name == own.name || source.key.name == kMetaInfoName);
}

std::optional<std::uint64_t> WebhookRelay::TenureOf(const std::string& namespace_) const {
  if (options_.held_shards == nullptr) {
    return 0;
  }
  const auto permit = options_.held_shards->Enter(namespace_);
  return permit ? std::optional(permit->tenure()) : std::nullopt;
}

bool WebhookRelay::IsSelected(const std::string& namespace_) {
  return options_.namespace_selector == nullptr ||
         (options_.namespace_selector->WaitForSync(stop_.get_token()) &&
          options_.namespace_selector->Contains(namespace_));
}

bool WebhookRelay::KeepsRecord() const {
  return options_.store.load &&
         (options_.held_shards == nullptr || options_.held_shards->shards() == 1);
}

bool WebhookRelay::IsCreated(const RawEvent& event) const {
  if (event.type == RawEvent::Type::kUpdate) {
    return true;  // it has got its last missing field
  }
  if (event.is_in_initial_list) {
    return options_.initial_counts;
  }
  return options_.absences == nullptr || !options_.absences->has_selector() ||
         IsAsCreated(event.object());
}

bool WebhookRelay::IsDeleted(SourceType type, const RawEvent& event) const {
  if (options_.absences == nullptr || event.type == RawEvent::Type::kUpdate) {
    return true;
  }
  const SourceId id{type, event.key()};
  options_.absences->Forget(id);
  const auto left_out = options_.absences->IsLeftOut(id, stop_.get_token());
  if (!left_out) {
    logging::Warning("Cannot find out whether a source was deleted; the webhook is not called",
                     {{"source", event.key().name},
                      {"type", NamesOf(type).upper},
                      {"namespace", event.key().namespace_},
                      {"error", left_out.error()}});
  }
  return left_out && !*left_out;
}

bool WebhookRelay::Counts(SourceType type, const RawEvent& event, RawEvent::Type meaning) const {
  // It comes and goes with each pod.
  const bool comes_and_goes = type == SourceType::kSecretProviderClass;
  switch (meaning) {
    case RawEvent::Type::kAdd:
      return !comes_and_goes && options_.on_create && IsCreated(event);
    case RawEvent::Type::kDelete:
      return !comes_and_goes && options_.on_delete && IsDeleted(type, event);
    case RawEvent::Type::kUpdate:
      break;
  }
  const auto source = SourceFrom(type, event.object());
  const auto old_source = SourceFrom(type, event.old_object());
  if (!source) {
    return false;  // nobody knows whether it has changed
  }
  if (comes_and_goes && old_source && old_source->digest == kNoSource) {
    return false;  // it is the first report of a pod
  }
  if (old_source && source->digest == old_source->digest) {
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
        logging::Info("The webhook has answered",
                      {{"status", answer.status}, {"body", answer.body}});
      });
  if (!made) {
    return apimachinery::Fail(made.error().WithContext("--webhook-url"));
  }
  return made;
}

}  // namespace kubexx::reloader
