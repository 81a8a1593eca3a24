/// @file
/// Lets a cache::Reflector list and watch the storage.
#ifndef KUBEXX_APISERVER_CACHER_STORAGE_LISTER_WATCHER_H_
#define KUBEXX_APISERVER_CACHER_STORAGE_LISTER_WATCHER_H_

#include <stop_token>
#include <vector>

#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/cache/lister_watcher.h"

namespace kubexx::apiserver {

/// Lists and watches the objects of one type. Objects are JSON in the server's form; a deleted
/// object has its last state and the revision of its deletion as resourceVersion. A progress event
/// of the storage becomes a bookmark. Selectors and timeouts in the options are ignored: a list has
/// all objects of the type, and a watch lasts until `stop`.
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
  /// Converts stored objects to the version of the type and hands them to `sink`.
  apimachinery::Result<void> Convert(const std::vector<storage::KeyValue>& values, ObjectSink sink,
                                     const std::stop_token& stop);

  ResourceTypeRef type_;
  storage::Storage& storage_;
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_CACHER_STORAGE_LISTER_WATCHER_H_
