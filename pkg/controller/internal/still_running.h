/// @file
/// AskWhatRuns: names the runnables that do not stop.
#ifndef KUBEXX_CONTROLLER_INTERNAL_STILL_RUNNING_H_
#define KUBEXX_CONTROLLER_INTERNAL_STILL_RUNNING_H_

#include <functional>
#include <string>
#include <vector>

#include "kubexx/controller/internal/runnable_group.h"

namespace kubexx::controller::internal {

/// Calls a function on a thread of its own; false when it cannot.
using Sender = std::function<bool(std::function<void()>)>;

/// Returns the names of what runs in `groups`, and what each is doing. A runnable that hangs may
/// hold the lock that its Busy() needs, so each is asked on a thread of its own. For one that has
/// not answered after kMoment, or for which there is no thread, the result has only the name.
std::vector<std::string> AskWhatRuns(const std::vector<const RunnableGroup*>& groups,
                                     const Sender& send);

}  // namespace kubexx::controller::internal

#endif  // KUBEXX_CONTROLLER_INTERNAL_STILL_RUNNING_H_
