/// @file
/// InternalErrorWindow: the time for which a reflector tolerates "internal error" answers.
#ifndef KUBEXX_CACHE_INTERNAL_REFLECTOR_INTERNAL_ERROR_WINDOW_H_
#define KUBEXX_CACHE_INTERNAL_REFLECTOR_INTERNAL_ERROR_WINDOW_H_

#include <chrono>
#include <optional>

#include "kubexx/base/clock.h"

namespace kubexx::cache::internal {

/// The window of client-go's retryWithDeadline. It begins with an internal error, and begins anew
/// with an internal error that comes after a minute without one. Not thread-safe.
class InternalErrorWindow {
 public:
  explicit InternalErrorWindow(base::Duration length) : length_(length) {}

  /// Records an internal error at `now`, and returns whether it is within the window.
  bool Contains(base::TimePoint now) {
    constexpr base::Duration kQuiet = std::chrono::minutes(1);
    if (!began_ || now - last_ >= kQuiet) {
      began_ = now;
    }
    last_ = now;
    return now - *began_ < length_;
  }

 private:
  const base::Duration length_;
  std::optional<base::TimePoint> began_{};
  base::TimePoint last_{};
};

}  // namespace kubexx::cache::internal

#endif  // KUBEXX_CACHE_INTERNAL_REFLECTOR_INTERNAL_ERROR_WINDOW_H_
