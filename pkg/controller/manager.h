/// @file
/// Manager: runs the controllers of a program, with one client, one set of caches, metrics, health
/// and leader election.
///
/// A program in whole has a function that compares what is with what should be:
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
/// and a manager that has it called, with kubexx and apimachinery::Result in scope:
///
///     controller::StopSignals signals;   // first: SIGTERM and SIGINT end the program in order
///     auto config = rest::LoadConfig({});
///     auto manager = controller::Manager::New(*config, {.http = {{.address = ":8080"}}});
///     auto made = controller::ControllerBuilder<Deployment>(**manager)
///                     .Owns<ConfigMap>()
///                     .Complete(Reconcile);
///     auto ran = (*manager)->Run(signals.token());   // blocks
///
/// The parts, each in a header of its own: ControllerBuilder (builder.h) says what is watched;
/// Reconciler, Context and Action (reconciler.h, action.h) are the user's part; Client (client.h)
/// reads caches and writes to the API server; predicates (predicate.h) leave events out; Finalize
/// (finalizer.h) and SetCondition (conditions.h) keep finalizers and conditions; owner references,
/// CreateOrUpdate and RetryOnConflict are in object_helpers.h, create_or_update.h and retry.h;
/// StopSignals in stop_signals.h. With ManagerOptions' leader_election several replicas may run, of
/// which one works and the others stand by with their caches in sync.
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
#include "kubexx/controller/controller.h"
#include "kubexx/controller/health.h"
#include "kubexx/controller/leadership.h"
#include "kubexx/controller/runnable.h"
#include "kubexx/events/recorder.h"
#include "kubexx/http/server.h"
#include "kubexx/informers/shared_informer_factory.h"
#include "kubexx/metrics/http_server.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/webhook/server.h"

namespace kubexx::controller {

/// Settings of a manager; those of controllers are ControllerBuilder's.
struct ManagerOptions {
  /// Serves /metrics, /healthz and /readyz there; nothing: nowhere.
  std::optional<metrics::HttpServer::Options> http{};
  /// Serves /healthz and /readyz there instead, for example when `http` asks who is calling.
  std::optional<metrics::HttpServer::Options> health_http{};
  /// Further pages of `http`, by their paths. One for /healthz or /readyz is served there instead
  /// of the manager's own, for programs whose probes have an answer of their own; checks that are
  /// added are not asked then.
  std::map<std::string, http::Handler> pages{};
  /// Lets only those read /metrics of `http` whom the API server knows and allows; what rights that
  /// takes says authfilter/auth_filter.h. Callers send tokens: give `http` TLS, too.
  bool protect_metrics = false;
  /// An admission webhook server, which runs before everything that needs an API server's help.
  std::optional<webhook::Server::Options> webhooks{};
  /// Of the caches; their clock and registry are the manager's.
  informers::FactoryOptions cache{};
  /// How long the caches may take for their first lists before the manager gives up.
  base::Duration cache_sync_timeout = std::chrono::minutes(2);
  /// How long what runs may take to stop when Run ends; what comes after it, such as the last
  /// Events, takes 7 s at most. Together less than the 30 s after which a kubelet kills. After a
  /// lost lease it is a second at most, as another process may lead by then. Negative: as long as
  /// they want, as in controller-runtime.
  base::Duration graceful_shutdown_timeout = std::chrono::seconds(20);
  /// Called once, with an error that names what still runs, for how long and on what, when that
  /// time is over: a thread cannot be ended from outside, and to wait on would keep the lease, or
  /// work beside the next leader. Not set: the error is logged and the process ends at once, with
  /// status 1, by std::_Exit. A function that returns has Run return the error, too, whether it is
  /// a runnable that does not end, a warm-up or a handler of the caches; the destructor then waits
  /// for it. Called on any thread.
  std::function<void(const apimachinery::Status&)> on_stuck{};
  /// How long a Client's read waits for the first list of a type that nobody has asked for before,
  /// counted from when its cache was started; a refusal ends it at once.
  base::Duration first_read_timeout = std::chrono::seconds(10);
  /// Then what is Stage::kLeader runs while this process holds the lease only; otherwise at once.
  std::optional<LeaderElectionOptions> leader_election{};
  /// Instead of `leader_election`: another way to decide who leads.
  std::shared_ptr<Leadership> leadership{};
  base::Clock& clock = base::Clock::Real();
  /// Must outlive the manager; null: one of its own, with the process's metrics.
  metrics::Registry* registry = nullptr;
};

/// Starts in this order: HTTP and webhook servers; caches, whose first lists are waited for;
/// Stage::kOther; warm-ups; then, once this process leads, Stage::kLeader. Stops kLeader and
/// kOther, gives up the lease, then stops caches and servers. As controller-runtime's Manager.
/// Thread-safe.
class Manager {
 public:
  /// Makes a client from `config`, with its metrics in the manager's registry. Where the config
  /// names no limit of requests there is none, as in controller-runtime: the API server's priority
  /// and fairness sees to that no client takes all. Where it names one, Events have another of the
  /// same size, so that writes do not wait for them.
  static apimachinery::Result<std::unique_ptr<Manager>> New(rest::Config config,
                                                            ManagerOptions options = {});
  /// With a client that the caller has made, which writes Events, too.
  explicit Manager(std::shared_ptr<rest::RESTClient> client, ManagerOptions options = {});
  /// Run must have returned. Waits for what was still running then, which there is only
  /// with an `on_stuck` that returns, and names them in the log when that takes long. None of them,
  /// nor a reconciler, may be what destroys the manager: it would wait for itself. To end the
  /// manager from there request the stop of Run's token, which waits for nothing.
  ~Manager();
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  /// Starts it when its stage has come, which may be now. kInvalidConfig once Run has ended.
  apimachinery::Result<void> Add(std::shared_ptr<Runnable> runnable);
  /// The same for a function.
  apimachinery::Result<void> Add(std::string name, Stage stage,
                                 std::function<apimachinery::Result<void>(std::stop_token)> run);

