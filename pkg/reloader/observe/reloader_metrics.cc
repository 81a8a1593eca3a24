#include "kubexx/reloader/observe/reloader_metrics.h"

#include <string>
#include <vector>

namespace kubexx::reloader {
namespace {

constexpr std::array kEvents{std::pair{EventType::kAdd, "add"},
                             std::pair{EventType::kUpdate, "update"},
                             std::pair{EventType::kDelete, "delete"}};
constexpr std::array kSkips{std::pair{SkipReason::kNoDataChange, "no_data_change"},
                            std::pair{SkipReason::kIgnoredOrNotSelected, "ignored_or_not_selected"},
                            std::pair{SkipReason::kStrategyNotUpdated, "strategy_not_updated"}};
constexpr std::array kResults{std::pair{ReconcileResult::kSuccess, "success"},
                              std::pair{ReconcileResult::kError, "error"},
                              std::pair{ReconcileResult::kSkipped, "skipped"}};

const std::vector<double> kReconcileBuckets{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10};
const std::vector<double> kActionBuckets{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60};
const std::vector<double> kQueueBuckets{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5};
// The default settle window is 0.1 s, so there are several buckets just above it.
const std::vector<double> kReactionBuckets{.01, .05, .1, .105, .11, .115, .12, .13, .14, .16,
                                           .2,  .3,  .5, 1,    2,   5,    10,  30,  60,  300};
const std::vector<double> kSettledBuckets{.001, .002, .003, .005, .0075, .01, .015, .02, .03, .04,
                                          .06,  .1,   .2,   .5,   1,     2,   5,    10,  30,  60};

}  // namespace

ReloaderMetrics::ReloaderMetrics(metrics::Registry* registry, bool count_by_namespace)
    : by_namespace_(count_by_namespace ? registry : nullptr) {
  if (registry == nullptr) {
    return;
  }
  metrics::Registry& r = *registry;
  for (const auto& [event, event_name] : kEvents) {
    for (const SourceType type : AllSourceTypes()) {
      const std::string resource(NamesOf(type).plural);
      received_[{event, type}] = r.Counter(
          "reloader_events_received_total", "Events of sources that arrived, before any filter.",
          {{"event_type", event_name}, {"resource_type", resource}});
      for (const auto& [result, counters] :
           {std::pair("success", &processed_), std::pair("dropped", &dropped_)}) {
        (*counters)[{event, type}] = r.Counter(
            "reloader_events_processed_total", "Events of sources that have been worked through.",
            {{"event_type", event_name}, {"resource_type", resource}, {"result", result}});
      }
    }
  }
  for (const auto& [reason, name] : kSkips) {
    skipped_[reason] = r.Counter("reloader_skipped_total",
                                 "Events and workloads that led to no reload.", {{"reason", name}});
  }
  depth_ = r.Gauge("reloader_workqueue_depth", "Workloads that wait for a worker.");
  adds_ = r.Counter("reloader_workqueue_adds_total", "Workloads handed to the workers.");
  queue_latency_ =
      r.Histogram("reloader_workqueue_latency_seconds",
                  "Time from a workload falling due to a worker taking it.", {}, kQueueBuckets);
  retries_ = r.Counter("reloader_retries_total", "Workloads put back after an error.");
  errors_ = r.Counter("reloader_errors_total", "Attempts to roll a workload that failed.",
                      {{"type", "handler_error"}});
  // Such errors cannot happen here, but dashboards of the original expect the series.
  r.Counter("reloader_errors_total", "Attempts to roll a workload that failed.",
            {{"type", "invalid_handler_type"}});
  for (const auto& [result, name] : kResults) {
    reconciled_[result] =
        r.Counter("reloader_reconcile_total", "Reconciles of workloads.", {{"result", name}});
    reconcile_duration_[result] =
        r.Histogram("reloader_reconcile_duration_seconds", "Duration of reconciles.",
                    {{"result", name}}, kReconcileBuckets);
  }
  for (const bool success : {true, false}) {
    executed_[success] =
        r.Counter("reloader_reload_executed_total", "Writes that reload a workload.",
                  {{"success", success ? "true" : "false"}});
  }
  for (const WorkloadKind kind : AllWorkloadKinds()) {
    const std::string name(KindName(kind));
    scanned_[kind] =
        r.Counter("reloader_workloads_scanned_total",
                  "Workloads of which was asked whether to roll them.", {{"kind", name}});
    matched_[kind] =
        r.Counter("reloader_workloads_matched_total", "Workloads written.", {{"kind", name}});
    for (const bool success : {true, false}) {
      actions_[{kind, success}] =
          r.Counter("reloader_action_total", "Writes that reload a workload, by its kind.",
                    {{"workload_kind", name}, {"result", success ? "success" : "error"}});
    }
    for (const bool success : {true, false}) {
      recorded_[{kind, success}] =
          r.Counter("kubexx_reloader_baselines_total",
                    "Writes that record what a workload runs with and do not reload it.",
                    {{"kind", name}, {"result", success ? "success" : "error"}});
    }
    action_latency_[kind] =
        r.Histogram("reloader_action_latency_seconds",
                    "Time from the begin of a reconcile to the end of its write.",
                    {{"workload_kind", name}}, kActionBuckets);
  }
  full_baselines_ = r.Gauge("kubexx_reloader_baselines_full",
                            "Workloads whose baseline has no room for all their sources.");
  reaction_ = r.Histogram(
      "kubexx_reloader_reaction_seconds",
      "Time from the last change that a rollout answers, as it arrived, to the end of its write; "
      "includes the settle window.",
      {}, kReactionBuckets);
  reaction_after_settling_ = r.Histogram(
      "kubexx_reloader_reaction_after_settling_seconds",
      "Time from the end of the settle window to the end of the write that rolls a workload.", {},
      kSettledBuckets);
}

namespace {

// Without a registry, the maps are empty.
template <class Map, class Key>
auto Series(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? typename Map::mapped_type() : found->second;
}

}  // namespace

void ReloaderMetrics::EventReceived(EventType event, SourceType source) const {
  Series(received_, std::pair(event, source)).Increment();
}
void ReloaderMetrics::EventProcessed(EventType event, SourceType source, bool dropped) const {
  Series(dropped ? dropped_ : processed_, std::pair(event, source)).Increment();
}
void ReloaderMetrics::Skipped(SkipReason reason, std::size_t times) const {
  Series(skipped_, reason).Increment(static_cast<double>(times));
}
void ReloaderMetrics::Waiting(std::size_t depth) const { depth_.Set(static_cast<double>(depth)); }
void ReloaderMetrics::Dequeued(bool settled, double waited) const {
  adds_.Increment(settled ? 1 : 0);
  queue_latency_.Observe(waited);
}
void ReloaderMetrics::Retried() const { retries_.Increment(); }
void ReloaderMetrics::WorkloadScanned(WorkloadKind kind) const {
  Series(scanned_, kind).Increment();
}
void ReloaderMetrics::Reconciled(ReconcileResult result, double seconds) const {
  Series(reconciled_, result).Increment();
  Series(reconcile_duration_, result).Observe(seconds);
  if (result == ReconcileResult::kError) {
    errors_.Increment();
  }
}
void ReloaderMetrics::FullBaselines(std::size_t workloads) const {
  full_baselines_.Set(static_cast<double>(workloads));
}
void ReloaderMetrics::Wrote(const WorkloadId& workload, bool success, double seconds) const {
  Series(executed_, success).Increment();
  Series(actions_, std::pair(workload.kind, success)).Increment();
  Series(action_latency_, workload.kind).Observe(seconds);
  if (success) {
    Series(matched_, workload.kind).Increment();
  }
  if (by_namespace_ != nullptr) {
    by_namespace_
        ->Counter("reloader_reload_executed_total_by_namespace",
                  "Writes that reload a workload, by its namespace.",
                  {{"success", success ? "true" : "false"}, {"namespace", workload.key.namespace_}})
        .Increment();
  }
}
void ReloaderMetrics::Recorded(const WorkloadId& workload, bool success) const {
  Series(recorded_, std::pair(workload.kind, success)).Increment();
}
void ReloaderMetrics::Reacted(double seconds) const { reaction_.Observe(seconds); }
void ReloaderMetrics::ReactedAfterSettling(double seconds) const {
  reaction_after_settling_.Observe(seconds);
}

}  // namespace kubexx::reloader
