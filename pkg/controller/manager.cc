#include "kubexx/controller/manager.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "kubexx/base/after.h"
#include "kubexx/base/mutex.h"
#include "kubexx/controller/internal/clusters.h"
#include "kubexx/controller/internal/deadlines.h"
#include "kubexx/controller/internal/election_run.h"
#include "kubexx/controller/internal/end_guard.h"
#include "kubexx/controller/internal/errand.h"
#include "kubexx/controller/internal/guarded.h"
#include "kubexx/controller/internal/manager_http.h"
#include "kubexx/controller/internal/manager_parts.h"
#include "kubexx/controller/internal/recorders.h"
#include "kubexx/controller/internal/runnable_group.h"
#include "kubexx/controller/internal/still_running.h"
#include "kubexx/logging/log.h"
#include "kubexx/metrics/process_metrics.h"

namespace kubexx::controller {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;

constexpr const char* kHandlers = "the handlers of the caches";

}  // namespace

class Manager::Impl {
 public:
  /// `events` writes Events. When it is null, `client` does.
  Impl(std::shared_ptr<rest::RESTClient> client, ManagerOptions options,
       std::unique_ptr<metrics::Registry> own_registry, std::shared_ptr<rest::RESTClient> events)
      : options_(std::move(options)),
        own_registry_(options_.registry != nullptr ? nullptr
                      : own_registry               ? std::move(own_registry)
                                                   : std::make_unique<metrics::Registry>()),
        registry_(options_.registry != nullptr ? *options_.registry : *own_registry_),
        clusters_(PartsOf({}, std::move(client), std::move(events),
                          {.cache = options_.cache,
                           .first_read_timeout = options_.first_read_timeout,
                           .write_defaults = options_.write_defaults})),
        election_(options_.clock, leaders_, [this](Status status) { Failed(std::move(status)); }),
        http_({.all = options_.http,
               .health_only = options_.health_http,
               .webhooks = options_.webhooks,
               .pages = options_.pages,
               .judge = options_.protect_metrics ? cluster()->client() : nullptr,
               .clock = options_.clock},
              registry_),
        servers_(options_.clock, [this](Status status) { Failed(std::move(status)); }),
        others_(options_.clock, [this](Status status) { Failed(std::move(status)); }),
        leaders_(options_.clock, [this](Status status) { Failed(std::move(status)); }),
        errands_(options_.clock, [this](Status status) { Failed(std::move(status)); }) {
    if (own_registry_) {
      process_metrics_ = metrics::RegisterProcessMetrics(registry_);
    }
    (void)http_.ready().Add("caches", [this]() -> Result<void> {
      return caches_synced_ ? Result<void>() : Fail(clusters_.CachesNotReady());
    });
  }

  ~Impl() {
    ended_.request_stop();
    election_.RequestStop();
    leaders_.RequestStop();
    election_.Join();
  }

  Result<void> Add(std::shared_ptr<Runnable> runnable) {
    if (finished_) {
      return Fail(Reason::kInvalidConfig,
                  "the manager has ended: " + runnable->Name() + " will not run");
    }
    const std::string name = runnable->Name();
    const Result<void> added = internal::Guarded([&]() -> Result<void> {
      Group(runnable->stage()).Add(std::move(runnable));
      return {};
    });
    if (!added) {
      return Fail(added.error().WithContext(name));
    }
    return {};
  }

  void FreeControllerName(const std::string& name) {
    const base::MutexLock lock(mu_);
    controller_names_.erase(name);
  }

  Result<void> ClaimControllerName(const ControllerOptions& options) {
    if (options.name.empty() || options.max_concurrent_reconciles < 1) {
      return Fail(Reason::kInvalidConfig,
                  "controller '" + options.name +
                      "': it needs a name and at least one concurrent reconcile");
    }
    const base::MutexLock lock(mu_);
    if (!controller_names_.insert(options.name).second) {
      return Fail(Reason::kAlreadyExists,
                  "the manager has a controller named " + options.name +
                      " already: call Named() with another name, which its metrics need");
    }
    return {};
  }

  Result<void> Run(const std::stop_token& stop) {
    if (started_.exchange(true)) {
      return Fail(Reason::kInvalidConfig, "a manager can run only once");
    }
    clusters_.Close();
    // When the system has no thread left, the run fails here before it has begun.
    return internal::Guarded([this, &stop] { return RunOnce(stop); });
  }

