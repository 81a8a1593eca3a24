/// @file
/// The changes of sources of the last seconds.
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

/// The watches of sources and of workloads are not in step: a change may be told of before the
/// workload that was made, or began to use the source, before it. Remembers each change for ten
/// seconds, and no more than 10,000 of them. Thread-safe.
class RecentChanges {
 public:
  struct Change {
    SourceId source{};
    Digest before{};
    Move now{};
  };
  /// `clock` must outlive it.
  explicit RecentChanges(base::Clock& clock) : clock_(clock) {}

  /// A source changed from `before`. Nothing is remembered when the version of `now` is not known.
  void Add(const SourceId& source, const Digest& before, const Move& now);
  /// The changes in the namespace after that resource version, in the order in which they came.
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
  /// The namespaces of all entries, in the order in which they came.
  std::deque<std::string> order_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WATCH_RECENT_CHANGES_H_
