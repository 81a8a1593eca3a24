#include "kubexx/apiserver/cacher/stored_events.h"

#include <string>

#include "kubexx/apiserver/object/stored_object.h"

namespace kubexx::apiserver {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

Result<cache::Object> ObjectOfStored(const ResourceType& type, std::string_view key,
                                     const storage::Bytes& value, storage::Revision revision,
                                     const std::stop_token& stop) {
  cache::Object object;
  object.encoding = codec::Encoding::kJson;
  KX_ASSIGN_OR_RETURN(object.bytes, JsonOfStored(type, *value, revision, stop));
  object.key = type.KeyOf(key);
  object.resource_version = std::to_string(revision);
  return object;
}

Result<cache::WatchEvent> WatchEventOf(const ResourceType& type, const storage::Event& event,
                                       const std::stop_token& stop) {
  cache::WatchEvent converted;
  converted.more = event.more;
  const storage::Revision revision = event.kv.mod_revision;
  switch (event.type) {
    case storage::Event::Type::kProgress:
      converted.type = codec::WatchEventType::kBookmark;
      converted.object.resource_version = std::to_string(revision);
      return converted;
    case storage::Event::Type::kDelete: {
      converted.type = codec::WatchEventType::kDeleted;
      if (event.prev.value == nullptr) {
        // etcd sends such an event once it has compacted the last state. A watch from the same
        // revision would get it again and again, so the reader has to list.
        return Fail(Reason::kExpired,
                    "too old resource version: the storage has compacted the last state of " +
                        event.kv.key + ", which was deleted at " + std::to_string(revision),
                    410);
      }
      KX_ASSIGN_OR_RETURN(converted.object,
                          ObjectOfStored(type, event.kv.key, event.prev.value, revision, stop));
      return converted;
    }
    case storage::Event::Type::kPut:
      break;
  }
  converted.type = event.kv.create_revision == revision ? codec::WatchEventType::kAdded
                                                        : codec::WatchEventType::kModified;
  KX_ASSIGN_OR_RETURN(converted.object,
                      ObjectOfStored(type, event.kv.key, event.kv.value, revision, stop));
  return converted;
}

}  // namespace kubexx::apiserver
