#include "kubexx/reloader/config.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "kubexx/reloader/selector.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Error;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

constexpr std::int64_t kMaxWorkers = 64;
constexpr base::Duration kMaxSettleWindow = std::chrono::hours(1);

Error Invalid(const std::string& what) { return Fail(Reason::kInvalidConfig, what); }

std::string ToLower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

}  // namespace

ConfigFlags::ConfigFlags(flags::FlagSet& flags) {
  AddShared(flags);
  AddNotYetSupported(flags);
  AddOwn(flags);
  flags.AllowArguments("", &arguments_);  // accepted and not used, as in the original
}

void ConfigFlags::AddShared(flags::FlagSet& flags) {
  AnnotationKeys& keys = rules_.keys;
  flags.AddBool("auto-reload-all",
                "reload every workload that does not switch it off by annotation",
                &rules_.auto_reload_all);
  flags.AddString("configmap-annotation", "annotation with the ConfigMaps that reload a workload",
                  &keys.configmap_reload);
  flags.AddString("secret-annotation", "annotation with the Secrets that reload a workload",
                  &keys.secret_reload);
  flags.AddString("auto-annotation", "annotation that reloads a workload for all it references",
                  &keys.auto_reload);
  flags.AddString("configmap-auto-annotation", "as auto-annotation, for ConfigMaps",
                  &keys.configmap_auto);
  flags.AddString("secret-auto-annotation", "as auto-annotation, for Secrets", &keys.secret_auto);
  flags.AddString("ignore-annotation",
                  "annotation of a ConfigMap or Secret that never reloads anything", &keys.ignore);
  flags.AddString(
      "auto-search-annotation",
      "annotation that reloads a workload for what it references and has the match annotation",
      &keys.search);
  flags.AddString("search-match-annotation",
                  "annotation of a ConfigMap or Secret that search finds", &keys.match);
  flags.AddString("log-format", "json, or empty for text", &log_format_);
  flags.AddString("log-level", "trace, debug, info, warning, error, fatal or panic", &log_level_);
  flags.AddList("resources-to-ignore", "configmaps or secrets", &resources_to_ignore_);
  flags.AddList("ignored-workload-types", "jobs, cronjobs", &ignored_workload_types_);
  flags.AddList("namespaces", "watch these namespaces only", &namespaces_);
  flags.AddList("namespaces-to-ignore", "namespaces in which nothing is reloaded",
                &namespaces_to_ignore_);
  flags.AddList("resource-label-selector", "labels of the ConfigMaps and Secrets to watch",
                &resource_label_selector_);
  flags.AddString("reload-strategy", "env-vars", &reload_strategy_);
}

void ConfigFlags::AddNotYetSupported(flags::FlagSet& flags) {
  const std::string not_yet = "not supported yet";
  flags.AddString("pause-deployment-annotation", not_yet, &pause_annotation_);
  flags.AddString("pause-deployment-time-annotation", not_yet, &paused_at_annotation_);
  flags.AddString("webhook-url", not_yet, &webhook_url_);
  flags.AddList("namespace-selector", not_yet, &namespace_selector_);
  flags.AddString("is-Argo-Rollouts", not_yet, &argo_rollouts_);
  flags.AddString("reload-on-create", not_yet, &reload_on_create_);
  flags.AddString("reload-on-delete", not_yet, &reload_on_delete_);
  flags.AddBool("sync-after-restart", "has an effect with reload-on-create only",
                &sync_after_restart_);
  flags.AddBool("enable-ha", not_yet, &enable_ha_);
  flags.AddBool("enable-pprof", not_yet, &enable_pprof_);
  flags.AddString("pprof-addr", "has an effect with enable-pprof only", &pprof_address_);
  flags.AddBool("enable-csi-integration", not_yet, &enable_csi_);
}

void ConfigFlags::AddOwn(flags::FlagSet& flags) {
  flags.AddString("kubeconfig",
                  "kubeconfig file; by default $KUBECONFIG, then ~/.kube/config, then the pod's "
                  "service account",
                  &kubeconfig_.path);
  flags.AddString("context", "context of the kubeconfig", &kubeconfig_.context);
  flags.AddString("metrics-addr", "where to serve /metrics, /live and /ready", &metrics_address_);
  flags.AddDuration("settle-window",
                    "a workload is rolled when its sources have not changed for this long",
                    &settle_window_);
  flags.AddInt("workers", "workloads written at the same time", &workers_);
  flags.AddInt("kube-api-qps", "requests a second to the API server; negative for no limit", &qps_);
  flags.AddInt("kube-api-burst", "requests that may exceed kube-api-qps for a moment", &burst_);
}

