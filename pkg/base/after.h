/// @file
/// Points in time that may be as good as never.
#ifndef KUBEXX_BASE_AFTER_H_
#define KUBEXX_BASE_AFTER_H_

#include "kubexx/base/clock.h"

namespace kubexx::base {

/// `d` after `from`; TimePoint::max(), which no wait ends at, where that is later than can be told:
/// who sets a limit to Duration::max() wants none, and the sum would be long past.
constexpr TimePoint After(TimePoint from, Duration d) {
  return d > Duration::zero() && from > TimePoint::max() - d ? TimePoint::max() : from + d;
}

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_AFTER_H_