  Result<std::shared_ptr<Cluster>> AddCluster(std::string name,
                                              std::shared_ptr<rest::RESTClient> client,
                                              std::shared_ptr<rest::RESTClient> events,
                                              ClusterOptions options) {
    if (!options.write_defaults) {
      options.write_defaults = options_.write_defaults;
    }
    return clusters_.Add(
        PartsOf(std::move(name), std::move(client), std::move(events), std::move(options)));
  }

  HealthChecks& health() { return http_.health(); }
  HealthChecks& ready() { return http_.ready(); }
  internal::ManagerHttp& http() { return http_; }
  const std::shared_ptr<Cluster>& cluster() const { return clusters_.own(); }
  const internal::Clusters& clusters() const { return clusters_; }
  metrics::Registry& registry() const { return registry_; }
  const std::shared_ptr<tracing::Tracer>& tracer() const { return options_.tracer; }
  const ManagerOptions& options() const { return options_; }
  bool is_leader() const { return election_.leads(); }

 private:
  /// The clients may outlive the manager, and therefore keep the manager's own registry alive.
  std::shared_ptr<rest::RESTClient> WithRegistry(std::shared_ptr<rest::RESTClient> client) const {
    return own_registry_ && client ? internal::KeepingAlive(own_registry_, std::move(client))
                                   : std::move(client);
  }
  Cluster::Parts PartsOf(std::string name, std::shared_ptr<rest::RESTClient> client,
                         std::shared_ptr<rest::RESTClient> events, ClusterOptions options) const {
    return {.name = std::move(name),
            .client = WithRegistry(std::move(client)),
            .events = WithRegistry(std::move(events)),
            .options = std::move(options),
            .clock = options_.clock,
            .registry = registry_};
  }

  Result<void> RunOnce(const std::stop_token& stop) {
    internal::EndGuard guard(
        ended_.get_token(),
        {.clock = options_.clock,
         .grace = [this] { return Grace(); },
         .sooner = election_.lost(),
         .stop = stop,
         .end = [this] { ended_.request_stop(); },
         .running =
             [this] { return internal::AskWhatRuns({&leaders_, &others_, &servers_}, errands_); },
         .on_stuck = options_.on_stuck});
    const std::stop_callback end(stop, [this] { ended_.request_stop(); });
    errands_.Start();
    if (Result<void> started = internal::Guarded([this] { return Start(); }); !started) {
      Failed(started.error());
    }
    guard.At("its work");
    AwaitEnd();
    const Result<void> stopped = Shutdown(guard);
    const base::MutexLock lock(mu_);
    return failure_ ? Fail(*failure_) : stopped;
  }

  internal::RunnableGroup& Group(Stage stage) {
    switch (stage) {
      case Stage::kServer:
        return servers_;
      case Stage::kOther:
        return others_;
      case Stage::kLeader:
        break;
    }
    return leaders_;
  }

  Result<void> Start() {
    KX_RETURN_IF_ERROR(PrepareElection());
    KX_RETURN_IF_ERROR(http_.Start());
    servers_.Start();
    clusters_.StartCaches();
    if (!WaitForCaches()) {
      return ended_.stop_requested()
                 ? Result<void>()
                 : Fail(clusters_.FirstListsMissing(options_.cache_sync_timeout));
    }
    caches_synced_ = true;
    others_.Start();
    KX_RETURN_IF_ERROR(Warmup());
    if (ended_.stop_requested()) {
      return {};
    }
    election_.Begin();
    return {};
  }

  /// Returns when the warm-ups have ended, or have to end: a user's function cannot be ended from
  /// outside, so it must not hang on this thread.
  Result<void> Warmup() {
    const auto result = std::make_shared<Result<void>>();
    internal::Send(errands_, "warm-ups",
                   [this, result] { *result = leaders_.Warmup(warmup_stop_.get_token()); });
    return errands_.Await(base::TimePoint::max(), ended_.get_token()) ? *result : Result<void>();
  }

  Result<void> PrepareElection() {
    leadership_ = options_.leadership;
    if (!leadership_ && options_.leader_election) {
      KX_ASSIGN_OR_RETURN(
          leadership_,
          NewLeaseLeadership(*options_.leader_election, cluster()->client()->config(),
                             options_.clock, &registry_, &transitions_, options_.tracer));
    }
    election_.Use(leadership_);
    if (leadership_) {
      KX_RETURN_IF_ERROR(
          http_.health().Add("leader-election", [this] { return leadership_->Check(); }));
    }
    return {};
  }

