/// @file
/// Ends Events that nobody needs any more.
#ifndef KUBEXX_APISERVER_ENDPOINTS_EVENT_REAPER_H_
#define KUBEXX_APISERVER_ENDPOINTS_EVENT_REAPER_H_

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string>

#include "kubexx/apiserver/endpoints/object_store.h"
#include "kubexx/apiserver/endpoints/type_registry.h"
#include "kubexx/base/clock.h"

namespace kubexx::apiserver {

/// Deletes Events of which nothing has been heard for a while: kube-apiserver has etcd do that
/// (--event-ttl); without it a busy cluster would fill the store. To be used by one thread.
class EventReaper {
 public:
  /// `types` and `objects` must outlive it. A `ttl` of zero keeps Events for ever.
  EventReaper(TypeRegistry& types, ObjectStore& objects, std::chrono::seconds ttl)
      : types_(types), objects_(objects), ttl_(ttl), next_(objects.clock().Now()) {}

  /// To be called about once a second; begins to look once a minute. One call looks at no more than
  /// a thousand Events of each of the two API groups and deletes no more than 256 of them, because
  /// others wait for the thread that calls it. The next call goes on where it ended.
  void Tick(const std::stop_token& stop);

 private:
  /// Whether it has come to the last Event of the type.
  apimachinery::Result<bool> ReapSome(const ResourceType& type, const std::stop_token& stop);

  TypeRegistry& types_;
  ObjectStore& objects_;
  const std::chrono::seconds ttl_;
  base::TimePoint next_;
  std::size_t type_ = 0;    // whose turn it is
  std::string last_key_{};  // of that type, the last that has been looked at; empty for none
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_EVENT_REAPER_H_
