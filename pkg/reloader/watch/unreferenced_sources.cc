#include "kubexx/reloader/watch/unreferenced_sources.h"

#include <algorithm>

namespace kubexx::reloader {

base::TimePoint UnreferencedSources::DueOf(const SourceId& source, base::TimePoint now) const {
  const auto found = entries_.find(source);
  return found == entries_.end() ? now : std::max(now, found->second.last + found->second.wait);
}

void UnreferencedSources::LookedInto(const SourceId& source, base::TimePoint now) {
  if (entries_.size() >= kMaxSources && !entries_.contains(source)) {
    entries_.clear();
  }
  Entry& entry = entries_[source];
  const bool begins = entry.wait == base::Duration(0) || now - entry.last >= kQuiet;
  entry.wait = begins ? kFirstWait : std::min(2 * entry.wait, kLongestWait);
  entry.last = now;
}

}  // namespace kubexx::reloader
