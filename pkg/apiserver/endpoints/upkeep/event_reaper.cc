#include "kubexx/apiserver/endpoints/upkeep/event_reaper.h"

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

/// The shortest interval between two passes, however short the lifetime of Events is, because a
/// pass reads the keys of all Events.
constexpr base::Duration kShortestInterval = std::chrono::seconds(1);
constexpr base::Duration kLongestInterval = std::chrono::minutes(1);
/// Events live longer than their lifetime by at most this fraction of it, for each of the two
/// reasons.
constexpr int kLooks = 20;
constexpr int kMarks = 100;

/// The number of Events that are read in one tick: that takes some milliseconds, and with a slow
/// disk a second of writing.
constexpr std::size_t kMaxRead = 1000;
constexpr std::size_t kMaxDeleted = 256;

constexpr std::pair<std::string_view, std::string_view> kEventTypes[] = {{"", "v1"},
                                                                         {"events.k8s.io", "v1"}};

/// Returns the time in seconds, or 0 when it is not a time.
std::int64_t SecondsOf(std::string_view text) {
  const auto time = apimachinery::Time::Parse(text);
  return time ? time->seconds : 0;
}

/// Returns the time when the Event was last written or observed, as far as it tells.
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

/// Whether the Event was observed since then. For an Event that cannot be read nobody knows.
bool HasContentSince(const ResourceType& type, const storage::KeyValue& kv, std::int64_t since) {
  const auto json = JsonOfStored(type, *kv.value, kv.mod_revision);
  const auto event = json ? JsonTree::Parse(*json) : Fail(json.error());
  if (!event) {
    logging::Warning("Cannot read an Event", {{"key", kv.key}, {"error", event.error()}});
  }
  return !event || LastHeardOf(*event) >= since;
}

}  // namespace

EventReaper::EventReaper(TypeRegistry& types, ObjectStore& objects, std::chrono::seconds ttl)
    : types_(types),
      objects_(objects),
      ttl_(ttl),
      look_interval_(std::clamp(base::Duration(ttl) / kLooks, kShortestInterval, kLongestInterval)),
      mark_interval_(std::clamp(base::Duration(ttl) / kMarks, kShortestInterval, kLongestInterval)),
      next_(objects.clock().Now()) {}

Result<void> EventReaper::Note(const std::stop_token& stop) {
  base::TimePoint now = objects_.clock().Now();
  if (marks_.empty() || now - marks_.back().time >= mark_interval_ || now >= next_) {
    KX_ASSIGN_OR_RETURN(const storage::Revision revision, objects_.storage().CurrentRevision(stop));
    // When the store took long this is rather too late, so that Events live longer.
    now = objects_.clock().Now();
    if (!marks_.empty() && revision < marks_.back().revision) {
      marks_.clear();  // The store was emptied or restored, so revisions have another meaning now.
    }
    if (marks_.empty() || now - marks_.back().time >= mark_interval_) {
      marks_.push_back({.time = now, .revision = revision});
    }
  }
  while (marks_.size() > 1 && now - marks_[1].time >= ttl_) {
    marks_.pop_front();
  }
  return {};
}

bool EventReaper::IsOld(const ResourceType& type, const storage::KeyValue& kv) const {
  if (kv.mod_revision > marks_.front().revision) {
    return false;
  }
  if (kv.value == nullptr) {
    return true;  // see TellsAll
  }
  // The Event existed before this server did.
  const auto now = objects_.clock().Wall().time_since_epoch();
  return !HasContentSince(type, kv,
                          (std::chrono::duration_cast<std::chrono::seconds>(now) - ttl_).count());
}

bool EventReaper::Tick(const std::stop_token& stop) {
  if (ttl_ <= std::chrono::seconds::zero()) {
    return false;
  }
  if (const auto noted = Note(stop); !noted) {
    if (!stop.stop_requested()) {
      logging::Warning("Cannot find out how old Events are", {{"error", noted.error()}});
    }
    return false;
  }
  if (objects_.clock().Now() < next_) {
    return false;
  }
  for (; type_ < std::size(kEventTypes); ++type_, last_key_.clear()) {
    const auto& [group, version] = kEventTypes[type_];
    const ResourceTypeRef type = types_.Find(group, version, "events");
    const Result<bool> done = type == nullptr ? Result<bool>(true) : ReapSome(*type, stop);
    if (!done && stop.stop_requested()) {
      return false;
    }
    if (!done) {
      logging::Log(
          storage::IsOutage(done.error()) ? logging::Level::kDebug : logging::Level::kWarning,
          "Cannot delete expired Events", {{"error", done.error()}});
    } else if (!*done) {
      return true;
    }
  }
  type_ = 0;
  next_ = objects_.clock().Now() + look_interval_;
  return false;
}

Result<bool> EventReaper::ReapSome(const ResourceType& type, const std::stop_token& stop) {
  std::string seen = last_key_;
  std::vector<std::pair<std::string, storage::Revision>> old;
  KX_ASSIGN_OR_RETURN(
      const storage::ListResult listed,
      objects_.storage().GetList(
          type.prefix, {.limit = kMaxRead, .continue_after = last_key_, .keys_only = TellsAll()},
          [&](storage::KeyValue&& kv) -> Result<void> {
            if (old.size() == kMaxDeleted) {
              return {};  // in the next step
            }
            seen = kv.key;
            if (IsOld(type, kv)) {
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
