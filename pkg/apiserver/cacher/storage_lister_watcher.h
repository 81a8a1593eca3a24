/// @file
/// The storage as a source for a cache::Reflector.
#ifndef KUBEXX_APISERVER_CACHER_STORAGE_LISTER_WATCHER_H_
#define KUBEXX_APISERVER_CACHER_STORAGE_LISTER_WATCHER_H_

#include <stop_token>
#include <vector>

#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/cache/lister_watcher.h"

namespace kubexx::apiserver {

/// Lists and watches the objects of one type. Objects come as JSON in the server's form; a deleted
/// one in its last state at the revision of its deletion. An event that says how far the storage is
/// becomes a bookmark. Selectors and timeouts are ignored: it is the whole of the type, for ever.
class StorageListerWatcher final : public cache::ListerWatcher {
 public:
  /// `storage` must outlive it.
  StorageListerWatcher(ResourceTypeRef type, storage::Storage& storage)
      : type_(std::move(type)), storage_(storage) {}

  apimachinery::Result<codec::ListMeta> List(const apimachinery::ListOptions& options,
                                             ObjectSink sink, std::stop_token stop) override;
  apimachinery::Result<void> Watch(const apimachinery::ListOptions& options, EventSink sink,
                                   std::stop_token stop) override;

 private:
  /// Gives objects of another version to `sink` in that of the type.
  apimachinery::Result<void> Convert(const std::vector<storage::KeyValue>& values, ObjectSink sink,
                                     const std::stop_token& stop);

  ResourceTypeRef type_;
  storage::Storage& storage_;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_CACHER_STORAGE_LISTER_WATCHER_H_
