/// @file
/// Briefly: calls a function that may hang, right before the process ends.
#ifndef KUBEXX_CONTROLLER_INTERNAL_BRIEFLY_H_
#define KUBEXX_CONTROLLER_INTERNAL_BRIEFLY_H_

#include <functional>

#include "kubexx/base/clock.h"

namespace kubexx::controller::internal {

/// How long a process that is ending waits for code that may hang.
inline constexpr base::Duration kMoment = std::chrono::milliseconds(500);

/// Calls `act` on a thread of its own. Returns when `act` has returned, but after kMoment at the
/// latest. A thread that hangs is left behind, so use this only in a process that ends right
/// afterwards.
void Briefly(std::function<void()> act);

}  // namespace kubexx::controller::internal

#endif  // KUBEXX_CONTROLLER_INTERNAL_BRIEFLY_H_
