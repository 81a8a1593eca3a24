/// @file
/// Manager: runs the controllers of a program, with one client, one set of caches, metrics, health
/// and leader election.
///
/// A program has a function that compares the actual with the wanted state:
///
///     Result<controller::Action> Reconcile(const controller::Request& request,
///                                          controller::Context& context) {
///       const auto deployment = context.client.Get<Deployment>(request.object);
///       if (!deployment) {
///         return controller::IgnoreNotFound(deployment.error());
///       }
///       ...
///       return controller::Action::Done();
///     }
///
/// and a manager that runs a controller with this function (with kubexx and apimachinery::Result in
/// scope):
///
///     controller::StopSignals signals;   // first: SIGTERM and SIGINT end the program in order
///     auto config = rest::LoadConfig({});
///     auto manager = controller::Manager::New(*config, {.http = {{.address = ":8080"}}});
///     auto made = controller::ControllerBuilder<Deployment>(**manager)
///                     .Owns<ConfigMap>()
///                     .Complete(Reconcile);
///     auto ran = (*manager)->Run(signals.token());   // blocks
///
/// The parts, each in a header of its own: ControllerBuilder (builder.h) configures what the
/// controller watches; Reconciler, Context and Action (reconciler.h, action.h) are the interface of
/// the user's code; Client (client.h) reads caches and writes to the API server; predicates
/// (predicate.h) filter events; Finalize (finalizer.h) and SetCondition (conditions.h) manage
/// finalizers and conditions; owner references, OwnedObjects, CreateOrUpdate and RetryOnConflict
/// are in object_helpers.h, owned_objects.h, create_or_update.h and retry.h; StopSignals is in
/// stop_signals.h. With ManagerOptions::leader_election several replicas may run, of which one
/// works and the others stand by with their caches in sync.
#ifndef KUBEXX_CONTROLLER_MANAGER_H_
#define KUBEXX_CONTROLLER_MANAGER_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/controller/client.h"
#include "kubexx/controller/cluster.h"
#include "kubexx/controller/controller.h"
#include "kubexx/controller/health.h"
#include "kubexx/controller/leadership.h"
#include "kubexx/controller/runnable.h"
#include "kubexx/events/recorder.h"
#include "kubexx/http/server.h"
#include "kubexx/informers/shared_informer_factory.h"
#include "kubexx/kubernetes/options.h"
#include "kubexx/metrics/http_server.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/tracing/tracer.h"
#include "kubexx/webhook/server.h"

