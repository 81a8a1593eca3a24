#include "kubexx/cache/listener.h"

#include <chrono>
#include <exception>
#include <utility>

#include "kubexx/logging/log.h"

namespace kubexx::cache {

Listener::Listener(Options options, std::shared_ptr<const PackedStore> store, Handler handler)
    : options_(std::move(options)), store_(std::move(store)), handler_(std::move(handler)) {
  if (options_.registry != nullptr) {
    const metrics::Labels labels{{"name", options_.informer}, {"handler", options_.name}};
    queued_ = options_.registry->Gauge("informer_handler_queued_items",
                                       "Events that wait for a handler", labels);
    held_back_seconds_ = options_.registry->Counter(
        "informer_handler_held_back_seconds_total",
        "Time that an informer waited because a handler's queue was full", labels);
    errors_ = options_.registry->Counter("informer_handler_exceptions_total",
                                         "Events lost because a handler threw", labels);
  }
}

Listener::~Listener() { Close(); }

void Listener::StartThread() {
  base::MutexLock lock(thread_mu_);
  if (!thread_ && !closed()) {
    thread_.emplace([this](const std::stop_token& stop) { Run(stop); });
  }
}

void Listener::StopThread() {
  base::MutexLock lock(thread_mu_);
  thread_.reset();  // requests the stop and joins
}

void Listener::Push(std::shared_ptr<const RawEvent> event) {
  base::MutexLock lock(mu_);
  if (bounded_ && !closed_ && items_.size() >= options_.max_events) {
    const base::TimePoint began = options_.clock.Now();
    while (bounded_ && !closed_ && items_.size() >= options_.max_events) {
      options_.clock.WaitUntil(mu_, not_full_, {}, base::TimePoint::max());
    }
    held_back_seconds_.Increment(
        std::chrono::duration<double>(options_.clock.Now() - began).count());
  }
  if (closed_) {
    return;
  }
  items_.emplace_back(std::move(event));
  queued_.Set(static_cast<double>(items_.size()));
  not_empty_.notify_one();
}

void Listener::PushSnapshot(std::vector<EntryRef> entries) {
  base::MutexLock lock(mu_);
  if (!closed_ && !entries.empty()) {
    items_.emplace_back(Snapshot{std::move(entries)});
    not_empty_.notify_one();
  }
}

void Listener::PushSynced() {
  base::MutexLock lock(mu_);
  if (!closed_) {
    items_.emplace_back(Synced{});
    not_empty_.notify_one();
  }
}

void Listener::SetBounded(bool bounded) {
  base::MutexLock lock(mu_);
  bounded_ = bounded;
  not_full_.notify_all();
}

void Listener::Close() {
  std::deque<Item> dropped;
  {
    base::MutexLock lock(mu_);
    closed_ = true;
    dropped.swap(items_);
    queued_.Set(0);
    not_full_.notify_all();
    not_empty_.notify_all();
  }
  StopThread();
}

bool Listener::synced() const {
  base::MutexLock lock(mu_);
  return synced_;
}

bool Listener::closed() const {
  base::MutexLock lock(mu_);
  return closed_;
}

void Listener::Run(const std::stop_token& stop) {
  while (const auto event = Next(stop)) {
    Deliver(*event);
  }
}

std::shared_ptr<const RawEvent> Listener::Next(const std::stop_token& stop) {
  base::MutexLock lock(mu_);
  while (!stop.stop_requested() && !closed_) {
    if (items_.empty()) {
      options_.clock.WaitUntil(mu_, not_empty_, stop, base::TimePoint::max());
    } else if (auto event = TakeLocked()) {
      return event;
    }
  }
  return nullptr;
}

// The event in front; null when the item in front was none.
std::shared_ptr<const RawEvent> Listener::TakeLocked() {
  std::shared_ptr<const RawEvent> event;
  bool done = true;
  if (auto* ready = std::get_if<std::shared_ptr<const RawEvent>>(&items_.front())) {
    event = std::move(*ready);
  } else if (auto* snapshot = std::get_if<Snapshot>(&items_.front())) {
    event = std::make_shared<const RawEvent>(
        store_, RawEvent::Type::kAdd, std::move(snapshot->entries[snapshot->next]), EntryRef(),
        RawEvent::Flags{.is_in_initial_list = true});
    done = ++snapshot->next == snapshot->entries.size();
  } else {
    synced_ = true;
  }
  if (done) {
    items_.pop_front();
    queued_.Set(static_cast<double>(items_.size()));
    not_full_.notify_all();
  }
  return event;
}

void Listener::Deliver(const RawEvent& event) {
  std::string error;
  try {
    handler_(event);
    return;
  } catch (const std::exception& e) {
    error = e.what();
  } catch (...) {
    error = "unknown exception";
  }
  errors_.Increment();
  logging::Error("an event handler threw", {{"informer", options_.informer},
                                            {"handler", options_.name},
                                            {"key", event.key().ToString()},
                                            {"error", error}});
}

}  // namespace kubexx::cache
