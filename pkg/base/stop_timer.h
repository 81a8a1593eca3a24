/// @file
/// StopTimer: a stop token that is requested after a time.
#ifndef KUBEXX_BASE_STOP_TIMER_H_
#define KUBEXX_BASE_STOP_TIMER_H_

#include <functional>
#include <optional>
#include <stop_token>
#include <thread>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"

namespace kubexx::base {

/// Has a stop token that is requested when `parent` is, or when `limit` has passed since the
/// construction or the last Restart. It serves deadlines, and watchdogs over peers that may fall
/// silent. It costs a sleeping thread, unless `limit` is zero, which means no limit. Thread-safe.
class StopTimer {
 public:
  StopTimer(Clock& clock, const std::stop_token& parent, Duration limit);
  StopTimer(const StopTimer&) = delete;
  StopTimer& operator=(const StopTimer&) = delete;

  std::stop_token token() const { return source_.get_token(); }
  /// Stops the time until the next Restart.
  void Pause();
  /// Begins the time anew. Has no effect once the time has expired.
  void Restart();
  /// Returns whether the token was requested because the time has expired.
  bool expired() const;

 private:
  void Run(const std::stop_token& stop);

  Clock& clock_;
  const Duration limit_;
  std::stop_source source_;
  std::stop_callback<std::function<void()>> on_parent_;
  mutable Mutex mu_;
  CondVar changed_;
  TimePoint deadline_ KX_GUARDED_BY(mu_);
  bool paused_ KX_GUARDED_BY(mu_) = false;
  bool expired_ KX_GUARDED_BY(mu_) = false;
  std::optional<std::jthread> thread_;
};

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_STOP_TIMER_H_
