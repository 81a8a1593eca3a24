#include "kubexx/apiserver/cacher/cached_object.h"

#include <utility>

#include "kubexx/apiserver/object/stored_object.h"

namespace kubexx::apiserver {

using codec::WatchEventType;

std::optional<SelectedEvent> Select(const CacheEvent& event, const Selection& selection) {
  const bool now = event.type != WatchEventType::kDeleted &&
                   selection.Matches(event.object->key, event.object->attributes);
  const bool before = event.previous != nullptr &&
                      selection.Matches(event.previous->key, event.previous->attributes);
  if (now) {
    return SelectedEvent{before ? WatchEventType::kModified : WatchEventType::kAdded, event.object};
  }
  if (!before) {
    return std::nullopt;
  }
  if (event.type == WatchEventType::kDeleted) {
    return SelectedEvent{WatchEventType::kDeleted, event.object};
  }
  // Gone for this client only: the state that it knows, at the revision of the change.
  CachedObject last = *event.previous;
  last.revision = event.revision();
  last.json = WithRevision(last.json, last.revision);
  return SelectedEvent{WatchEventType::kDeleted,
                       std::make_shared<const CachedObject>(std::move(last))};
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