Result<void> ConfigFlags::RefuseUnsupported(const Environment& environment) const {
  const ConfigFlags& f = *this;
  const std::pair<const char*, bool> unsupported[] = {
      {"--pause-deployment-annotation",
       f.pause_annotation_ != "deployment.reloader.stakater.com/pause-period"},
      {"--pause-deployment-time-annotation",
       f.paused_at_annotation_ != "deployment.reloader.stakater.com/paused-at"},
      {"--webhook-url", !f.webhook_url_.empty()},
      {"--namespace-selector", !f.namespace_selector_.empty()},
      {"--is-Argo-Rollouts=true", f.argo_rollouts_ == "true"},
      {"--reload-on-create=true", f.reload_on_create_ == "true"},
      {"--reload-on-delete=true", f.reload_on_delete_ == "true"},
      {"--enable-ha", f.enable_ha_},
      {"--enable-pprof", f.enable_pprof_},
      {"--enable-csi-integration", f.enable_csi_},
      {"--reload-strategy=annotations", f.reload_strategy_ == "annotations"},
      {"ALERT_ON_RELOAD=true", environment("ALERT_ON_RELOAD") == "true"},
  };
  for (const auto& [name, used] : unsupported) {
    if (used) {
      return Invalid(std::string(name) + " is not supported yet");
    }
  }
  if (reload_strategy_ != "env-vars") {
    return Invalid("--reload-strategy: \"" + reload_strategy_ +
                   "\" is neither env-vars nor annotations");
  }
  return {};
}

Result<void> ConfigFlags::BuildScope(const Environment& environment, Config& config) const {
  if (resources_to_ignore_.size() > 1) {
    return Invalid(
        "--resources-to-ignore: one of configmaps and secrets can be ignored, not several");
  }
  for (const std::string& resource : resources_to_ignore_) {
    const std::string name = ToLower(resource);
    const auto type = std::ranges::find_if(
        kSourceTypes, [&](SourceType each) { return NamesOf(each).plural == name; });
    if (type == kSourceTypes.end()) {
      return Invalid("--resources-to-ignore: \"" + resource +
                     "\" is neither configmaps nor secrets");
    }
    config.ignored_types.insert(*type);
  }
  for (const std::string& type : ignored_workload_types_) {
    if (type != "jobs" && type != "cronjobs") {
      config.warnings.push_back("--ignored-workload-types: \"" + type +
                                "\" is neither jobs nor cronjobs; the list is disregarded");
    }
  }
  const std::set<std::string> unique(namespaces_.begin(), namespaces_.end());
  config.namespaces.assign(unique.begin(), unique.end());
  if (const std::string own = environment("KUBERNETES_NAMESPACE");
      config.namespaces.empty() && !own.empty()) {
    config.namespaces = {own};
  }
  if (std::ranges::find(config.namespaces, "") != config.namespaces.end()) {
    return Invalid("--namespaces: an empty name");
  }
  if (config.namespaces.empty()) {
    config.ignored_namespaces.insert(namespaces_to_ignore_.begin(), namespaces_to_ignore_.end());
    config.warnings.push_back("Watching all namespaces");
  } else if (!namespaces_to_ignore_.empty()) {
    config.warnings.push_back(
        "--namespaces-to-ignore has no effect when only some namespaces are watched");
  }
  auto selector = LabelSelectorOf(resource_label_selector_);
  if (!selector) {
    return Fail(selector.status().WithContext("--resource-label-selector"));
  }
  config.source_label_selector = *std::move(selector);
  return {};
}

Result<void> ConfigFlags::BuildTuning(Config& config) const {
  if (settle_window_ < base::Duration(0) || settle_window_ > kMaxSettleWindow) {
    return Invalid("--settle-window: must be between 0s and 1h");
  }
  if (workers_ < 1 || workers_ > kMaxWorkers) {
    return Invalid("--workers: must be between 1 and " + std::to_string(kMaxWorkers));
  }
  if (qps_ == 0 || qps_ > 1'000'000 || burst_ < 1 || burst_ > 1'000'000) {
    return Invalid(
        "--kube-api-qps and --kube-api-burst: must be between 1 and 1000000, or qps negative");
  }
  config.settle_window = settle_window_;
  config.workers = static_cast<int>(workers_);
  config.qps = static_cast<double>(qps_);
  config.burst = static_cast<int>(burst_);
  config.metrics_address = metrics_address_;
  config.kubeconfig = kubeconfig_;
  return {};
}

void ConfigFlags::BuildLogging(Config& config) const {
  const std::string level = ToLower(log_level_);
  if (log_format_ == "json") {
    config.logging.format = logging::Format::kJson;
  } else if (!log_format_.empty()) {
    config.warnings.push_back("--log-format: \"" + log_format_ +
                              "\" is not json; logging text at level info");
    return;
  }
  if (level == "fatal" || level == "panic") {
    config.logging.level = logging::Level::kError;
  } else if (const auto parsed = logging::ParseLevel(level)) {
    config.logging.level = *parsed;
  } else {
    config.warnings.push_back("--log-level: \"" + log_level_ +
                              "\" is no level; logging at level info");
  }
}

Result<Config> ConfigFlags::Build(const Environment& environment) const {
  Config config;
  KX_RETURN_IF_ERROR(RefuseUnsupported(environment));
  config.rules = rules_;
  config.count_by_namespace = environment("METRICS_COUNT_BY_NAMESPACE") == "enabled";
  KX_RETURN_IF_ERROR(BuildScope(environment, config));
  KX_RETURN_IF_ERROR(BuildTuning(config));
  BuildLogging(config);
  return config;
}

}  // namespace kubexx::reloader
