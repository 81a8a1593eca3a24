/// @file
/// InSeconds: rounds times to the precision in which start times of rollouts are compared.
#ifndef KUBEXX_RELOADPOLICY_INTERNAL_IN_SECONDS_H_
#define KUBEXX_RELOADPOLICY_INTERNAL_IN_SECONDS_H_

#include <chrono>

#include "kubexx/base/clock.h"

namespace kubexx::reloadpolicy::internal {

/// Rounds a time down to whole seconds, in which annotations store it.
inline auto InSeconds(base::WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time);
}

}  // namespace kubexx::reloadpolicy::internal

#endif  // KUBEXX_RELOADPOLICY_INTERNAL_IN_SECONDS_H_
