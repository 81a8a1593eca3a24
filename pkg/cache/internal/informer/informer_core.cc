#include "kubexx/cache/internal/informer/informer_core.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "kubexx/base/after.h"
#include "kubexx/base/executor/executor.h"
#include "kubexx/base/executor/ordered_task.h"
#include "kubexx/cache/internal/reflector/reflector_metrics.h"
#include "kubexx/logging/log.h"

namespace kubexx::cache {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;

namespace {

constexpr base::Duration kMinResync = std::chrono::seconds(1);

std::string FeedName(const std::string& informer, const std::string& namespace_) {
  return namespace_.empty() ? informer : informer + "/" + namespace_;
}

// Zero means never, and stays zero.
base::Duration AtLeastMinimum(base::Duration period) {
  return period > base::Duration::zero() ? std::max(period, kMinResync) : base::Duration::zero();
}

// Whether the server has answered with a refusal, which may stay for ever.
bool IsRefused(const Status& status) {
  return status.reason == Reason::kForbidden || status.reason == Reason::kUnauthorized ||
         status.reason == Reason::kNotFound;
}

}  // namespace

InformerCore::Feed::Feed(InformerCore& core, NamespacedSource source, bool of_one_namespace)
    : store({.name = FeedName(core.options_.name, source.namespace_),
             .transform = core.options_.transform,
             .dropped = core.metrics_.dropped,
             .clock = core.options_.clock,
             .namespace_ = of_one_namespace ? std::optional(source.namespace_) : std::nullopt},
            *core.store_, core.queue_),
      reflector(FeedName(core.options_.name, source.namespace_), std::move(source.lister_watcher),
                store, core.ReflectorOptionsFor(source.namespace_, of_one_namespace)) {}

InformerCore::InformerCore(InformerOptions options, bool per_namespace)
    : options_(std::move(options)),
      executor_(options_.executor ? options_.executor : std::make_shared<base::Executor>()),
      metrics_(options_),
      store_(std::make_shared<PackedStore>(
          PackedStoreOptions{.version_per_namespace = per_namespace,
                             .faults = {.name = options_.name,
                                        .clock = options_.clock,
                                        .undecodable = metrics_.undecodable}})),
      queue_({.clock = options_.clock,
              .queued = metrics_.queued,
              .wake = [this] { distribution_.Wake(); }}),
      distributor_(store_, *listeners_, [this](const std::string& scope) { SetRead(scope); }),
      resync_check_(AtLeastMinimum(options_.resync_period)),
      distribution_(executor_, [this] { return Distribute(); }) {}

InformerCore::InformerCore(std::shared_ptr<ListerWatcher> source, InformerOptions options)
    : InformerCore(std::move(options), false) {
  namespaces_.emplace_back();
  feeds_.push_back(
      std::make_unique<Feed>(*this, NamespacedSource{.lister_watcher = std::move(source)}, false));
}

InformerCore::InformerCore(std::vector<NamespacedSource> sources, InformerOptions options)
    : InformerCore(std::move(options), true) {
  for (NamespacedSource& source : sources) {
    namespaces_.push_back(source.namespace_);
    feeds_.push_back(std::make_unique<Feed>(*this, std::move(source), true));
  }
}

ReflectorOptions InformerCore::ReflectorOptionsFor(const std::string& namespace_,
                                                   bool of_one_namespace) {
  ReflectorOptions options{
      .clock = options_.clock,
      .registry = options_.registry,
      .seed = options_.seed,
      .should_resync = [this] { return listeners_->CheckResync(options_.clock.Now()); },
      .use_watch_list = options_.use_watch_list,
      .tuning = options_.tuning};
  options.on_error = [this, namespace_, of_one_namespace](const Status& status) {
    const Status said = of_one_namespace ? status.WithContext("namespace " + namespace_) : status;
    std::exception_ptr thrown;
    try {
      if (options_.on_error) {
        options_.on_error(said);
      } else {
        LogWatchError(options_.name, said);
      }
    } catch (...) {
      thrown = std::current_exception();
    }
    Failed(namespace_, status);
    if (of_one_namespace && IsRefused(status)) {
      (void)queue_.Push(UnavailableDelta{namespace_});  // refused only when stopping
    }
    if (thrown) {
      std::rethrow_exception(thrown);  // the reflector reports it
    }
  };
  return options;
}

void InformerCore::Failed(const std::string& namespace_, const Status& status) {
  const base::MutexLock lock(mu_);
  if (unread_.contains(namespace_)) {
    errors_.insert_or_assign(namespace_, status);
    synced_changed_.notify_all();
  }
}

bool InformerCore::HasSynced() const {
  base::MutexLock lock(mu_);
  return synced_;
}

bool InformerCore::WaitForSync(const std::stop_token& stop) const {
  base::MutexLock lock(mu_);
  while (!synced_ && !retired_ && !stop.stop_requested()) {
    options_.clock.WaitUntil(mu_, synced_changed_, stop, base::TimePoint::max());
  }
  return synced_;
}

Result<void> InformerCore::AwaitSync(const std::stop_token& stop, base::Duration patience) const {
  base::MutexLock lock(mu_);
  const base::TimePoint until = base::After(running_ ? started_ : options_.clock.Now(), patience);
  while (!synced_) {
    if (retired_) {
      return UnsyncedLocked(Reason::kUnavailable,
                            "the informer was removed: ask its factory for a new one");
    }
    if (stop.stop_requested()) {
      return UnsyncedLocked(Reason::kCancelled, "stopped");
    }
    // With several namespaces, the sync does not wait for one that the server refuses; see
    // SetAvailable.
    const auto refused = errors_.find(std::string_view());
    if (refused != errors_.end() && IsRefused(refused->second)) {
      // An answer that the server does not serve the type must not look as if the object did not
      // exist.
      const Reason reason = refused->second.reason;
      return UnsyncedLocked(reason == Reason::kNotFound ? Reason::kUnavailable : reason,
                            "the server refuses it");
    }
    if (options_.clock.Now() >= until) {
      return UnsyncedLocked(Reason::kTimeout, "it did not come in the time that a reader waits");
    }
    options_.clock.WaitUntil(mu_, synced_changed_, stop, until);
  }
  return {};
}

Result<void> InformerCore::SyncError(std::string_view namespace_) const {
  const base::MutexLock lock(mu_);
  if (!synced_) {
    return UnsyncedLocked(Reason::kUnavailable, "it has not come yet");
  }
  return ReadableLocked(namespace_);
}

Result<void> InformerCore::CheckReadable(std::string_view namespace_) const {
  const base::MutexLock lock(mu_);
  // A handler may ask while the informer tells it of the first lists; the store has the objects of
  // which the handler was told.
  const auto has_state = [this](const std::string& each) {
    return store_->faults().HasState(store_->ScopeOf(each));
  };
  const bool here = namespace_.empty() ? std::ranges::all_of(namespaces_, has_state)
                                       : has_state(std::string(namespace_));
  if (!synced_ && !here) {
    return UnsyncedLocked(Reason::kUnavailable,
                          running_ ? "it has not come yet" : "the informer has not been started");
  }
  return synced_ ? ReadableLocked(namespace_) : Result<void>();
}

Result<void> InformerCore::ReadableLocked(std::string_view namespace_) const {
  const auto found = namespace_.empty() ? errors_.begin() : errors_.find(namespace_);
  if (found == errors_.end()) {
    return {};
  }
  const Status& status = found->second;
  Status said = status.WithContext("the cache of " + options_.name + " cannot read namespace " +
                                   found->first);
  if (said.reason == Reason::kNotFound) {
    said.reason = Reason::kUnavailable;
  }
  return Fail(std::move(said));
}

apimachinery::Error InformerCore::UnsyncedLocked(Reason reason, std::string_view what) const {
  // The cause comes first, because people read the beginning of a line.
  std::string message = options_.name + ": ";
  if (!errors_.empty()) {
    const auto& [namespace_, status] = *errors_.begin();  // the others are seldom different
    message += (namespace_.empty() ? "" : "namespace " + namespace_ + ": ") + status.ToString();
    message += "; ";
  }
  message += "the cache has no first list: ";
  message += what;
  return Fail(reason, std::move(message));
}

HandlerRegistration InformerCore::AddHandler(std::string name,
                                             SharedInformerBase::RawHandler handler,
                                             const HandlerOptions& options) {
  const std::size_t buffer = options.buffer != 0 ? options.buffer : options_.handler_buffer;
  Listener::Options listener_options{.informer = options_.name,
                                     .name = std::move(name),
                                     .clock = options_.clock,
                                     .registry = options_.registry,
                                     .max_events = std::max<std::size_t>(buffer, 1),
                                     .overflow = options.overflow};
  listener_options.tells_passing = options.tells_passing;
  listener_options.resync_period = ResyncPeriodFor(options, listener_options.name);
  auto listener = std::make_shared<Listener>(executor_, std::move(listener_options), store_,
                                             std::move(handler));
  listeners_->Await(listener);
  {
    base::MutexLock lock(mu_);
    if (running_) {
      queue_.Wake();
    }
  }
  base::Subscription subscription([listener, listeners = listeners_] {
    listener->Close();
    listeners->Remove(listener);
  });
  return {std::move(listener), std::move(subscription)};
}

base::Duration InformerCore::ResyncPeriodFor(const HandlerOptions& options,
                                             const std::string& handler) {
  const base::Duration period =
      AtLeastMinimum(options.resync_period.value_or(options_.resync_period));
  base::Duration check{0};
  {
    base::MutexLock lock(mu_);
    if (period == base::Duration::zero() ||
        (period >= resync_check_ && resync_check_ > base::Duration::zero())) {
      return period;
    }
    if (!running_) {
      resync_check_ = period;
      return period;
    }
    check = resync_check_;
  }
  logging::Warning(
      "A handler's resync period is shorter than the running informer's, which is used instead",
      {{"informer", options_.name},
       {"handler", handler},
       {"seconds", std::chrono::duration<double>(check).count()}});
  return check;
}

bool InformerCore::HandlerHasSynced(std::string_view name) const {
  // Looks at the awaited listeners first: a listener that is added between the two looks is then
  // seen twice, and would otherwise be missed.
  const bool awaited = std::ranges::any_of(listeners_->Awaited(), [name](const auto& listener) {
    return listener->name() == name && !listener->closed();
  });
  bool found = false;
  for (const auto& listener : listeners_->All()) {
    if (listener->name() == name) {
      found = true;
      if (!listener->synced()) {
        return false;
      }
    }
  }
  return found && !awaited;
}

Result<std::shared_ptr<const std::atomic<bool>>> InformerCore::ReplaceNamespace(
    std::string namespace_, std::vector<Object>&& objects) {
  auto applied = std::make_shared<std::atomic<bool>>(false);
  KX_RETURN_IF_ERROR(
      feeds_.front()->store.ReplacePart(std::move(namespace_), std::move(objects), applied));
  return applied;
}

bool InformerCore::Distribute() {
  auto batch = queue_.Pop();
  if (!batch) {
    return false;
  }
  AttachWaiting();
  std::optional<std::string> available;
  const Delta& first = batch->deltas.front();
  const auto* replace = std::get_if<Rare<ReplaceDelta>>(&first);
  if (replace != nullptr && !(*replace)->is_part) {
    available = (*replace)->namespace_.value_or("");
  } else if (const auto* refused = std::get_if<Rare<UnavailableDelta>>(&first)) {
    available = (*refused)->namespace_;
  }
  const base::TimePoint queued = batch->queued;
  const bool more = batch->more;
  distributor_.Apply(std::move(*batch));
  Publish(queued);
  if (available) {
    SetAvailable(*available);
  }
  return more;
}

void InformerCore::Publish(base::TimePoint queued) {
  if (options_.registry != nullptr) {
    metrics_.latency_seconds.Observe(
        std::chrono::duration<double>(options_.clock.Now() - queued).count());
    metrics_.resource_version.Set(ResourceVersionForGauge(store_->resource_version()));
    metrics_.objects.Set(static_cast<double>(store_->size()));
    metrics_.bytes.Set(static_cast<double>(store_->bytes()));
  }
}

void InformerCore::SetRead(const std::string& namespace_) {
  const base::MutexLock lock(mu_);
  unread_.erase(namespace_);
  errors_.erase(namespace_);
}

void InformerCore::SetAvailable(const std::string& namespace_) {
  {
    base::MutexLock lock(mu_);
    unsynced_.erase(namespace_);
    if (synced_ || !unsynced_.empty()) {
      return;
    }
  }
  // The mark is sent first, so that a caller that sees HasSynced() can rely on the handlers getting
  // it.
  distributor_.TellSynced();
  base::MutexLock lock(mu_);
  synced_ = true;
  synced_changed_.notify_all();
}

// Runs in a step of the distribution or just before it starts, so that no delta is distributed
// meanwhile.
void InformerCore::AttachWaiting() {
  bool synced = false;
  {
    base::MutexLock lock(mu_);
    synced = synced_;
  }
  for (const auto& listener : listeners_->Awaited()) {
    distributor_.Attach(listener, synced);
  }
}

}  // namespace kubexx::cache
