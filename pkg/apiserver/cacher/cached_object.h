/// @file
/// The objects and events of a watch cache.
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
/// A reference that the cache, its window of events and the watches share.
using CachedObjectRef = std::shared_ptr<const CachedObject>;

/// One change of one object.
struct CacheEvent {
  codec::WatchEventType type = codec::WatchEventType::kAdded;
  CachedObjectRef object{};    ///< after the change; for kDeleted the last state, at its revision
  CachedObjectRef previous{};  ///< before the change; null for kAdded
  std::int64_t revision() const { return object->revision; }
};

/// The number of a resourceVersion; 0 for a text that is none.
std::int64_t RevisionOf(std::string_view resource_version);

/// An event as a client gets it.
struct SelectedEvent {
  codec::WatchEventType type = codec::WatchEventType::kAdded;
  CachedObjectRef object{};
};
/// The type with which a client that has a selector gets an event. An object that begins to match
/// is ADDED for the client, and one that ceases to match is DELETED. Returns std::nullopt when the
/// client does not get the event.
std::optional<codec::WatchEventType> Select(const CacheEvent& event, const Selection& selection);
/// The object that belongs to the type that Select returned. When the object only ceased to match,
/// that is the state that the client knows, with the revision of the change.
CachedObjectRef ObjectFor(const CacheEvent& event, codec::WatchEventType type);

/// Encodes the events of a watch in one format: JSON, protobuf or tables. Stateless and
/// thread-safe. An instance has static storage, or the watches share it.
class FrameFormat {
 public:
  virtual ~FrameFormat() = default;
  /// Encodes one event. `json` is the object; for kError it is a Status, and for kBookmark an
  /// object of the type with only a resourceVersion.
  virtual apimachinery::Result<std::string> Frame(codec::WatchEventType type,
                                                  const ResourceType& resource,
                                                  std::string_view json) const = 0;
};

/// The name of the type in the API, such as "ADDED".
std::string_view ToString(codec::WatchEventType type);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_CACHER_CACHED_OBJECT_H_
