#include "kubexx/controller/controller.h"

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/thrown_text.h"
#include "kubexx/base/after.h"
#include "kubexx/base/hex.h"
#include "kubexx/base/report_limit.h"
#include "kubexx/controller/consistency_store.h"
#include "kubexx/controller/internal/controller_metrics.h"
#include "kubexx/controller/internal/deadlines.h"
#include "kubexx/controller/internal/running_reconciles.h"
#include "kubexx/controller/internal/source_group.h"
#include "kubexx/logging/log.h"
#include "kubexx/logging/logger.h"
#include "kubexx/tracing/span.h"
#include "kubexx/tracing/span_context.h"
#include "kubexx/tracing/tracer.h"

namespace kubexx::controller {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;

// The first delay between checks whether a cache has caught up. Usually a cache takes a few
// milliseconds.
constexpr base::Duration kFirstStaleDelay = std::chrono::milliseconds(2);
constexpr base::Duration kMaxStaleDelay = std::chrono::seconds(1);
// The first delay between attempts of a reconcile that needs a cache that cannot be read yet.
constexpr base::Duration kFirstEarlyDelay = std::chrono::seconds(1);
constexpr base::Duration kMaxEarlyDelay = std::chrono::seconds(8);
// The limit for all keys together, because each attempt may ask the API server before it comes to
// that cache.
constexpr double kEarlyTriesPerSecond = 50;
constexpr int kEarlyBurst = 100;
// The longest delay of such an attempt, however many keys wait: when the cache has its first list,
// no key waits any longer. When an event takes a key before its time, the slot of the key stays
// unused.
constexpr base::Duration kMaxEarlyWait = std::chrono::minutes(1);

double ToSeconds(base::Duration d) { return std::chrono::duration<double>(d).count(); }

std::shared_ptr<workqueue::RateLimiter> DefaultLimiter() {
  return workqueue::NewExponentialFailureRateLimiter(std::chrono::milliseconds(5),
                                                     std::chrono::seconds(1000));
}

}  // namespace

class Controller::Impl {
 public:
  Impl(ControllerOptions options, Client::Parts client, ReconcileFunction reconcile)
      : options_(std::move(options)),
        reconcile_(std::move(reconcile)),
        client_(std::move(client)),
        stale_limiter_(
            workqueue::NewExponentialFailureRateLimiter(kFirstStaleDelay, kMaxStaleDelay)),
        early_limiter_(workqueue::NewMaxOfRateLimiter(
            workqueue::NewExponentialFailureRateLimiter(kFirstEarlyDelay, kMaxEarlyDelay),
            workqueue::NewBucketRateLimiter(kEarlyTriesPerSecond, kEarlyBurst, options_.clock,
                                            kMaxEarlyWait))),
        early_lines_(options_.clock),
        exception_lines_(options_.clock),
        log_({{"controller", options_.name}}),
        queue_({.name = options_.name,
                .clock = options_.clock,
                .registry = options_.registry,
                .rate_limiter = options_.rate_limiter ? options_.rate_limiter : DefaultLimiter(),
                .order = options_.order,
                .fair = Guarded(options_.fair)}) {
    if (options_.registry != nullptr) {
      metrics_ = internal::ControllerMetrics(*options_.registry, options_.name);
    }
    metrics_.max_concurrent_reconciles.Set(options_.max_concurrent_reconciles);
    if (options_.read_your_writes) {
      client_.writes = std::make_shared<ConsistencyStore>(options_.clock);
    }
  }

  void AddSource(Source source) { sources_.Add(std::move(source)); }
  workqueue::Queue& queue() { return queue_; }
  const workqueue::Queue& queue() const { return queue_; }
  const ControllerOptions& options() const { return options_; }
  std::vector<std::string> Busy() const { return running_.Describe(); }

  Result<void> Warmup() {
    return options_.warm_standby ? sources_.Start(options_.name, queue_) : Result<void>();
  }