  bool WaitForCaches() {
    std::stop_source give_up;
    const std::stop_callback also_on_end(ended_.get_token(),
                                         [&give_up] { give_up.request_stop(); });
    internal::Deadlines deadlines(options_.clock);
    const base::Subscription timer =
        deadlines.Arm(give_up, base::After(options_.clock.Now(), options_.cache_sync_timeout));
    return clusters_.WaitForCaches(give_up.get_token());
  }

  /// The first failure is the error that the manager returns.
  void Failed(Status status) {
    bool is_first = false;
    {
      const base::MutexLock lock(mu_);
      is_first = !failure_;
      failure_ = failure_.value_or(status);
    }
    // The stop comes before the log line, which may wait for somebody to read it.
    ended_.request_stop();
    if (is_first) {
      logging::Error("The manager ends because of an error", {{"error", status}});
    } else {
      logging::Warning("Something else failed while the manager ends", {{"error", status}});
    }
  }

  void AwaitEnd() {
    const std::stop_token ended = ended_.get_token();
    const base::MutexLock lock(mu_);
    while (!ended.stop_requested()) {
      options_.clock.WaitUntil(mu_, changed_, ended, base::TimePoint::max());
    }
  }

  Result<void> Shutdown(internal::EndGuard& guard) {
    finished_ = true;
    guard.At("runnables that were told to stop");
    (void)guard.Deadline();  // this begins the grace
    election_.RequestStop();
    // Stopping calls functions that users have registered with their tokens.
    internal::Send(errands_, "the stop callbacks of the leader's runnables", [this] {
      warmup_stop_.request_stop();  // the leader's stage runs nothing while there are warm-ups
      leaders_.RequestStop();
    });
    internal::Send(errands_, "the stop callbacks of every replica's runnables",
                   [this] { others_.RequestStop(); });
    errands_.AwaitBriefly();
    const auto await = [&guard](internal::RunnableGroup& group) {
      return guard.Await([&group](base::TimePoint deadline, const std::stop_token& cut) {
        return group.Await(deadline, cut);
      });
    };
    bool done = await(errands_);
    done = await(leaders_) && done;
    done = await(others_) && done;
    guard.At("the leader election");
    done = guard.Await([this](base::TimePoint deadline, const std::stop_token& cut) {
      return election_.Await(deadline, cut);
    }) && done;
    if (!done && election_.has_lost()) {
      return guard.Stuck();  // the next leader does not wait until our Events are written
    }
    bool told = true;  // whether the caches' handlers have got everything
    if (done) {
      guard.At(kHandlers);
      for (const auto& cluster : clusters_.All()) {
        internal::Send(errands_,
                       cluster->name().empty() ? kHandlers : kHandlers + (" of " + cluster->name()),
                       [cluster] { cluster->caches()->Shutdown(); });
      }
      told = errands_.Await(guard.ClosingDeadline());
    }
    // The error names the step that hangs, and not the steps after it.
    guard.At(done && told ? "the last Events" : guard.at());
    clusters_.StopRecorders();
    guard.At(done && told ? "the servers" : guard.at());
    internal::Send(errands_, "the stop callbacks of servers", [this] { servers_.RequestStop(); });
    errands_.AwaitBriefly();
    // The servers stop last, so they have the closing time, too, unless a step before them has used
    // it.
    done = servers_.Await(done ? guard.ClosingDeadline() : guard.Deadline()) && done;
    http_.Stop(guard.ClosingDeadline() - options_.clock.Now());
    election_.End();
    return done && told ? Result<void>() : guard.Stuck();
  }

  base::Duration Grace() const {
    const base::Duration wanted = options_.graceful_shutdown_timeout;
    const base::Duration usual = wanted < base::Duration::zero() ? base::Duration::max() : wanted;
    return election_.has_lost() ? std::min(election_.grace_after_loss(), usual) : usual;
  }

