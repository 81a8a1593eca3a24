/// @file
/// Makes calls on threads of their own.
#ifndef KUBEXX_CONTROLLER_INTERNAL_ERRAND_H_
#define KUBEXX_CONTROLLER_INTERNAL_ERRAND_H_

#include <functional>
#include <string>

#include "kubexx/controller/internal/runnable_group.h"

namespace kubexx::controller::internal {

/// Calls `errand` on a thread of `group`, which must have been started. Returns false, and calls
/// nothing, when the system has no thread left. Thread-safe.
bool TrySend(RunnableGroup& group, std::string name, std::function<void()> errand);

/// Does as TrySend, but calls `errand` on this thread when the system has no thread left. The call
/// may hang then; an EndGuard ends the process nevertheless.
void Send(RunnableGroup& group, std::string name, const std::function<void()>& errand);

}  // namespace kubexx::controller::internal

#endif  // KUBEXX_CONTROLLER_INTERNAL_ERRAND_H_
