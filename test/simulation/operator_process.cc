#include "operator_process.h"

#include <algorithm>
#include <iterator>
#include <stop_token>
#include <thread>
#include <utility>

#include "kubexx/base/executor/executor.h"
#include "kubexx/base/wait_until_stopped.h"
#include "kubexx/flags/flags.h"
#include "kubexx/leaderelection/lock.h"
#include "kubexx/logging/log.h"
#include "kubexx/metrics/registry.h"
#include "kubexx/reloader/ha/replica.h"
#include "kubexx/reloader/observe/meta_info.h"
#include "kubexx/reloader/operator/config.h"
#include "kubexx/reloader/operator/operator.h"
#include "kubexx/reloader/operator/operator_parts.h"
#include "kubexx/reloader/permissions/refusals.h"
#include "kubexx/reloader/policy/policies.h"
#include "kubexx/reloader/watch/served_apis.h"
#include "kubexx/reloader/write/write_events.h"
#include "kubexx/reloader/write/writer.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::simulation {
namespace {

using apimachinery::Result;

Result<reloader::Config> ConfigOf(const std::vector<std::string>& arguments,
                                  const std::string& pod_name) {
  std::vector<const char*> argv{"kubexx-reloader"};
  std::ranges::transform(arguments, std::back_inserter(argv),
                         [](const std::string& each) { return each.c_str(); });
  flags::FlagSet flags("", "");
  const reloader::ConfigFlags config_flags(flags);
  KX_RETURN_IF_ERROR(flags.Parse(static_cast<int>(argv.size()), argv.data()));
  return config_flags.Build([&pod_name](const char* name) -> std::string {
    const std::string asked = name;
    return asked == "POD_NAME"                                         ? pod_name
           : asked == "POD_NAMESPACE" || asked == "RELOADER_NAMESPACE" ? "operators"
                                                                       : "";
  });
}

}  // namespace

