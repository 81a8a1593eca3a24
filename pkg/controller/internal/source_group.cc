#include "kubexx/controller/internal/source_group.h"

#include <utility>

namespace kubexx::controller::internal {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

Result<void> SourceGroup::Start(const std::string& controller, workqueue::Queue& queue) {
  if (std::exchange(started_, true)) {
    return {};
  }
  for (const Source& source : sources_) {
    if (!source.start) {
      return Fail(Reason::kInvalidConfig,
                  "controller " + controller + ": the source '" + source.name +
                      "' has no function `start`, and so would never add a request");
    }
    subscriptions_.push_back(source.start(queue));
  }
  return {};
}

Result<void> SourceGroup::WaitForSync(const std::string& controller, Deadlines& deadlines,
                                      base::TimePoint deadline, const std::stop_token& stop) {
  std::stop_source give_up;
  const std::stop_callback also_on_stop(stop, [&give_up] { give_up.request_stop(); });
  const base::Subscription timer = deadlines.Arm(give_up, deadline);
  for (const Source& source : sources_) {
    if (source.wait_for_sync && !source.wait_for_sync(give_up.get_token()) &&
        !stop.stop_requested()) {
      return Fail(Reason::kTimeout,
                  "controller " + controller + ": the cache of " + source.name +
                      " did not get its first list in time; the log has the reason, often a "
                      "missing CustomResourceDefinition or permission");
    }
  }
  return {};
}

}  // namespace kubexx::controller::internal
