/// @file
/// The operator: informers, a work queue with a settle window, and workers.
#ifndef KUBEXX_RELOADER_OPERATOR_OPERATOR_H_
#define KUBEXX_RELOADER_OPERATOR_OPERATOR_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/executor/executor.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/ha/held_shards.h"
#include "kubexx/reloader/in_place/pod_access.h"
#include "kubexx/reloader/in_place/pod_reload.h"
#include "kubexx/reloader/model/changed_sources.h"
#include "kubexx/reloader/observe/preview.h"
#include "kubexx/reloader/plan/baseline_schedule.h"
#include "kubexx/reloader/plan/decision.h"
#include "kubexx/reloader/plan/rollout_gate.h"
#include "kubexx/reloader/plan/strategy.h"
#include "kubexx/reloader/watch/caches.h"
#include "kubexx/reloader/watch/namespace_selector.h"
#include "kubexx/reloader/watch/source_absences.h"
#include "kubexx/reloader/watch/source_keys.h"
#include "kubexx/reloader/write/fresh_reads.h"
#include "kubexx/reloader/write/notifier.h"
#include "kubexx/reloader/write/pause.h"
#include "kubexx/reloader/write/writer.h"
#include "kubexx/reloadpolicy/arbiter.h"
#include "kubexx/tracing/tracer.h"

namespace kubexx::reloader {

/// Rolls workloads when the data of their ConfigMaps and Secrets change. An event of an informer
/// adds the workloads that it may concern to the queue. When a workload has been quiet for the
/// settle window, a worker compares it with all its sources and makes at most one write.
/// Thread-safe.
class Operator {
 public:
  struct Options {
    DecisionRules rules{};
    ReloadStrategy strategy = ReloadStrategy::kEnvVars;
    /// Sources in these namespaces roll nothing.
    std::set<std::string> ignored_namespaces{};
    /// A worker looks at a workload when its sources have been quiet for this time, and at the
    /// latest after ten times this time. Workloads may have windows of their own; see RolloutGate.
    base::Duration settle_window = std::chrono::milliseconds(100);
    /// Replaces settle_window, if it is longer, when a source that changes belongs to the same Helm
    /// release as the workload. It gives the release time to change the workload, too, which starts
    /// pods with the new data. A window of the workload's own comes first.
    base::Duration release_window{};
    int workers = 2;
    /// How long Stop waits for writes that are under way or due.
    base::Duration drain_timeout = std::chrono::seconds(1);
    base::Clock& clock = base::Clock::Real();
    /// Its threads do what the operator does beside its informers; null: it makes one for that.
    std::shared_ptr<base::Executor> executor{};
    metrics::Registry* registry = nullptr;
    /// Gets a span for each workload that is looked at; null: none.
    std::shared_ptr<tracing::Tracer> tracer{};
    BaselineRecording record_baselines = BaselineRecording::kAlways;
    BaselineSchedule::Options recording{};
    /// How many rollouts are kept in the history on each workload (see History); 0: none. Then the
    /// informers of sources need no SourceDetail::kWithKeys.
    std::size_t history = 0;
    /// Acts in pods for workloads that ask for it (kReloadInPlace); must outlive the operator.
    /// Null: every change is carried out by a rollout.
    PodAccess* pods = nullptr;
    ReloadTimes in_place_times{};
    /// Adds the metric reloader_reload_executed_total_by_namespace.
    bool count_by_namespace = false;
    /// Informed of writes; must outlive the operator.
    WriteObservers observers{};
    /// Gives a permit for every write; null: every write is permitted. Must outlive the operator.
    HeldShards* held_shards = nullptr;
    /// Restricts writes to the selected namespaces; null: no restriction. The operator starts and
    /// stops it; it must outlive the operator.
    NamespaceSelector* namespace_selector = nullptr;
    /// Reads the pause of a Deployment from the API server (see NewPauseQuery); empty: the
    /// annotation pause-period has no effect.
    PauseQuery pause_query{};
    /// Reads a workload before a write that must not be made twice (see NewWorkloadRead); empty:
    /// the operator relies on its informers.
    WorkloadRead read_workload{};
    /// Reads the data of a source if only some of its keys count, or if another process may have
    /// seen newer data than this one (see NewValueFetch). Empty: lists of keys have no effect, and
    /// nothing is compared.
    ValueDigestReader::Fetch fetch_values{};
    /// Asks whether a source exists that is not watched (see NewSourceQuery). Called only if
    /// creations or deletions of sources roll workloads. Empty: a source that is not watched counts
    /// as not existing.
    SourceExists source_exists{};
    /// A label selector excludes some sources from the informers.
    bool selects_sources = false;
    /// Decides when rollouts may begin; must outlive the operator. Null: they begin at once.
    RolloutGate* rollout_gate = nullptr;
    /// A copy of what decides for it, for previews; empty: rollouts begin at once.
    std::function<reloadpolicy::Arbiter()> arbiter{};
  };

  /// `writer`, and everything that `options` refers to, must outlive the operator.
  Operator(Options options, std::vector<InformerSet> informers, WorkloadWriter& writer);
  /// Stops.
  ~Operator();
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  /// Starts informers and workers, and returns at once. Workers begin when every informer has its
  /// first list or the API server has refused it. Sources that the API server refuses count as
  /// unknown, not as deleted; the operator looks at their namespaces again when it can read them.
  /// Call it once only.
  void Start();
  /// Whether the workers have begun and at least some sources can be read.
  bool Ready() const;
  /// Looks at all workloads in the namespaces for which `concerned` returns true, as if they had
  /// changed, because writes may be permitted there now that were not before. Does not block.
  void Reconsider(const std::function<bool(const std::string& name)>& concerned);
  /// Returns a workload that is about to be stored with the digests of its sources as the informers
  /// have them; see StampedObject. Returns it as it is where this operator rolls nothing, or has
  /// not listed everything yet. Reads a source from the API server only when some of its keys
  /// count. May be called at any time until the operator is destroyed.
  apimachinery::Result<codec::JsonTree> Stamp(WorkloadKind kind, const codec::JsonTree& object,
                                              const std::stop_token& stop) const;
  /// Previews the change of one source; see SourcePreviewer::Of. Empty before everything has been
  /// listed. May be called at any time until the operator is destroyed.
  apimachinery::Result<Preview> Foresee(const ChangedSource& changed,
                                        const std::stop_token& stop) const;
  /// Ends the settle windows, makes the writes that are due within the drain timeout, and joins all
  /// threads. May be called again.
  void Stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OPERATOR_OPERATOR_H_
