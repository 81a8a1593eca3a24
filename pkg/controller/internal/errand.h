/// @file
/// Calls on a thread of their own.
#ifndef KUBEXX_CONTROLLER_INTERNAL_ERRAND_H_
#define KUBEXX_CONTROLLER_INTERNAL_ERRAND_H_

#include <functional>
#include <string>

#include "kubexx/controller/internal/runnable_group.h"

namespace kubexx::controller::internal {

/// Calls `errand` on a thread of `group`, which must have been started. Returns false, and calls
/// nothing, when the system has no thread left. Thread-safe.
bool TrySend(RunnableGroup& group, std::string name, std::function<void()> errand);

/// As TrySend, but calls `errand` on this thread when the system has no other one left. It may
/// hang here then; an EndGuard ends the process all the same.
void Send(RunnableGroup& group, std::string name, const std::function<void()>& errand);

}  // namespace kubexx::controller::internal

#endif  // KUBEXX_CONTROLLER_INTERNAL_ERRAND_H_
