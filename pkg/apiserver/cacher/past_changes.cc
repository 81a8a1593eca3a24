#include "kubexx/apiserver/cacher/past_changes.h"

#include <chrono>
#include <memory>
#include <utility>

#include "kubexx/apiserver/cacher/stored_events.h"
#include "kubexx/apiserver/object/status_json.h"
#include "kubexx/base/stop_timer.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

/// When there are no more events, the storage reports its progress after this time.
constexpr base::Duration kProgress = std::chrono::milliseconds(5);

std::size_t SizeOfStored(const storage::Bytes& value) {
  return value == nullptr ? 0 : value->size();
}

}  // namespace

Result<std::vector<PastChange>> PastChanges(const ResourceType& type, storage::Storage& storage,
                                            const PastRange& range, base::Clock& clock,
                                            const std::stop_token& stop) {
  base::StopTimer silence(clock, stop, range.patience);
  std::vector<PastChange> changes;
  bool complete = false;
  std::size_t bytes = 0;
  const auto take = [&](std::shared_ptr<const storage::Event> event) -> Result<void> {
    silence.Pause();
    const storage::Revision revision = event->kv.mod_revision;
    const bool is_change = event->type != storage::Event::Type::kProgress;
    // It is another history, which does not have these changes.
    if (!is_change && revision < range.until) {
      return Fail(TooOldResourceVersion(range.after, range.until));
    }
    if (is_change && revision <= range.until) {
      bytes += SizeOfStored(event->kv.value) + SizeOfStored(event->prev.value);
      if (changes.size() == range.limit || bytes > range.max_bytes) {
        return Fail(TooOldResourceVersion(range.after, range.until));
      }
      // When the past is being compacted, the storage may have the change but not the state before
      // it.
      const bool had_another = event->type != storage::Event::Type::kPut ||
                               event->kv.create_revision != event->kv.mod_revision;
      if (had_another && event->prev.value == nullptr) {
        return Fail(TooOldResourceVersion(range.after, range.until));
      }
      PastChange change;
      KX_ASSIGN_OR_RETURN(change.event, WatchEventOf(type, *event, stop));
      if (event->prev.value != nullptr) {
        KX_ASSIGN_OR_RETURN(change.previous, ObjectOfStored(type, event->kv.key, event->prev.value,
                                                            event->prev.mod_revision, stop));
      }
      changes.push_back(std::move(change));
    }
    complete = revision >= range.until;
    silence.Restart();
    return complete ? Fail(Reason::kCancelled, "that was all") : Result<void>();
  };
  const Result<void> watched = storage.Watch(
      type.prefix,
      {.from_revision = range.after, .was_given_out = true, .progress_interval = kProgress}, take,
      silence.token());
  if (!complete && silence.expired()) {
    return Fail(Reason::kTimeout, "the storage has sent no past events in time");
  }
  if (!complete && !watched) {
    return Fail(watched.error());
  }
  return changes;
}

}  // namespace kubexx::apiserver
