#include "kubexx/reloader/operator/operator.h"

#include <optional>
#include <utility>

#include "kubexx/cache/shared_informer_base.h"
#include "kubexx/reloader/history/history_keeper.h"
#include "kubexx/reloader/in_place/in_place_reloads.h"
#include "kubexx/reloader/observe/reloader_metrics.h"
#include "kubexx/reloader/operator/event_listeners.h"
#include "kubexx/reloader/operator/object_stamper.h"
#include "kubexx/reloader/operator/optional_members.h"
#include "kubexx/reloader/operator/reconciler.h"
#include "kubexx/reloader/operator/source_previewer.h"
#include "kubexx/reloader/operator/workers.h"
#include "kubexx/reloader/plan/pair_memory.h"
#include "kubexx/reloader/plan/told_templates.h"
#include "kubexx/reloader/watch/event_router.h"
#include "kubexx/workqueue/queue.h"

namespace kubexx::reloader {

namespace {

/// The operator handles a stream of changes after at most this many settle windows.
constexpr int kMaxSettleWindows = 10;
workqueue::Key KeyOf(const WorkloadId& id) { return {std::string(KindName(id.kind)), id.key}; }

Operator::Options Completed(Operator::Options options) {
  options.rules.by_variables = options.strategy == ReloadStrategy::kEnvVars;
  if (!options.executor) {
    options.executor = std::make_shared<base::Executor>();
  }
  return options;
}

}  // namespace

class Operator::Impl {
 public:
  Impl(Options options, std::vector<InformerSet> informers, WorkloadWriter& writer)
      : options_(Completed(std::move(options))),
        metrics_(options_.registry, options_.count_by_namespace),
        caches_(std::move(informers), options_.rules),
        queue_({.name = "reloader",
                .clock = options_.clock,
                .registry = options_.registry,
                .executor = options_.executor,
                .on_ready = [this] { workers_.OnReady(); }}),
        scrape_(options_.registry == nullptr
                    ? base::Subscription()
                    : options_.registry->OnScrape([this] { metrics_.Waiting(queue_.Len()); })),
        recording_(options_.recording, options_.clock),
        absences_(SourceAbsences::NewFor(options_.rules, {.has_selector = options_.selects_sources,
                                                          .exists = options_.source_exists,
                                                          .clock = options_.clock})),
        recent_(options_.clock),
        set_backs_(options_.clock),
        history_(NewHistoryFor(options_, caches_)),
        in_place_(NewInPlaceReloadsFor(options_,
                                       [this](const WorkloadId& id) { queue_.Add(KeyOf(id)); })),
        router_({.caches = caches_,
                 .memory = memory_,
                 .told = told_,
                 .patterns = patterns_,
                 .rules = options_.rules,
                 .ignored_namespaces = options_.ignored_namespaces,
                 .metrics = metrics_,
                 .on_demand = on_demand_,
                 .absences = absences_.get(),
                 .namespaces = options_.namespace_selector,
                 .recent = &recent_,
                 .set_backs = &set_backs_,
                 .held_shards = options_.held_shards,
                 .history = history_.get(),
                 .clock = options_.clock,
                 .note = [this](const WorkloadId& id, Cause cause) { Note(id, cause); }}),
        pauses_(NewPausesFor(options_, caches_, writer)),
        on_demand_(
            OnDemandLists::MembersOf(caches_.informers()), options_.clock,
            [this](const SourceId& source, const std::optional<Digest>& before) {
              router_.OnListed(source, before);
            },
            options_.executor),
        fresh_reads_(options_.read_workload),
        value_digests_(options_.fetch_values),
        reconciler_({.caches = caches_,
                     .memory = memory_,
                     .told = told_,
                     .patterns = patterns_,
                     .rules = options_.rules,
                     .metrics = metrics_,
                     .writer = writer,
                     .strategy = options_.strategy,
                     .clock = options_.clock,
                     .observers = options_.observers,
                     .gate = options_.rollout_gate,
                     .held_shards = options_.held_shards,
                     .record_baselines = options_.record_baselines,
                     .recording = recording_,
                     .set_backs = &set_backs_,
                     .pauses = pauses_.get(),
                     .fresh_reads = &fresh_reads_,
                     .value_digests = options_.fetch_values ? &value_digests_ : nullptr,
                     .absences = absences_.get(),
                     .history = history_.get(),
                     .in_place = in_place_.get()}),
        stamper_({.caches = caches_,
                  .patterns = patterns_,
                  .rules = options_.rules,
                  .strategy = options_.strategy,
                  .records = options_.record_baselines != BaselineRecording::kNever,
                  .ignored_namespaces = options_.ignored_namespaces,
                  .namespaces = options_.namespace_selector,
                  .gate = options_.rollout_gate,
                  .value_digests = options_.fetch_values ? &value_digests_ : nullptr,
                  .absences = absences_.get(),
                  .clock = options_.clock}),
        previewer_({.caches = caches_,
                    .rules = options_.rules,
                    .ignored_namespaces = options_.ignored_namespaces,
                    .namespaces = options_.namespace_selector,
                    .gate = options_.rollout_gate,
                    .value_digests = options_.fetch_values ? &value_digests_ : nullptr,
                    .absences = absences_.get(),
                    .arbiter = options_.arbiter,
                    .clock = options_.clock}),
        listeners_({.caches = caches_,
                    .router = router_,
                    .keys = options_.rules.keys,
                    .ignored_namespaces = options_.ignored_namespaces,
                    .namespaces = options_.namespace_selector,
                    .gate = options_.rollout_gate,
                    .pauses = pauses_.get(),
                    .stop = stop_.get_token()}),
        workers_({.caches = caches_,
                  .listeners = listeners_,
                  .queue = queue_,
                  .reconciler = reconciler_,
                  .metrics = metrics_,
                  .namespaces = options_.namespace_selector,
                  .gate = options_.rollout_gate,
                  .held_shards = options_.held_shards,
                  .reconsider =
                      [this](const auto& concerned) {
                        // Those of other namespaces may name the sources as well.
                        const bool all = options_.rules.keys.other_namespaces;
                        Reconsider([&](const std::string& name) { return all || concerned(name); });
                      },
                  .number = options_.workers,
                  .clock = options_.clock,
                  .executor = options_.executor,
                  .tracer = options_.tracer}) {}

