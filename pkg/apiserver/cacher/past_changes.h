/// @file
/// What the storage still knows of the past of a type.
#ifndef KUBEXX_APISERVER_CACHER_PAST_CHANGES_H_
#define KUBEXX_APISERVER_CACHER_PAST_CHANGES_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/clock.h"
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
  /// How long the storage may be silent.
  base::Duration patience = std::chrono::seconds(3);
};

/// The changes of a type in that range, in order. kExpired when the storage has forgotten them, or
/// there are more than the limit; kTimeout when it is silent for longer than the range allows.
/// Blocks for a few milliseconds, or for as long as a converting webhook takes.
apimachinery::Result<std::vector<PastChange>> PastChanges(const ResourceType& type,
                                                          storage::Storage& storage,
                                                          const PastRange& range,
                                                          base::Clock& clock,
                                                          const std::stop_token& stop);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_CACHER_PAST_CHANGES_H_