namespace kubexx::controller {

/// Settings of a manager. ControllerBuilder has those of a controller.
struct ManagerOptions {
  /// Where the manager serves /metrics, /healthz and /readyz. When unset, it does not serve them.
  std::optional<metrics::HttpServer::Options> http{};
  /// When set, the manager serves /healthz and /readyz here instead of at `http`, for example
  /// because `http` requires authentication.
  std::optional<metrics::HttpServer::Options> health_http{};
  /// Further pages of `http`, by their paths. A page for /healthz or /readyz replaces the manager's
  /// own, for programs that answer probes themselves; the manager then does not run the added
  /// checks. These two must not wait for anything. Run fails with kInvalidConfig when there are
  /// pages but no `http`.
  std::map<std::string, http::Handler> pages{};
  /// Whether the manager serves /metrics only to callers that the API server authenticates and
  /// authorizes; authfilter/auth_filter.h tells which permissions this program needs for it.
  /// Callers send tokens, so give `http` TLS, too.
  bool protect_metrics = false;
  /// Settings of an admission webhook server. The manager starts it before everything that needs
  /// the API server.
  std::optional<webhook::Server::Options> webhooks{};
  /// Settings of the caches. The manager sets their clock and registry to its own.
  informers::FactoryOptions cache = informers::FactoryOptions();  // see rest::Config::tls
  /// How long the caches may take for their first lists before Run fails.
  base::Duration cache_sync_timeout = std::chrono::minutes(2);
  /// How long the runnables and caches may take to stop when Run ends. What follows, such as
  /// writing the last Events, takes at most another 7 s, so that both together take less than the
  /// 30 s after which a kubelet kills the container. After a lost lease the time is at most one
  /// second, because another process may lead by then. A negative value means no limit, as in
  /// controller-runtime.
  base::Duration graceful_shutdown_timeout = std::chrono::seconds(20);
  /// Called once when graceful_shutdown_timeout has passed, with an error that names what still
  /// runs, for how long and on what. The manager cannot end a thread from outside, and if it waited
  /// longer it would keep the lease, or work beside the next leader. When no function is set, the
  /// manager logs the error and ends the process at once with status 1 (std::_Exit). When the
  /// function returns, Run returns the error, too, and the manager's destructor waits for whatever
  /// does not end: a runnable, a warm-up or a handler of the caches. Called on any thread.
  std::function<void(const apimachinery::Status&)> on_stuck{};
  /// How long a Client's read waits for the first list of a type that nobody has read before,
  /// counted from the start of its cache. The read fails at once when the server refuses the list.
  base::Duration first_read_timeout = std::chrono::seconds(10);
  /// Filled in for all writes of the Clients that reconciles and NewClient get: a field manager, a
  /// field validation, and a dry run, with which the controllers only show what they would do.
  /// Events and the lease of the leader election are written in any case.
  std::optional<kubernetes::WriteDefaults> write_defaults{};
  /// When set, the manager runs the runnables of Stage::kLeader only while this process holds the
  /// lease; otherwise it runs them at once.
  std::optional<LeaderElectionOptions> leader_election{};
  /// Another way to decide which process leads, instead of `leader_election`.
  std::shared_ptr<Leadership> leadership{};
  /// Measures all delays and limits, graceful_shutdown_timeout included: with a FakeClock a
  /// reconcile that does not heed its stop keeps Run until the test has moved the time on.
  base::Clock& clock = base::Clock::Real();
  /// Must outlive the manager. When null, the manager makes one, which includes the process's
  /// metrics. Managers that share one need controllers of different names: those of the same name
  /// count in the same metrics, as their sum.
  metrics::Registry* registry = nullptr;
  /// When set, reconciles and the requests of the manager's clients are spans, except those of a
  /// client that was made elsewhere. otlp::Tracing makes one that exports them.
  std::shared_ptr<tracing::Tracer> tracer{};
};

/// Run starts things in this order: HTTP and webhook servers; the caches, and waits for their first
/// lists; Stage::kOther; warm-ups; and Stage::kLeader as soon as this process leads. It stops
/// kLeader and kOther, gives up the lease, and then stops the caches and servers. Modelled on
/// controller-runtime's Manager. Thread-safe.
class Manager {
 public:
  /// Makes a manager with a client from `config`, whose metrics are in the manager's registry. When
  /// `config` sets no limit of requests, the client has none, as in controller-runtime: the API
  /// server's priority and fairness keeps one client from using all of its capacity. When `config`
  /// sets a limit, Events have a separate limit of the same size, so that other writes need not
  /// wait for Events.
  static apimachinery::Result<std::unique_ptr<Manager>> New(rest::Config config,
                                                            ManagerOptions options = {});
  /// Makes a manager with the caller's client, which also writes the Events.
  explicit Manager(std::shared_ptr<rest::RESTClient> client, ManagerOptions options = {});
  /// Run must have returned. The destructor waits for what still runs, which happens only with an
  /// `on_stuck` that returns, and logs its names when that takes long. A reconciler or another
  /// runnable must not destroy its manager, because the manager would wait for that runnable for
  /// ever; it can request the stop of Run's token instead, which does not wait.
  ~Manager();
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  /// Adds a runnable. The manager starts it when its stage starts, or at once when its stage has
  /// started already. kInvalidConfig when Run has ended.
  apimachinery::Result<void> Add(std::shared_ptr<Runnable> runnable);
  /// Adds a function as a runnable.
  apimachinery::Result<void> Add(std::string name, Stage stage,
                                 std::function<apimachinery::Result<void>(std::stop_token)> run);
  /// Adds two functions as a runnable that has a thread only while one of them runs: `begin` is
  /// called when the stage starts, and `end`, when `begin` has succeeded, when it stops. Both may
  /// block.
  apimachinery::Result<void> Add(std::string name, Stage stage,
                                 std::function<apimachinery::Result<void>(std::stop_token)> begin,
                                 std::function<void()> end);

  /// Add a check to /healthz, whose failure makes the kubelet restart the container, or to /readyz,
  /// whose failure takes the pod out of its Services. /readyz has a check of its own, "caches",
  /// which succeeds when the caches are in sync. kAlreadyExists when the name is taken.
  apimachinery::Result<void> AddHealthCheck(const std::string& name, HealthCheck check);
  apimachinery::Result<void> AddReadyCheck(const std::string& name, HealthCheck check);

