/// @file
/// Ends Events that nobody needs any more.
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

/// Deletes Events that have not been written for a while: kube-apiserver has etcd do that
/// (--event-ttl: each write gives the Event a new lease); without it a busy cluster would fill the
/// store. It notes from time to time how far the store is, so that the revision of an Event tells
/// when that was written; for those that were there before it began their content tells. To be used
/// by one thread.
class EventReaper {
 public:
  /// `types` and `objects` must outlive it. A `ttl` of zero keeps Events for ever.
  EventReaper(TypeRegistry& types, ObjectStore& objects, std::chrono::seconds ttl);

  /// To be called about once a second, and at once again when it says so. Begins to look after a
  /// twentieth of the time that Events have, from once a second to once a minute, so that they go
  /// soon after their time. One call looks at no more than a thousand Events of each of the two API
  /// groups and deletes no more than 256 of them, because others wait for the thread that calls it.
  /// The next call goes on where it ended.
  bool Tick(const std::stop_token& stop);

 private:
  /// How far the store was at a time.
  struct Mark {
    base::TimePoint time{};
    storage::Revision revision = 0;
  };

  /// Notes how far the store is, when it is time to.
  apimachinery::Result<void> Note(const std::stop_token& stop);
  /// Whether the first mark tells of every Event whether its time is over.
  bool TellsAll() const { return objects_.clock().Now() - marks_.front().time >= ttl_; }
  /// Whether an Event's time is over.
  bool IsOld(const ResourceType& type, const storage::KeyValue& kv) const;
  /// Whether it has come to the last Event of the type.
  apimachinery::Result<bool> ReapSome(const ResourceType& type, const std::stop_token& stop);

  TypeRegistry& types_;
  ObjectStore& objects_;
  const std::chrono::seconds ttl_;
  const base::Duration look_interval_;
  const base::Duration mark_interval_;
  base::TimePoint next_;
  /// In order: the last one whose time was `ttl_` ago, and those after it. The first says more:
  /// what is of its revision or before has not been written since, whenever that was.
  std::deque<Mark> marks_{};
  std::size_t type_ = 0;    // whose turn it is
  std::string last_key_{};  // of that type, the last that has been looked at; empty for none
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_UPKEEP_EVENT_REAPER_H_