  ~Impl() { Stop(); }

  void Start() {
    if (options_.rollout_gate != nullptr) {
      rollout_gate_subscription_ = options_.rollout_gate->Attach(
          {.caches = caches_,
           .wake = [this](const WorkloadId& id,
                          base::Duration after) { queue_.AddAfter(KeyOf(id), after); },
           .needs_rollout =
               [this](const Workload& workload, const SourceId& source) {
                 return reconciler_.NeedsRollout(workload, source);
               },
           .concerns =
               [this](const Workload& workload, const SourceId& source) {
                 return reconciler_.Concerns(workload, source);
               },
           .is_current = [this](const Workload& workload) { return IsCurrent(workload); }});
    }
    listeners_.Subscribe();
    caches_.Start();
    on_demand_.Start();
    if (options_.namespace_selector != nullptr) {
      options_.namespace_selector->Start([this](const std::string& name) {
        Reconsider([&name](const std::string& each) { return each == name; });
      });
    }
    workers_.Start(stop_.get_token());
  }

  bool Ready() const {
    return caches_.HasSynced() &&
           (options_.namespace_selector == nullptr || options_.namespace_selector->HasSynced());
  }

  void Reconsider(const std::function<bool(const std::string& name)>& concerned) {
    for (const InformerSet& set : caches_.informers()) {
      for (const auto& [kind, informer] : set.workloads) {
        for (apimachinery::ObjectKey& key : informer->Keys()) {
          if (concerned(key.namespace_) && !options_.ignored_namespaces.contains(key.namespace_)) {
            if (pauses_ && kind == WorkloadKind::kDeployment) {
              pauses_->Consider(key);
            }
            Note({kind, std::move(key)}, Cause::kWorkloadEvent);
          }
        }
      }
    }
  }

