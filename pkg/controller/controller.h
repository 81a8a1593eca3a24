/// @file
/// Controller: watches objects, queues requests, and reconciles them with several workers. Made
/// with ControllerBuilder (builder.h).
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
#include "kubexx/tracing/tracer.h"
#include "kubexx/workqueue/queue.h"

namespace kubexx::controller {

/// The priority of requests that only a first list or a resync caused, so that requests caused by
/// real changes go first.
inline constexpr int kLowPriority = -100;

/// Something that adds requests to a controller's queue.
struct Source {
  /// Appears in errors; must be unique within the controller.
  std::string name{};
  /// Starts to add requests to the queue, and stops when the subscription ends. The queue outlives
  /// the subscription. Without this function the controller fails with kInvalidConfig.
  std::function<base::Subscription(workqueue::Queue&)> start{};
  /// Blocks until every object that existed at the start is in the queue. Returns false when `stop`
  /// was requested first. Empty when there is nothing to wait for, as with a timer.
  std::function<bool(std::stop_token stop)> wait_for_sync{};
};

/// Settings of one controller.
struct ControllerOptions {
  /// A label of the metrics; must be unique in the manager.
  std::string name{};
  int max_concurrent_reconciles = 1;
  /// How long a reconcile may take; zero means no limit. After that time its stop_token is
  /// requested, and the controller logs and counts the timeout, whether or not the reconcile stops.
  base::Duration reconcile_timeout{0};
  /// How long the sources may take to sync before the controller fails.
  base::Duration cache_sync_timeout = std::chrono::minutes(2);
  workqueue::Order order = workqueue::Order::kPriority;
  /// When its function that names a tenant throws, the key's namespace is the tenant; that is
  /// logged, and counted as a panic.
  workqueue::FairOptions fair{};
  /// The default grows exponentially for each key, from 5 ms to 1000 s. When it throws, the request
  /// is tried again after 1 to 8 s; when its Forget throws, the key's failures go on counting. That
  /// is logged, and counted as a panic.
  std::shared_ptr<workqueue::RateLimiter> rate_limiter{};
  /// Whether the controller runs only while this process is the leader.
  bool needs_leader_election = true;
  /// Whether the controller fills its queue before this process leads, so that it can start at
  /// once.
  bool warm_standby = false;
  /// Whether a reconcile waits until the caches contain what earlier reconciles of its request
  /// wrote.
  bool read_your_writes = true;
  /// The recorder of Events that reconciles get; when null, Events are dropped. ControllerBuilder
  /// sets the manager's recorder for the controller's name unless the user set another one.
  std::shared_ptr<events::Recorder> recorder{};
  base::Clock& clock = base::Clock::Real();
  /// Must outlive the controller.
  metrics::Registry* registry = nullptr;
  /// When set, each reconcile is the first span of a trace, and tracing::Current() in it, so that
  /// its requests are children. It fails when the reconcile does. ControllerBuilder sets the
  /// manager's.
  std::shared_ptr<tracing::Tracer> tracer{};
};

/// Behaves like controller-runtime's: it retries a reconcile that returned an error or threw, with
/// backoff, but not after a terminal error; success and RequeueAfter end the backoff. A request
/// keeps its priority when it is retried, unless the action sets another one. A reconcile that
/// fails after it read from a cache without a first list is retried after 1 to 8 s, however often
/// that happens. Thread-safe. Can run once.
class Controller final : public Runnable {
 public:
  /// Each reconcile gets a copy of `client` with its own stop_token and the store of writes.
  Controller(ControllerOptions options, Client::Parts client, ReconcileFunction reconcile);
  ~Controller() override;
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  /// Adds a source; only before Run or Warmup.
  void AddSource(Source source);

  /// Adds a request by hand, for example from a timer or another system's callback.
  void Enqueue(const Request& request, const workqueue::AddOptions& options = {});

  std::string Name() const override;
  Stage stage() const override;
  apimachinery::Result<void> Warmup(std::stop_token stop) override;
  /// Starts the sources, waits for their sync, and reconciles until `stop` is requested. Then it
  /// tells the running reconciles to stop and waits for them. It drops the queued requests, because
  /// the next start lists the objects again. kTimeout when a source did not sync in time;
  /// kInvalidConfig when a source has no `start`.
  apimachinery::Result<void> Run(std::stop_token stop) override;
  /// Describes the running reconciles, the longest-running first. When there are many, it describes
  /// the first few and says how many more there are.
  std::vector<std::string> Busy() const override;

  /// The number of waiting requests.
  std::size_t QueueLength() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_CONTROLLER_H_
