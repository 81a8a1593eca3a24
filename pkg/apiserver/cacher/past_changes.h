/// @file
/// What the storage still knows of the past of a type.
#ifndef KUBEXX_APISERVER_CACHER_PAST_CHANGES_H_
#define KUBEXX_APISERVER_CACHER_PAST_CHANGES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/cache/lister_watcher.h"

namespace kubexx::apiserver {

/// A change as the storage remembers it.
struct PastChange {
  cache::WatchEvent event{};
  /// The object before; nothing for one that was added.
  std::optional<cache::Object> previous{};
};

/// Which changes to read.
struct PastRange {
  std::int64_t after = 0;    ///< later than this revision
  std::int64_t until = 0;    ///< up to and with this one, which the storage has reached
  std::size_t limit = 1000;  ///< no more than this
};

/// The changes of a type in that range, in order. kExpired when the storage has forgotten them, or
/// there are more than the limit. Blocks for a few milliseconds.
apimachinery::Result<std::vector<PastChange>> PastChanges(const ResourceType& type,
                                                          storage::Storage& storage,
                                                          const PastRange& range,
                                                          std::stop_token stop);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_CACHER_PAST_CHANGES_H_
