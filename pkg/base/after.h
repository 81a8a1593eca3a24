/// @file
/// Computes points in time that may be too late to be represented.
#ifndef KUBEXX_BASE_AFTER_H_
#define KUBEXX_BASE_AFTER_H_

#include <chrono>

#include "kubexx/base/clock.h"

namespace kubexx::base {

/// Returns the time `d` after `from`. If the sum is later than the latest TimePoint, it is
/// TimePoint::max(), at which no wait ends. A limit of Duration::max() means no limit, but without
/// this the sum would overflow into the past.
constexpr TimePoint After(TimePoint from, Duration d) {
  return d > Duration::zero() && from > TimePoint::max() - d ? TimePoint::max() : from + d;
}

/// The same for a time in a coarser unit. It may be longer than 292 years, the most that a Duration
/// can hold, so the caller must not convert it to a Duration first.
template <class Rep, class Period>
constexpr TimePoint After(TimePoint from, std::chrono::duration<Rep, Period> d) {
  using Unit = std::chrono::duration<Rep, Period>;
  return d > std::chrono::duration_cast<Unit>(Duration::max()) ? TimePoint::max()
                                                               : After(from, Duration(d));
}

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_AFTER_H_
