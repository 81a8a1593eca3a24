/// @file
/// How patiently a Reflector lists and watches.
#ifndef KUBEXX_CACHE_WATCH_TUNING_H_
#define KUBEXX_CACHE_WATCH_TUNING_H_

#include <chrono>
#include <cstdint>

#include "kubexx/base/clock.h"
#include "kubexx/cache/backoff.h"

namespace kubexx::cache {

/// Settings that informers and factories hand on to their reflectors. The defaults are client-go's.
struct WatchTuning {
  /// Objects in a page of a list that etcd serves; 0 switches paging off.
  std::int64_t page_size = 500;
  /// Page every list, also those that the server's watch cache would answer in one piece: less
  /// memory in the server for one response, more work for its etcd. As WatchListPageSize.
  bool force_pages = false;
  /// A watch asks the server for a lifetime drawn from [min_watch_timeout, 2 * min_watch_timeout),
  /// so that the watches of many clients do not all come back at once.
  std::chrono::seconds min_watch_timeout{300};
  /// Delays between attempts, shared by lists and watches. Those before watches begin anew once a
  /// watch has lived for as long as the delay before it.
  BackoffOptions backoff{};
  /// For this long after its first "internal error" a watch is tried again in place, with backoff,
  /// however often it fails; later ones count as failures, after three of which the state is listed
  /// anew. A minute without such an error starts the time again. As MaxInternalErrorRetryDuration.
  base::Duration max_internal_error_retry{0};
  /// A watch that brings nothing for this long, not even a bookmark, is given up and opened again
  /// at the last version: its connection is taken for dead. An API server sends a bookmark about
  /// every minute, so two to five minutes are a choice for when a dead connection must be noticed
  /// soon. Zero leaves it to the source; NewListWatchFromClient's own limit is the watch's lifetime
  /// plus ListWatchOptions::watch_idle_margin.
  base::Duration watch_idle_timeout{0};

  bool operator==(const WatchTuning&) const = default;
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_WATCH_TUNING_H_
