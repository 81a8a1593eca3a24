/// @file
/// Stores the changes of sources in the last seconds.
#ifndef KUBEXX_RELOADER_WATCH_RECENT_CHANGES_H_
#define KUBEXX_RELOADER_WATCH_RECENT_CHANGES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/plan/planner.h"

namespace kubexx::reloader {

/// Stores recent changes, because the watches of sources and of workloads are not synchronized: the
/// event of a change may arrive before the event of a workload that was created, or began to use
/// the source, before the change. Keeps each change for ten seconds, and at most 10,000 changes.
/// Thread-safe.
class RecentChanges {
 public:
  struct Change {
    SourceId source{};
    Digest before{};
    Move now{};
  };
  /// `clock` must outlive this object.
  explicit RecentChanges(base::Clock& clock) : clock_(clock) {}

  /// A source changed from `before` to `now`. Stores nothing when the version of `now` is 0 (not
  /// known).
  void Add(const SourceId& source, const Digest& before, const Move& now);
  /// The changes in the namespace after that resource version, in order of arrival.
  std::vector<Change> Since(std::string_view namespace_, std::uint64_t version);

 private:
  struct Entry {
    Change change;
    base::TimePoint at;
  };
  void ForgetOldLocked(base::TimePoint now) KX_REQUIRES(mu_);

  base::Clock& clock_;
  mutable base::Mutex mu_;
  std::map<std::string, std::deque<Entry>, std::less<>> by_namespace_ KX_GUARDED_BY(mu_);
  /// The namespaces of all entries, in order of arrival.
  std::deque<std::string> order_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WATCH_RECENT_CHANGES_H_
