/// @file
/// How often changes of sources that nothing is known to use are worth a list of the workloads.
#ifndef KUBEXX_RELOADER_WATCH_UNREFERENCED_SOURCES_H_
#define KUBEXX_RELOADER_WATCH_UNREFERENCED_SOURCES_H_

#include <chrono>
#include <cstddef>
#include <map>

#include "kubexx/base/clock.h"
#include "kubexx/reloader/model/source.h"

namespace kubexx::reloader {

/// A source that no known workload uses may be used by one that has not been listed yet, so its
/// first change is looked into at once. One that goes on changing, as a ConfigMap that something
/// else keeps its state in, is looked into after a second, then two, up to a minute; after ten
/// quiet minutes it begins anew. Pure, not thread-safe.
class UnreferencedSources {
 public:
  static constexpr base::Duration kFirstWait = std::chrono::seconds(1);
  static constexpr base::Duration kLongestWait = std::chrono::minutes(1);
  static constexpr base::Duration kQuiet = std::chrono::minutes(10);
  /// Sources that are kept; beyond that it begins anew.
  static constexpr std::size_t kMaxSources = 10'000;

  /// When a change of the source that has come `now` is to be looked into.
  base::TimePoint DueOf(const SourceId& source, base::TimePoint now) const;
  /// It is being looked into.
  void LookedInto(const SourceId& source, base::TimePoint now);
  /// Something uses it.
  void Forget(const SourceId& source) { entries_.erase(source); }

 private:
  struct Entry {
    base::TimePoint last{};
    base::Duration wait{};
  };

  std::map<SourceId, Entry> entries_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WATCH_UNREFERENCED_SOURCES_H_
