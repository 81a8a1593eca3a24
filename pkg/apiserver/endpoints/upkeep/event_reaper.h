/// @file
/// Deletes old Events.
#ifndef KUBEXX_APISERVER_ENDPOINTS_UPKEEP_EVENT_REAPER_H_
#define KUBEXX_APISERVER_ENDPOINTS_UPKEEP_EVENT_REAPER_H_

#include <chrono>
#include <cstddef>
#include <deque>
#include <stop_token>
#include <string>

#include "kubexx/apiserver/endpoints/registry/type_registry.h"
#include "kubexx/apiserver/endpoints/store/object_store.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/clock.h"

namespace kubexx::apiserver {

/// Deletes Events that have not been written for a given time; otherwise a busy cluster would fill
/// the store. kube-apiserver lets etcd do that (--event-ttl: each write gives the Event a new
/// lease). The reaper records the store's revision from time to time, so that the revision of an
/// Event tells when it was written. For Events older than the reaper it uses the times in their
/// content. For use by one thread.
class EventReaper {
 public:
  /// `types` and `objects` must outlive it. A `ttl` of zero keeps Events for ever.
  EventReaper(TypeRegistry& types, ObjectStore& objects, std::chrono::seconds ttl);

  /// Looks for old Events and deletes them. To be called about once a second, and again at once
  /// when it returns true. A search begins every twentieth of the Events' lifetime, but not more
  /// often than once a second and not less often than once a minute. One call reads at most a
  /// thousand Events of each of the two API groups and deletes at most 256 of them, because other
  /// work waits for the calling thread. The next call continues where this one ended.
  bool Tick(const std::stop_token& stop);

 private:
  /// The revision of the store at a time.
  struct Mark {
    base::TimePoint time{};
    storage::Revision revision = 0;
  };

  /// Records the revision of the store when it is time to.
  apimachinery::Result<void> Note(const std::stop_token& stop);
  /// Whether the first mark suffices to tell for every Event whether it is old, without its
  /// content.
  bool TellsAll() const { return objects_.clock().Now() - marks_.front().time >= ttl_; }
  /// Whether an Event is older than its lifetime.
  bool IsOld(const ResourceType& type, const storage::KeyValue& kv) const;
  /// Deletes some old Events of the type. Returns whether it has reached the last one.
  apimachinery::Result<bool> ReapSome(const ResourceType& type, const std::stop_token& stop);

  TypeRegistry& types_;
  ObjectStore& objects_;
  const std::chrono::seconds ttl_;
  const base::Duration look_interval_;
  const base::Duration mark_interval_;
  base::TimePoint next_;
  /// The marks in order: the last one that is at least `ttl_` old, and those after it. Events with
  /// the revision of the first mark or a lower one have not been written since that mark.
  std::deque<Mark> marks_{};
  std::size_t type_ = 0;    // whose turn it is
  std::string last_key_{};  // of that type, the last that has been looked at; empty for none
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_UPKEEP_EVENT_REAPER_H_