  const ManagerOptions options_;
  const std::shared_ptr<metrics::Registry> own_registry_;
  metrics::Registry& registry_;
  base::Subscription process_metrics_;
  internal::Clusters clusters_;
  std::shared_ptr<Leadership> leadership_;  // set at the start of Run
  internal::ElectionRun election_;          // asked until everything else has ended
  std::atomic<bool> started_ = false;
  std::atomic<bool> finished_ = false;
  std::atomic<bool> caches_synced_ = false;
  std::stop_source ended_;  // users do not get its token, see EndGuard
  std::stop_source warmup_stop_;
  base::Mutex mu_;
  base::CondVar changed_;
  std::set<std::string> controller_names_ KX_GUARDED_BY(mu_);
  std::optional<Status> failure_ KX_GUARDED_BY(mu_);
  internal::ManagerHttp http_;
  internal::LeaseTransitions transitions_{clusters_.own()->recorders()};
  // These members are destroyed before the members that they use, because the groups wait for their
  // threads.
  internal::RunnableGroup servers_;
  internal::RunnableGroup others_;
  internal::RunnableGroup leaders_;
  /// The calls that Run makes on another thread, because they may hang.
  internal::RunnableGroup errands_;
};

Manager::Manager(std::shared_ptr<rest::RESTClient> client, ManagerOptions options)
    : Manager(std::move(client), std::move(options), nullptr, nullptr) {}

Manager::Manager(std::shared_ptr<rest::RESTClient> client, ManagerOptions options,
                 std::unique_ptr<metrics::Registry> registry,
                 std::shared_ptr<rest::RESTClient> events)
    : impl_(std::make_unique<Impl>(std::move(client), std::move(options), std::move(registry),
                                   std::move(events))) {}

Manager::~Manager() = default;
Result<void> Manager::Add(std::shared_ptr<Runnable> runnable) {
  return impl_->Add(std::move(runnable));
}
Result<void> Manager::AddHealthCheck(const std::string& name, HealthCheck check) {
  return impl_->health().Add(name, std::move(check));
}
Result<void> Manager::AddReadyCheck(const std::string& name, HealthCheck check) {
  return impl_->ready().Add(name, std::move(check));
}

Result<void> Manager::Run(std::stop_token stop) { return impl_->Run(stop); }
bool Manager::IsLeader() const { return impl_->is_leader(); }
Client Manager::NewClient(std::stop_token stop) const {
  return cluster()->NewClient(std::move(stop));
}

std::shared_ptr<events::Recorder> Manager::EventRecorderFor(const std::string& component) {
  return cluster()->EventRecorderFor(component);
}
webhook::Server* Manager::webhooks() { return impl_->http().webhooks(); }

Result<std::shared_ptr<Cluster>> Manager::AddCluster(std::string name,
                                                     std::shared_ptr<rest::RESTClient> client,
                                                     ClusterOptions options) {
  return impl_->AddCluster(std::move(name), std::move(client), nullptr, std::move(options));
}
Result<std::shared_ptr<Cluster>> Manager::AddCluster(std::string name, rest::Config config,
                                                     ClusterOptions options) {
  auto clients = internal::NewClients(std::move(config), clock(), registry(), tracer());
  if (!clients) {
    return Fail(clients.error().WithContext("cluster " + name));
  }
  return impl_->AddCluster(std::move(name), std::move(clients->all), std::move(clients->events),
                           std::move(options));
}
const std::shared_ptr<Cluster>& Manager::cluster() const { return impl_->cluster(); }
bool Manager::Has(const Cluster& cluster) const {
  return std::ranges::any_of(
      impl_->clusters().All(),
      [&cluster](const std::shared_ptr<Cluster>& each) { return each.get() == &cluster; });
}
const std::shared_ptr<rest::RESTClient>& Manager::client() const { return cluster()->client(); }
const std::shared_ptr<informers::SharedInformerFactory>& Manager::caches() const {
  return cluster()->caches();
}
metrics::Registry& Manager::registry() const { return impl_->registry(); }
const std::shared_ptr<tracing::Tracer>& Manager::tracer() const { return impl_->tracer(); }
base::Clock& Manager::clock() const { return impl_->options().clock; }
std::uint16_t Manager::http_port() const { return impl_->http().port(); }
std::uint16_t Manager::health_port() const { return impl_->http().health_port(); }

Client::Parts Manager::ClientParts() const { return cluster()->ClientParts(); }
Result<void> Manager::ClaimControllerName(const ControllerOptions& options) {
  return impl_->ClaimControllerName(options);
}

void Manager::FreeControllerName(const std::string& name) { impl_->FreeControllerName(name); }

}  // namespace kubexx::controller
