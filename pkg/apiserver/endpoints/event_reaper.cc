#include "kubexx/apiserver/endpoints/event_reaper.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/time.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/logging/log.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

constexpr std::chrono::minutes kReapInterval{1};

/// For one tick: some milliseconds of reading, and with a slow disk a second of writing.
constexpr std::size_t kMaxRead = 1000;
constexpr std::size_t kMaxDeleted = 256;

constexpr std::pair<std::string_view, std::string_view> kEventTypes[] = {{"", "v1"},
                                                                         {"events.k8s.io", "v1"}};

/// In seconds; 0 for no time.
std::int64_t SecondsOf(std::string_view text) {
  const auto time = apimachinery::Time::Parse(text);
  return time ? time->seconds : 0;
}

/// When the Event was last written or heard of, as far as it says.
std::int64_t LastHeardOf(const JsonTree& event) {
  std::int64_t last = 0;
  for (const std::string& text :
       {MetaString(event, "creationTimestamp"), StringAt(event, {"lastTimestamp"}),
        StringAt(event, {"eventTime"}), StringAt(event, {"deprecatedLastTimestamp"}),
        StringAt(event, {"series", "lastObservedTime"})}) {
    last = std::max(last, SecondsOf(text));
  }
  if (const JsonTree* const managers = event.At({"metadata", "managedFields"})) {
    for (const JsonTree& manager : managers->elements()) {
      last = std::max(last, SecondsOf(manager.TextAt("time")));
    }
  }
  return last;
}

/// What cannot be read is kept, and keeps no other: who can tell what it is?
bool IsOld(const ResourceType& type, const storage::KeyValue& kv, std::int64_t before) {
  const auto json = JsonOfStored(type, *kv.value, kv.mod_revision);
  const auto event = json ? JsonTree::Parse(*json) : Fail(json.error());
  if (!event) {
    logging::Warning("Cannot read an Event", {{"key", kv.key}, {"error", event.error()}});
  }
  return event && LastHeardOf(*event) < before;
}

}  // namespace

void EventReaper::Tick(const std::stop_token& stop) {
  if (ttl_ <= std::chrono::seconds::zero() || objects_.clock().Now() < next_) {
    return;
  }
  for (; type_ < std::size(kEventTypes); ++type_, last_key_.clear()) {
    const auto& [group, version] = kEventTypes[type_];
    const ResourceTypeRef type = types_.Find(group, version, "events");
    const Result<bool> done = type == nullptr ? Result<bool>(true) : ReapSome(*type, stop);
    if (!done && stop.stop_requested()) {
      return;
    }
    if (!done) {
      logging::Log(
          storage::IsOutage(done.error()) ? logging::Level::kDebug : logging::Level::kWarning,
          "Cannot delete old Events", {{"error", done.error()}});
    } else if (!*done) {
      return;
    }
  }
  type_ = 0;
  next_ = objects_.clock().Now() + kReapInterval;
}

Result<bool> EventReaper::ReapSome(const ResourceType& type, const std::stop_token& stop) {
  const std::int64_t now =
      std::chrono::duration_cast<std::chrono::seconds>(objects_.clock().Wall().time_since_epoch())
          .count();
  std::string seen = last_key_;
  std::vector<std::pair<std::string, storage::Revision>> old;
  KX_ASSIGN_OR_RETURN(const storage::ListResult listed,
                      objects_.storage().GetList(
                          type.prefix, {.limit = kMaxRead, .continue_after = last_key_},
                          [&](storage::KeyValue&& kv) -> Result<void> {
                            if (old.size() == kMaxDeleted) {
                              return {};  // In the next turn.
                            }
                            seen = kv.key;
                            if (IsOld(type, kv, now - ttl_.count())) {
                              old.emplace_back(std::move(kv.key), kv.mod_revision);
                            }
                            return {};
                          },
                          stop));
  for (const auto& [key, revision] : old) {
    if (stop.stop_requested()) {
      return Fail(Reason::kCancelled, "stopped while old Events were deleted");
    }
    const auto deleted = objects_.storage().Delete(key, revision, stop);
    if (!deleted && deleted.error().reason != Reason::kNotFound &&
        deleted.error().reason != Reason::kConflict) {
      return Fail(deleted.error());
    }
  }
  const bool all = seen == listed.last_key || listed.last_key.empty();
  last_key_ = std::move(seen);
  return all && !listed.more;
}

}  // namespace kubexx::apiserver
