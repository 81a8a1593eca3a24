/// @file
/// The operator's settings, and how they are read from the command line and the environment.
#ifndef KUBEXX_RELOADER_OPERATOR_CONFIG_H_
#define KUBEXX_RELOADER_OPERATOR_CONFIG_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/flags/flags.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/admission/admission_settings.h"
#include "kubexx/reloader/ha/replica.h"
#include "kubexx/reloader/kinds/custom_kind.h"
#include "kubexx/reloader/kinds/source_kind.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/notify/alerts.h"
#include "kubexx/reloader/observe/meta_info.h"
#include "kubexx/reloader/plan/decision.h"
#include "kubexx/reloader/plan/strategy.h"
#include "kubexx/reloader/policy/policy_flags.h"
#include "kubexx/rest/config.h"

namespace kubexx::reloader {

/// The operator's settings after validation.
struct Config {
  DecisionRules rules{};

  // ---- What is watched.
  /// Empty: all namespaces.
  std::vector<std::string> namespaces{};
  /// Namespaces in which nothing is rolled. Empty unless all namespaces are watched.
  std::set<std::string> ignored_namespaces{};
  /// Label selector of the namespaces in which workloads may be rolled. Empty: all of them. Always
  /// empty when only some namespaces are watched.
  std::string namespace_selector{};
  std::string source_label_selector{};
  std::set<SourceType> ignored_types{};
  /// From --ignored-workload-types.
  bool ignore_jobs = false;
  bool ignore_cron_jobs = false;
  bool argo_rollouts = false;
  /// From --workload-kinds: kinds that the operator does not have itself. Who uses the
  /// configuration has to tell the process of them: AddCustomKinds.
  std::vector<CustomKind> workload_kinds{};

  /// From --source-kinds, as above: AddSourceKinds. Their names are in DecisionRules::source_kinds.
  std::vector<SourceKind> source_kinds{};

  // ---- What is done about it.
  ReloadStrategy reload_strategy = ReloadStrategy::kEnvVars;
  /// If not empty, changes are posted to this URL, and nothing is rolled. May contain credentials.
  std::string webhook_url{};
  base::Duration settle_window{};
  base::Duration release_window{};
  int workers = 0;

  // ---- Who is told.
  AlertSettings alerts{};
  /// The file that LoadNotificationSettings reads; empty: nobody is told by it.
  std::string notifications{};
  MetaInfoSettings meta_info{};
  bool count_by_namespace = false;
  std::string metrics_address{};
  /// Whether spans are sent to a collector.
  bool tracing = false;
  /// The collector's URL; empty: what the environment says (OTEL_EXPORTER_OTLP_ENDPOINT).
  std::string otlp_endpoint{};
  /// The address of a second listener for diagnostics; empty: there is none.
  std::string pprof_address{};
  logging::Options logging{};
  /// What settings do that may not be expected; the process logs each once logging is set up.
  std::vector<std::string> warnings{};

  /// Whether reload policies are watched.
  bool reload_policies = true;
  /// See PolicyWatch::Options::cluster_needed.
  bool require_cluster_policies = false;
  /// See Policies::Options::allow_restore.
  bool allow_restore = false;
  /// The settings for rollouts that apply where no annotation and no policy specifies any.
  reloadpolicy::Settings rollouts{};
  /// The operator writes nothing to the cluster.
  bool dry_run = false;
  /// Whether the operator records on workloads which data they run with; see Baseline.
  bool record_baseline = true;
  /// How many rollouts the operator keeps in the history on each workload; 0: it keeps none.
  int history = 0;

  HaSettings ha{};
  AdmissionSettings admission{};
  rest::KubeconfigOptions kubeconfig{};
  double qps = 0;
  int burst = 0;
};

/// Tells the process of the kinds that the configuration describes.
void AddKindsOf(const Config& config, Precedence precedence = Precedence::kNew);

/// Adds --kubeconfig and --context, which write to `options`.
void AddKubeconfigFlags(flags::FlagSet& flags, rest::KubeconfigOptions& options);

/// The command-line flags: those of stakater/Reloader with the same names, defaults and meanings,
/// and this operator's own.
class ConfigFlags {
 public:
  /// Returns the value of an environment variable; empty when it is not set.
  using Environment = std::function<std::string(const char* name)>;

