/// @file
/// Workers: the tasks that take workloads from the operator's queue and reconcile them.
#ifndef KUBEXX_RELOADER_OPERATOR_WORKERS_H_
#define KUBEXX_RELOADER_OPERATOR_WORKERS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>

#include "kubexx/base/clock.h"
#include "kubexx/base/executor/executor.h"
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
#include "kubexx/workqueue/task_workers.h"

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
    /// Its on_ready must call OnReady.
    workqueue::Queue& queue;
    Reconciler& reconciler;
    const ReloaderMetrics& metrics;
    /// Null: writes are permitted in every namespace.
    NamespaceSelector* namespaces = nullptr;
    /// Null: every rollout begins at once.
    RolloutGate* gate = nullptr;
    /// Null: there is no other replica.
    HeldShards* held_shards = nullptr;
    /// Looks at all workloads in the namespaces for which the argument returns true. Called by
    /// workers.
    std::function<void(const std::function<bool(const std::string& name)>&)> reconsider{};
    int number = 2;
    base::Clock& clock;
    /// Its threads do the work; not null.
    std::shared_ptr<base::Executor> executor{};
    /// Each workload that is looked at is the first span of a trace; null: none.
    std::shared_ptr<tracing::Tracer> tracer{};
  };

  explicit Workers(Parts parts);
  /// Stops.
  ~Workers() { Stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Starts the workers. They take no further key once `stop` is requested. Until they have begun
  /// this takes a thread. Call it once only. Throws std::system_error when the system has not
  /// enough threads.
  void Start(const std::stop_token& stop);
  /// For the queue.
  void OnReady() { tasks_.OnReady(); }
  /// Whether the caches have their first lists, and the workers handle keys.
  bool have_begun() const { return have_begun_; }
  /// Shuts the queue down, and waits until the workers have handled the keys that are due, but not
  /// longer than `timeout`.
  void Drain(base::Duration timeout);
  /// Shuts the queue down, and waits for the workers, whose stop must have been requested before.
  /// May be called again, but not by two threads at once.
  void Stop();

 private:
  /// Waits for what the workers need, and starts them.
  void Begin();
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
  std::stop_token stop_;  ///< set by Start, before the first step of a task
  /// Whether Begin has something to do, the workers work, or neither.
  enum class State : std::uint8_t { kIdle, kBeginning, kWorking };
  base::Mutex mu_;
  base::CondVar state_changed_;
  State state_ KX_GUARDED_BY(mu_) = State::kIdle;
  workqueue::TaskWorkers tasks_;
  std::jthread begin_;  // last: ends before the rest goes
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OPERATOR_WORKERS_H_
