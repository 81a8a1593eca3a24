/// @file
/// What is done right before the process ends.
#ifndef KUBEXX_CONTROLLER_INTERNAL_BRIEFLY_H_
#define KUBEXX_CONTROLLER_INTERNAL_BRIEFLY_H_

#include <functional>

#include "kubexx/base/clock.h"

namespace kubexx::controller::internal {

/// How long the end of the process waits for what may hang as all else does.
inline constexpr base::Duration kMoment = std::chrono::milliseconds(500);

/// Calls `act` on a thread of its own and returns when it has returned, after kMoment at the
/// latest. What hangs is left behind, so this is only for a process that ends right afterwards.
void Briefly(std::function<void()> act);

}  // namespace kubexx::controller::internal

#endif  // KUBEXX_CONTROLLER_INTERNAL_BRIEFLY_H_
