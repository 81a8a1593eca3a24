/// @file
/// Controller: watches, a queue, and workers that reconcile. Made with ControllerBuilder
/// (builder.h).
#ifndef KUBEXX_CONTROLLER_CONTROLLER_H_
#define KUBEXX_CONTROLLER_CONTROLLER_H_

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/subscription.h"
#include "kubexx/controller/client.h"
#include "kubexx/controller/reconciler.h"
#include "kubexx/controller/runnable.h"
#include "kubexx/events/recorder.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/workqueue/queue.h"

namespace kubexx::controller {

/// Of keys that only a first list or a resync brought: whatever really changes goes first.
inline constexpr int kLowPriority = -100;

/// Where a controller's requests come from.
struct Source {
  /// For errors, and unique within the controller.
  std::string name{};
  /// Begins to add requests to the queue, which outlives the subscription. Without it the
  /// controller ends with kInvalidConfig.
  std::function<base::Subscription(workqueue::Queue&)> start{};
  /// Blocks until what existed at the start is in the queue; false when `stop` was requested first.
  /// Empty: there is nothing to wait for, as with a timer or another system's messages.
  std::function<bool(std::stop_token stop)> wait_for_sync{};
};

/// Settings of one controller.
struct ControllerOptions {
  /// Label of the metrics; unique in its manager.
  std::string name{};
  int max_concurrent_reconciles = 1;
  /// Zero: no limit. When it is over the reconcile is told to stop, which is logged and counted at
  /// that moment, whether it heeds it or not.
  base::Duration reconcile_timeout{0};
  /// How long its sources may take to sync before the controller fails.
  base::Duration cache_sync_timeout = std::chrono::minutes(2);
  workqueue::Order order = workqueue::Order::kPriority;
  workqueue::FairOptions fair{};
  /// Default: exponential for each key, 5 ms to 1000 s.
  std::shared_ptr<workqueue::RateLimiter> rate_limiter{};
  /// Whether it works on the leader only.
  bool needs_leader_election = true;
  /// Whether its queue fills before this replica leads, so that it can begin at once.
  bool warm_standby = false;
  /// Whether a reconcile waits until the caches have seen what earlier ones of its request wrote.
  bool read_your_writes = true;
  /// What reconciles record Events with; null: nothing is recorded. A ControllerBuilder has the
  /// manager's recorder for the controller's name here, unless it was given another one.
  std::shared_ptr<events::Recorder> recorder{};
  base::Clock& clock = base::Clock::Real();
  /// Must outlive the controller.
  metrics::Registry* registry = nullptr;
};

/// As controller-runtime's: an error, and what is thrown, is retried with backoff, a terminal error
/// is not; RequeueAfter and success end the backoff; a request keeps its priority when it is tried
/// again, unless the action says otherwise. A reconcile that fails after a read of a cache without
/// a first list is tried again after 1 to 8 s, however often. Thread-safe. Runs once.
class Controller final : public Runnable {
 public:
  /// `client` is copied for each reconcile, with its stop_token and the store of writes.
  Controller(ControllerOptions options, Client::Parts client, ReconcileFunction reconcile);
  ~Controller() override;
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  /// Before Run or Warmup.
  void AddSource(Source source);

  /// Adds a request by hand, for example from a timer or another system's callback.
  void Enqueue(const Request& request, const workqueue::AddOptions& options = {});

  std::string Name() const override;
  Stage stage() const override;
  apimachinery::Result<void> Warmup(std::stop_token stop) override;
  /// Starts the sources, waits for their sync, and works until `stop` is requested. Then running
  /// reconciles are told to stop and waited for; what is queued is dropped, as the next start finds
  /// it again. kTimeout when a source did not sync in time;
  /// kInvalidConfig when one has no `start`.
  apimachinery::Result<void> Run(std::stop_token stop) override;
  /// The reconciles that run, the longest first; of many the first few and how many more.
  std::vector<std::string> Busy() const override;

  /// Requests that wait.
  std::size_t QueueLength() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_CONTROLLER_H_