  Result<void> Run(const std::stop_token& stop) {
    KX_RETURN_IF_ERROR(sources_.Start(options_.name, queue_));
    KX_RETURN_IF_ERROR(
        sources_.WaitForSync(options_.name, deadlines_,
                             base::After(options_.clock.Now(), options_.cache_sync_timeout), stop));
    RunWorkers(stop);
    queue_.ShutDown();
    sources_.Stop();
    return {};
  }

 private:
  /// Throws std::system_error when the system does not have enough threads, after the workers that
  /// did get threads have ended.
  void RunWorkers(const std::stop_token& stop) {
    std::stop_source ended;
    const std::stop_callback also_on_stop(stop, [&ended] { ended.request_stop(); });
    std::vector<std::jthread> workers;
    try {
      for (int i = 0; i < options_.max_concurrent_reconciles; ++i) {
        workers.emplace_back([this, token = ended.get_token()] { Work(token); });
      }
    } catch (...) {
      // Otherwise the destructor of `workers` would wait for the manager's end.
      ended.request_stop();
      throw;
    }
  }

  void Work(const std::stop_token& stop) {
    for (auto item = queue_.Get(stop); item; item = queue_.Next(std::move(item), stop)) {
      try {
        if (!PutOff(item)) {
          const internal::AtWork counted(metrics_.active_workers);
          Handle(item, stop);
        }
      } catch (...) {
        AfterException(item, apimachinery::ThrownText());
      }
    }
  }

  /// Returns the same options with a tenant function that does not throw. Sources call it when they
  /// add keys, and an exception would lose the key.
  workqueue::FairOptions Guarded(workqueue::FairOptions fair) {
    if (fair.tenant) {
      fair.tenant = [this, named = std::move(fair.tenant)](const workqueue::Key& key) {
        try {
          return named(key);
        } catch (...) {
          ReportException(key, "tenant function", "its namespace is the tenant",
                          apimachinery::ThrownText());
        }
        return key.object.namespace_;
      };
    }
    return fair;
  }

  void ReportException(const workqueue::Key& key, std::string_view function,
                       std::string_view consequence, std::string_view what) {
    metrics_.panics.Increment();
    if (const auto left_out = exception_lines_.Admit()) {
      logging::Error("A function of the controller's queue threw",
                     {{"controller", options_.name},
                      {"object", key.object.ToString()},
                      {"function", function},
                      {"consequence", consequence},
                      {"error", what},
                      {"others", *left_out}});
    }
  }

  /// The rate limiter is at fault, and this way does not ask it. Until it works again every key
  /// comes here, and all keys together must not keep the workers, the log and the API server busy.
  void AfterException(workqueue::Queue::Item& item, std::string_view what) {
    ReportException(*item, "rate limiter", "the key is tried again", what);
    queue_.PutBack(std::move(item), early_limiter_->When(*item));
  }

  /// Makes the rate limiter forget the key's failures. When the limiter throws, nothing is lost:
  /// the next failure of the key only waits longer.
  void Forget(const workqueue::Queue::Item& item) {
    try {
      queue_.Forget(*item);
    } catch (...) {
      ReportException(*item, "rate limiter", "the key's failures are not forgotten",
                      apimachinery::ThrownText());
    }
  }

  /// Whether the cache does not have this controller's own write for the request yet.
  bool PutOff(const workqueue::Queue::Item& item) {
    if (!client_.writes) {
      return false;
    }
    const auto stale = client_.writes->Check(*item);
    if (!stale) {
      stale_limiter_->Forget(*item);
      return false;
    }
    metrics_.stale_skips.Increment();
    if (logging::Enabled(logging::Level::kDebug)) {
      logging::Debug("Postponed a reconcile until the cache contains its own writes",
                     {{"controller", options_.name},
                      {"object", item->object.ToString()},
                      {"resource", stale->resource},
                      {"written", stale->written},
                      {"cached", stale->cached}});
    }
    queue_.Add(*item, {.priority = item.priority(), .after = stale_limiter_->When(*item)});
    return true;
  }

