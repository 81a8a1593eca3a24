#include "kubexx/cache/internal/informer/listener.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "kubexx/apimachinery/thrown_text.h"
#include "kubexx/base/after.h"
#include "kubexx/base/executor/executor.h"
#include "kubexx/base/executor/ordered_task.h"
#include "kubexx/logging/log.h"

namespace kubexx::cache {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

namespace {

/// The number of events that a handler gets before other tasks have their turn.
constexpr std::size_t kEventsAStep = 64;

}  // namespace

Listener::Listener(std::shared_ptr<base::Executor> executor, Options options,
                   std::shared_ptr<const PackedStore> store, Handler handler)
    : options_(std::move(options)),
      at_once_(std::clamp<std::size_t>(options_.max_events / 16, 1, 64)),
      store_(std::move(store)),
      handler_(std::move(handler)),
      next_resync_(base::After(options_.clock.Now(), options_.resync_period)),
      task_(std::move(executor), [this] { return Step(); }) {
  if (options_.registry != nullptr) {
    const metrics::Labels labels{{"name", options_.informer}, {"handler", options_.name}};
    queued_ = options_.registry->Gauge("informer_handler_queued_items",
                                       "Events that wait for a handler", labels);
    merged_ = options_.registry->Counter(
        "informer_handler_merged_events_total",
        "Events that were merged into a waiting event because a handler's queue was full", labels);
    held_back_seconds_ = options_.registry->Counter(
        "informer_handler_held_back_seconds_total",
        "Time that an informer waited because a handler's queue was full", labels);
    errors_ = options_.registry->Counter("informer_handler_exceptions_total",
                                         "Events lost because a handler threw", labels);
  }
}

Listener::~Listener() { Close(); }

void Listener::Start() {
  {
    base::MutexLock lock(mu_);
    if (closed_ || running_) {
      return;
    }
    running_ = true;
    stop_requested_ = false;
    halted_ = false;
    task_.Start();
    if (EmptyLocked()) {
      return;
    }
  }
  task_.Wake();
}

void Listener::RequestStop() {
  base::MutexLock lock(mu_);
  RequestStopLocked();
}

void Listener::RequestStopLocked() {
  stop_requested_ = true;
  halted_ = true;
  task_.RequestStop();
  if (!delivering_) {
    running_ = false;
    changed_.notify_all();
  }
}

void Listener::Stop() {
  RequestStop();
  task_.Stop();
}

bool Listener::running() const {
  base::MutexLock lock(mu_);
  return running_;
}

void Listener::Push(std::span<const Event> events, base::OrderedTask::Hurry hurry) {
  {
    base::MutexLock lock(mu_);
    for (const Event& event : events) {
      if (options_.overflow == Overflow::kHoldBack) {
        WaitForRoomLocked();
      }
      if (!TakesLocked()) {
        break;
      }
      PushLocked(event);
    }
    CountLocked();
  }
  // The lock is released, because the step takes it first of all.
  task_.Wake(hurry);
}

void Listener::WaitForRoomLocked() {
  if (!bounded_ || !TakesLocked() || items_.size() < options_.max_events) {
    return;
  }
  CountLocked();
  task_.Wake();
  const base::Executor::Waiting waiting;  // lets the executor start another thread for the step
  const base::TimePoint began = options_.clock.Now();
  while (bounded_ && TakesLocked() && items_.size() >= options_.max_events) {
    options_.clock.WaitUntil(mu_, not_full_, {}, base::TimePoint::max());
  }
  held_back_seconds_.Increment(std::chrono::duration<double>(options_.clock.Now() - began).count());
}

void Listener::PushLocked(const Event& event) {
  const bool is_full = options_.overflow == Overflow::kMerge &&
                       (!late_.empty() || items_.size() >= options_.max_events);
  if (is_full) {
    MergeLocked({.type = event->type,
                 .object = event->entry(),
                 .old = event->old_entry(),
                 .flags = {.is_in_initial_list = event->is_in_initial_list,
                           .final_state_unknown = event->final_state_unknown,
                           .is_single_change = event->is_single_change}});
  } else {
    items_.emplace_back(event);
  }
}

void Listener::MergeLocked(MergeBuffer::Change change) {
  if (late_.Push(std::move(change))) {
    merged_.Increment();
  }
}

void Listener::PushSnapshot(const std::shared_ptr<const Snapshot>& snapshot) {
  {
    base::MutexLock lock(mu_);
    if (!TakesLocked() || snapshot->entries().empty()) {
      return;
    }
    const bool resync = snapshot->kind() == Snapshot::Kind::kResync;
    if (resync && HasResyncLocked()) {
      return;  // an earlier resync still has to be delivered
    }
    // A snapshot keeps the state that every object had when it was taken, so a handler that cannot
    // keep up must not make a queue of snapshots. The buffer has at most one change per object,
    // however many snapshots come.
    if (late_.empty() &&
        (items_.size() < options_.max_events || options_.overflow == Overflow::kHoldBack)) {
      items_.emplace_back(Walk{snapshot});
    } else {
      for (const EntryRef& entry : snapshot->entries()) {
        MergeLocked(
            {.type = resync ? RawEvent::Type::kUpdate : RawEvent::Type::kAdd,
             .object = entry,
             .old = resync ? entry : EntryRef(),
             .flags = {.is_in_initial_list = snapshot->kind() == Snapshot::Kind::kInitialAdd}});
      }
    }
    CountLocked();
  }
  task_.Wake();
}

bool Listener::HasResyncLocked() const {
  return std::ranges::any_of(items_, [](const Item& item) {
    const auto* const walk = std::get_if<Walk>(&item);
    return walk != nullptr && walk->snapshot->kind() == Snapshot::Kind::kResync;
  });
}

void Listener::PushSynced() {
  {
    base::MutexLock lock(mu_);
    if (!TakesLocked() || synced_) {
      return;
    }
    if (late_.empty()) {
      items_.emplace_back(Synced{});
    } else {
      late_.PushSynced();
    }
  }
  task_.Wake();
}

void Listener::SetBounded(bool bounded) {
  base::MutexLock lock(mu_);
  bounded_ = bounded;
  not_full_.notify_all();
}

Result<void> Listener::Drain(const std::stop_token& stop) {
  if (OnOwnThread()) {
    return Fail(Reason::kInvalid, "handler \"" + options_.name + "\" cannot wait for itself");
  }
  const base::Executor::Waiting waiting;
  base::MutexLock lock(mu_);
  draining_ = true;
  not_full_.notify_all();
  while (!closed_ && running_ && !(EmptyLocked() && !delivering_)) {
    if (stop.stop_requested()) {
      return Fail(Reason::kCancelled,
                  "stopped before handler \"" + options_.name + "\" got all its waiting events");
    }
    options_.clock.WaitUntil(mu_, changed_, stop, base::TimePoint::max());
  }
  if (!EmptyLocked()) {
    return Fail(Reason::kUnavailable, "the informer of handler \"" + options_.name +
                                          "\" does not run; its waiting events are dropped");
  }
  return {};
}

void Listener::Close() {
  std::deque<Item> dropped;
  MergeBuffer dropped_late;
  {
    base::MutexLock lock(mu_);
    if (!closed_) {
      queued_.Set(0);  // only once, because the registry may be gone afterwards
    }
    closed_ = true;
    halted_ = true;
    dropped.swap(items_);
    std::swap(dropped_late, late_);
    not_full_.notify_all();
    changed_.notify_all();
  }
  Stop();
}

bool Listener::synced() const {
  base::MutexLock lock(mu_);
  return synced_;
}

bool Listener::WaitForSync(const std::stop_token& stop) const {
  base::MutexLock lock(mu_);
  while (!synced_ && !closed_ && !stop.stop_requested()) {
    options_.clock.WaitUntil(mu_, changed_, stop, base::TimePoint::max());
  }
  return synced_;
}

bool Listener::closed() const {
  base::MutexLock lock(mu_);
  return closed_;
}

bool Listener::CheckResync(base::TimePoint now) {
  base::MutexLock lock(mu_);
  if (options_.resync_period > base::Duration::zero() && now >= next_resync_) {
    next_resync_ = base::After(now, options_.resync_period);
    resync_due_ = true;
  }
  return resync_due_;
}

bool Listener::TakeResync() {
  base::MutexLock lock(mu_);
  return std::exchange(resync_due_, false);
}

bool Listener::Step() {
  for (std::size_t told = 0; told < kEventsAStep;) {
    std::vector<Event> events = Take();
    if (events.empty()) {
      return false;
    }
    told += events.size();
    for (Event& event : events) {
      if (halted_) {
        PutBack(std::span(&event, events.data() + events.size()));
        break;
      }
      Deliver(*event);
      event = nullptr;
    }
  }
  base::MutexLock lock(mu_);
  PauseLocked();
  return !EmptyLocked();
}

void Listener::PauseLocked() {
  delivering_ = false;
  if (stop_requested_) {
    running_ = false;
  }
  if (stop_requested_ || EmptyLocked()) {
    changed_.notify_all();
  }
}

void Listener::PutBack(std::span<Event> events) {
  base::MutexLock lock(mu_);
  if (!closed_) {
    items_.insert(items_.begin(), std::move_iterator(events.begin()),
                  std::move_iterator(events.end()));
    CountLocked();
  }
}

std::vector<Listener::Event> Listener::Take() {
  std::vector<Event> events;
  base::MutexLock lock(mu_);
  delivering_ = false;
  while (!stop_requested_ && !closed_ && !EmptyLocked()) {
    if (auto event = items_.empty() ? TakeMergedLocked() : TakeLocked()) {
      delivering_ = true;
      events.push_back(std::move(event));
      while (events.size() < at_once_ && !items_.empty() &&
             std::holds_alternative<Event>(items_.front())) {
        events.push_back(TakeLocked());
      }
      TookLocked();
      return events;
    }
    TookLocked();
  }
  PauseLocked();
  return events;
}

void Listener::SyncedLocked() {
  synced_ = true;
  changed_.notify_all();
}

void Listener::TookLocked() {
  CountLocked();
  not_full_.notify_all();
}

// Takes the item in front. Returns null when that item is not an event.
Listener::Event Listener::TakeLocked() {
  Event event;
  bool done = true;
  if (auto* ready = std::get_if<Event>(&items_.front())) {
    event = std::move(*ready);
  } else if (auto* walk = std::get_if<Walk>(&items_.front())) {
    event = walk->snapshot->EventAt(walk->next);
    done = ++walk->next == walk->snapshot->entries().size();
  } else {
    SyncedLocked();
  }
  if (done) {
    items_.pop_front();
  }
  return event;
}

Listener::Event Listener::TakeMergedLocked() {
  auto item = late_.Pop();
  if (auto* change = std::get_if<MergeBuffer::Change>(&*item)) {
    return std::make_shared<const PackedEvent>(store_, change->type, std::move(change->object),
                                               std::move(change->old), change->flags);
  }
  SyncedLocked();
  return nullptr;
}

void Listener::Deliver(const RawEvent& event) {
  std::string error;
  try {
    handler_(event);
    return;
  } catch (...) {
    error = apimachinery::ThrownText();
  }
  errors_.Increment();
  if (const auto others = exception_lines_.Admit()) {
    logging::Error("An event handler threw", {{"informer", options_.informer},
                                              {"handler", options_.name},
                                              {"key", event.key().ToString()},
                                              {"error", error},
                                              {"others", *others}});
  }
}

}  // namespace kubexx::cache
