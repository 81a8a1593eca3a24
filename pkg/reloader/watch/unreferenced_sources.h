/// @file
/// Limits how often workloads are listed for changes of sources that no known workload uses.
#ifndef KUBEXX_RELOADER_WATCH_UNREFERENCED_SOURCES_H_
#define KUBEXX_RELOADER_WATCH_UNREFERENCED_SOURCES_H_

#include <chrono>
#include <cstddef>
#include <map>

#include "kubexx/base/clock.h"
#include "kubexx/reloader/model/source.h"

namespace kubexx::reloader {

/// A source that no known workload uses may be used by one that has not been listed yet, so its
/// first change causes a list at once. If the source keeps changing, such as a ConfigMap in which
/// another program stores its state, the next list comes after a second, then two, up to a minute.
/// After ten minutes without a change it starts over. Pure; not thread-safe.
class UnreferencedSources {
 public:
  static constexpr base::Duration kFirstWait = std::chrono::seconds(1);
  static constexpr base::Duration kLongestWait = std::chrono::minutes(1);
  static constexpr base::Duration kQuiet = std::chrono::minutes(10);
  /// The most sources that are kept; beyond that all of them are dropped.
  static constexpr std::size_t kMaxSources = 10'000;

  /// When workloads must be listed for a change of the source that arrives at `now`.
  base::TimePoint DueOf(const SourceId& source, base::TimePoint now) const;
  /// Workloads are being listed for the source.
  void LookedInto(const SourceId& source, base::TimePoint now);
  /// A known workload uses the source.
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
