#include "kubexx/apiserver/controllers/controllers.h"

#include <algorithm>
#include <array>
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

}  // namespace

std::span<const std::string_view> ControllerNames() { return kNames; }

Result<std::unique_ptr<Controllers>> Controllers::New(rest::Config config,
                                                      storage::Storage& storage,
                                                      const ControllersOptions& options) {
  KX_RETURN_IF_ERROR(CheckNames(options.names));
  config.qps = -1;
  config.user_agent = "kubexx-controllers";
  controller::ManagerOptions manager_options{.clock = options.clock, .registry = options.registry};
  // The only ConfigMaps of interest are those that are made here, and the only Secrets are those
  // for tokens.
  manager_options.cache.tweak = [](const apimachinery::ResourceInfo& resource,
                                   cache::ListWatchOptions& list_watch) {
    if (resource.plural == "configmaps") {
      list_watch.field_selector = "metadata.name=kube-root-ca.crt";
    } else if (resource.plural == "secrets") {
      list_watch.field_selector = "type=kubernetes.io/service-account-token";
    }
  };
  KX_ASSIGN_OR_RETURN(auto manager,
                      controller::Manager::New(std::move(config), std::move(manager_options)));
  const Setup setup{.manager = *manager, .storage = storage, .options = options};
  const bool all = std::ranges::find(options.names, "all") != options.names.end();
  for (const Entry& entry : kEntries) {
    if (all || std::ranges::find(options.names, entry.name) != options.names.end()) {
      KX_RETURN_IF_ERROR(entry.add(setup));
    }
  }
  return std::unique_ptr<Controllers>(new Controllers(std::move(manager)));
}

Controllers::Controllers(std::unique_ptr<controller::Manager> manager)
    : manager_(std::move(manager)) {}

Controllers::~Controllers() {
  runner_ = {};
  manager_.reset();
}

void Controllers::Start() {
  runner_ = std::jthread([this](const std::stop_token& stop) {
    if (const auto ran = manager_->Run(stop); !ran) {
      logging::Error("The controllers have stopped because of an error", {{"error", ran.error()}});
    }
  });
}

}  // namespace kubexx::apiserver::controllers
