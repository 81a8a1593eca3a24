/// @file
/// Since when keys wait, for latency metrics.
#ifndef KUBEXX_RELOADER_OPERATOR_KEY_TIMES_H_
#define KUBEXX_RELOADER_OPERATOR_KEY_TIMES_H_

#include <optional>
#include <unordered_map>
#include <utility>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/workqueue/queue.h"

namespace kubexx::reloader {

/// Two times of each key that waits. Thread-safe. An entry lives from the first of them until Take.
class KeyTimes {
 public:
  struct Times {
    std::optional<base::TimePoint>
        changed{};                            ///< the last change of a source that concerns the key
    std::optional<base::TimePoint> queued{};  ///< when the key was queued
  };

  void Changed(const workqueue::Key& key, base::TimePoint now) {
    const base::MutexLock lock(mu_);
    times_[key].changed = now;
  }
  void Queued(const workqueue::Key& key, base::TimePoint now) {
    const base::MutexLock lock(mu_);
    times_[key].queued = now;
  }
  Times Take(const workqueue::Key& key) {
    const base::MutexLock lock(mu_);
    const auto found = times_.find(key);
    if (found == times_.end()) {
      return {};
    }
    const Times times = found->second;
    times_.erase(found);
    return times;
  }
  /// The key will be tried again: its change is still unanswered, unless there is a later one.
  void PutBack(const workqueue::Key& key, const Times& times) {
    if (!times.changed) {
      return;
    }
    const base::MutexLock lock(mu_);
    auto& changed = times_[key].changed;
    changed = changed ? changed : times.changed;
  }

 private:
  base::Mutex mu_;
  std::unordered_map<workqueue::Key, Times> times_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OPERATOR_KEY_TIMES_H_
