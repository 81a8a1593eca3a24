#include "kubexx/apiserver/cacher/storage_lister_watcher.h"

#include <string>
#include <utility>
#include <vector>

#include "kubexx/apiserver/cacher/cached_object.h"
#include "kubexx/apiserver/cacher/stored_events.h"
#include "kubexx/apiserver/object/stored_object.h"

namespace kubexx::apiserver {

using apimachinery::Result;

Result<codec::ListMeta> StorageListerWatcher::List(const apimachinery::ListOptions& options,
                                                   ObjectSink sink, std::stop_token stop) {
  storage::ListOptions part;
  part.limit = static_cast<std::size_t>(options.limit);
  // This is a token of the server's own: the revision and the last key.
  if (const auto colon = options.continue_.find(':'); colon != std::string::npos) {
    part.revision = RevisionOf(options.continue_);
    part.continue_after = options.continue_.substr(colon + 1);
  }
  std::vector<storage::KeyValue> values;  // a webhook converts many of them at once
  const auto take = [&](storage::KeyValue&& kv) -> Result<void> {
    if (IsConverted(*type_)) {
      values.push_back(std::move(kv));
      return {};
    }
    KX_ASSIGN_OR_RETURN(cache::Object object,
                        ObjectOfStored(*type_, kv.key, kv.value, kv.mod_revision, stop));
    return sink(std::move(object));
  };
  KX_ASSIGN_OR_RETURN(const storage::ListResult result,
                      storage_.GetList(type_->prefix, part, take, stop));
  KX_RETURN_IF_ERROR(Convert(values, sink, stop));
  codec::ListMeta meta;
  meta.resource_version = std::to_string(result.revision);
  if (result.more) {
    meta.continue_ = meta.resource_version + ":" + result.last_key;
    meta.remaining_item_count = result.remaining;
  }
  return meta;
}

Result<void> StorageListerWatcher::Convert(const std::vector<storage::KeyValue>& values,
                                           ObjectSink sink, const std::stop_token& stop) {
  std::vector<StoredValue> stored;
  stored.reserve(values.size());
  for (const storage::KeyValue& kv : values) {
    stored.push_back({.value = *kv.value, .revision = kv.mod_revision});
  }
  KX_ASSIGN_OR_RETURN(std::vector<std::string> texts, JsonOfStoredValues(*type_, stored, stop));
  for (std::size_t i = 0; i < values.size(); ++i) {
    cache::Object object;
    object.encoding = codec::Encoding::kJson;
    object.bytes = std::move(texts[i]);
    object.key = type_->KeyOf(values[i].key);
    object.resource_version = std::to_string(values[i].mod_revision);
    KX_RETURN_IF_ERROR(sink(std::move(object)));
  }
  return {};
}

Result<void> StorageListerWatcher::Watch(const apimachinery::ListOptions& options, EventSink sink,
                                         std::stop_token stop) {
  storage::WatchOptions watch;
  watch.from_revision = RevisionOf(options.resource_version);
  watch.was_given_out = true;
  return storage_.Watch(
      type_->prefix, watch,
      [&](std::shared_ptr<const storage::Event> event) -> Result<void> {
        KX_ASSIGN_OR_RETURN(cache::WatchEvent converted, WatchEventOf(*type_, *event, stop));
        return sink(std::move(converted));
      },
      stop);
}

}  // namespace kubexx::apiserver