  /// Runs until `stop` is requested, and returns success when everything has stopped. When that
  /// takes longer than ManagerOptions::graceful_shutdown_timeout, see ManagerOptions::on_stuck. Run
  /// ends with an error at the first failure of a runnable, when it cannot listen on an HTTP
  /// address, when the caches have no first list in time, and, within a second, when the leadership
  /// is lost. Call it only once.
  apimachinery::Result<void> Run(std::stop_token stop);

  /// Whether this process leads, or there is no leader election. False before Run, as soon as the
  /// lease is lost, even while the runnables of Stage::kLeader are still stopping, and as soon as
  /// the time that the last renewal gave is over, even before any thread has noticed that.
  bool IsLeader() const;

  /// Adds another cluster, with a client, caches and Events of its own, whose metrics are in the
  /// manager's registry. Run starts its caches together with the manager's, and waits for their
  /// first lists, too. The lease of a leader election, webhooks and the protection of metrics
  /// concern the manager's own cluster only. `config` is completed as in New. kAlreadyExists when
  /// the name is taken; kInvalidConfig when it is empty, or has blanks, quotes, slashes,
  /// backslashes or other characters than ASCII, or when Run has begun.
  ///
  ///     auto west = manager.AddCluster("west", config_of_west);
  ///     auto made = controller::ControllerBuilder<Deployment>(manager)
  ///                     .WatchesIn<ConfigMap>(**west, requests_of)
  ///                     .Complete(Reconcile);
  apimachinery::Result<std::shared_ptr<Cluster>> AddCluster(std::string name, rest::Config config,
                                                            ClusterOptions options = {});
  /// The same with the caller's client, which also writes the Events.
  apimachinery::Result<std::shared_ptr<Cluster>> AddCluster(
      std::string name, std::shared_ptr<rest::RESTClient> client, ClusterOptions options = {});
  /// The manager's own cluster, whose name is empty.
  const std::shared_ptr<Cluster>& cluster() const;
  /// Whether `cluster` is the manager's own, or one of AddCluster.
  bool Has(const Cluster& cluster) const;

  /// The informer of T in the caches; see SharedInformerFactory.
  template <class T>
  std::shared_ptr<cache::SharedInformer<T>> InformerFor() {
    return caches()->InformerFor<T>();
  }
  /// Like InformerFor without arguments, but with settings for this informer.
  template <class T>
  std::shared_ptr<cache::SharedInformer<T>> InformerFor(const cache::InformerOptions& options) {
    return caches()->InformerFor<T>(options);
  }
  /// Returns the recorder of Events for `component`; there is one for each component. It writes
  /// Events of events.k8s.io/v1 and groups repeated ones into series. Run writes all queued Events
  /// before it returns. Like controller-runtime's GetEventRecorder.
  std::shared_ptr<events::Recorder> EventRecorderFor(const std::string& component);
  /// The server of ManagerOptions::webhooks; null when that is not set. Add handlers before Run.
  webhook::Server* webhooks();

  /// A client for use outside of a reconcile. It does not record its writes for later reconciles.
  /// Once Run has ended, the caches have stopped, and its reads from them fail with kUnavailable.
  Client NewClient(std::stop_token stop = {}) const;

  const std::shared_ptr<rest::RESTClient>& client() const;
  const std::shared_ptr<informers::SharedInformerFactory>& caches() const;
  metrics::Registry& registry() const;
  /// ManagerOptions::tracer.
  const std::shared_ptr<tracing::Tracer>& tracer() const;
  base::Clock& clock() const;
  /// The port of ManagerOptions::http while running; 0 otherwise.
  std::uint16_t http_port() const;
  /// The port that serves /healthz and /readyz while running; 0 otherwise.
  std::uint16_t health_port() const;

  /// For ControllerBuilder: options with the manager's clock and registry, and with a name made
  /// from `kind`.
  ControllerOptions ControllerDefaults(std::string_view kind) const;
  Client::Parts ClientParts() const;
  /// For ControllerBuilder: checks the options and reserves the controller's name.
  apimachinery::Result<void> ClaimControllerName(const ControllerOptions& options);
  /// For ControllerBuilder: gives the name of a controller back that was not added.
  void FreeControllerName(const std::string& name);

 private:
  class Impl;
  Manager(std::shared_ptr<rest::RESTClient> client, ManagerOptions options,
          std::unique_ptr<metrics::Registry> registry, std::shared_ptr<rest::RESTClient> events);

  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_MANAGER_H_
