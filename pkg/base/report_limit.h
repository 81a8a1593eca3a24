/// @file
/// ReportLimit: keeps a repeated fault from filling the log.
#ifndef KUBEXX_BASE_REPORT_LIMIT_H_
#define KUBEXX_BASE_REPORT_LIMIT_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"

namespace kubexx::base {

/// Admits five lines a minute and counts the others. Thread-safe.
class ReportLimit {
 public:
  /// `clock` must outlive it.
  explicit ReportLimit(Clock& clock) : clock_(clock) {}

  /// Returns std::nullopt if this line should be left out, and otherwise how many lines have been
  /// left out since the last admitted one.
  std::optional<std::int64_t> Admit() {
    const TimePoint now = clock_.Now();
    const MutexLock lock(mu_);
    if (now >= window_end_) {
      window_end_ = now + std::chrono::minutes(1);
      left_ = kLines;
    }
    if (left_ == 0) {
      ++left_out_;
      return std::nullopt;
    }
    --left_;
    return std::exchange(left_out_, 0);
  }

 private:
  static constexpr int kLines = 5;

  Clock& clock_;
  Mutex mu_;
  TimePoint window_end_ KX_GUARDED_BY(mu_){};
  int left_ KX_GUARDED_BY(mu_) = 0;
  std::int64_t left_out_ KX_GUARDED_BY(mu_) = 0;
};

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_REPORT_LIMIT_H_
