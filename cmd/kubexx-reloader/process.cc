#include "process.h"

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/base/executor/executor.h"
#include "kubexx/controller/manager.h"
#include "kubexx/http/server.h"
#include "kubexx/leaderelection/lock.h"
#include "kubexx/logging/log.h"
#include "kubexx/metrics/http_server.h"
#include "kubexx/metrics/process_metrics.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/otlp/tracing.h"
#include "kubexx/reloader/admission/admission_server.h"
#include "kubexx/reloader/ha/replica.h"
#include "kubexx/reloader/in_place/pod_access.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/notify/alerts.h"
#include "kubexx/reloader/notify/webhook_relay.h"
#include "kubexx/reloader/observe/diagnostics.h"
#include "kubexx/reloader/observe/meta_info.h"
#include "kubexx/reloader/observe/process_memory.h"
#include "kubexx/reloader/operator/operator.h"
#include "kubexx/reloader/operator/operator_parts.h"
#include "kubexx/reloader/permissions/refusals.h"
#include "kubexx/reloader/policy/policies.h"
#include "kubexx/reloader/receivers/notifications.h"
#include "kubexx/reloader/receivers/receiver_settings.h"
#include "kubexx/reloader/watch/kubernetes_io.h"
#include "kubexx/reloader/watch/namespace_selector.h"
#include "kubexx/reloader/watch/served_apis.h"
#include "kubexx/reloader/watch/source_absences.h"
#include "kubexx/reloader/write/dry_run.h"
#include "kubexx/reloader/write/write_events.h"
#include "kubexx/reloader/write/writer.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/tracing/tracer.h"
#include "start_tracing.h"

