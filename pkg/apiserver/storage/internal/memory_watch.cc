#include <algorithm>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apiserver/storage/internal/errors.h"
#include "kubexx/apiserver/storage/internal/memory_store.h"

namespace kubexx::apiserver::storage::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

// The number of revisions that a watcher looks at, and of events that it passes on, before it takes
// the lock again.
constexpr Revision kWatchScan = 4096;
constexpr std::size_t kEvents = 128;

}  // namespace

/// One call of Watch. It is guarded by the store's lock, except for the members that never change.
struct MemoryStore::Watcher {
  std::string prefix{};
  base::Duration progress_interval{0};
  std::size_t max_behind = 0;
  Revision seen = 0;       // everything up to here has been passed on or is for other watches
  bool caught_up = false;  // has been at the last revision once
  bool waiting = false;    // is waiting, and has nothing to pass on
  bool wants_progress = false;
  base::TimePoint last_given{};
  base::CondVar wake{};
};

/// The events that a watcher passes to its sink. A recent event is shared, and others are made from
/// the change.
struct MemoryStore::Batch {
  struct Place {
    std::shared_ptr<const Event> event{};
    Change change{};
  };
  std::vector<Place> places{};
  Revision progress = 0;  // if not 0, it is reported after the events
};

Result<void> MemoryStore::CheckWatcherLocked(Watcher& watcher) const {
  if (watcher.seen >= visible_) {
    watcher.caught_up = true;
  } else if (watcher.seen < history_.compacted()) {
    return Expired("what happened after revision " + std::to_string(watcher.seen),
                   history_.compacted());
  } else if (watcher.caught_up &&
             static_cast<std::size_t>(visible_ - watcher.seen) > watcher.max_behind) {
    return Fail(Reason::kTooManyRequests,
                "the watch of " + watcher.prefix +
                    " is too slow: " + std::to_string(visible_ - watcher.seen) +
                    " revisions behind; watch again from revision " + std::to_string(watcher.seen),
                429);
  }
  return {};
}

Result<void> MemoryStore::CollectLocked(Watcher& watcher, Batch& batch) {
  const Revision end = std::min(visible_, watcher.seen + kWatchScan);
  while (watcher.seen < end && batch.places.size() < kEvents) {
    const Revision revision = ++watcher.seen;
    if (!history_.KeyAt(revision).starts_with(watcher.prefix)) {
      continue;
    }
    Batch::Place place;
    place.change = history_.ChangeAt(revision);
    std::shared_ptr<const Event>& shared = history_.EventAt(revision);
    const BlobRef& value = place.change.now.value;
    // For a compressed value, every watcher makes an event of its own, without the lock.
    if (!shared && (!value || value->packer == nullptr)) {
      KX_ASSIGN_OR_RETURN(shared, ToEvent(place.change));
    }
    place.event = shared;
    batch.places.push_back(std::move(place));
  }
  return {};
}

Result<MemoryStore::Batch> MemoryStore::NextBatch(Watcher& watcher, const std::stop_token& stop) {
  Batch batch;
  base::MutexLock lock(mu_);
  while (!stop.stop_requested()) {
    KX_RETURN_IF_ERROR(CheckWatcherLocked(watcher));
    if (watcher.seen < visible_) {
      KX_RETURN_IF_ERROR(CollectLocked(watcher, batch));
    }
    const base::TimePoint now = options_.clock->Now();
    const bool timed = watcher.progress_interval.count() > 0;
    const base::TimePoint due =
        timed ? watcher.last_given + watcher.progress_interval : base::TimePoint::max();
    // A watch that waits for a future revision has no progress to report.
    if (watcher.seen == visible_ && (watcher.wants_progress || (timed && now >= due))) {
      batch.progress = watcher.seen;
      watcher.wants_progress = false;
    }
    if (!batch.places.empty() || batch.progress != 0) {
      watcher.last_given = now;
      return batch;
    }
    if (watcher.seen < visible_) {
      return batch;  // many changes are for other watches, so that others get the lock
    }
    watcher.waiting = true;
    options_.clock->WaitUntil(mu_, watcher.wake, stop, due);
    watcher.waiting = false;
  }
  return Cancelled("watch");
}

Result<void> MemoryStore::Watch(std::string_view prefix, const WatchOptions& options,
                                EventSink sink, std::stop_token stop) {
  Watcher watcher;
  watcher.prefix = std::string(prefix);
  watcher.progress_interval = options.progress_interval;
  watcher.max_behind = options.max_behind;
  watcher.last_given = options_.clock->Now();
  std::list<Watcher*>::iterator place;
  {
    base::MutexLock lock(mu_);
    if (options.was_given_out && options.from_revision > visible_) {
      return OtherHistory("the watch of " + watcher.prefix, options.from_revision, visible_);
    }
    watcher.seen = options.from_revision != 0 ? options.from_revision : visible_;
    place = watchers_.insert(watchers_.end(), &watcher);
  }
  const auto run = [&]() -> Result<void> {
    for (;;) {
      KX_ASSIGN_OR_RETURN(Batch batch, NextBatch(watcher, stop));
      for (Batch::Place& at : batch.places) {
        if (stop.stop_requested()) {
          return Cancelled("watch");
        }
        if (!at.event) {
          KX_ASSIGN_OR_RETURN(at.event, ToEvent(at.change));
        }
        at.change = Change();
        KX_RETURN_IF_ERROR(sink(std::move(at.event)));
      }
      if (batch.progress != 0) {
        auto event = std::make_shared<Event>();
        event->type = Event::Type::kProgress;
        event->kv.mod_revision = batch.progress;
        KX_RETURN_IF_ERROR(sink(std::move(event)));
      }
    }
  };
  Result<void> result = run();
  base::MutexLock lock(mu_);
  watchers_.erase(place);
  return result;
}

Revision MemoryStore::SeenByAllLocked() const {
  Revision seen = visible_;
  for (const Watcher* watcher : watchers_) {
    seen = std::min(seen, watcher->seen);
  }
  return seen;
}

void MemoryStore::WakeLocked(Revision before) {
  for (Watcher* watcher : watchers_) {
    if (!watcher->waiting) {
      continue;
    }
    bool concerned = false;
    for (Revision revision = std::max(before, watcher->seen) + 1;
         revision <= visible_ && !concerned; ++revision) {
      concerned = history_.KeyAt(revision).starts_with(watcher->prefix);
    }
    if (concerned) {
      watcher->waiting = false;
      watcher->wake.notify_all();
    } else {
      watcher->seen = std::max(watcher->seen, visible_);
    }
  }
}

void MemoryStore::RequestProgress(std::string_view prefix) {
  base::MutexLock lock(mu_);
  for (Watcher* watcher : watchers_) {
    if (prefix.empty() || watcher->prefix == prefix) {
      watcher->wants_progress = true;
      watcher->wake.notify_all();
    }
  }
}

}  // namespace kubexx::apiserver::storage::internal
