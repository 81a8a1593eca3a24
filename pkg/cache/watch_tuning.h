/// @file
/// WatchTuning: settings of how a Reflector lists and watches.
#ifndef KUBEXX_CACHE_WATCH_TUNING_H_
#define KUBEXX_CACHE_WATCH_TUNING_H_

#include <chrono>
#include <cstdint>

#include "kubexx/base/clock.h"
#include "kubexx/cache/backoff.h"

namespace kubexx::cache {

/// Settings that informers and factories pass on to their reflectors. The defaults are client-go's.
struct WatchTuning {
  /// The number of objects in a page of a list that etcd serves; 0 disables paging.
  std::int64_t page_size = 500;
  /// Whether to page every list, even those that the server's watch cache would answer at once.
  /// This takes less of the server's memory for one response and causes more work for its etcd. As
  /// WatchListPageSize.
  bool force_pages = false;
  /// A watch asks the server for a random lifetime in [min_watch_timeout, 2 * min_watch_timeout),
  /// so that the watches of many clients do not all restart at the same time.
  std::chrono::seconds min_watch_timeout{300};
  /// The delays between attempts, shared by lists and watches. Those before watches start again at
  /// the initial one after a watch has lived for as long as the delay before it.
  BackoffOptions backoff{};
  /// For this long after the first "internal error" of a watch, the reflector only repeats the
  /// watch, with backoff, however often it fails. Later errors count as failures; after three of
  /// these the reflector lists again. After a minute without such an error the time starts again.
  /// As MaxInternalErrorRetryDuration.
  base::Duration max_internal_error_retry{0};
  /// When a watch brings nothing for this long, not even a bookmark, the reflector takes its
  /// connection for dead, and opens a new watch at the last version. An API server sends a bookmark
  /// about every minute, so two to five minutes are a good value for a program that must notice a
  /// dead connection soon. With zero, the source decides; the limit of NewListWatchFromClient is
  /// the watch's lifetime plus ListWatchOptions::watch_idle_margin.
  base::Duration watch_idle_timeout{0};

  bool operator==(const WatchTuning&) const = default;
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_WATCH_TUNING_H_