/// As cmd/kubexx-reloader's Process: the order of members is that in which they use each other.
class OperatorProcess::Impl {
 public:
  Impl(reloader::Config config, rest::Config connection, base::Duration status_interval,
       PodsFor pods_for)
      : config_(std::move(config)),
        status_interval_(status_interval),
        pods_for_(std::move(pods_for)),
        connection_(reloader::ConnectionFor(config_, std::move(connection), "simulation")) {}
  ~Impl() {
    if (policies_) {
      policies_->Stop();
    }
    publisher_.reset();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Result<void> Start();
  void Stop();
  const metrics::Registry& registry() const { return registry_; }

 private:
  reloader::WatchParts Parts() {
    return {.fallbacks = fallbacks_,
            .refusals = refusals_,
            .served = served_,
            .registry = registry_,
            .executor = executor_};
  }
  void MakePolicies();
  void MakeOperator();

  const reloader::Config config_;
  const base::Duration status_interval_;
  const PodsFor pods_for_;
  const rest::Config connection_;
  metrics::Registry registry_;
  std::shared_ptr<rest::RESTClient> client_;
  std::shared_ptr<reloader::Fallbacks> fallbacks_;
  reloader::Refusals refusals_{&registry_};
  std::shared_ptr<reloader::ServedApis> served_;
  const std::shared_ptr<base::Executor> executor_ = std::make_shared<base::Executor>();
  std::unique_ptr<reloader::WorkloadWriter> writer_;
  std::unique_ptr<reloader::WriteEvents> events_;
  reloader::WriteObservers observers_;
  std::shared_ptr<reloader::Replica> replica_;
  std::unique_ptr<reloader::Policies> policies_;
  std::unique_ptr<reloader::PodAccess> pods_;
  std::unique_ptr<reloader::Operator> operator_;
  std::unique_ptr<reloader::MetaInfoPublisher> publisher_;
  std::jthread running_;
};

Result<void> OperatorProcess::Impl::Start() {
  KX_ASSIGN_OR_RETURN(client_, rest::RESTClient::New(connection_, {.registry = &registry_}));
  fallbacks_ = std::make_shared<reloader::Fallbacks>(&registry_);
  served_ = std::make_shared<reloader::ServedApis>(client_);
  writer_ = reloader::NewWriter(client_, fallbacks_);
  if (config_.ha.enabled) {
    KX_ASSIGN_OR_RETURN(auto client,
                        rest::RESTClient::New(leaderelection::LockClientConfig(connection_),
                                              {.registry = &registry_}));
    replica_ = reloader::Replica::New(
        std::move(client), config_.ha,
        [this](int shard) {
          operator_->Reconsider([this, shard](const std::string& name) {
            return reloader::ShardOf(name, config_.ha.shards) == shard;
          });
        },
        &registry_);
  }
  MakePolicies();
  MakeOperator();
  publisher_ = std::make_unique<reloader::MetaInfoPublisher>(
      client_, config_.meta_info, reloader::BuildInfo{.version = "simulation"},
      [this] { return policies_->Unread(); }, executor_);
  // As the manager does: the operator runs while the replica campaigns, and ends before the Leases
  // are given back.
  const auto work = [this](const std::stop_token& stop) {
    policies_->Start();
    operator_->Start();
    base::WaitUntilStopped(stop);
    operator_->Stop();
  };
  running_ = std::jthread([this, work](const std::stop_token& stop) {
    if (!replica_) {
      work(stop);
    } else if (const auto ended = replica_->Run(work, stop); !ended) {
      logging::Error("The replica ended", {{"error", ended.error()}});
    }
  });
  return {};
}

void OperatorProcess::Impl::Stop() {
  running_ = {};
  events_.reset();
  policies_->Stop();
}

void OperatorProcess::Impl::MakePolicies() {
  reloader::Policies::Options options = reloader::PolicyOptionsFor(config_, Parts());
  options.status_interval = status_interval_;
  options.on_unread = [this] {
    if (publisher_) {
      publisher_->Look();
    }
  };
  options.reports = [this](std::string_view name) {
    return operator_->Ready() && (!replica_ || replica_->held_shards().IsOpenFor(name));
  };
  policies_ = std::make_unique<reloader::Policies>(client_, options);
}

void OperatorProcess::Impl::MakeOperator() {
  events_ = reloader::NewWriteEvents(client_, &registry_, executor_);
  observers_.push_back(events_.get());
  reloader::Operator::Options options = reloader::OperatorOptionsFor(config_, client_, registry_);
  options.executor = executor_;
  options.observers = observers_;
  options.held_shards = replica_ ? &replica_->held_shards() : nullptr;
  options.rollout_gate = &policies_->gate();
  if (config_.rules.reload_in_place) {
    pods_ = pods_for_(client_);
    options.pods = pods_.get();
  }
  operator_ = std::make_unique<reloader::Operator>(
      std::move(options), reloader::InformersFor(config_, client_, Parts()), *writer_);
}

OperatorProcess::OperatorProcess(const std::vector<std::string>& arguments,
                                 const std::string& pod_name, rest::Config connection,
                                 base::Duration status_interval, PodsFor pods_for) {
  auto config = ConfigOf(arguments, pod_name);
  if (config) {
    reloader::AddKindsOf(*config);
    impl_ = std::make_unique<Impl>(std::move(*config), std::move(connection), status_interval,
                                   std::move(pods_for));
  } else {
    logging::Error("The operator's command line is wrong", {{"error", config.error()}});
  }
}

OperatorProcess::~OperatorProcess() = default;

Result<void> OperatorProcess::Start() {
  return impl_ ? impl_->Start()
               : apimachinery::Fail(apimachinery::Reason::kInvalidConfig, "see the log");
}

void OperatorProcess::Stop() { impl_->Stop(); }

std::string OperatorProcess::Metrics() const { return impl_->registry().Serialize(); }

}  // namespace kubexx::simulation
