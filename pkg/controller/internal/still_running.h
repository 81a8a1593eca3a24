/// @file
/// AskWhatRuns: names the runnables that do not stop.
#ifndef KUBEXX_CONTROLLER_INTERNAL_STILL_RUNNING_H_
#define KUBEXX_CONTROLLER_INTERNAL_STILL_RUNNING_H_

#include <string>
#include <vector>

#include "kubexx/controller/internal/runnable_group.h"

namespace kubexx::controller::internal {

/// Returns the names of everything that runs in `groups` and in `errands`, and what each of them is
/// doing. A runnable that hangs may hold the lock that its Busy() needs, so each is asked on a
/// thread of its own, in `errands`. For a runnable that has not answered after kMoment, or for
/// which there is no thread, the result has only the name.
std::vector<std::string> AskWhatRuns(const std::vector<const RunnableGroup*>& groups,
                                     RunnableGroup& errands);

}  // namespace kubexx::controller::internal

#endif  // KUBEXX_CONTROLLER_INTERNAL_STILL_RUNNING_H_
