/// @file
/// What a watch cache holds, and what it tells its watchers.
#ifndef KUBEXX_APISERVER_CACHER_CACHED_OBJECT_H_
#define KUBEXX_APISERVER_CACHER_CACHED_OBJECT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/cacher/shared_text.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/apiserver/object/selection.h"
#include "kubexx/codec/watch_reader.h"

namespace kubexx::apiserver {

/// An object at one revision. Immutable, shared.
struct CachedObject {
  apimachinery::ObjectKey key{};
  std::int64_t revision = 0;
  SharedText text{};  ///< in the server's form, with its resourceVersion
  Attributes attributes{};

  std::string Json() const { return text.ToString(); }
};
/// Shared by the cache, its window of events and the watches.
using CachedObjectRef = std::shared_ptr<const CachedObject>;

/// One change of one object.
struct CacheEvent {
  codec::WatchEventType type = codec::WatchEventType::kAdded;
  CachedObjectRef object{};    ///< after the change; for kDeleted the last state, at its revision
  CachedObjectRef previous{};  ///< before the change; null for kAdded
  std::int64_t revision() const { return object->revision; }
};

/// The number that a resourceVersion is; 0 for what is none.
std::int64_t RevisionOf(std::string_view resource_version);

/// What a client is told.
struct SelectedEvent {
  codec::WatchEventType type = codec::WatchEventType::kAdded;
  CachedObjectRef object{};
};
/// How a client that selects some objects is told of an event: an object that begins to match is
/// added to it, one that ceases to match is deleted. Nothing when it is not told.
std::optional<codec::WatchEventType> Select(const CacheEvent& event, const Selection& selection);
/// The object that goes with what Select gave: of one that is deleted for the client only, the
/// state that the client knows, at the revision of the change.
CachedObjectRef ObjectFor(const CacheEvent& event, codec::WatchEventType type);

/// Writes the events of a watch for one kind of clients: JSON, protobuf, tables. Stateless,
/// thread-safe, static storage or shared with the watches.
class FrameFormat {
 public:
  virtual ~FrameFormat() = default;
  /// One frame. For kError `json` is a Status, for kBookmark an object of the type that has a
  /// resourceVersion.
  virtual apimachinery::Result<std::string> Frame(codec::WatchEventType type,
                                                  const ResourceType& resource,
                                                  std::string_view json) const = 0;
};

/// "ADDED".
std::string_view ToString(codec::WatchEventType type);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_CACHER_CACHED_OBJECT_H_