  /// Checks of /healthz, which restarts a container, and of /readyz, which takes it out of service.
  /// /readyz has one of its own, "caches": they are in sync. kAlreadyExists for a name that is
  /// taken.
  apimachinery::Result<void> AddHealthCheck(const std::string& name, HealthCheck check);
  apimachinery::Result<void> AddReadyCheck(const std::string& name, HealthCheck check);

  /// Runs until `stop` is requested, which is success once everything has stopped. What takes
  /// longer than the grace ends the process, see ManagerOptions::on_stuck. The first failure of a
  /// runnable, an HTTP address that cannot be listened on, caches without a first list in time, and
  /// the loss of leadership end it with that error, the last one in a second. Once only.
  apimachinery::Result<void> Run(std::stop_token stop);

  /// Whether this process leads, or needs not; false before Run, and as soon as the lease is lost,
  /// also while what the leader runs has not stopped yet.
  bool IsLeader() const;

  /// The informer of T in the caches; see SharedInformerFactory.
  template <class T>
  std::shared_ptr<cache::SharedInformer<T>> InformerFor() {
    return caches()->InformerFor<T>();
  }
  /// The same with settings of its own.
  template <class T>
  std::shared_ptr<cache::SharedInformer<T>> InformerFor(const cache::InformerOptions& options) {
    return caches()->InformerFor<T>(options);
  }
  /// Records events of events.k8s.io/v1 as `component`, repeated ones as series; what is queued at
  /// the end is written before Run returns. One recorder for each component. As
  /// controller-runtime's GetEventRecorder.
  std::shared_ptr<events::Recorder> EventRecorderFor(const std::string& component);
  /// Of ManagerOptions::webhooks; without that null. Add handlers before Run.
  webhook::Server* webhooks();

  /// For use outside of a reconcile; writes are not noted.
  Client NewClient(std::stop_token stop = {}) const;

  const std::shared_ptr<rest::RESTClient>& client() const;
  const std::shared_ptr<informers::SharedInformerFactory>& caches() const;
  metrics::Registry& registry() const;
  base::Clock& clock() const;
  /// The port of ManagerOptions::http while running; 0 otherwise.
  std::uint16_t http_port() const;
  /// Of /healthz and /readyz.
  std::uint16_t health_port() const;

  /// For ControllerBuilder: options with the manager's clock and registry, and a name.
  ControllerOptions ControllerDefaults(std::string_view kind) const;
  Client::Parts ClientParts() const;
  /// For ControllerBuilder: checks the options and takes the name.
  apimachinery::Result<void> ClaimControllerName(const ControllerOptions& options);
  /// For ControllerBuilder: EventRecorderFor, made when it records for the first time, as most
  /// controllers record nothing. The manager must outlive what uses it.
  std::shared_ptr<events::Recorder> RecorderOfController(const std::string& name);

 private:
  class Impl;
  Manager(std::shared_ptr<rest::RESTClient> client, ManagerOptions options,
          std::unique_ptr<metrics::Registry> registry, std::shared_ptr<rest::RESTClient> events);

  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::controller

#endif  // KUBEXX_CONTROLLER_MANAGER_H_
