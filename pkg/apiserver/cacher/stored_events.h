/// @file
/// What the storage tells, as the cache takes it.
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

/// A stored value as an object of the server's form, at `revision`.
apimachinery::Result<cache::Object> ObjectOfStored(const ResourceType& type, std::string_view key,
                                                   const storage::Bytes& value,
                                                   storage::Revision revision,
                                                   const std::stop_token& stop);

/// A deleted object is in its last state, at the revision of its deletion; progress is a bookmark.
apimachinery::Result<cache::WatchEvent> WatchEventOf(const ResourceType& type,
                                                     const storage::Event& event,
                                                     const std::stop_token& stop);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_CACHER_STORED_EVENTS_H_
