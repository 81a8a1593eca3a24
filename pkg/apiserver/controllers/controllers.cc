#include "kubexx/apiserver/controllers/controllers.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <utility>

#include "kubexx/apiserver/controllers/setup.h"
#include "kubexx/controller/manager.h"
#include "kubexx/logging/log.h"

namespace kubexx::apiserver::controllers {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

struct Entry {
  std::string_view name;
  Result<void> (*add)(const Setup&);
};

constexpr Entry kEntries[] = {
    {"namespace", AddNamespaceController},      {"serviceaccount-token", AddTokenSecretController},
    {"garbage-collector", AddGarbageCollector}, {"deployment", AddDeploymentController},
    {"replicaset", AddReplicaSetController},    {"statefulset", AddStatefulSetController},
    {"daemonset", AddDaemonSetController},      {"job", AddJobController},
    {"disruption", AddDisruptionController},    {"pod", AddPodController},
};

constexpr auto kNames = [] {
  std::array<std::string_view, std::size(kEntries)> names{};
  std::ranges::transform(kEntries, names.begin(), &Entry::name);
  return names;
}();

Result<void> CheckNames(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (name != "all" && std::ranges::find(kNames, name) == kNames.end()) {
      std::string known = "all";
      for (const std::string_view each : kNames) {
        known.append(", ").append(each);
      }
      return Fail(Reason::kInvalidConfig,
                  "there is no controller \"" + name + "\", only: " + known);
    }
  }
  return {};
}

/// How long after the loss of the lease this process competes for it again.
constexpr std::chrono::seconds kAnotherTry{1};

controller::ManagerOptions OptionsOfManager(const ControllersOptions& options) {
  controller::ManagerOptions made{.clock = options.clock, .registry = options.registry};
  // The only ConfigMaps of interest are those that are made here, and the only Secrets are those
  // for tokens.
  made.cache.tweak = [](const apimachinery::ResourceInfo& resource,
                        cache::ListWatchOptions& list_watch) {
    if (resource.plural == "configmaps") {
      list_watch.field_selector = "metadata.name=kube-root-ca.crt";
    } else if (resource.plural == "secrets") {
      list_watch.field_selector = "type=kubernetes.io/service-account-token";
    }
  };
  if (options.elects_leader) {
    made.leader_election = {.lease = {.namespace_ = std::string(kControllersLeaseNamespace),
                                      .name = std::string(kControllersLease)}};
    // The process also serves the API, so it does not end because a controller does not.
    made.on_stuck = [](const apimachinery::Status& error) {
      logging::Error("The controllers do not stop", {{"error", error}});
    };
  }
  return made;
}

Result<std::unique_ptr<controller::Manager>> NewManager(const rest::Config& config,
                                                        storage::Storage& storage,
                                                        const ControllersOptions& options) {
  KX_ASSIGN_OR_RETURN(auto manager, controller::Manager::New(config, OptionsOfManager(options)));
  const Setup setup{.manager = *manager, .storage = storage, .options = options};
  const bool all = std::ranges::find(options.names, "all") != options.names.end();
  for (const Entry& entry : kEntries) {
    if (all || std::ranges::find(options.names, entry.name) != options.names.end()) {
      KX_RETURN_IF_ERROR(entry.add(setup));
    }
  }
  return manager;
}

}  // namespace

std::span<const std::string_view> ControllerNames() { return kNames; }

Result<std::unique_ptr<Controllers>> Controllers::New(rest::Config config,
                                                      storage::Storage& storage,
                                                      const ControllersOptions& options) {
  KX_RETURN_IF_ERROR(CheckNames(options.names));
  config.qps = -1;
  config.user_agent = "kubexx-controllers";
  KX_ASSIGN_OR_RETURN(auto manager, NewManager(config, storage, options));
  return std::unique_ptr<Controllers>(
      new Controllers(std::move(config), storage, options, std::move(manager)));
}

Controllers::Controllers(rest::Config config, storage::Storage& storage, ControllersOptions options,
                         std::unique_ptr<controller::Manager> manager)
    : config_(std::move(config)),
      storage_(storage),
      options_(std::move(options)),
      manager_(std::move(manager)) {}

Controllers::~Controllers() {
  runner_ = {};
  manager_.reset();
}

void Controllers::Run(const std::stop_token& stop) {
  while (true) {
    const auto ran = manager_->Run(stop);
    if (ran || stop.stop_requested()) {
      return;
    }
    if (!options_.elects_leader) {
      logging::Error("The controllers have stopped because of an error", {{"error", ran.error()}});
      return;
    }
    logging::Warning("The controllers have stopped, and begin again when they lead",
                     {{"error", ran.error()}});
    manager_.reset();  // it waits for what still runs
    options_.clock.SleepFor(kAnotherTry, stop);
    auto next = NewManager(config_, storage_, options_);
    if (!next) {
      logging::Error("The controllers cannot begin again", {{"error", next.error()}});
      return;
    }
    manager_ = std::move(*next);
  }
}

void Controllers::Start() {
  runner_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
}

}  // namespace kubexx::apiserver::controllers