  /// Adds the flags to `flags`. Parsing `flags` writes to this object, and Build reads `flags`.
  explicit ConfigFlags(flags::FlagSet& flags);
  ConfigFlags(const ConfigFlags&) = delete;
  ConfigFlags& operator=(const ConfigFlags&) = delete;

  /// Builds the configuration after parsing. Fails with kInvalidConfig, which names the wrong flag
  /// or variable and what is wrong with it.
  apimachinery::Result<Config> Build(const Environment& environment) const;
  /// The arguments on the command line that are not flags, after parsing.
  const std::vector<std::string>& arguments() const KX_LIFETIME_BOUND { return arguments_; }

 private:
  void AddAnnotations(flags::FlagSet& flags);
  void AddScope(flags::FlagSet& flags);
  void AddReloads(flags::FlagSet& flags);
  void AddProcess(flags::FlagSet& flags);
  apimachinery::Result<void> BuildTypes(Config& config) const;
  apimachinery::Result<void> BuildKinds(Config& config) const;
  apimachinery::Result<void> BuildNamespaces(const Environment& environment, Config& config) const;
  apimachinery::Result<void> BuildReloads(Config& config) const;
  apimachinery::Result<void> BuildHa(const Environment& environment, Config& config) const;
  apimachinery::Result<void> BuildAdmission(Config& config) const;
  apimachinery::Result<void> BuildTuning(Config& config) const;
  void BuildAlerts(const Environment& environment, Config& config) const;
  void BuildLogging(Config& config) const;
  std::vector<std::pair<std::string, OptionValue>> ReportedOptions() const;
  std::vector<std::string> JudgingArguments(const Config& config) const;

  const flags::FlagSet& flags_;
  DecisionRules rules_;
  std::string log_format_;
  std::string log_level_ = "info";
  std::vector<std::string> resources_to_ignore_;
  std::vector<std::string> ignored_workload_types_;
  std::vector<std::string> namespaces_;
  std::vector<std::string> namespaces_to_ignore_;
  std::vector<std::string> namespace_selector_;
  std::vector<std::string> resource_label_selector_;
  std::string reload_strategy_ = "env-vars";
  // Strings, as in the original: only exactly "true" counts, and the next argument is the value.
  std::string argo_rollouts_ = "false";
  std::string reload_on_create_ = "false";
  std::string reload_on_delete_ = "false";
  bool sync_after_restart_ = false;
  bool enable_csi_ = false;
  std::string workload_kinds_;
  std::string source_kinds_;
  std::string webhook_url_;
  std::string notifications_;
  bool enable_ha_ = false;
  bool enable_pprof_ = false;
  std::string pprof_address_ = ":6060";

  std::int64_t shards_ = 1;
  bool admission_ = false;
  std::string admission_name_ = "kubexx-reloader-admission";
  std::string admission_address_ = ":9443";
  std::string admission_url_;
  bool admission_warnings_ = false;
  PolicyFlags policy_flags_;
  bool dry_run_ = false;
  bool record_baseline_ = true;
  std::int64_t history_ = 0;
  rest::KubeconfigOptions kubeconfig_;
  std::string metrics_address_ = ":9090";
  bool tracing_ = false;
  std::string otlp_endpoint_;
  base::Duration settle_window_ = std::chrono::milliseconds(100);
  base::Duration release_window_ = std::chrono::seconds(3);
  std::int64_t workers_ = 8;
  std::int64_t qps_ = 200;
  std::int64_t burst_ = 400;
  std::vector<std::string> arguments_;
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OPERATOR_CONFIG_H_
