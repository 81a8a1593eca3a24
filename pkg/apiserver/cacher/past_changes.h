/// @file
/// Reads past changes of a type from the history of the storage.
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

/// One change from the history of the storage.
struct PastChange {
  cache::WatchEvent event{};
  /// The object before the change; std::nullopt when the change created it.
  std::optional<cache::Object> previous{};
};

/// Which changes PastChanges reads.
struct PastRange {
  std::int64_t after = 0;  ///< changes after this revision
  /// Changes up to and including this revision, which the storage has reached.
  std::int64_t until = 0;
  std::size_t limit = 1000;  ///< at most this many changes
  /// At most this many bytes of stored objects, with those before the changes.
  std::size_t max_bytes = 32 << 20;
  /// PastChanges fails when the storage gives no event for this long.
  base::Duration patience = std::chrono::seconds(3);
};

/// Returns the changes of a type in that range, in order. Returns kExpired when the storage has
/// compacted them or there are more than the limits, and kTimeout when the storage gives no event
/// for longer than `PastRange::patience`. Blocks for a few milliseconds, or for as long as a
/// conversion webhook takes.
apimachinery::Result<std::vector<PastChange>> PastChanges(const ResourceType& type,
                                                          storage::Storage& storage,
                                                          const PastRange& range,
                                                          base::Clock& clock,
                                                          const std::stop_token& stop);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_CACHER_PAST_CHANGES_H_
