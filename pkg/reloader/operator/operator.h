/// @file
/// The operator: informers, a queue with a settle window, workers.
#ifndef KUBEXX_RELOADER_OPERATOR_OPERATOR_H_
#define KUBEXX_RELOADER_OPERATOR_OPERATOR_H_

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/ha/held_shards.h"
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

namespace kubexx::reloader {

/// Rolls workloads when the data of their ConfigMaps and Secrets changes. An event of an informer
/// adds the workloads that it may concern to the queue; when one has been quiet for the settle
/// window a worker compares it with all its sources and makes at most one write.
/// Thread-safe.
class Operator {
 public:
  struct Options {
    DecisionRules rules{};
    ReloadStrategy strategy = ReloadStrategy::kEnvVars;
    /// Sources there roll nothing.
    std::set<std::string> ignored_namespaces{};
    /// A workload is looked at when its sources have been quiet for so long, and after ten times
    /// that at the latest; workloads may have windows of their own, see RolloutGate.
    base::Duration settle_window = std::chrono::milliseconds(100);
    /// In place of its window for a workload whose own release changes a source: the release has
    /// this long to change the workload, too, which makes pods with the new data. No shorter than
    /// that window.
    base::Duration release_window{};
    int workers = 2;
    /// How long Stop waits for writes that are under way or due.
    base::Duration drain_timeout = std::chrono::seconds(1);
    base::Clock& clock = base::Clock::Real();
    metrics::Registry* registry = nullptr;
    BaselineRecording record_baselines = BaselineRecording::kAlways;
    BaselineSchedule::Options recording{};
    /// Adds reloader_reload_executed_total_by_namespace.
    bool count_by_namespace = false;
    /// Told of writes; must outlive the operator.
    WriteObservers observers{};
    /// Asked for a permit for every write; null: all are made. Must outlive the operator.
    HeldShards* held_shards = nullptr;
    /// Nothing is written in other namespaces; null: in all. Is started and stopped with the
    /// operator, and must outlive it.
    NamespaceSelector* namespace_selector = nullptr;
    /// Asks the API server about the pause of a Deployment (see NewPauseQuery); empty: the
    /// annotation pause-period has no effect.
    PauseQuery pause_query{};
    /// Reads a workload before a write that must not come twice (see NewWorkloadRead); empty: what
    /// the informers say is believed.
    WorkloadRead read_workload{};
    /// Reads the data of sources of which some keys count only, and of those that another process
    /// may have seen later than this one (see NewValueFetch); empty: lists of keys have no effect,
    /// and nothing is compared.
    ValueDigestReader::Fetch fetch_values{};
    /// Asks whether a source exists that is not watched (see NewSourceQuery); empty: what is not
    /// watched does not exist. Asked only where creations or deletions count.
    SourceExists source_exists{};
    /// A label selector leaves out some sources.
    bool selects_sources = false;
    /// Says when rollouts may go; must outlive the operator. Null: at once.
    RolloutGate* rollout_gate = nullptr;
  };

  /// `writer` and what the options refer to must outlive the operator.
  Operator(Options options, std::vector<InformerSet> informers, WorkloadWriter& writer);
  /// Stops.
  ~Operator();
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  /// Starts informers and workers and returns at once; workers act once all informers hold their
  /// first list, or are refused it. Sources that are refused are unknown: nothing is concluded from
  /// their absence, and their namespaces are looked at when they can be read. Once only.
  void Start();
  /// Whether workers act, and some sources can be read.
  bool Ready() const;
  /// Looks at all workloads of the namespaces for which `concerned` is true, as if they had
  /// changed: writes may be made there now that could not be made before. Does not block.
  void Reconsider(const std::function<bool(const std::string& name)>& concerned);
  /// Ends the settle windows, makes the writes that are due within the drain timeout, and joins all
  /// threads. May be called again.
  void Stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OPERATOR_OPERATOR_H_
