// How watches begin: with the present state, or with the events since a revision.
#include <algorithm>
#include <utility>

#include "kubexx/apiserver/cacher/watch_cache.h"
#include "kubexx/apiserver/object/status_json.h"

namespace kubexx::apiserver {
namespace {

/// The number of events that a new watch gets while the others wait.
constexpr std::size_t kFewEvents = 16;
/// The number of attempts of a watch to catch up with changes that come faster than it compares
/// them.
constexpr int kMostRounds = 8;
/// Watches share a state until this part of its objects has changed: one of so many.
constexpr std::size_t kChangedOf = 16;

}  // namespace

std::optional<std::vector<CacheEvent>> WatchCache::After(std::int64_t revision) const {
  if (revision < window_begin_) {
    return std::nullopt;
  }
  const auto revision_of = [](const CacheEvent& event) { return event.revision(); };
  const auto first = std::ranges::upper_bound(events_, revision, {}, revision_of);
  return std::vector<CacheEvent>(
      first, std::ranges::upper_bound(first, events_.end(), last_, {}, revision_of));
}

Beginning WatchCache::Begin(const Selection& selection, std::int64_t& revision) {
  // Of a single object nothing need be shared; see ListLocked.
  const bool of_one = type_->namespaced == !selection.namespace_.empty() &&
                      !selection.fields.Exactly("metadata.name").empty();
  std::shared_ptr<const ObjectsAtATime> state;
  std::optional<std::vector<CacheEvent>> changes;
  ObjectsAtATime now;
  {
    base::MutexLock lock(mu_);
    now = {.revision = revision_,
           .generation = generation_,
           .cache_bytes = object_bytes_,
           .replaced = replaced_bytes_};
    const auto found = of_one ? states_.end() : states_.find(selection.namespace_);
    state = found == states_.end() ? nullptr : found->second.lock();
    if (state != nullptr && state->generation == generation_ && revision_ < last_) {
      changes = After(state->revision);
    }
    if (changes && changes->size() > std::max(kFewEvents, state->objects.size() / kChangedOf)) {
      changes.reset();
    }
    if (!changes) {
      CachedList list =
          ListLocked(selection.namespace_, of_one ? selection.fields.Exactly("metadata.name") : "");
      state = StateOf(std::move(list.items), now);
      if (!of_one) {
        std::erase_if(states_, [](const auto& other) { return other.second.expired(); });
        states_[selection.namespace_] = state;
        held_.Add(state);
      }
    }
    revision = revision_;
  }
  std::vector<CacheEvent> own = std::move(changes).value_or(std::vector<CacheEvent>());
  std::erase_if(own, [&selection](const CacheEvent& event) {
    return !selection.namespace_.empty() && event.object->key.namespace_ != selection.namespace_;
  });
  Beginning beginning(std::move(state), own, selection, now);
  base::MutexLock lock(mu_);
  if (beginning.own() != nullptr) {
    held_.Add(beginning.own());
  }
  if (const auto old = held_.Beyond(MaxWindowBytesLocked(), replaced_bytes_)) {
    for (const std::shared_ptr<CacheWatcher>& watcher : watchers_) {
      watcher->EndIfBegun(*old);
    }
  }
  return beginning;
}

void WatchCache::Add(std::shared_ptr<CacheWatcher> watcher, const WatchStart& start) {
  // The past is compared with the client's selectors while other watches go on. The events that
  // come meanwhile are compared afterwards, and only the last few of them under the lock.
  const Selection& selection = watcher->options().selection;
  const auto tell = [&](const std::vector<CacheEvent>& events) {
    for (const CacheEvent& event : events) {
      if (const auto type = Select(event, selection)) {
        watcher->PushFirst({*type, ObjectFor(event, *type)});
      }
    }
  };
  std::int64_t told = start.revision;
  std::uint64_t generation = 0;
  {
    base::MutexLock lock(mu_);
    generation = generation_;
  }
  if (start.initial_events) {
    watcher->BeginWith(Begin(selection, told));
    if (start.mark_end) {
      watcher->PushBookmark(told, true);
    }
  } else {
    watcher->SetBegin(told);
  }
  for (int round = 0;; ++round) {
    std::optional<std::vector<CacheEvent>> missed;
    {
      base::MutexLock lock(mu_);
      // A state of another history may have come in between, and its versions may even be lower.
      missed = generation == generation_ ? After(told) : std::nullopt;
      if (!missed) {
        watcher->PushError(StatusJson(TooOldResourceVersion(told, window_begin_)));
        return;
      }
      if (missed->size() <= kFewEvents || round == kMostRounds) {
        tell(*missed);
        watchers_.push_back(std::move(watcher));
        is_watched_ = true;
        if (revision_ >= last_) {
          EndWatchesLocked();
        }
        return;
      }
      // The other events of an incomplete revision will come later; see MoreFollow.
      std::erase_if(*missed, [this](const CacheEvent& event)
                                 KX_REQUIRES(mu_) { return event.revision() > revision_; });
    }
    tell(*missed);
    told = missed->empty() ? told : missed->back().revision();
  }
}

}  // namespace kubexx::apiserver
