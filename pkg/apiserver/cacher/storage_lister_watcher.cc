#include "kubexx/apiserver/cacher/storage_lister_watcher.h"

#include <string>
#include <utility>

#include "kubexx/apiserver/cacher/cached_object.h"
#include "kubexx/apiserver/cacher/stored_events.h"

namespace kubexx::apiserver {

using apimachinery::Result;

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
                                ObjectOfStored(*type_, kv.key, kv.value, kv.mod_revision));
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
        KX_ASSIGN_OR_RETURN(cache::WatchEvent converted, WatchEventOf(*type_, *event));
        return sink(std::move(converted));
      },
      std::move(stop));
}

}  // namespace kubexx::apiserver