namespace kubexx {
namespace {

using apimachinery::Result;

// How long the end of the process waits for a collector.
constexpr std::chrono::seconds kLastSpans(2);

metrics::HttpResponse Healthy(bool healthy, std::string good, std::string bad, int bad_status) {
  return healthy ? metrics::HttpResponse{.body = std::move(good)}
                 : metrics::HttpResponse{.status = bad_status, .body = std::move(bad)};
}

/// What the manager runs, in the order in which it is made; the members that others refer to come
/// first. It ends in this order: what writes to workloads; the Leases; Events, alerts and policies;
/// HTTP. Decision 72 in docs/decisions.md tells which parts the manager does not run, and why.
class Process {
 public:
  explicit Process(const reloader::Config& config)
      : config_(config), process_metrics_(metrics::RegisterProcessMetrics(registry_)) {}
  /// The policies and who publishes what they lack use each other.
  ~Process() {
    if (policies_) {
      policies_->Stop();
    }
    publisher_.reset();
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Until `stop` is requested.
  Result<void> Run(const std::stop_token& stop) {
    KX_ASSIGN_OR_RETURN(tracing_, StartTracing(config_, registry_));
    tracer_ = tracing_ ? tracing_->tracer() : nullptr;
    KX_RETURN_IF_ERROR(Make());
    controller::ManagerOptions options;
    options.http = {.address = config_.metrics_address};
    options.pages = Pages();
    // Everything has an end of its own, and a kubelet kills what has not.
    options.graceful_shutdown_timeout = base::Duration(-1);
    options.leadership = replica_;
    options.registry = &registry_;
    manager_ = std::make_unique<controller::Manager>(client_, std::move(options));
    using controller::Stage;
    KX_RETURN_IF_ERROR(manager_->Add(
        "reloader", Stage::kLeader,
        [this](const std::stop_token&) -> Result<void> {
          BeginWork();
          return {};
        },
        [this] { EndWork(); }));
    // It ends after the Leases are given back, as no other replica need wait for it.
    KX_RETURN_IF_ERROR(manager_->Add(
        "notifications", Stage::kServer, [](const std::stop_token&) -> Result<void> { return {}; },
        [this] { EndNotifications(); }));
    if (config_.admission.enabled) {
      KX_RETURN_IF_ERROR(manager_->Add("admission", Stage::kServer,
                                       [this](const std::stop_token& end) -> Result<void> {
                                         Admit(end);
                                         return {};
                                       }));
    }
    if (!config_.pprof_address.empty()) {
      KX_RETURN_IF_ERROR(StartDiagnostics());  // before anything is taken part in
    }
    const Result<void> ran = manager_->Run(stop);
    if (tracing_) {
      tracing_->Shutdown(kLastSpans);
    }
    return ran;
  }

 private:
  Result<void> Make() {
    if (!config_.notifications.empty()) {
      auto settings = reloader::LoadNotificationSettings(config_.notifications);
      if (!settings) {
        return apimachinery::Fail(settings.error().WithContext("--notifications"));
      }
      notification_settings_ = *std::move(settings);
    }
    KX_ASSIGN_OR_RETURN(rest::Config loaded, rest::LoadConfig(config_.kubeconfig));
    const rest::Config connection =
        reloader::ConnectionFor(config_, std::move(loaded), KUBEXX_VERSION);
    KX_ASSIGN_OR_RETURN(
        client_, rest::RESTClient::New(connection, {.registry = &registry_, .tracer = tracer_}));
    fallbacks_ = std::make_shared<reloader::Fallbacks>(&registry_);
    served_ = std::make_shared<reloader::ServedApis>(client_);
    if (config_.dry_run) {
      writer_ = std::make_unique<reloader::DryRunWriter>(&registry_);
    } else {
      writer_ = reloader::NewWriter(client_, fallbacks_);
    }
    if (!config_.namespace_selector.empty()) {
      namespaces_ = reloader::NewNamespaceSelector(client_, config_.namespace_selector, &registry_,
                                                   &refusals_, executor_);
    }
    if (config_.ha.enabled && !config_.dry_run) {
      KX_ASSIGN_OR_RETURN(auto client,
                          rest::RESTClient::New(leaderelection::LockClientConfig(connection),
                                                {.registry = &registry_, .tracer = tracer_}));
      replica_ = reloader::Replica::New(
          std::move(client), config_.ha, [this](int shard) { OnAcquired(shard); }, &registry_);
    }
    return config_.webhook_url.empty() ? MakeOperator() : MakeRelay();
  }

  void BeginWork() {
    if (!config_.dry_run) {
      publisher_ = std::make_unique<reloader::MetaInfoPublisher>(
          client_, config_.meta_info, reloader::BuildInfo{.version = KUBEXX_VERSION},
          [this] { return policies_ ? policies_->Unread() : reloader::UnreadPolicies(); },
          executor_);
    }
    auto writing = std::make_unique<Writing>(*this);
    if (operator_) {
      policies_->Start();
      operator_->Start();
    } else {
      relay_->Start();
    }
    memory_ = std::make_unique<reloader::MemoryKeeper>(reloader::MemoryKeeper::Options{
        .ready = [this] { return Ready(); }, .executor = executor_});
    writing_ = std::move(writing);
  }

  /// What is due is written while this replica may; then the others take over.
  void EndWork() {
    memory_.reset();
    writing_.reset();
  }

  /// Ends what writes, also when not all of it could begin: what it uses goes next.
  class Writing {
   public:
    explicit Writing(Process& process) : process_(process) {}
    ~Writing() {
      process_.operator_ ? process_.operator_->Stop() : process_.relay_->Stop();
      if (process_.webhook_sender_) {
        process_.webhook_sender_->Stop();
      }
    }
    Writing(const Writing&) = delete;
    Writing& operator=(const Writing&) = delete;

   private:
    Process& process_;
  };

  void EndNotifications() {
    if (alert_sender_) {
      alert_sender_->Close();  // what is left is sent at the same time
    }
    if (notifications_) {
      notifications_->Stop();
    }
    if (alert_sender_) {
      alert_sender_->Stop();
    }
    events_.reset();  // flushes
    if (policies_) {
      policies_->Stop();
    }
  }

  void Admit(const std::stop_token& stop) {
    reloader::ServeAdmission(client_, config_.admission, {*admission_, *warnings_}, &registry_,
                             base::Clock::Real(), stop);
  }

  Result<void> StartDiagnostics() {
    logging::Warning(
        "Serving statistics of heap and threads for --enable-pprof, but no Go profiles",
        {{"address", config_.pprof_address}});
    diagnostics_ =
        std::make_unique<http::Server>(http::Server::Options{.address = config_.pprof_address});
    reloader::ServeDiagnostics(*diagnostics_);
    return diagnostics_->Start();
  }

  bool Ready() const { return operator_ ? operator_->Ready() : relay_->Ready(); }

  Result<void> MakeObservers() {
    events_ = reloader::NewWriteEvents(client_, &registry_, executor_);
    observers_.push_back(events_.get());
    if (config_.alerts.enabled && !config_.alerts.url.empty()) {
      KX_ASSIGN_OR_RETURN(alert_sender_, reloader::NewAlertSender(config_.alerts, &registry_));
      alerts_ = std::make_unique<reloader::Alerts>(config_.alerts, *alert_sender_);
      observers_.push_back(alerts_.get());
      troubles_.push_back(alerts_.get());
    }
    if (notification_settings_) {
      KX_RETURN_IF_ERROR(MakeNotifications());
    }
    return {};
  }

  Result<void> MakeNotifications() {
    auto made = reloader::NewNotifications(
        *notification_settings_,
        {.namespace_ = config_.meta_info.namespace_,
         .deployment = config_.meta_info.deployment_name},
        {.governing =
             [this](const reloadpolicy::ObjectRef& workload) {
               return policies_->Governing(workload);  // they are made before anything is written
             }},
        executor_, &registry_);
    if (!made) {
      return apimachinery::Fail(
          made.error().WithContext("--notifications: " + config_.notifications));
    }
    notifications_ = *std::move(made);
    observers_.push_back(notifications_.get());
    troubles_.push_back(notifications_.get());
    return {};
  }

  reloader::WatchParts Parts() {
    return {.fallbacks = fallbacks_,
            .refusals = refusals_,
            .served = served_,
            .registry = registry_,
            .executor = executor_};
  }

  void MakePolicies() {
    reloader::Policies::Options options = reloader::PolicyOptionsFor(config_, Parts());
    options.on_unread = [this] {
      if (publisher_) {
        publisher_->Look();
      }
    };
    options.troubles = troubles_;
    // Whoever rolls the workloads of a namespace writes the status of its policies, too, once it
    // knows what waits. Another operator may care for the namespaces that this one leaves alone.
    options.reports = [this](std::string_view name) {
      return Ready() && !config_.ignored_namespaces.contains(std::string(name)) &&
             (!namespaces_ || name.empty() || namespaces_->Contains(name)) &&
             (!replica_ || replica_->held_shards().IsOpenFor(name));
    };
    policies_ = std::make_unique<reloader::Policies>(client_, options);
  }

  Result<void> MakeRelay() {
    if (config_.dry_run) {
      return apimachinery::Fail(apimachinery::Reason::kInvalidConfig,
                                "--dry-run and --webhook-url exclude each other");
    }
    KX_ASSIGN_OR_RETURN(webhook_sender_,
                        reloader::NewWebhookSender(config_.webhook_url, &registry_));
    absences_ = std::make_unique<reloader::SourceAbsences>(
        reloader::SourceAbsences::Options{.has_selector = !config_.source_label_selector.empty(),
                                          .exists = reloader::NewSourceQuery(client_)});
    relay_ = std::make_unique<reloader::WebhookRelay>(
        reloader::WebhookRelay::Options{
            .on_create = config_.rules.reload_on_create,
            .on_delete = config_.rules.reload_on_delete,
            .initial_counts = config_.rules.sync_after_restart,
            .ignored_namespaces = config_.ignored_namespaces,
            .held_shards = replica_ ? &replica_->held_shards() : nullptr,
            .namespace_selector = namespaces_.get(),
            .absences = absences_.get(),
            .registry = &registry_,
            .store = WebhookStoreFor()},
        reloader::InformersFor(config_, client_, Parts()), *webhook_sender_);
    return {};
  }

  /// In the operator's own namespace; without one nothing outlives the process.
  reloader::WebhookStore WebhookStoreFor() const {
    return config_.meta_info.namespace_.empty()
               ? reloader::WebhookStore()
               : reloader::NewWebhookStore(client_, config_.meta_info.namespace_, fallbacks_);
  }

  void OnAcquired(int shard) {
    if (operator_) {
      operator_->Reconsider([this, shard](const std::string& name) {
        return reloader::ShardOf(name, config_.ha.shards) == shard;
      });
    }
  }

  Result<void> MakeOperator() {
    if (!config_.dry_run) {
      KX_RETURN_IF_ERROR(MakeObservers());
    }
    MakePolicies();
    reloader::Operator::Options options = reloader::OperatorOptionsFor(config_, client_, registry_);
    options.executor = executor_;
    options.tracer = tracer_;
    options.observers = observers_;
    options.held_shards = replica_ ? &replica_->held_shards() : nullptr;
    options.rollout_gate = &policies_->gate();
    options.arbiter = [this] { return policies_->Snapshot(); };
    options.namespace_selector = namespaces_.get();
    if (config_.rules.reload_in_place) {
      pods_ = reloader::NewPodAccess(client_);
      options.pods = pods_.get();
    }
    operator_ = std::make_unique<reloader::Operator>(
        std::move(options), reloader::InformersFor(config_, client_, Parts()), *writer_);
    if (config_.admission.enabled) {
      admission_ = std::make_unique<reloader::TemplateAdmission>(
          [this](reloader::WorkloadKind kind, const codec::JsonTree& object,
                 const std::stop_token& stop) { return operator_->Stamp(kind, object, stop); },
          &registry_);
      warnings_ = std::make_unique<reloader::SourceAdmission>(
          [this](const reloader::ChangedSource& changed, const std::stop_token& stop) {
            return operator_->Foresee(changed, stop);
          },
          config_.rules.keys, base::Clock::Real(), &registry_);
    }
    return {};
  }

  /// With the answers that probes of this operator have always had.
  std::map<std::string, http::Handler> Pages() {
    const auto live = [this](const metrics::HttpRequest&) {
      return Healthy(!replica_ || replica_->Check(), "alive", "writes of a lost lease do not end",
                     500);
    };
    const auto ready = [this](const metrics::HttpRequest&) {
      auto problem = refusals_.Problem();
      if (!problem && replica_) {
        problem = replica_->Problem();
      }
      auto missing = refusals_.MissingParts();
      // It is ready all the same: a Deployment that is rolled out replaces the next old pod only
      // when the new one is, and these old pods are what it waits for.
      if (auto waiting = replica_ ? replica_->Waiting() : std::nullopt) {
        missing = missing ? *waiting + "; and " + *missing : *std::move(waiting);
      }
      return Healthy(Ready() && !problem, missing ? "ready, but " + *missing : "ready",
                     problem ? *problem : "waiting for the first lists", 503);
    };
    return {{"/live", live}, {"/healthz", live}, {"/ready", ready}, {"/readyz", ready}};
  }

  const reloader::Config& config_;
  metrics::Registry registry_;
  const base::Subscription process_metrics_;
  std::unique_ptr<otlp::Tracing> tracing_;
  std::shared_ptr<tracing::Tracer> tracer_;  ///< null without tracing
  std::shared_ptr<rest::RESTClient> client_;
  std::shared_ptr<reloader::Fallbacks> fallbacks_;
  reloader::Refusals refusals_{&registry_};
  std::shared_ptr<reloader::ServedApis> served_;
  /// Of all informers, so that they need few threads together.
  const std::shared_ptr<base::Executor> executor_ = std::make_shared<base::Executor>();
  std::unique_ptr<reloader::WorkloadWriter> writer_;
  std::unique_ptr<reloader::WriteEvents> events_;
  std::unique_ptr<reloader::MessageSender> alert_sender_;
  std::unique_ptr<reloader::Alerts> alerts_;
  std::optional<reloader::NotificationSettings> notification_settings_;
  std::unique_ptr<reloader::Notifications> notifications_;
  reloader::WriteObservers observers_;
  reloader::TroubleObservers troubles_;
  std::unique_ptr<reloader::NamespaceSelector> namespaces_;
  std::shared_ptr<reloader::Replica> replica_;
  std::unique_ptr<reloader::Policies> policies_;
  std::unique_ptr<reloader::PodAccess> pods_;
  std::unique_ptr<reloader::Operator> operator_;
  std::unique_ptr<reloader::TemplateAdmission> admission_;
  std::unique_ptr<reloader::SourceAdmission> warnings_;
  std::unique_ptr<reloader::MessageSender> webhook_sender_;
  std::unique_ptr<reloader::SourceAbsences> absences_;
  std::unique_ptr<reloader::WebhookRelay> relay_;
  std::unique_ptr<reloader::MetaInfoPublisher> publisher_;
  std::unique_ptr<Writing> writing_;  ///< null when nothing is written
  std::unique_ptr<reloader::MemoryKeeper> memory_;
  std::unique_ptr<http::Server> diagnostics_;
  std::unique_ptr<controller::Manager> manager_;  // last: it runs all others
};

}  // namespace

Result<void> RunProcess(const reloader::Config& config, const std::stop_token& stop) {
  std::string watched = config.namespaces.empty() ? "all" : "";
  for (const std::string& name : config.namespaces) {
    watched += (watched.empty() ? "" : ",") + name;
  }
  KX_RETURN_IF_ERROR(reloader::CheckDigests());
  logging::Info("Starting kubexx-reloader", {{"version", KUBEXX_VERSION}, {"namespaces", watched}});
  for (const std::string& warning : config.warnings) {
    logging::Warning("A setting may not do what is expected", {{"setting", warning}});
  }
  KX_RETURN_IF_ERROR(Process(config).Run(stop));
  logging::Info("The operator has stopped");
  return {};
}

}  // namespace kubexx
