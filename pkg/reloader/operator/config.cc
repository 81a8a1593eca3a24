#include "kubexx/reloader/operator/config.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "kubexx/apimachinery/names.h"
#include "kubexx/base/ascii.h"
#include "kubexx/reloader/history/history.h"
#include "kubexx/reloader/operator/selector.h"

namespace kubexx::reloader {
namespace {

/// Is shown instead of a URL, because the URL's path may be a secret.
constexpr const char* kNotTold = "https://not-told";

using apimachinery::Error;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

constexpr std::int64_t kMaxWorkers = 64;
constexpr std::int64_t kMaxShards = 64;
constexpr base::Duration kMaxSettleWindow = std::chrono::hours(1);

Error Invalid(const std::string& what) { return Fail(Reason::kInvalidConfig, what); }

}  // namespace

void AddKindsOf(const Config& config, Precedence precedence) {
  AddCustomKinds(config.workload_kinds, precedence);
  AddSourceKinds(config.source_kinds, precedence);
}

Result<void> ConfigFlags::BuildTypes(Config& config) const {
  if (resources_to_ignore_.size() > 1) {
    return Invalid("--resources-to-ignore: only one of configmaps and secrets can be ignored");
  }
  for (const std::string& resource : resources_to_ignore_) {
    const std::string name = base::ToLower(resource);
    if (name != "configmaps" && name != "secrets") {
      return Invalid("--resources-to-ignore: \"" + resource +
                     "\" is neither configmaps nor secrets");
    }
    config.ignored_types.insert(name == "secrets" ? SourceType::kSecret : SourceType::kConfigMap);
  }
  if (!enable_csi_) {
    config.ignored_types.insert(SourceType::kSecretProviderClass);
  }
  config.rules.ignored_types = config.ignored_types;
  const auto bad = std::ranges::find_if(ignored_workload_types_, [](const std::string& type) {
    return type != "jobs" && type != "cronjobs";
  });
  if (bad != ignored_workload_types_.end()) {
    config.warnings.push_back("--ignored-workload-types: \"" + *bad +
                              "\" is neither jobs nor cronjobs; the list is disregarded");
  } else {
    for (const std::string& type : ignored_workload_types_) {
      (type == "jobs" ? config.ignore_jobs : config.ignore_cron_jobs) = true;
    }
  }
  auto selector = LabelSelectorOf(resource_label_selector_);
  if (!selector) {
    return Fail(selector.error().WithContext("--resource-label-selector"));
  }
  config.source_label_selector = *std::move(selector);
  config.argo_rollouts = argo_rollouts_ == "true";
  return {};
}

Result<void> ConfigFlags::BuildKinds(Config& config) const {
  auto workloads = ParseCustomKinds(workload_kinds_, OwnResources());
  if (!workloads) {
    return Fail(workloads.error().WithContext("--workload-kinds"));
  }
  config.workload_kinds = *std::move(workloads);
  std::vector<apimachinery::ResourceInfo> taken = OwnResources();
  for (const CustomKind& kind : config.workload_kinds) {
    taken.push_back(kind.Resource());
  }
  auto sources = ParseSourceKinds(source_kinds_, taken);
  if (!sources) {
    return Fail(sources.error().WithContext("--source-kinds"));
  }
  config.source_kinds = *std::move(sources);
  for (const SourceKind& kind : config.source_kinds) {
    config.rules.source_kinds.push_back(kind.kind);
  }
  return {};
}

Result<void> ConfigFlags::BuildNamespaces(const Environment& environment, Config& config) const {
  const std::set<std::string> unique(namespaces_.begin(), namespaces_.end());
  config.namespaces.assign(unique.begin(), unique.end());
  if (const std::string own = environment("KUBERNETES_NAMESPACE");
      config.namespaces.empty() && !own.empty()) {
    config.namespaces = {own};
  }
  for (const std::string& name : config.namespaces) {
    if (!apimachinery::IsDnsLabel(name)) {
      return Invalid("--namespaces: \"" + name + "\" is not a valid name of a namespace");
    }
  }
  auto selector = LabelSelectorOf(namespace_selector_);
  if (!selector) {
    return Fail(selector.error().WithContext("--namespace-selector"));
  }
  if (config.namespaces.empty()) {
    config.ignored_namespaces.insert(namespaces_to_ignore_.begin(), namespaces_to_ignore_.end());
    config.namespace_selector = *std::move(selector);
    return {};
  }
  for (const auto& [flag, given] : {std::pair("--namespaces-to-ignore", &namespaces_to_ignore_),
                                    std::pair("--namespace-selector", &namespace_selector_)}) {
    if (!given->empty()) {
      config.warnings.push_back(std::string(flag) +
                                " has no effect when only some namespaces are watched");
    }
  }
  return {};
}

Result<void> ConfigFlags::BuildReloads(Config& config) const {
  if (reload_strategy_ == "annotations") {
    config.reload_strategy = ReloadStrategy::kAnnotations;
  } else if (reload_strategy_ != "env-vars") {
    return Invalid("--reload-strategy: \"" + reload_strategy_ +
                   "\" is neither env-vars nor annotations");
  }
  for (const auto& [flag, given] : {std::pair("--reload-on-create", &reload_on_create_),
                                    std::pair("--reload-on-delete", &reload_on_delete_)}) {
    if (*given != "true" && *given != "false" && !given->empty()) {
      config.warnings.push_back(std::string(flag) + "=" + *given +
                                " counts as false; only true turns it on");
    }
  }
  config.rules.reload_on_create = reload_on_create_ == "true";
  config.rules.reload_on_delete = reload_on_delete_ == "true";
  config.rules.sync_after_restart = sync_after_restart_;
  config.webhook_url = webhook_url_;
  if (!webhook_url_.empty()) {
    if (!webhook_url_.starts_with("http://") && !webhook_url_.starts_with("https://")) {
      return Invalid("--webhook-url: must begin with http:// or https://");
    }
    config.warnings.push_back(
        "Webhook mode: changes are sent to --webhook-url, nothing is reloaded");
  }
  return {};
}

Result<void> ConfigFlags::BuildHa(const Environment& environment, Config& config) const {
  if (shards_ < 1 || shards_ > kMaxShards) {
    return Invalid("--shards: must be between 1 and " + std::to_string(kMaxShards));
  }
  if (!enable_ha_) {
    return shards_ == 1 ? Result<void>()
                        : Invalid("--shards: needs --enable-ha when it is more than 1");
  }
  config.ha = {.enabled = true,
               .pod_name = environment("POD_NAME"),
               .pod_namespace = environment("POD_NAMESPACE"),
               .shards = static_cast<int>(shards_)};
  for (const auto& [name, value] : {std::pair("POD_NAME", &config.ha.pod_name),
                                    std::pair("POD_NAMESPACE", &config.ha.pod_namespace)}) {
    if (value->empty()) {
      return Invalid(std::string("--enable-ha: the environment variable ") + name + " is not set");
    }
  }
  return {};
}

Result<void> ConfigFlags::BuildAdmission(Config& config) const {
  if (!admission_) {
    return admission_warnings_ ? Invalid("--admission-warnings: needs --admission")
                               : Result<void>();
  }
  if (config.meta_info.namespace_.empty()) {
    return Invalid("--admission: the environment variable RELOADER_NAMESPACE is not set");
  }
  if (!apimachinery::IsDnsLabel(admission_name_)) {
    return Invalid("--admission-name: \"" + admission_name_ +
                   "\" is not a valid name of a Service");
  }
  if (!admission_url_.empty() && HostOfAdmission(admission_url_).empty()) {
    return Invalid(
        "--admission-url: must be of the scheme https, with a host and a port, and without a path");
  }
  if (dry_run_ || !webhook_url_.empty()) {
    config.warnings.push_back("--admission has no effect with " +
                              std::string(dry_run_ ? "--dry-run" : "--webhook-url"));
    return {};
  }
  config.admission = {.enabled = true,
                      .name = admission_name_,
                      .namespace_ = config.meta_info.namespace_,
                      .address = admission_address_,
                      .warnings = admission_warnings_,
                      .url = admission_url_};
  return {};
}

void ConfigFlags::BuildAlerts(const Environment& environment, Config& config) const {
  AlertSettings& alerts = config.alerts;
  alerts = {.enabled = environment("ALERT_ON_RELOAD") == "true",
            .sink = base::ToLower(std::string(TrimSpace(environment("ALERT_SINK")))),
            .url = environment("ALERT_WEBHOOK_URL"),
            .additional_info = std::string(TrimSpace(environment("ALERT_ADDITIONAL_INFO"))),
            .proxy = environment("ALERT_WEBHOOK_PROXY")};
  if (alerts.sink != "slack" && alerts.sink != "teams" && alerts.sink != "gchat") {
    if (!alerts.sink.empty() && alerts.sink != "raw" && alerts.sink != "webhook") {
      config.warnings.push_back("ALERT_SINK: \"" + alerts.sink +
                                "\" is none of slack, teams, gchat and webhook; alerts are plain "
                                "text, as to a webhook");
    }
    alerts.sink = "raw";
  }
  if (const std::string wanted = environment("ALERT_ON_RELOAD");
      !alerts.enabled && !wanted.empty() && wanted != "false" && wanted != "0") {
    config.warnings.push_back("ALERT_ON_RELOAD: \"" + wanted +
                              "\" is not true: no alerts are sent");
  }
  if (alerts.enabled && alerts.url.empty()) {
    config.warnings.push_back(
        "ALERT_ON_RELOAD is true, but ALERT_WEBHOOK_URL is not set: no alert can be sent");
  }
  config.notifications = notifications_;
  if (!notifications_.empty() && (dry_run_ || !webhook_url_.empty())) {
    config.warnings.push_back("--notifications has no effect with " +
                              std::string(dry_run_ ? "--dry-run" : "--webhook-url"));
  }
}

Result<void> ConfigFlags::BuildTuning(Config& config) const {
  if (settle_window_ < base::Duration(0) || settle_window_ > kMaxSettleWindow) {
    return Invalid("--settle-window: must be between 0s and 1h");
  }
  if (release_window_ < base::Duration(0) || release_window_ > kMaxSettleWindow) {
    return Invalid("--release-settle-window: must be between 0s and 1h");
  }
  if (workers_ < 1 || workers_ > kMaxWorkers) {
    return Invalid("--workers: must be between 1 and " + std::to_string(kMaxWorkers));
  }
  if (qps_ == 0 || qps_ > 1'000'000 || burst_ < 1 || burst_ > 1'000'000) {
    return Invalid(
        "--kube-api-qps and --kube-api-burst: must be between 1 and 1000000, or qps negative");
  }
  config.settle_window = settle_window_;
  config.release_window = release_window_;
  config.workers = static_cast<int>(workers_);
  config.qps = static_cast<double>(qps_);
  config.burst = static_cast<int>(burst_);
  config.metrics_address = metrics_address_;
  if (!otlp_endpoint_.empty() && !tracing_) {
    return Invalid("--otlp-endpoint: needs --tracing");
  }
  config.tracing = tracing_;
  config.otlp_endpoint = otlp_endpoint_;
  config.pprof_address = enable_pprof_ ? pprof_address_ : "";
  config.kubeconfig = kubeconfig_;
  return {};
}

void ConfigFlags::BuildLogging(Config& config) const {
  const std::string level = base::ToLower(log_level_);
  if (log_format_ == "json") {
    config.logging.format = logging::Format::kJson;
  } else if (!log_format_.empty() && log_format_ != "text") {
    config.warnings.push_back("--log-format: \"" + log_format_ +
                              "\" is neither json nor text; logging text at level info");
    return;
  }
  if (const auto parsed = logging::ParseLevel(level)) {
    config.logging.level = *parsed;
  } else {
    config.warnings.push_back("--log-level: \"" + log_level_ +
                              "\" is not a level; logging at level info");
  }
}

std::vector<std::pair<std::string, OptionValue>> ConfigFlags::ReportedOptions() const {
  const AnnotationKeys& keys = rules_.keys;
  return {
      {"autoReloadAll", rules_.auto_reload_all},
      {"configmapUpdateOnChangeAnnotation", keys.configmap_reload},
      {"secretUpdateOnChangeAnnotation", keys.secret_reload},
      {"secretProviderClassUpdateOnChangeAnnotation", keys.provider_class_reload},
      {"reloaderAutoAnnotation", keys.auto_reload},
      {"ignoreResourceAnnotation", keys.ignore},
      {"configmapReloaderAutoAnnotation", keys.configmap_auto},
      {"secretReloaderAutoAnnotation", keys.secret_auto},
      {"secretProviderClassReloaderAutoAnnotation", keys.provider_class_auto},
      {"configmapExcludeReloaderAnnotation", "configmaps.exclude.reloader.stakater.com/reload"},
      {"secretExcludeReloaderAnnotation", "secrets.exclude.reloader.stakater.com/reload"},
      {"secretProviderClassExcludeReloaderAnnotation",
       "secretproviderclasses.exclude.reloader.stakater.com/reload"},
      {"autoSearchAnnotation", keys.search},
      {"searchMatchAnnotation", keys.match},
      {"rolloutStrategyAnnotation", "reloader.stakater.com/rollout-strategy"},
      {"pauseDeploymentAnnotation", keys.pause_period},
      {"pauseDeploymentTimeAnnotation", keys.paused_at},
      {"logFormat", log_format_},
      {"logLevel", log_level_},
      {"isArgoRollouts", ParseGoBool(argo_rollouts_)},
      {"reloadStrategy", reload_strategy_},
      {"reloadOnCreate", ParseGoBool(reload_on_create_)},
      {"reloadOnDelete", ParseGoBool(reload_on_delete_)},
      {"syncAfterRestart", sync_after_restart_},
      {"enableHA", enable_ha_},
      {"enableCSIIntegration", enable_csi_},
      {"webhookUrl", webhook_url_.empty() ? webhook_url_ : kNotTold},
      {"resourcesToIgnore", resources_to_ignore_},
      {"workloadTypesToIgnore", ignored_workload_types_},
      {"namespaceSelectors", namespace_selector_},
      {"resourceSelectors", resource_label_selector_},
      {"namespacesToIgnore", namespaces_to_ignore_},
      {"enablePProf", enable_pprof_},
      {"pprofAddr", pprof_address_},
  };
}

std::vector<std::string> ConfigFlags::JudgingArguments(const Config& config) const {
  // These flags are about the process, and not about what it does.
  static const std::set<std::string, std::less<>> kLeftOut{
      "kubeconfig",     "context",
      "metrics-addr",   "enable-pprof",
      "pprof-addr",     "log-format",
      "log-level",      "kube-api-qps",
      "kube-api-burst", "workers",
      "enable-ha",      "shards",
      "settle-window",  "release-settle-window",
      "history",        "admission",
      "admission-name", "admission-addr",
      "admission-url",  "admission-warnings",
      "notifications",  "allow-restore",
      "tracing",        "otlp-endpoint"};
  std::vector<std::string> arguments;
  for (const auto& [name, value] : flags_.given()) {
    if (name == "webhook-url" && !value.empty()) {
      arguments.push_back("--webhook-url=" + std::string(kNotTold));
    } else if (!kLeftOut.contains(name)) {
      arguments.push_back("--" + name + "=" + value);
    }
  }
  if (namespaces_.empty()) {  // then these are from the environment
    for (const std::string& name : config.namespaces) {
      arguments.push_back("--namespaces=" + name);
    }
  }
  return arguments;
}

Result<Config> ConfigFlags::Build(const Environment& environment) const {
  Config config;
  config.rules = rules_;
  config.count_by_namespace = environment("METRICS_COUNT_BY_NAMESPACE") == "enabled";
  config.meta_info = {.namespace_ = environment("RELOADER_NAMESPACE"),
                      .deployment_name = environment("RELOADER_DEPLOYMENT_NAME")};
  config.meta_info.reported_options = ReportedOptions();
  KX_RETURN_IF_ERROR(BuildTypes(config));
  KX_RETURN_IF_ERROR(BuildKinds(config));
  KX_RETURN_IF_ERROR(BuildNamespaces(environment, config));
  config.meta_info.arguments = JudgingArguments(config);
  KX_RETURN_IF_ERROR(BuildReloads(config));
  KX_RETURN_IF_ERROR(BuildHa(environment, config));
  KX_RETURN_IF_ERROR(BuildTuning(config));
  KX_RETURN_IF_ERROR(BuildAdmission(config));
  KX_ASSIGN_OR_RETURN(config.rollouts, policy_flags_.Build());
  config.reload_policies = policy_flags_.enabled();
  config.require_cluster_policies = policy_flags_.requires_cluster();
  config.allow_restore = policy_flags_.allows_restore();
  if (config.allow_restore && config.meta_info.namespace_.empty()) {
    return Invalid(
        "--allow-restore: the environment variable RELOADER_NAMESPACE is not set, and the key of "
        "snapshots is kept in that namespace");
  }
  config.dry_run = dry_run_;
  config.record_baseline = record_baseline_;
  if (history_ < 0 || history_ > static_cast<std::int64_t>(History::kMaxRollouts)) {
    return Invalid("--history: must be between 0 and " + std::to_string(History::kMaxRollouts));
  }
  config.history = static_cast<int>(history_);
  if (config.rules.reload_in_place && (dry_run_ || !record_baseline_ || !webhook_url_.empty())) {
    config.rules.reload_in_place = false;
    config.warnings.push_back("--reload-in-place has no effect with " +
                              std::string(dry_run_            ? "--dry-run"
                                          : !record_baseline_ ? "--record-baseline=false"
                                                              : "--webhook-url"));
  }
  if (config.rules.keys.other_namespaces && !webhook_url_.empty()) {
    config.warnings.emplace_back("--sources-in-other-namespaces has no effect with --webhook-url");
  }
  BuildAlerts(environment, config);
  BuildLogging(config);
  return config;
}

}  // namespace kubexx::reloader
