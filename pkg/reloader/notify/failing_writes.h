/// @file
/// Workloads whose writes fail, and when that is worth a message.
#ifndef KUBEXX_RELOADER_NOTIFY_FAILING_WRITES_H_
#define KUBEXX_RELOADER_NOTIFY_FAILING_WRITES_H_

#include <map>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/reloader/write/notifier.h"

namespace kubexx::reloader {

/// Remembers the workloads whose writes fail, so that each is told once until a write succeeds: at
/// once if the server refuses the write for good, and otherwise when writes have failed for half a
/// minute. Keeps at most 10,000 workloads; beyond that, some are told again. Thread-safe.
class FailingWrites {
 public:
  /// `clock` must outlive this object.
  explicit FailingWrites(base::Clock& clock) : clock_(clock) {}

  /// Takes note of a write. Returns whether it has failed and that is to be told.
  bool IsNews(const WriteReport& report);

 private:
  struct Failing {
    base::TimePoint since{};
    bool is_told = false;
  };

  base::Clock& clock_;
  base::Mutex mu_;
  std::map<WorkloadId, Failing> failing_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_NOTIFY_FAILING_WRITES_H_
