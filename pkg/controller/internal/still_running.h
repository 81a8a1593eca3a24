/// @file
/// Names of what does not stop.
#ifndef KUBEXX_CONTROLLER_INTERNAL_STILL_RUNNING_H_
#define KUBEXX_CONTROLLER_INTERNAL_STILL_RUNNING_H_

#include <functional>
#include <string>
#include <vector>

#include "kubexx/controller/internal/runnable_group.h"

namespace kubexx::controller::internal {

/// Calls a function on a thread of its own; false when it cannot.
using Sender = std::function<bool(std::function<void()>)>;

/// The names of what runs in `groups`, with what each is at. What hangs may hold the lock that its
/// Busy() wants, so each is asked on a thread of its own, and only the name is told of what has not
/// answered after kMoment, and of what there is no thread for.
std::vector<std::string> AskWhatRuns(const std::vector<const RunnableGroup*>& groups,
                                     const Sender& send);

}  // namespace kubexx::controller::internal

#endif  // KUBEXX_CONTROLLER_INTERNAL_STILL_RUNNING_H_
