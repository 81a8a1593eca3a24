/// @file
/// The sources of one controller.
#ifndef KUBEXX_CONTROLLER_INTERNAL_SOURCE_GROUP_H_
#define KUBEXX_CONTROLLER_INTERNAL_SOURCE_GROUP_H_

#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/subscription.h"
#include "kubexx/controller/controller.h"
#include "kubexx/controller/internal/deadlines.h"
#include "kubexx/workqueue/queue.h"

namespace kubexx::controller::internal {

/// Starts sources together, and waits for them. Not thread-safe. Must be destroyed before the queue
/// that it was started with.
class SourceGroup {
 public:
  void Add(Source source) { sources_.push_back(std::move(source)); }
  /// Starts the sources, unless they have been started. Returns kInvalidConfig when a source has no
  /// `start`. `controller` is named in the error.
  apimachinery::Result<void> Start(const std::string& controller, workqueue::Queue& queue);
  /// Waits until all sources have synced or `stop` is requested. Returns kTimeout when `deadline`
  /// comes before that.
  apimachinery::Result<void> WaitForSync(const std::string& controller, Deadlines& deadlines,
                                         base::TimePoint deadline, const std::stop_token& stop);
  void Stop() { subscriptions_.clear(); }

 private:
  std::vector<Source> sources_;
  bool started_ = false;
  std::vector<base::Subscription> subscriptions_;
};

}  // namespace kubexx::controller::internal

#endif  // KUBEXX_CONTROLLER_INTERNAL_SOURCE_GROUP_H_
