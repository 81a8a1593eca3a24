#include "kubexx/apiserver/cacher/storage_lister_watcher.h"

#include <string>
#include <utility>

#include "kubexx/apiserver/cacher/cached_object.h"
#include "kubexx/apiserver/object/stored_object.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

Result<cache::Object> ObjectOf(const ResourceType& type, std::string_view key,
                               const storage::Bytes& value, storage::Revision revision) {
  cache::Object object;
  object.encoding = codec::Encoding::kJson;
  KX_ASSIGN_OR_RETURN(object.bytes, JsonOfStored(type, *value, revision));
  object.key = type.KeyOf(key);
  object.resource_version = std::to_string(revision);
  return object;
}

}  // namespace

Result<codec::ListMeta> StorageListerWatcher::List(const apimachinery::ListOptions& options,
                                                   ObjectSink sink, std::stop_token stop) {
  storage::ListOptions part;
  part.limit = static_cast<std::size_t>(options.limit);
  // A token of our own: the revision and the last key.
  if (const auto colon = options.continue_.find(':'); colon != std::string::npos) {
    part.revision = RevisionOf(options.continue_);
    part.continue_after = options.continue_.substr(colon + 1);
  }
  KX_ASSIGN_OR_RETURN(const storage::ListResult result,
                      storage_.GetList(
                          type_->prefix, part,
                          [&](storage::KeyValue&& kv) -> Result<void> {
                            KX_ASSIGN_OR_RETURN(
                                cache::Object object,
                                ObjectOf(*type_, kv.key, kv.value, kv.mod_revision));
                            return sink(std::move(object));
                          },
                          std::move(stop)));
  codec::ListMeta meta;
  meta.resource_version = std::to_string(result.revision);
  if (result.more) {
    meta.continue_ = meta.resource_version + ":" + result.last_key;
    meta.remaining_item_count = result.remaining;
  }
  return meta;
}

Result<void> StorageListerWatcher::Watch(const apimachinery::ListOptions& options, EventSink sink,
                                         std::stop_token stop) {
  storage::WatchOptions watch;
  watch.from_revision = RevisionOf(options.resource_version);
  return storage_.Watch(
      type_->prefix, watch,
      [&](std::shared_ptr<const storage::Event> event) -> Result<void> {
        KX_ASSIGN_OR_RETURN(cache::WatchEvent converted, Convert(*event));
        return sink(std::move(converted));
      },
      std::move(stop));
}

Result<cache::WatchEvent> StorageListerWatcher::Convert(const storage::Event& event) const {
  cache::WatchEvent converted;
  const storage::Revision revision = event.kv.mod_revision;
  switch (event.type) {
    case storage::Event::Type::kProgress:
      converted.type = codec::WatchEventType::kBookmark;
      converted.object.resource_version = std::to_string(revision);
      return converted;
    case storage::Event::Type::kDelete: {
      converted.type = codec::WatchEventType::kDeleted;
      if (event.prev.value == nullptr) {
        return Fail(Reason::kInternalError, "a deletion of " + event.kv.key + " has no last state");
      }
      KX_ASSIGN_OR_RETURN(converted.object,
                          ObjectOf(*type_, event.kv.key, event.prev.value, revision));
      return converted;
    }
    case storage::Event::Type::kPut:
      break;
  }
  converted.type = event.kv.create_revision == revision ? codec::WatchEventType::kAdded
                                                        : codec::WatchEventType::kModified;
  KX_ASSIGN_OR_RETURN(converted.object, ObjectOf(*type_, event.kv.key, event.kv.value, revision));
  return converted;
}

}  // namespace kubexx::apiserver
