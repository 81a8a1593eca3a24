#include "kubexx/reloader/operator/operator.h"

#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include "kubexx/base/mutex.h"
#include "kubexx/cache/shared_informer_base.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/history/history_keeper.h"
#include "kubexx/reloader/in_place/in_place_reloads.h"
#include "kubexx/reloader/observe/reloader_metrics.h"
#include "kubexx/reloader/operator/event_listeners.h"
#include "kubexx/reloader/operator/late_sources.h"
#include "kubexx/reloader/operator/object_stamper.h"
#include "kubexx/reloader/operator/optional_members.h"
#include "kubexx/reloader/operator/reconciler.h"
#include "kubexx/reloader/operator/retries.h"
#include "kubexx/reloader/operator/source_previewer.h"
#include "kubexx/reloader/plan/pair_memory.h"
#include "kubexx/reloader/plan/told_templates.h"
#include "kubexx/reloader/watch/event_router.h"
#include "kubexx/workqueue/queue.h"

namespace kubexx::reloader {

namespace {

/// No workload: stands in the queue for a look at sources that could not be read.
const workqueue::Key kLateSources{"late sources", {}};
constexpr base::Duration kLateSourcesInterval = std::chrono::seconds(1);
/// A stream of changes is acted on after this many settle windows at the latest.
constexpr int kMaxSettleWindows = 10;
// Between two looks at a workload whose event is on the way.
constexpr base::Duration kUntilItsEvent = std::chrono::milliseconds(50);

workqueue::Key KeyOf(const WorkloadId& id) { return {std::string(KindName(id.kind)), id.key}; }

Operator::Options WithStrategy(Operator::Options options) {
  options.rules.by_variables = options.strategy == ReloadStrategy::kEnvVars;
  return options;
}

}  // namespace

class Operator::Impl {
 public:
  Impl(Options options, std::vector<InformerSet> informers, WorkloadWriter& writer)
      : options_(WithStrategy(std::move(options))),
        metrics_(options_.registry, options_.count_by_namespace),
        caches_(std::move(informers), options_.rules),
        retries_(options_.clock),
        queue_({.name = "reloader", .clock = options_.clock, .registry = options_.registry}),
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
        on_demand_(OnDemandLists::MembersOf(caches_.informers()), options_.clock,
                   [this](const SourceId& source, const std::optional<Digest>& before) {
                     router_.OnListed(source, before);
                   }),
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
        late_sources_(caches_),
        listeners_({.caches = caches_,
                    .router = router_,
                    .keys = options_.rules.keys,
                    .ignored_namespaces = options_.ignored_namespaces,
                    .namespaces = options_.namespace_selector,
                    .gate = options_.rollout_gate,
                    .pauses = pauses_.get(),
                    .stop = stop_.get_token()}) {}

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
               }});
    }
    listeners_.Subscribe();
    caches_.Start();
    on_demand_.Start();
    if (options_.namespace_selector != nullptr) {
      options_.namespace_selector->Start([this](const std::string& name) {
        Reconsider([&name](const std::string& each) { return each == name; });
      });
    }
    {
      const base::MutexLock lock(mu_);
      running_workers_ = options_.workers;
    }
    for (int i = 0; i < options_.workers; ++i) {
      workers_.emplace_back([this] { Work(stop_.get_token()); });
    }
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
    return works_ ? stamper_.Stamp(kind, object, stop) : object;
  }

  apimachinery::Result<Preview> Foresee(const ChangedSource& changed,
                                        const std::stop_token& stop) const {
    return works_ ? previewer_.Of(changed, stop) : Preview();
  }

  void Stop() {
    on_demand_.Stop();
    if (Ready() || works_) {
      queue_.ShutDownAfterWindows();
      AwaitWorkers();
    }
    stop_.request_stop();
    queue_.ShutDown();
    workers_.clear();  // joins
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
  /// The gate must know of all workloads before it is asked about one, unless their kind is late.
  bool WaitForRolloutGate(const std::stop_token& stop) const {
    return options_.rollout_gate == nullptr ||
           (options_.rollout_gate->WaitForSync(stop) && listeners_.AwaitWorkloads(stop));
  }

  void Note(const WorkloadId& id, Cause cause) {
    auto window =
        options_.rollout_gate == nullptr ? std::nullopt : options_.rollout_gate->SettleWindow(id);
    if (!window && cause == Cause::kReleaseEvent &&
        options_.release_window > options_.settle_window) {
      window = options_.release_window;
    }
    // An event of the workload is no change of configuration, and must not put off what is.
    queue_.AddDebounced(KeyOf(id), {.window = window.value_or(options_.settle_window),
                                    .max_windows = kMaxSettleWindows,
                                    .puts_off = cause != Cause::kWorkloadEvent});
  }

  void Work(const std::stop_token& stop) {
    if (caches_.WaitForSync(stop) &&
        (options_.namespace_selector == nullptr ||
         options_.namespace_selector->WaitForSync(stop)) &&
        WaitForRolloutGate(stop)) {
      if (options_.rollout_gate != nullptr) {
        options_.rollout_gate->OnSynced();
      }
      works_ = true;
      LookForLateSources();
      for (auto item = queue_.Get(stop); item; item = queue_.Next(std::move(item), stop)) {
        Handle(item, stop);
      }
    }
    const base::MutexLock lock(mu_);
    --running_workers_;
    worker_done_.notify_all();
  }

  /// Has the workloads of namespaces looked at whose sources could not be read before and now can:
  /// of what is gone since their plans there is no event.
  void LookForLateSources() {
    const LateSources::Found found = late_sources_.Look();
    for (const SourceSpace& space : found.known) {
      Reconsider([&space](const std::string& name) {
        return space.namespace_.empty() || space.namespace_ == name;
      });
    }
    if (found.some_are_late) {
      queue_.AddAfter(kLateSources, kLateSourcesInterval);
    }
  }

  void Handle(workqueue::Queue::Item& item, const std::stop_token& stop) {
    if (*item == kLateSources) {
      LookForLateSources();
      return;
    }
    const auto kind = ParseWorkloadKind(item->kind);
    if (!kind) {
      return;
    }
    const WorkloadId id{*kind, item->object};
    if (item.settling()) {
      KeepNoPlace(id);
      return;  // it has changed meanwhile, and comes when that has settled
    }
    if (!queue_.shutting_down() && reconciler_.AwaitsEvent(id)) {
      queue_.PutBack(std::move(item), kUntilItsEvent);
      return;
    }
    HandleSettled(item, id, stop);
  }

  void HandleSettled(workqueue::Queue::Item& item, const WorkloadId& id,
                     const std::stop_token& stop) {
    const workqueue::Key key = *item;
    const base::TimePoint now = options_.clock.Now();
    const base::TimePoint due = item.settled() == nullptr ? now : item.settled()->due;
    const auto changed = item.settled() != nullptr && item.settled()->last
                             ? item.settled()->last
                             : retries_.Unanswered(key);
    metrics_.Dequeued(item.settled() != nullptr, Seconds(now - due));
    const Reconciler::Answer answer = ReconcileIfAllowed(id, stop);
    if (answer.outcome == Reconciler::Outcome::kPutOff) {
      queue_.PutBack(std::move(item), answer.again);
      return;
    }
    if (answer.outcome == Reconciler::Outcome::kRetry) {
      metrics_.Retried();
      queue_.AddAfter(key, retries_.After(key, answer.failure, changed));
      return;
    }
    if (answer.outcome == Reconciler::Outcome::kWritten && changed) {
      const base::TimePoint written = options_.clock.Now();
      metrics_.Reacted(Seconds(written - *changed));
      metrics_.ReactedAfterSettling(Seconds(written - due));
    }
    if (answer.again > base::Duration(0)) {
      queue_.AddAfter(key, answer.again);
    }
    retries_.Forget(key);
  }

  /// The gate may have woken the workload and keep a place for it, which it does not ask for now.
  void KeepNoPlace(const WorkloadId& id) {
    if (options_.rollout_gate != nullptr) {
      options_.rollout_gate->OnNothing(id);
    }
  }

  /// What is not allowed now is looked at when it becomes so.
  Reconciler::Answer ReconcileIfAllowed(const WorkloadId& id, const std::stop_token& stop) {
    if (options_.namespace_selector != nullptr &&
        !options_.namespace_selector->Contains(id.key.namespace_)) {
      metrics_.Skipped(SkipReason::kIgnoredOrNotSelected);
      KeepNoPlace(id);
      return {};
    }
    if (options_.held_shards == nullptr) {
      return reconciler_.Reconcile(id, stop, {.may_put_off = !queue_.shutting_down()});
    }
    const auto permit = options_.held_shards->Enter(id.key.namespace_);
    if (!permit) {
      // An open shard without a permit: the lease may be renewed any moment, which nothing tells
      // of.
      if (options_.held_shards->IsOpenFor(id.key.namespace_)) {
        return {Reconciler::Outcome::kRetry};
      }
      KeepNoPlace(id);
      return {};
    }
    std::stop_source either;
    const auto end = [&either] { either.request_stop(); };
    const std::stop_callback on_stop(stop, end);
    const std::stop_callback on_loss(permit->stop(), end);
    return reconciler_.Reconcile(
        id, either.get_token(),
        {.tenure = permit->tenure(), .may_put_off = !queue_.shutting_down()});
  }

  void AwaitWorkers() {
    const base::TimePoint deadline = options_.clock.Now() + options_.drain_timeout;
    const base::MutexLock lock(mu_);
    while (running_workers_ > 0) {
      if (options_.clock.WaitUntil(mu_, worker_done_, {}, deadline) == base::Wake::kTimeout) {
        logging::Warning("The operator ends while workers still write",
                         {{"workers", running_workers_}});
        return;
      }
    }
  }

  static double Seconds(base::Duration d) { return std::chrono::duration<double>(d).count(); }

  const Options options_;
  ReloaderMetrics metrics_;
  Caches caches_;
  PairMemory memory_;
  ToldTemplates told_;
  PatternCache patterns_;
  Retries retries_;
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
  LateSources late_sources_;
  std::stop_source stop_;
  EventListeners listeners_;
  base::Mutex mu_;
  base::CondVar worker_done_;
  std::atomic<bool> works_ = false;
  int running_workers_ KX_GUARDED_BY(mu_) = 0;
  base::Subscription rollout_gate_subscription_;
  std::vector<std::jthread> workers_;
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