  void Handle(const workqueue::Queue::Item& item, const std::stop_token& stop) {
    const base::TimePoint began = options_.clock.Now();
    const auto running = running_.Enter(item->object);
    const auto read_early = std::make_shared<std::atomic<bool>>(false);
    tracing::Span span = SpanFor(*item);
    const tracing::Scope scope(span);
    const logging::Logger log = LogFor(*item, span.context());
    const Result<Action> result = Reconcile(item, stop, began, read_early, log);
    Finish(span, result);
    metrics_.time.Observe(ToSeconds(options_.clock.Now() - began));
    if (!result && read_early->load()) {
      TryAgainSoon(item, result.error(), stop);
      return;
    }
    early_limiter_->Forget(*item);
    if (!result) {
      HandleError(item, result.error(), stop, log);
    } else if (result->given_up()) {
      GiveUp(item, *result->given_up(), log);
    } else {
      Requeue(item, *result);
    }
  }

  Result<Action> Reconcile(const workqueue::Queue::Item& item, const std::stop_token& stop,
                           base::TimePoint began,
                           const std::shared_ptr<std::atomic<bool>>& read_early,
                           const logging::Logger& log) {
    std::stop_source own;
    const std::stop_callback also_on_stop(stop, [&own] { own.request_stop(); });
    const bool has_limit = options_.reconcile_timeout > base::Duration::zero();
    const base::TimePoint deadline =
        has_limit ? base::After(began, options_.reconcile_timeout) : base::TimePoint::max();
    std::stop_source time_is_up;
    const std::stop_callback on_time_up(time_is_up.get_token(), [this, &own, &item] {
      logging::Warning("A reconcile has not ended in time and is told to stop",
                       {{"controller", options_.name},
                        {"object", item->object.ToString()},
                        {"timeout_seconds", ToSeconds(options_.reconcile_timeout)}});
      metrics_.timeouts.Increment();
      // The stop comes last, because it runs callbacks of users, which may hang.
      own.request_stop();
    });
    const base::Subscription timer =
        has_limit ? deadlines_.Arm(time_is_up, deadline) : base::Subscription();
    Client::Parts parts = client_;
    parts.owner = *item;
    parts.stop = own.get_token();
    parts.read_early = read_early;
    Context context{.client = Client(std::move(parts)),
                    .stop = own.get_token(),
                    .deadline = deadline,
                    .clock = options_.clock,
                    .controller = options_.name,
                    .priority = item.priority(),
                    .failures = queue_.NumRequeues(*item),
                    .recorder = Recorder(),
                    .log = log};
    return Guarded(*item, context);
  }

  events::Recorder& Recorder() const {
    return options_.recorder ? *options_.recorder : events::DiscardingRecorder::Instance();
  }

  logging::Logger LogFor(const Request& request, const tracing::SpanContext& trace) {
    const std::uint64_t number = ++reconciles_;
    const std::string object = request.object.ToString();
    const logging::Logger log =
        request.kind.empty()
            ? log_.With({{"object", object}, {"reconcile", number}})
            : log_.With({{"object", object}, {"kind", request.kind}, {"reconcile", number}});
    return trace.sampled ? log.With({{"trace_id", base::ToHex(trace.trace)}}) : log;
  }

  tracing::Span SpanFor(const Request& request) const {
    tracing::Span span = tracing::StartSpan(options_.tracer, "reconcile " + options_.name,
                                            tracing::SpanKind::kInternal, {});
    if (span.is_recording()) {
      span.Set("k8s.namespace.name", request.object.namespace_);
      span.Set("k8s.object.name", request.object.name);
      if (!request.kind.empty()) {
        span.Set("k8s.object.kind", request.kind);
      }
    }
    return span;
  }

  static void Finish(tracing::Span& span, const Result<Action>& result) {
    if (!result) {
      span.Fail(result.error().ToString());
    } else if (result->given_up()) {
      span.Fail(result->given_up()->ToString());
    }
    span.End();
  }

  Result<Action> Guarded(const Request& request, Context& context) {
    try {
      return reconcile_(request, context);
    } catch (...) {
      metrics_.panics.Increment();
      return Fail(Reason::kInternalError, "the reconciler threw: " + apimachinery::ThrownText());
    }
  }