  apimachinery::Result<codec::JsonTree> Stamp(WorkloadKind kind, const codec::JsonTree& object,
                                              const std::stop_token& stop) const {
    return workers_.have_begun() ? stamper_.Stamp(kind, object, stop) : object;
  }

  apimachinery::Result<Preview> Foresee(const ChangedSource& changed,
                                        const std::stop_token& stop) const {
    return workers_.have_begun() ? previewer_.Of(changed, stop) : Preview();
  }

  void Stop() {
    on_demand_.Stop();
    if (Ready() || workers_.have_begun()) {
      workers_.Drain(options_.drain_timeout);
    }
    stop_.request_stop();
    workers_.Stop();
    if (in_place_) {
      in_place_->Stop();
    }
    if (options_.namespace_selector != nullptr) {
      options_.namespace_selector->Stop();
    }
    if (pauses_) {
      pauses_->Stop();
    }
    listeners_.Unsubscribe();
    rollout_gate_subscription_.Reset();
    caches_.Stop();
  }

 private:
  void Note(const WorkloadId& id, Cause cause) {
    auto window =
        options_.rollout_gate == nullptr ? std::nullopt : options_.rollout_gate->SettleWindow(id);
    if (!window && cause == Cause::kReleaseEvent &&
        options_.release_window > options_.settle_window) {
      window = options_.release_window;
    }
    // An event of the workload is not a change of its configuration, so it must not postpone such a
    // change.
    queue_.AddDebounced(KeyOf(id), {.window = window.value_or(options_.settle_window),
                                    .max_windows = kMaxSettleWindows,
                                    .puts_off = cause != Cause::kWorkloadEvent});
  }

  /// Where other replicas may write, whether the cache shows all that they wrote before.
  bool IsCurrent(const Workload& workload) {
    if (options_.held_shards == nullptr) {
      return true;
    }
    const auto permit = options_.held_shards->Enter(workload.id.key.namespace_);
    return !permit || fresh_reads_.IsCurrent(workload, permit->tenure(), permit->stop());
  }

  const Options options_;
  ReloaderMetrics metrics_;
  Caches caches_;
  PairMemory memory_;
  ToldTemplates told_;
  PatternCache patterns_;
  workqueue::Queue queue_;
  const base::Subscription scrape_;
  BaselineSchedule recording_;
  const std::unique_ptr<SourceAbsences> absences_;
  RecentChanges recent_;
  SetBacks set_backs_;
  const std::unique_ptr<HistoryKeeper> history_;
  const std::unique_ptr<InPlaceReloads> in_place_;
  EventRouter router_;
  std::unique_ptr<Pauses> pauses_;
  OnDemandLists on_demand_;
  FreshReads fresh_reads_;
  ValueDigestReader value_digests_;
  Reconciler reconciler_;
  const ObjectStamper stamper_;
  const SourcePreviewer previewer_;
  std::stop_source stop_;
  EventListeners listeners_;
  Workers workers_;
  base::Subscription rollout_gate_subscription_;
};

Operator::Operator(Options options, std::vector<InformerSet> informers, WorkloadWriter& writer)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(informers), writer)) {}
Operator::~Operator() = default;
void Operator::Start() { impl_->Start(); }
bool Operator::Ready() const { return impl_->Ready(); }
void Operator::Reconsider(const std::function<bool(const std::string& name)>& concerned) {
  impl_->Reconsider(concerned);
}
apimachinery::Result<codec::JsonTree> Operator::Stamp(WorkloadKind kind,
                                                      const codec::JsonTree& object,
                                                      const std::stop_token& stop) const {
  return impl_->Stamp(kind, object, stop);
}
apimachinery::Result<Preview> Operator::Foresee(const ChangedSource& changed,
                                                const std::stop_token& stop) const {
  return impl_->Foresee(changed, stop);
}
void Operator::Stop() { impl_->Stop(); }

}  // namespace kubexx::reloader
