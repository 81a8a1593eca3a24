/// @file
/// Notices when sources that could not be read can be read.
#ifndef KUBEXX_RELOADER_OPERATOR_LATE_SOURCES_H_
#define KUBEXX_RELOADER_OPERATOR_LATE_SOURCES_H_

#include <set>

#include "kubexx/base/mutex.h"
#include "kubexx/reloader/watch/caches.h"
#include "kubexx/reloader/watch/source_spaces.h"

namespace kubexx::reloader {

/// Remembers which sources could not be read at the last look. What is gone of them since the plans
/// that went without them no event tells. Thread-safe; never blocks.
class LateSources {
 public:
  /// `caches` must outlive this object.
  explicit LateSources(const Caches& caches) : caches_(caches) {}

  /// What a look has found.
  struct Found {
    /// The places whose sources could not be read at the last look and can be read now.
    std::set<SourceSpace> known{};
    /// Some sources can still not be read: look again.
    bool some_are_late = false;
  };
  /// Looks, and logs what can be read now. Returns each place once.
  Found Look();

 private:
  const Caches& caches_;
  base::Mutex mu_;
  std::set<SourceSpace> late_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OPERATOR_LATE_SOURCES_H_
