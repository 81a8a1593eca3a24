#include "kubexx/apiserver/cacher/cached_object.h"

#include <charconv>
#include <utility>

#include "kubexx/apiserver/object/stored_object.h"

namespace kubexx::apiserver {

using codec::WatchEventType;

std::int64_t RevisionOf(std::string_view resource_version) {
  std::int64_t revision = 0;
  std::from_chars(resource_version.data(), resource_version.data() + resource_version.size(),
                  revision);
  return revision;
}

std::optional<WatchEventType> Select(const CacheEvent& event, const Selection& selection) {
  const bool now = event.type != WatchEventType::kDeleted &&
                   selection.Matches(event.object->key, event.object->attributes);
  const bool before = event.previous != nullptr &&
                      selection.Matches(event.previous->key, event.previous->attributes);
  if (now) {
    return before ? WatchEventType::kModified : WatchEventType::kAdded;
  }
  return before ? std::optional(WatchEventType::kDeleted) : std::nullopt;
}

CachedObjectRef ObjectFor(const CacheEvent& event, WatchEventType type) {
  if (type != WatchEventType::kDeleted || event.type == WatchEventType::kDeleted) {
    return event.object;
  }
  CachedObject last = *event.previous;
  last.revision = event.revision();
  last.text = SharedText(WithRevision(last.Json(), last.revision));
  return std::make_shared<const CachedObject>(std::move(last));
}

std::string_view ToString(WatchEventType type) {
  switch (type) {
    case WatchEventType::kAdded:
      return "ADDED";
    case WatchEventType::kModified:
      return "MODIFIED";
    case WatchEventType::kDeleted:
      return "DELETED";
    case WatchEventType::kBookmark:
      return "BOOKMARK";
    case WatchEventType::kError:
      return "ERROR";
  }
  return {};
}

}  // namespace kubexx::apiserver
