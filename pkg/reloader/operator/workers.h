/// @file
/// Workers: the threads that take workloads from the operator's queue and reconcile them.
#ifndef KUBEXX_RELOADER_OPERATOR_WORKERS_H_
#define KUBEXX_RELOADER_OPERATOR_WORKERS_H_

#include <atomic>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/reloader/ha/held_shards.h"
#include "kubexx/reloader/observe/reloader_metrics.h"
#include "kubexx/reloader/operator/event_listeners.h"
#include "kubexx/reloader/operator/late_sources.h"
#include "kubexx/reloader/operator/reconciler.h"
#include "kubexx/reloader/operator/retries.h"
#include "kubexx/reloader/operator/selector.h"
#include "kubexx/reloader/plan/rollout_gate.h"
#include "kubexx/reloader/watch/caches.h"
#include "kubexx/tracing/tracer.h"
#include "kubexx/workqueue/queue.h"

namespace kubexx::reloader {

/// Takes keys from the queue, reconciles their workloads where writes are permitted, and puts those
/// back that have to be tried again. Begins when the caches have their first lists. Thread-safe.
class Workers {
 public:
  /// The parts of the operator that the workers use; all of them must outlive the workers.
  struct Parts {
    const Caches& caches;
    /// The workers wait until its handlers have been given the workloads, if there is a gate.
    const EventListeners& listeners;
    workqueue::Queue& queue;
    Reconciler& reconciler;
    const ReloaderMetrics& metrics;
    /// Null: writes are permitted in every namespace.
    NamespaceSelector* namespaces = nullptr;
    /// Null: every rollout begins at once.
    RolloutGate* gate = nullptr;
    /// Null: there is no other replica.
    HeldShards* held_shards = nullptr;
    /// Looks at all workloads in the namespaces for which the argument returns true. Called on a
    /// worker's thread.
    std::function<void(const std::function<bool(const std::string& name)>&)> reconsider{};
    int number = 2;
    base::Clock& clock;
    /// Each workload that is looked at is the first span of a trace; null: none.
    std::shared_ptr<tracing::Tracer> tracer{};
  };

  explicit Workers(Parts parts);
  /// Stops.
  ~Workers() { Stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Starts the threads. They end when `stop` is requested and the queue is shut down. Call it once
  /// only.
  void Start(const std::stop_token& stop);
  /// Whether the caches have their first lists, and the workers handle keys.
  bool have_begun() const { return have_begun_; }
  /// Shuts the queue down, and waits until the workers have handled the keys that are due, but not
  /// longer than `timeout`.
  void Drain(base::Duration timeout);
  /// Shuts the queue down, and joins the threads, whose stop must have been requested before. May
  /// be called again.
  void Stop();

 private:
  void Work(const std::stop_token& stop);
  bool WaitForRolloutGate(const std::stop_token& stop) const;
  void LookForLateSources();
  void Handle(workqueue::Queue::Item& item, const std::stop_token& stop);
  void HandleSettled(workqueue::Queue::Item& item, const WorkloadId& id,
                     const std::stop_token& stop);
  void KeepNoPlace(const WorkloadId& id);
  Reconciler::Answer ReconcileTraced(const WorkloadId& id, const std::stop_token& stop);
  Reconciler::Answer ReconcileIfAllowed(const WorkloadId& id, const std::stop_token& stop);

  const Parts parts_;
  Retries retries_;
  LateSources late_sources_;
  std::atomic<bool> have_begun_ = false;
  base::Mutex mu_;
  base::CondVar worker_done_;
  int running_ KX_GUARDED_BY(mu_) = 0;
  std::vector<std::jthread> threads_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OPERATOR_WORKERS_H_