  /// The cache is at fault, and not the key. However long its first list takes, every key that
  /// waits for it is to be reconciled within seconds after that. If thousands of keys wait, it is
  /// to happen as soon as the limit for all of them allows.
  void TryAgainSoon(const workqueue::Queue::Item& item, const Status& status,
                    const std::stop_token& stop) {
    if (stop.stop_requested()) {
      return;
    }
    metrics_.error.Increment();
    metrics_.errors.Increment();
    if (const auto left_out = early_lines_.Admit()) {
      logging::Warning("Reconcile failed because a cache cannot be read yet, will try again",
                       {{"controller", options_.name},
                        {"object", item->object.ToString()},
                        {"error", status},
                        {"others", *left_out}});
    }
    queue_.Add(*item, {.priority = item.priority(), .after = early_limiter_->When(*item)});
  }

  void HandleError(const workqueue::Queue::Item& item, const Status& status,
                   const std::stop_token& stop, const logging::Logger& log) {
    if (stop.stop_requested() && status.reason == Reason::kCancelled) {
      return;  // not a failure, because the reconcile was told to stop
    }
    metrics_.error.Increment();
    metrics_.errors.Increment();
    log.Warning("Reconcile failed, will try again", {{"error", status}});
    queue_.Add(*item, {.priority = item.priority(), .rate_limited = true});
  }

  void GiveUp(const workqueue::Queue::Item& item, const Status& status,
              const logging::Logger& log) {
    metrics_.error.Increment();
    metrics_.errors.Increment();
    metrics_.terminal_errors.Increment();
    log.Error("Reconcile failed with a terminal error, will not try again", {{"error", status}});
    Forget(item);
  }

  void Requeue(const workqueue::Queue::Item& item, const Action& action) {
    if (!action.delay()) {
      metrics_.success.Increment();
      Forget(item);
      return;
    }
    const int priority = action.priority().value_or(item.priority());
    if (*action.delay() > base::Duration::zero()) {
      metrics_.requeue_after.Increment();
      Forget(item);
      queue_.Add(*item, {.priority = priority, .after = *action.delay()});
    } else {
      metrics_.requeue.Increment();
      queue_.Add(*item, {.priority = priority, .rate_limited = true});
    }
  }

  const ControllerOptions options_;
  const ReconcileFunction reconcile_;
  Client::Parts client_;
  internal::ControllerMetrics metrics_;
  const std::shared_ptr<workqueue::RateLimiter> stale_limiter_;
  const std::shared_ptr<workqueue::RateLimiter> early_limiter_;
  base::ReportLimit early_lines_;
  base::ReportLimit exception_lines_;
  const logging::Logger log_;
  std::atomic<std::uint64_t> reconciles_ = 0;
  internal::Deadlines deadlines_{options_.clock};
  internal::RunningReconciles running_{options_.clock};
  workqueue::Queue queue_;
  internal::SourceGroup sources_;  // Declared last, so that the sources end before the queue.
};

Controller::Controller(ControllerOptions options, Client::Parts client, ReconcileFunction reconcile)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(client), std::move(reconcile))) {}
Controller::~Controller() = default;

void Controller::AddSource(Source source) { impl_->AddSource(std::move(source)); }
void Controller::Enqueue(const Request& request, const workqueue::AddOptions& options) {
  impl_->queue().Add(request, options);
}
std::string Controller::Name() const { return "controller " + impl_->options().name; }
Stage Controller::stage() const {
  return impl_->options().needs_leader_election ? Stage::kLeader : Stage::kOther;
}
Result<void> Controller::Warmup(std::stop_token /*stop*/) { return impl_->Warmup(); }
std::vector<std::string> Controller::Busy() const { return impl_->Busy(); }
Result<void> Controller::Run(std::stop_token stop) { return impl_->Run(stop); }
std::size_t Controller::QueueLength() const { return impl_->queue().Len(); }

}  // namespace kubexx::controller
