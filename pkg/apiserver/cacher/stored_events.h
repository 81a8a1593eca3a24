/// @file
/// Turns values and events of the storage into objects and events for the cache.
#ifndef KUBEXX_APISERVER_CACHER_STORED_EVENTS_H_
#define KUBEXX_APISERVER_CACHER_STORED_EVENTS_H_

#include <stop_token>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/cache/lister_watcher.h"
#include "kubexx/cache/object.h"

namespace kubexx::apiserver {

/// Makes an object in the server's form from a stored value, with `revision` as resourceVersion.
apimachinery::Result<cache::Object> ObjectOfStored(const ResourceType& type, std::string_view key,
                                                   const storage::Bytes& value,
                                                   storage::Revision revision,
                                                   const std::stop_token& stop);

/// Makes a watch event from an event of the storage. A deleted object has its last state and the
/// revision of its deletion. A progress event becomes a bookmark.
apimachinery::Result<cache::WatchEvent> WatchEventOf(const ResourceType& type,
                                                     const storage::Event& event,
                                                     const std::stop_token& stop);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_CACHER_STORED_EVENTS_H_
